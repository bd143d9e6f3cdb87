#include "core/bootstrap/launcher_watch.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <optional>
#include <utility>

#include "core/bootstrap/launcher_gone.h"

namespace pinwire::bootstrap {
namespace {

constexpr int kDisarmedCode = 33;
constexpr int kWaitedInVainCode = 34;
constexpr int kPatienceS = 20;

/// A child with one end of a socket, which runs `body` and leaves with what it returns.
template <typename Body>
pid_t child_with(const int (&ends)[2], Body body) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  ::close(ends[0]);
  ::alarm(kPatienceS);
  ::_exit(body(ends[1]));
}

int code_of(pid_t child) {
  int wait_status = 0;
  if (::waitpid(child, &wait_status, 0) != child || !WIFEXITED(wait_status)) return -1;
  return WEXITSTATUS(wait_status);
}

class LauncherWatchTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends_), 0); }
  void TearDown() override { close_ends(); }
  void close_ends() {
    for (int& end : ends_) ::close(std::exchange(end, -1));
  }
  int ends_[2] = {-1, -1};
};

TEST_F(LauncherWatchTest, TheProcessEndsWhenTheOtherEndCloses) {
  ASSERT_EQ(::send(ends_[0], "w", 1, 0), 1);  // words that wait are not its end, and do not hide it
  const pid_t child = child_with(ends_, [](int end) {
    const LauncherWatch watch(end);
    ::usleep(100'000);
    ::send(end, "x", 1, 0);
    ::sleep(kPatienceS / 2);
    return kWaitedInVainCode;
  });
  char word = 0;
  ASSERT_EQ(::recv(ends_[0], &word, 1, 0), 1);
  close_ends();
  EXPECT_EQ(code_of(child), kLauncherGoneExitCode);
}

TEST_F(LauncherWatchTest, WhatTheLauncherSendsIsNotItsEnd) {
  const pid_t child = child_with(ends_, [](int end) {
    {
      const LauncherWatch watch(end);
      char word = 0;
      if (::recv(end, &word, 1, 0) != 1) return kWaitedInVainCode;
    }
    // It watches no longer: the end of the socket is the caller's affair.
    ::send(end, "x", 1, 0);
    char none = 0;
    return ::recv(end, &none, 1, 0) == 0 ? kDisarmedCode : kWaitedInVainCode;
  });
  char word = 'w';
  ASSERT_EQ(::send(ends_[0], &word, 1, 0), 1);
  ASSERT_EQ(::recv(ends_[0], &word, 1, 0), 1);
  close_ends();
  EXPECT_EQ(code_of(child), kDisarmedCode);
}

/// The child shares its descriptors with the rank, which goes on watching.
TEST_F(LauncherWatchTest, AForkedChildThatEndsItEndsNothing) {
  const pid_t child = child_with(ends_, [](int end) {
    std::optional<LauncherWatch> watch(std::in_place, end);
    const pid_t grandchild = ::fork();
    if (grandchild == 0) {
      ::alarm(kPatienceS / 2);
      watch.reset();
      ::_exit(kDisarmedCode);
    }
    if (code_of(grandchild) != kDisarmedCode) return kWaitedInVainCode;
    ::usleep(100'000);
    ::send(end, "x", 1, 0);
    ::sleep(kPatienceS / 2);
    return kWaitedInVainCode;
  });
  char word = 0;
  ::close(std::exchange(ends_[1], -1));
  ASSERT_EQ(::recv(ends_[0], &word, 1, 0), 1);
  ::close(std::exchange(ends_[0], -1));
  EXPECT_EQ(code_of(child), kLauncherGoneExitCode);
}

TEST_F(LauncherWatchTest, ItIsNeededWhereTheKernelDoesNotKill) {
  const pid_t child = child_with(ends_, [](int) {
    const bool needed_before = LauncherWatch::is_needed();
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    return (needed_before ? 1 : 0) + (LauncherWatch::is_needed() ? 2 : 0);
  });
  EXPECT_EQ(code_of(child), 1);
}

}  // namespace
}  // namespace pinwire::bootstrap
