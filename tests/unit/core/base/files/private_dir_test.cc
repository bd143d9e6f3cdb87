#include "core/base/files/private_dir.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tests/support/scratch_dir.h"

namespace pinwire {
namespace {

namespace fs = std::filesystem;

constexpr uid_t kStranger = 770'001, kVictim = 770'002;  // numbers that no user has

class PrivateDir : public testing::Test {
 protected:
  void SetUp() override { make(own_, 0700); }
  static void make(const std::string& path, mode_t mode) {
    ::mkdir(path.c_str(), 0700);
    ASSERT_EQ(::chmod(path.c_str(), mode), 0) << path;
  }
  static std::string refusal(const std::string& path) {
    const auto resolved = resolve_private_dir(path);
    return resolved ? "" : resolved.sentence();
  }
  static void expect_refusal(const std::string& path, const std::string& words) {
    EXPECT_NE(refusal(path).find(words), std::string::npos) << path << ": " << refusal(path);
  }
  const test::ScratchDir scratch_;
  const std::string top_ = scratch_.path(), own_ = top_ + "/own";
};

TEST_F(PrivateDir, OnesOwnIsTaken) {
  for (const mode_t mode : {0700U, 0755U, 0500U}) {
    make(own_, mode);
    EXPECT_EQ(refusal(own_), "") << std::oct << mode;
  }
  EXPECT_EQ(*resolve_private_dir(own_ + "//"), own_);
}

TEST_F(PrivateDir, OneToWhichOthersMayWriteIsRefused) {
  for (const mode_t mode : {0770U, 0707U, 0777U, 01777U, 0720U, 0702U}) {
    make(own_, mode);
    expect_refusal(own_, "others may write to " + own_);
  }
  make(own_, 0700);
  expect_refusal("/tmp", ::geteuid() == 0 ? "others may write" : "belongs to user 0");
}

TEST_F(PrivateDir, OthersMayWriteAboveOnlyWhereTheStickyBitKeepsThemFromRenaming) {
  make(own_ + "/inner", 0700);
  make(own_, 01777);
  EXPECT_EQ(refusal(own_ + "/inner"), "");
  for (const mode_t mode : {0777U, 0770U, 0707U}) {
    make(own_, mode);
    expect_refusal(own_ + "/inner", "others may replace what is in " + own_);
  }
}

TEST_F(PrivateDir, LinksAreRefusedAndThoseOnTheWayAreResolved) {
  fs::create_directory_symlink(own_, top_ + "/link");
  expect_refusal(top_ + "/link", "symbolic link");
  expect_refusal(top_ + "/link/", "symbolic link");
  make(own_ + "/inner", 0700);
  auto resolved = resolve_private_dir(top_ + "/link/inner");
  ASSERT_TRUE(resolved.ok()) << resolved.sentence();
  EXPECT_EQ(*resolved, own_ + "/inner");
}

TEST_F(PrivateDir, WhatIsNoDirectoryIsRefused) {
  std::ofstream(own_ + "/file") << "a file";
  expect_refusal(own_ + "/file", "no directory");
  expect_refusal(own_ + "/nothing", "No such file");
  expect_refusal("", "No such file");
}

TEST_F(PrivateDir, AnotherUsersIsRefusedAndSoIsWhatLiesInIt) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root, to make another user's directory";
  make(own_ + "/inner", 0700);
  ASSERT_EQ(::chown(own_.c_str(), kStranger, kStranger), 0);
  expect_refusal(own_, "belongs to user 770001");
  expect_refusal(own_ + "/inner", "user 770001, to whom");
}

/// A child that acts for user kVictim asks.
bool victim_is_refused(const std::string& path) {
  const pid_t child = ::fork();
  if (child == 0)
    ::_exit(::setresuid(kVictim, kVictim, kVictim) != 0 ? 2 : !resolve_private_dir(path));
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) < 2) << status;
  return status != 0;
}

TEST_F(PrivateDir, AnOrdinaryUsersMayLieBelowRootsButIsHerOwn) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root, to become another user";
  ASSERT_EQ(::chmod(top_.c_str(), 0755), 0);
  EXPECT_TRUE(victim_is_refused(own_)) << "root's";
  ASSERT_EQ(::chown(own_.c_str(), kVictim, kVictim), 0);
  EXPECT_FALSE(victim_is_refused(own_));
  ASSERT_EQ(::chown(own_.c_str(), kStranger, kStranger), 0);
  EXPECT_TRUE(victim_is_refused(own_));
}

}  // namespace
}  // namespace pinwire
