// The same ranks under other people's launchers, through PMIx.
#include <signal.h>

#include <filesystem>
#include <fstream>

#include "tests/job/launch/mpirun_fixture.h"

namespace pinwire_test {
namespace {

TEST_F(Mpirun, BarriersHold) {
  const auto outcome = mpirun(3, {rank_, "barriers", "3"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("in order"), std::string::npos);
}

TEST_F(Mpirun, GathersAndBarriers) {
  const auto outcome = mpirun(4, {rank_, "gather", "1000", "5"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(sorted_lines(outcome.out),
            (std::vector<std::string>{"pmix rank 0 of 4 key yes", "pmix rank 1 of 4 key yes",
                                      "pmix rank 2 of 4 key yes", "pmix rank 3 of 4 key yes"}));
}

TEST_F(Mpirun, GathersMoreThanAChunk) {
  EXPECT_EQ(mpirun(3, {rank_, "gather", "200000", "2"}).code, 0);
}

TEST_F(Mpirun, RanksShareAKey) {
  const auto keys = sorted_lines(mpirun(3, {rank_, "keys"}).out);
  ASSERT_EQ(keys.size(), 3U);
  EXPECT_EQ(keys[0], keys[2]);
}

TEST_F(Mpirun, ACollectiveExitIsOrderly) {
  const auto outcome = mpirun(3, {rank_, "all-leave", "0"});
  EXPECT_TRUE(outcome.code == 1 || outcome.code == 2) << "rank 1's or rank 2's (C1-101)";
  EXPECT_EQ(count_of(outcome.err, "without calling \"finalize\""), 0) << outcome.err;
}

TEST_F(Mpirun, ARankMayLeaveMpiToTheExit) {
  const auto outcome = mpirun(2, {rank_, "beside-mpi"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(count_of(outcome.err, "exiting improperly"), 0) << outcome.err;
}

TEST_F(Mpirun, C1_099_OneRankThatLeavesEndsTheJob) {
  for (const char* code : {"0", "7"}) {
    const auto outcome = mpirun(3, {rank_, "one", "1", "leave", code}, "GASNET_EXITTIMEOUT=1");
    EXPECT_EQ(outcome.code, std::atoi(code)) << outcome.err;
  }
}

TEST_F(Mpirun, C1_105_ACrashEndsTheJob) {
  const auto outcome = mpirun(3, {rank_, "one", "1", "kill"});
  EXPECT_EQ(outcome.code, 128 + SIGKILL) << outcome.err;
  EXPECT_EQ(count_of(outcome.err, "is gone"), 0) << "a rank is not the launcher: " << outcome.err;
}

/// mpirun has no time to end them, and PMIx alone would let them compute on.
TEST_F(Mpirun, RanksEndWhenItIsKilled) {
  Folder said;
  const auto words =
      std::vector<std::string>{"mpirun",
                               "--allow-run-as-root",
                               "--oversubscribe",
                               "-n",
                               "2",
                               "sh",
                               "-c",
                               "exec \"$0\" one 5 kill 2>> " + said.path() + "/words",
                               rank_};  // there is no rank 5
  Running job(words, environment({"TMPDIR=" + folder_.path()}));
  ASSERT_TRUE(job.wait_for("ready", 2)) << job.err();
  ::kill(job.process(), SIGKILL);
  EXPECT_TRUE(gone(mark_, kGoneSeconds));
  std::ifstream file(said.path() + "/words");
  const std::string text(std::istreambuf_iterator<char>(file), {});
  EXPECT_EQ(count_of(text, "the PMIx server (mpirun, srun) is gone: this rank ends\n"), 2) << text;
  for (const auto& left : entries(folder_.path(), ""))  // mpirun's own
    std::filesystem::remove_all(folder_.path() + "/" + left);
}

}  // namespace
}  // namespace pinwire_test
