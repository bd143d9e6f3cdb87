#include "core/base/files/remove_tree.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <string>

#include "tests/support/scratch_dir.h"

namespace pinwire {
namespace {

namespace fs = std::filesystem;

class RemoveTree : public testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(tree_ + "/a/b/c");
    fs::create_directories(precious_);
    std::ofstream(tree_ + "/a/b/file") << "of the job";
    std::ofstream(precious_ + "/thesis") << "of somebody else";
  }
  const test::ScratchDir scratch_;
  const std::string top_ = scratch_.path(), tree_ = top_ + "/tree", precious_ = top_ + "/precious";
};

TEST_F(RemoveTree, AllInItGoesAndWhatIsBesideItStays) {
  EXPECT_TRUE(remove_tree(tree_).ok());
  EXPECT_FALSE(fs::exists(tree_));
  EXPECT_TRUE(fs::exists(precious_ + "/thesis"));
  EXPECT_TRUE(remove_tree(tree_).ok()) << "nothing is there any more";
  EXPECT_TRUE(remove_tree(tree_ + "/a").ok());
}

/// Neither the stack nor the descriptors of a process bound how deep a rank may go.
TEST_F(RemoveTree, NothingIsTooDeep) {
  constexpr int kDepth = 2000;
  const int here = ::open(".", O_PATH);
  ASSERT_EQ(::chdir(tree_.c_str()), 0);
  for (int depth = 0; depth < kDepth; ++depth) {
    ASSERT_EQ(::mkdir("deep-0", 0700), 0);
    std::ofstream{"file"};
    ASSERT_EQ(::chdir("deep-0"), 0);
  }
  ASSERT_EQ(::fchdir(here), 0);
  ::close(here);
  constexpr rlim_t kFew = 100;
  rlimit before{};
  ::getrlimit(RLIMIT_NOFILE, &before);
  const rlimit limit{kFew, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &limit), 0);
  const auto removed = remove_tree(tree_);
  ::setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_TRUE(removed.ok()) << removed.sentence();
  EXPECT_FALSE(fs::exists(tree_));
}

TEST_F(RemoveTree, LinksGoAndWhatTheyPointToStays) {
  fs::create_directory_symlink(precious_, tree_ + "/a/link");
  EXPECT_TRUE(remove_tree(tree_).ok());
  EXPECT_FALSE(fs::exists(tree_));
  EXPECT_TRUE(fs::exists(precious_ + "/thesis"));
  fs::create_directory_symlink(precious_, tree_);
  EXPECT_TRUE(remove_tree(tree_).ok());
  EXPECT_FALSE(fs::is_symlink(tree_));
  EXPECT_TRUE(fs::exists(precious_ + "/thesis"));
}

constexpr uid_t kTreesUser = 770'005;  // a number that no user has
constexpr int kNoRights = 77;

/// The error that a process which has begun by `begin` gets when it removes the tree. Nothing if it
/// may not begin so.
std::optional<std::string> told_after(const std::function<bool()>& begin, const std::string& tree) {
  int ends[2];
  if (::pipe(ends) != 0) return std::nullopt;
  const pid_t child = ::fork();
  if (child == 0) {
    if (!begin()) ::_exit(kNoRights);
    const auto removed = remove_tree(tree);
    const std::string told = removed ? "" : removed.sentence();
    ::_exit(::write(ends[1], told.data(), told.size()) < 0);
  }
  ::close(ends[1]);
  char text[1024];
  const ssize_t got = ::read(ends[0], text, sizeof text);
  ::close(ends[0]);
  int status = -1;
  ::waitpid(child, &status, 0);
  if (WEXITSTATUS(status) == kNoRights) return std::nullopt;
  EXPECT_EQ(status, 0);
  return std::string(text, static_cast<size_t>(std::max(got, ssize_t{0})));
}

bool become_user() { return ::setresuid(kTreesUser, kTreesUser, kTreesUser) == 0; }

