#include "core/base/remove_tree.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>

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
  remove_tree(tree_);
  EXPECT_FALSE(fs::exists(tree_));
  EXPECT_TRUE(fs::exists(precious_ + "/thesis"));
  remove_tree(tree_);  // nothing is there any more
}

TEST_F(RemoveTree, LinksGoAndWhatTheyPointToStays) {
  fs::create_directory_symlink(precious_, tree_ + "/a/link");
  remove_tree(tree_);
  EXPECT_FALSE(fs::exists(tree_));
  EXPECT_TRUE(fs::exists(precious_ + "/thesis"));
  fs::create_directory_symlink(precious_, tree_);
  remove_tree(tree_);
  EXPECT_FALSE(fs::is_symlink(tree_));
  EXPECT_TRUE(fs::exists(precious_ + "/thesis"));
}

constexpr int kNoNamespace = 77;

/// In a mount namespace of its own: `mount` mounts something; then the tree is removed. What is
/// mounted vanishes with the process. Returns its exit code.
int remove_with(const std::function<bool()>& mount, const std::string& tree) {
  if (::unshare(CLONE_NEWNS) != 0 ||
      ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 || !mount())
    return kNoNamespace;
  remove_tree(tree);
  return 0;
}

int code_of(const std::function<bool()>& mount, const std::string& tree) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(remove_with(mount, tree));
  int status = -1;
  ::waitpid(child, &status, 0);
  return WEXITSTATUS(status);
}

TEST_F(RemoveTree, WhatIsMountedBelowItStays) {
  const auto bind = [this](const std::string& place) {
    return ::mount(precious_.c_str(), place.c_str(), nullptr, MS_BIND, nullptr) == 0;
  };
  const int code = code_of([&] { return bind(tree_ + "/a/b/c"); }, tree_);
  if (code == kNoNamespace) GTEST_SKIP() << "no mount namespaces here (they need root)";
  ASSERT_EQ(code, 0);
  EXPECT_TRUE(fs::exists(precious_ + "/thesis"));
  EXPECT_FALSE(fs::exists(tree_ + "/a/b/file"));
  ASSERT_EQ(code_of([&] { return bind(tree_); }, tree_), 0);
  EXPECT_TRUE(fs::exists(precious_ + "/thesis"));
}

TEST_F(RemoveTree, AllInItGoesWithoutProcToo) {
  const auto no_proc = [] { return ::umount2("/proc", MNT_DETACH) == 0; };
  const int code = code_of(no_proc, tree_);
  if (code == kNoNamespace) GTEST_SKIP() << "no mount namespaces here (they need root)";
  ASSERT_EQ(code, 0);
  EXPECT_FALSE(fs::exists(tree_));
}

}  // namespace
}  // namespace pinwire
