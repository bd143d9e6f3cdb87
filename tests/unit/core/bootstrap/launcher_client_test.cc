// Which sockets a rank takes for the launcher's.
#include "core/bootstrap/launcher_client.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

namespace pinwire {
namespace {

constexpr uid_t kStranger = 770'001, kRank = 770'002;  // numbers that no user has

/// The rank's end of a pair whose other end is closed.
int rank_end(int type) {
  int ends[2];
  EXPECT_EQ(::socketpair(AF_UNIX, type, 0, ends), 0);
  ::close(ends[0]);
  return ends[1];
}

std::string refusal(int fd) {
  const auto made = make_launcher_bootstrap(std::to_string(fd).c_str());
  return made ? "" : made.sentence();
}

TEST(LauncherClient, AsksAtASocketOfItsOwnUser) {
  const std::string said = refusal(rank_end(SOCK_SEQPACKET));
  EXPECT_NE(said.find("the launcher (gasnetrun_pinwire) is gone"), std::string::npos) << said;
}

TEST(LauncherClient, TakesNothingElseForTheLaunchers) {
  EXPECT_NE(refusal(rank_end(SOCK_STREAM)).find("names no socket"), std::string::npos);
  EXPECT_NE(refusal(999'999).find("names no socket"), std::string::npos);
  EXPECT_NE(make_launcher_bootstrap("7x").sentence().find("names no socket"), std::string::npos);
}

/// The exit code of a child that acts for user kRank and is given `fd`: 1 if it refuses that as
/// another user's.
int code_of_rank(int fd) {
  const pid_t child = ::fork();
  if (child == 0) {
    if (::setresuid(kRank, kRank, kRank) != 0) ::_exit(2);
    ::_exit(refusal(fd).find("another user's") != std::string::npos);
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(LauncherClient, RefusesAnotherUsersSocketButNotRoots) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root, to act as two users";
  ASSERT_EQ(::seteuid(kStranger), 0);
  const int strangers = rank_end(SOCK_SEQPACKET);
  ASSERT_EQ(::seteuid(0), 0);
  EXPECT_EQ(code_of_rank(strangers), 1);
  EXPECT_EQ(code_of_rank(rank_end(SOCK_SEQPACKET)), 0) << "root's";
  ASSERT_EQ(::seteuid(kRank), 0);
  const int own = rank_end(SOCK_SEQPACKET);
  ASSERT_EQ(::seteuid(0), 0);
  EXPECT_EQ(code_of_rank(own), 0);
  ::close(strangers);
  ::close(own);
}

}  // namespace
}  // namespace pinwire