TEST_F(RemoveTree, WhatItsUserHasClosedGoes) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can act for another user";
  ASSERT_EQ(::chmod(top_.c_str(), 0777), 0);
  for (const mode_t mode : {0U, 0400U, 0500U, 0300U}) {
    fs::create_directories(tree_ + "/a/b/c");
    std::ofstream(tree_ + "/a/b/file") << "of the job";
    for (const auto& one : {tree_, tree_ + "/a", tree_ + "/a/b", tree_ + "/a/b/c"})
      ASSERT_TRUE(::chown(one.c_str(), kTreesUser, 0) == 0 && ::chmod(one.c_str(), mode) == 0);
    EXPECT_EQ(told_after(become_user, tree_), "") << mode;
    EXPECT_FALSE(fs::exists(tree_)) << mode;
  }
}

TEST_F(RemoveTree, WhatIsAnothersStaysAndIsNamed) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can act for another user";
  ASSERT_EQ(::chmod(top_.c_str(), 0777), 0);
  for (const auto& one : {tree_, tree_ + "/a"}) ASSERT_EQ(::chown(one.c_str(), kTreesUser, 0), 0);
  fs::create_directories(tree_ + "/more");
  ASSERT_EQ(::chown((tree_ + "/more").c_str(), kTreesUser, 0), 0);
  EXPECT_EQ(told_after(become_user, tree_),
            "cannot remove " + tree_ + "/a/b/file: Permission denied");
  EXPECT_TRUE(fs::exists(tree_ + "/a/b/file"));
  EXPECT_FALSE(fs::exists(tree_ + "/more"));
}

/// As deep as they may be, so that they would have to move.
TEST_F(RemoveTree, WhatCannotMoveStaysAndTheRestGoes) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can act for another user";
  ASSERT_EQ(::chmod(top_.c_str(), 0777), 0);
  std::string deep = tree_;
  for (int depth = 0; depth < 40; ++depth) {
    fs::create_directory(deep += "/d");
    ASSERT_EQ(::chown(deep.c_str(), kTreesUser, 0), 0);
    for (const char* const name : {"/mine", "/roots"}) fs::create_directories(deep + name + "/in");
    for (const char* const name : {"/mine", "/mine/in"})
      ASSERT_EQ(::chown((deep + name).c_str(), kTreesUser, 0), 0);
    ASSERT_EQ(::chmod((deep + "/mine").c_str(), 0500), 0);
  }
  fs::remove_all(tree_ + "/a");
  ASSERT_EQ(::chown(tree_.c_str(), kTreesUser, 0), 0);
  const auto told = told_after(become_user, tree_);
  EXPECT_NE(told.value_or("").find("Permission denied"), std::string::npos) << told.value_or("");
  int left = 0;
  for (const auto& one : fs::recursive_directory_iterator(tree_)) {
    EXPECT_NE(one.path().filename(), "mine") << one.path();
    left += one.path().filename() == "roots";
  }
  EXPECT_EQ(left, 40);
}

/// In a mount namespace of its own, where `mount` mounts something. The mount vanishes with the
/// process.
std::function<bool()> in_namespace(const std::function<bool()>& mount) {
  return [mount] {
    return ::unshare(CLONE_NEWNS) == 0 &&
           ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 && mount();
  };
}

TEST_F(RemoveTree, WhatIsMountedBelowItStays) {
  const auto bind = [this](const std::string& place) {
    return ::mount(precious_.c_str(), place.c_str(), nullptr, MS_BIND, nullptr) == 0;
  };
  const auto told = told_after(in_namespace([&] { return bind(tree_ + "/a/b/c"); }), tree_);
  if (!told) GTEST_SKIP() << "no mount namespaces here (they need root)";
  EXPECT_EQ(told, "cannot remove " + tree_ + "/a/b/c: something is mounted there");
  EXPECT_TRUE(fs::exists(precious_ + "/thesis"));
  EXPECT_FALSE(fs::exists(tree_ + "/a/b/file"));
  EXPECT_EQ(told_after(in_namespace([&] { return bind(tree_); }), tree_),
            "cannot remove " + tree_ + ": something is mounted there");
  EXPECT_TRUE(fs::exists(precious_ + "/thesis"));
}

TEST_F(RemoveTree, AllInItGoesWithoutProcToo) {
  const auto told =
      told_after(in_namespace([] { return ::umount2("/proc", MNT_DETACH) == 0; }), tree_);
  if (!told) GTEST_SKIP() << "no mount namespaces here (they need root)";
  EXPECT_EQ(told, "");
  EXPECT_FALSE(fs::exists(tree_));
}

}  // namespace
}  // namespace pinwire
