// Standard output that is a terminal, of another user or without one that reads it.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/job/launch/launch_fixture.h"
#include "tests/job/launch/ordinary_user.h"

namespace pinwire_test {
namespace {

/// Jobs that inherit an end of a pseudo-terminal as kFd.
class Terminal : public Launch {
 protected:
  static constexpr int kFd = 9;  // what a shell may name
  void SetUp() override {
    screen_ = ::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (screen_ < 0 || ::grantpt(screen_) != 0 || ::unlockpt(screen_) != 0)
      GTEST_SKIP() << "no pseudo-terminals here";
    terminal_ = ::open(::ptsname(screen_), O_RDWR | O_NOCTTY | O_CLOEXEC);
    ASSERT_GE(terminal_, 0);
  }
  void TearDown() override {
    for (const int fd : {screen_, terminal_, kFd}) ::close(fd);
    Launch::TearDown();
  }
  std::vector<std::string> with_output_to(int end, const std::vector<std::string>& job) const {
    EXPECT_EQ(::dup2(end, kFd), kFd);
    return in_shell("exec \"$@\" >&" + std::to_string(kFd) + " " + std::to_string(kFd) + ">&-",
                    job);
  }
  int screen_ = -1, terminal_ = -1;
};

TEST_F(Terminal, TheMasterAsStandardOutputGetsTheOutput) {
  const auto outcome =
      run(with_output_to(screen_, command(2, {"sh", "-c", "echo line"})), environment());
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  ::fcntl(terminal_, F_SETFL, O_NONBLOCK);
  std::string all;
  char text[100];
  for (ssize_t got; (got = ::read(terminal_, text, sizeof text)) > 0;)
    all.append(text, static_cast<size_t>(got));
  EXPECT_EQ(all, "line\nline\n");
}

/// As after su(1): the launcher may write to the terminal, and not open it.
class TerminalOfAnother : public Terminal {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can be two users";
    Terminal::SetUp();
    if (IsSkipped()) return;
    ASSERT_EQ(::fchmod(terminal_, 0600), 0);
    ASSERT_EQ(::chmod(folder_.path().c_str(), 01777), 0);
    const auto probe = run(as_user(command(1, {"true"})), environment());
    if (probe.code != 0) GTEST_SKIP() << "another user cannot run the launcher: " << probe.err;
  }
  /// Once its rank has written all that anybody takes.
  static void wait_until_stuck(int rank) {
    std::string before;
    for (std::string now = words_of(rank, "io"); now != before; now = words_of(rank, "io")) {
      before = now;
      ::usleep(500'000);
    }
    EXPECT_TRUE(comes_into_state(rank, 'S'));
  }
  /// `meanwhile` is done while it waits for room.
  template <typename Meanwhile>
  void expect_that_a_signal_ends_it(Meanwhile&& meanwhile) {
    const auto job = command(1, {"sh", "-c", "echo $$ >&2; read line; exec yes"});
    Running one(as_user(with_output_to(terminal_, job)), environment({"GASNET_EXITTIMEOUT=0.5"}));
    ASSERT_TRUE(one.wait_for_error("\n", 1)) << one.err();
    const int rank = std::atoi(one.err().c_str());
    ASSERT_GT(rank, 1) << one.err();
    one.tell("go\n");
    pollfd screen{screen_, POLLIN, 0};
    ASSERT_EQ(::poll(&screen, 1, 60'000), 1) << one.err();
    wait_until_stuck(rank);
    meanwhile();
    ::kill(one.process(), SIGTERM);
    EXPECT_EQ(one.wait(kGoneSeconds).code, 128 + SIGTERM) << one.err();
  }
  /// Reads until nothing has come for a while.
  void read_screen() const {
    char text[1024];
    for (pollfd one{screen_, POLLIN, 0}; ::poll(&one, 1, 1000) > 0;)
      ASSERT_GT(::read(screen_, text, sizeof text), 0);
  }
};

TEST_F(TerminalOfAnother, OneThatNobodyReadsHoldsNoLauncher) {
  expect_that_a_signal_ends_it([] {});
}

/// It has room, and takes nothing.
TEST_F(TerminalOfAnother, OneThatIsStoppedHoldsNoLauncher) {
  expect_that_a_signal_ends_it([this] {
    constexpr char kCtrlS = 'S' & 0x1f;
    ASSERT_EQ(::write(screen_, &kCtrlS, 1), 1);
    read_screen();
  });
}

/// It is written to by parts, none of which is lost.
TEST_F(TerminalOfAnother, ASlowReaderGetsAll) {
  constexpr int kLines = 20'000;
  const auto counts =
      "i=0; while [ $i -lt " + std::to_string(kLines) + " ]; do echo line $i; i=$((i+1)); done";
  Running one(as_user(with_output_to(terminal_, command(1, {"sh", "-c", counts}))), environment());
  ::close(terminal_);
  ::close(kFd);
  terminal_ = -1;
  std::string all;
  char text[3000];
  for (ssize_t got; (got = ::read(screen_, text, sizeof text)) > 0; ::usleep(500))
    all.append(text, static_cast<size_t>(got));
  EXPECT_EQ(one.wait(kGoneSeconds).code, 0) << one.err();
  std::string expected;
  for (int i = 0; i < kLines; ++i) expected += "line " + std::to_string(i) + "\r\n";
  EXPECT_TRUE(all == expected) << all.size() << " bytes, not " << expected.size();
}

}  // namespace
}  // namespace pinwire_test
