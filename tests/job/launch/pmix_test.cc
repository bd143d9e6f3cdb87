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

/// The nearest launcher's word counts, whoever is whose child.
TEST_F(Mpirun, AJobInsideOfAJobIsItsOwn) {
  const auto inside = [this](std::vector<std::string> words) {
    words.insert(words.end(), {rank_, "gather", "10", "1"});
    return words;
  };
  const std::vector<std::string> by_mpirun = {"mpirun", "--allow-run-as-root", "--oversubscribe",
                                              "-n", "2"};
  const std::string pattern = "MPIRUN_CMD=mpirun --allow-run-as-root --oversubscribe -np %N %C";
  const std::vector<std::string> more = {kPatience, "TMPDIR=" + folder_.path(), pattern};
  const std::vector<std::string> of_pmix = {"pmix rank 0 of 2 key yes", "pmix rank 1 of 2 key yes"};
  const std::vector<std::string> by_launcher = {"launcher rank 0 of 2 key yes",
                                                "launcher rank 1 of 2 key yes"};
  const std::vector<std::string> launcher = {std::getenv("GASNETRUN"), "-n", "2"};
  const std::vector<std::string> spawner = {std::getenv("GASNETRUN"), "-spawner=mpi", "-n", "2"};
  for (const auto& inner : {by_mpirun, spawner}) {
    const auto outcome = launch(1, inside(inner), {}, more);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(sorted_lines(outcome.out), of_pmix) << outcome.err;
  }
  const auto other_way = mpirun(1, inside(launcher), more);
  EXPECT_EQ(other_way.code, 0) << other_way.err;
  EXPECT_EQ(sorted_lines(other_way.out), by_launcher) << other_way.err;
  const auto behind_shell = mpirun(
      1,
      {launcher[0], "-n", "2", "sh", "-c", "env \"$@\"; exit $?", "sh", rank_, "gather", "10", "1"},
      more);
  EXPECT_EQ(behind_shell.code, 0) << behind_shell.err;
  EXPECT_EQ(sorted_lines(behind_shell.out), by_launcher) << behind_shell.err;
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
