// Directories that jobs make in GASNET_TMPDIR: they go with their jobs, whatever ranks do to them,
// and nothing else goes.
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tests/job/launch/launch_fixture.h"
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

/// Root, too, is refused what its modes refuse then.
class WithoutRights : public Directories {
 protected:
  static std::vector<std::string> without_rights(std::vector<std::string> words) {
    if (::geteuid() == 0)
      words.insert(words.begin(), {"setpriv", "--inh-caps=-all", "--bounding-set=-all", "--"});
    return words;
  }
  void SetUp() override {
    const auto probe = run(without_rights({"cat", "/proc/self/status"}));
    if (probe.out.find("CapEff:\t0000000000000000") == std::string::npos)
      GTEST_SKIP() << "rights cannot be given up here: " << probe.err;
  }
  Outcome with_umask(const std::string& mask, int ranks, const std::vector<std::string>& words,
                     const std::vector<std::string>& more = {}) const {
    return run(in_shell("umask " + mask + "; exec \"$@\"", without_rights(command(ranks, words))),
               environment(more));
  }
  const std::string dpdk_client_ = std::getenv("DPDK_CLIENT");
};

TEST_F(WithoutRights, WhatARankClosesGoesWithoutAWord) {
  for (const char* closes :
       {"mkdir -p $GASNET_JOB_DIR/a/b; touch $GASNET_JOB_DIR/a/b/c; chmod 0 $GASNET_JOB_DIR/a",
        "mkdir $GASNET_JOB_DIR/a; chmod 0 $GASNET_JOB_DIR"}) {
    const auto outcome = run(without_rights(command(1, {"sh", "-c", closes})), environment());
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(outcome.err, "");
    EXPECT_EQ(entries(folder_.path(), "").size(), 0U) << closes;
  }
}

TEST_F(WithoutRights, TheUmaskTakesNothingFromTheJob) {
  for (const char* mask : {"0277", "0777"}) {
    const auto outcome = with_umask(mask, 2, {rank_, "gather", "10", "1"});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(outcome.err, "");
  }
}

/// By a pair of sockets, and by the switch's.
TEST_F(WithoutRights, TheUmaskTakesNothingFromRanksThatMeetOverDpdk) {
  if (dpdk_client_.empty()) GTEST_SKIP() << "built without DPDK";
  for (const int ranks : {2, 3}) {
    const auto outcome =
        with_umask("0277", ranks, {dpdk_client_},
                   {kPatience, "GASNET_DRIVER=dpdk", "GASNET_DPDK_HUGEPAGES=never",
                    std::string("GASNET_SWITCH=") + std::getenv("PINWIRE_SWITCH")});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
  }
}

/// The rank's own umask is as its user has set it.
TEST_F(WithoutRights, TheUmaskReachesTheRanks) {
  EXPECT_EQ(with_umask("0277", 1, {"sh", "-c", "umask"}).out, "0277\n");
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
