// Where ranks run: bound or not, inside whatever mask the launcher itself was given.
#include <gtest/gtest.h>
#include <sched.h>

#include "tests/job/launch/launch_fixture.h"

namespace pinwire_test {
namespace {

class Placement : public Launch {
 protected:
  void SetUp() override {
    cpu_set_t mask;
    ASSERT_EQ(sched_getaffinity(0, sizeof mask, &mask), 0);
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
      if (CPU_ISSET(cpu, &mask)) cpus_.push_back(cpu);
    if (run({"taskset", "--version"}).code != 0) GTEST_SKIP() << "no taskset";
  }
  /// Ranks that say which CPUs they may use, from a launcher that may use `cpus`.
  Outcome masks(const std::string& cpus, int ranks, std::vector<std::string> options) const {
    std::vector<std::string> all = {"taskset", "-c", cpus};
    for (const auto& word :
         command(ranks, {"grep", "Cpus_allowed_list", "/proc/self/status"}, options))
      all.push_back(word);
    return run(all, environment({"GASNET_VERBOSEENV=1"}));
  }
  std::vector<int> cpus_;
};

TEST_F(Placement, RanksInheritTheMaskWithoutBind) {
  const auto last = std::to_string(cpus_.back());
  const auto outcome = masks(last, 2, {});
  EXPECT_EQ(outcome.out, "Cpus_allowed_list:\t" + last + "\nCpus_allowed_list:\t" + last + "\n");
}

TEST_F(Placement, BindStaysInsideTheMaskAndSaysWhatItDid) {
  const auto last = std::to_string(cpus_.back());
  const auto outcome = masks(last, 1, {"--bind"});
  EXPECT_EQ(outcome.out, "Cpus_allowed_list:\t" + last + "\n") << outcome.err;
  EXPECT_NE(outcome.err.find("rank 0 is bound to CPUs " + last + " of NUMA node"),
            std::string::npos)
      << outcome.err;
}

TEST_F(Placement, BoundRanksShareNoCpu) {
  if (cpus_.size() < 2) GTEST_SKIP() << "one core only";
  const auto two = std::to_string(cpus_[0]) + "," + std::to_string(cpus_[1]);
  const auto outcome = masks(two, 2, {"--bind"});
  EXPECT_EQ(sorted_lines(outcome.out),
            sorted_lines("Cpus_allowed_list:\t" + std::to_string(cpus_[0]) +
                         "\nCpus_allowed_list:\t" + std::to_string(cpus_[1]) + "\n"))
      << outcome.err;
}

TEST_F(Placement, RanksThatDoNotFitIntoTheMaskGetASentence) {
  const auto outcome = masks(std::to_string(cpus_[0]), 2, {"--bind"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_NE(outcome.err.find("2 ranks with 1 cores each do not fit on the 1 cores"),
            std::string::npos)
      << outcome.err;
}

TEST_F(Placement, ARankSaysWhereItMayRun) {
  const auto first = std::to_string(cpus_[0]);
  std::vector<std::string> words = {"taskset", "-c", first};
  for (const auto& word : command(2, {std::getenv("ENVIRONMENT_SEQ"), "facts"}))
    words.push_back(word);
  const auto outcome = run(words, environment({"GASNET_VERBOSEENV=1", "GASNET_DRIVER=shm"}));
  EXPECT_EQ(count_of(outcome.err, "may run on CPUs " + first + " of NUMA node "), 2) << outcome.err;
  EXPECT_EQ(count_of(outcome.err, ": fewer than the ranks that share them, which yield instead"), 2)
      << outcome.err;
}

/// Neither EAL nor anything else moves the client: not even where the launcher knows nothing of it.
TEST_F(Placement, ADriversStartLeavesTheMaskAlone) {
  if (std::string(std::getenv("DPDK_BUILT")) != "yes") GTEST_SKIP() << "this build has no DPDK";
  const auto last = std::to_string(cpus_.back());
  const auto outcome =
      run(command(2, {"taskset", "-c", last, std::getenv("ENVIRONMENT_SEQ"), "masks"}),
          environment({"GASNET_DRIVER=dpdk"}));
  EXPECT_EQ(count_of(outcome.out, "before " + last + ", after " + last + "\n"), 2)
      << outcome.out << outcome.err;
}

/// For their private threads, which unit/dpdk shows.
TEST_F(Placement, BoundRanksAreToldWhichCpusAreFree) {
  if (cpus_.size() < 2) GTEST_SKIP() << "one core only";
  const auto mine = std::to_string(cpus_[0]), free = std::to_string(cpus_[1]);
  std::vector<std::string> words = {"taskset", "-c", mine + "," + free};
  for (const auto& word : command(1, {std::getenv("ENVIRONMENT_SEQ"), "masks"}, {"--bind"}))
    words.push_back(word);
  const auto outcome = run(words, environment({"GASNET_VERBOSEENV=1"}));
  EXPECT_NE(outcome.err.find("GASNET_JOB_FREE_CPUS = " + free), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("may run on CPUs " + mine + " of NUMA node "), std::string::npos)
      << outcome.err;
}

/// One core for each of two ranks is enough for both.
TEST_F(Placement, BoundRanksSpin) {
  if (cpus_.size() < 2) GTEST_SKIP() << "one core only";
  const auto outcome = run(command(2, {std::getenv("ENVIRONMENT_SEQ"), "facts"}, {"--bind"}),
                           environment({"GASNET_VERBOSEENV=1", "GASNET_DRIVER=shm"}));
  EXPECT_EQ(count_of(outcome.err, "may run on CPUs "), 2) << outcome.err;
  EXPECT_EQ(outcome.err.find("fewer than the ranks"), std::string::npos) << outcome.err;
}

}  // namespace
}  // namespace pinwire_test
