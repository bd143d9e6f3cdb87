// A launcher reads what its ranks have left, whatever that is.
#include "core/launch/job/again.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "core/launch/loop/signals.h"
#include "tests/support/scratch_dir.h"

namespace pinwire::launch {
namespace {

class Again : public testing::Test {
 protected:
  void leave(const std::string& text) const { std::ofstream(path_) << text; }
  const test::ScratchDir scratch_;
  const std::string path_ = again_path(scratch_.path());
};

TEST_F(Again, AssignmentsEndWithNul) {
  using std::string_literals::operator""s;
  leave("A=1\0B=2 3\n\0=none\0none\0C=\0D=cut"s);
  EXPECT_EQ(read_again(path_), (std::vector<std::string>{"A=1", "B=2 3\n", "C="}));
}

TEST_F(Again, NothingThereAsksForNothing) {
  EXPECT_TRUE(read_again(path_).empty());
  leave("");
  EXPECT_TRUE(read_again(path_).empty());
}

/// It would be waited for, or read for ever.
TEST_F(Again, WhatIsNoFileAsksForNothing) {
  ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
  EXPECT_TRUE(read_again(path_).empty());
  std::filesystem::remove(path_);
  std::filesystem::create_symlink("/dev/zero", path_);
  EXPECT_TRUE(read_again(path_).empty());
  std::filesystem::remove(path_);
  std::filesystem::create_directory(path_);
  EXPECT_TRUE(read_again(path_).empty());
}

/// The file system may not answer. The signal is there before, as it cannot be made to wait here.
TEST_F(Again, ASignalEndsALauncherThatReads) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::signal(SIGTERM, SIG_DFL);
    block_signals();
    ::raise(SIGTERM);
    read_again(path_);
    ::_exit(0);
  }
  int wait_status = 0;
  ASSERT_EQ(::waitpid(child, &wait_status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(wait_status) && WTERMSIG(wait_status) == SIGTERM) << wait_status;
}

TEST_F(Again, TooMuchAsksForNothing) {
  std::string many;
  for (int i = 0; i < 100'000; ++i) many.append("A=1").push_back('\0');
  leave(many);
  EXPECT_TRUE(read_again(path_).empty());
}

}  // namespace
}  // namespace pinwire::launch
