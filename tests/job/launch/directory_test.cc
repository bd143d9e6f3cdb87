// Directories that jobs make in GASNET_TMPDIR: they go with their jobs, whatever ranks do to them,
// and nothing else goes.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tests/job/launch/launch_fixture.h"
#include "tests/job/launch/ordinary_user.h"
#include "tests/support/left_dir.h"

namespace pinwire_test {
namespace {

class Directories : public Launch {
 protected:
  /// The only one that is kept, and none.
  std::string kept() const {
    const auto names = entries(folder_.path(), "pinwire-kept-");
    EXPECT_EQ(names.size(), 1U);
    return names.empty() ? "" : folder_.path() + "/" + names[0];
  }
};

TEST_F(Directories, AUsersOwnStaysWhateverItsName) {
  for (const char* name : {"/pinwire-job-output", "/pinwire-job-outputoutput",
                           "/pinwire-eal-output", "/pinwire-ranks-output", "/pinwire-new-output"})
    ASSERT_EQ(::mkdir((folder_.path() + name).c_str(), 0700), 0);
  std::ofstream(folder_.path() + "/pinwire-job-output/thesis") << "of its user";
  EXPECT_EQ(launch(1, {"true"}).code, 0);
  EXPECT_EQ(entries(folder_.path(), "").size(), 5U);
  EXPECT_TRUE(std::filesystem::exists(folder_.path() + "/pinwire-job-output/thesis"));
  for (const auto& one : entries(folder_.path(), ""))
    std::filesystem::remove_all(folder_.path() + "/" + one);
}

TEST_F(Directories, WhatAKilledJobLeftGoesWithTheNext) {
  pinwire::test::leave_dir(folder_.path(), pinwire::kJobDirStart);
  const auto left = pinwire::test::leave_dir(folder_.path(), pinwire::kKeepDirStart);
  std::ofstream(left + "/file") << "something";
  EXPECT_EQ(launch(1, {"true"}).code, 0);
  const auto one = kept();
  EXPECT_TRUE(std::filesystem::exists(one + "/file"));
  std::filesystem::remove_all(one);
}

/// A rank may do with the mode of the directory as it likes.
TEST_F(Directories, KeptFilesStayForTheirUserAndItIsSaidWhere) {
  const auto outcome = launch(
      1, {"sh", "-c", "echo mine > $GASNET_JOB_DIR/file; chmod 0700 $GASNET_JOB_DIR"}, {"-k"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(launch(1, {"true"}).code, 0);
  const auto one = kept();
  EXPECT_EQ(count_of(outcome.err, "the job's directory is kept as " + one + " on host "), 1)
      << outcome.err;
  EXPECT_EQ(entries(one, ""), std::vector<std::string>{"file"});
  std::filesystem::remove_all(one);
}

TEST_F(Directories, NothingIsKeptWhereThereIsNothing) {
  for (const auto& options :
       {std::vector<std::string>{"-k", "-t"}, std::vector<std::string>{"-k"}}) {
    const auto outcome = launch(1, {"true"}, options);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(count_of(outcome.err, "-k keeps nothing"), 1) << outcome.err;
    EXPECT_EQ(entries(folder_.path(), "").size(), 0U);
  }
}

class OfAUser : public Directories {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can act for another user";
    ASSERT_EQ(::chmod(folder_.path().c_str(), 01777), 0);
    const auto probe = run(as_user(command(1, {"true"})), environment());
    if (probe.code != 0) GTEST_SKIP() << "another user cannot run the launcher: " << probe.err;
  }
};

TEST_F(OfAUser, WhatARankClosesGoesWithoutAWord) {
  for (const char* closes :
       {"mkdir -p $GASNET_JOB_DIR/a/b; touch $GASNET_JOB_DIR/a/b/c; chmod 0 $GASNET_JOB_DIR/a",
        "mkdir $GASNET_JOB_DIR/a; chmod 0 $GASNET_JOB_DIR"}) {
    const auto outcome = run(as_user(command(1, {"sh", "-c", closes})), environment());
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(outcome.err, "");
    EXPECT_EQ(entries(folder_.path(), "").size(), 0U) << closes;
  }
}

TEST_F(OfAUser, TheUmaskTakesNothingFromTheJob) {
  for (const char* mask : {"umask 0277; exec \"$@\"", "umask 0777; exec \"$@\""}) {
    const auto outcome =
        run(in_shell(mask, as_user(command(2, {rank_, "gather", "10", "1"}))), environment());
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(outcome.err, "");
  }
}

/// A mate who may write there could have the launcher remove what is not its own.
TEST_F(Directories, ATemporaryDirectoryWhereOthersMayGiveNamesIsRefused) {
  const auto left = pinwire::test::leave_dir(folder_.path(), pinwire::kJobDirStart);
  ASSERT_EQ(::chmod(folder_.path().c_str(), 0777), 0);
  const auto outcome = launch(1, {"true"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_NE(outcome.err.find("others may replace what is in " + folder_.path()), std::string::npos)
      << outcome.err;
  EXPECT_TRUE(std::filesystem::remove(left));
}

TEST_F(Directories, WhatARankMountsInTheJobsDirectoryStaysAndIsNamed) {
  Folder precious;
  std::ofstream(precious.path() + "/thesis") << "of somebody else";
  const auto job = command(1, {"sh", "-c",
                               "mkdir $GASNET_JOB_DIR/m && mount --bind " + precious.path() +
                                   " $GASNET_JOB_DIR/m && echo mounted"});
  auto words = in_shell("mount --make-rprivate / && exec \"$@\"", job);
  words.insert(words.begin(), {"unshare", "-m"});
  const auto outcome = run(words, environment());
  if (outcome.out != "mounted\n") GTEST_SKIP() << "nothing can be mounted here: " << outcome.err;
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(entries(precious.path(), ""), std::vector<std::string>{"thesis"});
  EXPECT_EQ(count_of(outcome.err, "/m: something is mounted there"), 1) << outcome.err;
  // The mount is gone with its namespace; the directory below it stayed for its sake.
  for (const auto& left : entries(folder_.path(), "pinwire-job-"))
    std::filesystem::remove_all(folder_.path() + "/" + left);
}

}  // namespace
}  // namespace pinwire_test
