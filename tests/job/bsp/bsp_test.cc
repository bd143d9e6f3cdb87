// A rank that only computes is alive for ever, over every driver; one that is stopped, or that no
// frame reaches, ends the job with a sentence where the network could be the cause. Times are a few
// GASNET_PEER_TIMEOUTs, which scripts/long-compute makes minutes.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "tests/job/launch/launch_fixture.h"

namespace pinwire_test {
namespace {

constexpr const char* kTimeout = "GASNET_PEER_TIMEOUT=2";
constexpr const char* kSilent = "did not answer rank 0 for ";

struct Way {
  const char* name;
  std::vector<std::string> options, environment;
  int ranks = 2;
};
void PrintTo(const Way& way, std::ostream* out) { *out << way.name; }

std::vector<Way> all_ways() {
  std::vector<Way> ways = {{"shm", {}, {"GASNET_DRIVER=shm"}}};
  if (std::getenv("BSP_DPDK") == nullptr) return ways;
  ways.push_back({"pair", {}, {"GASNET_DRIVER=dpdk"}});
  ways.push_back({"switch", {}, {"GASNET_DRIVER=dpdk"}, 3});
  ways.push_back({"af_packet", {"-spawner=netns"}, {"GASNET_DRIVER=dpdk"}});
  ways.push_back({"thread", {}, {"GASNET_DRIVER=dpdk", "GASNET_DISPATCH=thread"}, 3});
  ways.push_back({"interrupt", {}, {"GASNET_DRIVER=dpdk", "GASNET_DISPATCH=interrupt"}, 3});
  return ways;
}

class Bsp : public Launch {
 protected:
  bool has(const Way& way) const {
    if (way.options.empty()) return true;
    return ::geteuid() == 0 && launch(1, {"true"}, way.options).code == 0;
  }
  std::vector<std::string> words(std::vector<std::string> arguments, const char* mode) const {
    arguments.insert(arguments.begin(), std::getenv((std::string("BSP_") + mode).c_str()));
    return arguments;
  }
  std::vector<std::string> environment_of(const Way& way) const {
    std::vector<std::string> all = way.environment;
    all.insert(all.end(), {kTimeout, kPatience, "GASNET_DPDK_HUGEPAGES=never"});
    return all;
  }
  void expect_end(const Way& way, std::vector<std::string> arguments, const char* mode) const {
    const auto outcome =
        launch(way.ranks, words(std::move(arguments), mode), way.options, environment_of(way));
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(count_of(outcome.out, "ok with "), 1) << outcome.err;
  }
  /// A process of this job in whose environment `assignment` is, or whose program has the name.
  int process_with(const std::string& assignment, const std::string& program) const {
    const auto others = processes_with(assignment);
    for (const int process : processes_with(mark_)) {
      std::string name;
      std::getline(std::ifstream("/proc/" + std::to_string(process) + "/comm"), name);
      const bool is_rank = std::find(others.begin(), others.end(), process) != others.end();
      if (program.empty() ? is_rank : name == program.substr(0, 15)) return process;
    }
    return -1;
  }
  int rank_1() const { return process_with("GASNET_JOB_RANK=1", ""); }
};

class BspOver : public Bsp, public testing::WithParamInterface<Way> {
 protected:
  void SetUp() override {
    if (!has(GetParam())) GTEST_SKIP() << "no network namespaces here";
  }
};

/// R1, R2: all compute for three timeouts, and then rank 0 is a little early.
TEST_P(BspOver, R1_AllCompute) {
  for (const char* mode : {"SEQ", "PAR"}) expect_end(GetParam(), {"6", "0.05"}, mode);
}

/// R3: the same with something unanswered meanwhile.
TEST_P(BspOver, R3_AllComputeWithSomethingUnderWay) {
  expect_end(GetParam(), {"6", "0.5", "under_way"}, "PARSYNC");
}

/// R21: one computes for three timeouts, and the other waits for it, polling.
TEST_P(BspOver, R21_OneComputesWhileAnotherWaits) {
  for (const char* mode : {"SEQ", "PAR"}) expect_end(GetParam(), {"0", "6"}, mode);
}

INSTANTIATE_TEST_SUITE_P(Ways, BspOver, testing::ValuesIn(all_ways()),
                         [](const auto& one) { return std::string(one.param.name); });

class Silence : public Bsp {
 protected:
  void SetUp() override {
    if (std::getenv("BSP_DPDK") == nullptr) GTEST_SKIP() << "no DPDK here";
  }
  /// Rank 0 waits while `stopped` is; then the job has ended with a sentence.
  void expect_sentence(Running& job, int stopped) const {
    ASSERT_GT(stopped, 1);
    ASSERT_EQ(::kill(stopped, SIGSTOP), 0);
    const Outcome outcome = job.wait(60);
    ::kill(stopped, SIGCONT);
    EXPECT_NE(outcome.code, 0);
    EXPECT_NE(outcome.code, 124) << "it waits for ever";
    EXPECT_GE(count_of(outcome.err, kSilent), 1) << outcome.err;
    EXPECT_GE(count_of(outcome.err, "GASNET_PEER_TIMEOUT"), 1) << outcome.err;
  }
  Running start(const Way& way) const {
    return Running(command(way.ranks, words({"0", "600"}, "SEQ"), way.options),
                   environment(environment_of(way)));
  }
};

TEST_F(Silence, AStoppedRankOfAnotherHostEndsTheJobWithASentence) {
  const Way way = {"af_packet", {"-spawner=netns"}, {"GASNET_DRIVER=dpdk"}};
  if (!has(way)) GTEST_SKIP() << "no network namespaces here";
  Running job = start(way);
  ASSERT_TRUE(job.wait_for_error("rank 1 computes", 1)) << job.err();
  expect_sentence(job, rank_1());
}

TEST_F(Silence, ANetworkThatLosesAllEndsTheJobWithASentence) {
  Running job = start({"switch", {}, {"GASNET_DRIVER=dpdk"}, 3});
  for (const char* rank : {"rank 1 computes", "rank 2 computes"})
    ASSERT_TRUE(job.wait_for_error(rank, 1)) << job.err();
  expect_sentence(job, process_with("", "pinwire_switch"));
}

/// The launcher says who died; memory loses nothing.
TEST_F(Silence, ARankThatIsStoppedBesideAnotherMayGoOn) {
  for (const char* driver : {"GASNET_DRIVER=dpdk", "GASNET_DRIVER=shm"}) {
    const Way way = {"beside", {}, {driver}};
    Running job(command(2, words({"0", "1"}, "SEQ")), environment(environment_of(way)));
    ASSERT_TRUE(job.wait_for_error("rank 1 computes", 1)) << job.err();
    const int stopped = rank_1();
    ASSERT_GT(stopped, 1);
    ASSERT_EQ(::kill(stopped, SIGSTOP), 0);
    ::sleep(6);
    ::kill(stopped, SIGCONT);
    EXPECT_EQ(job.wait(60).code, 0) << job.err();
  }
}

TEST_F(Silence, ATimeoutThatNoRankCouldKeepIsRefused) {
  const auto outcome =
      launch(2, words({"0"}, "SEQ"), {}, {"GASNET_DRIVER=dpdk", "GASNET_PEER_TIMEOUT=0.2"});
  EXPECT_NE(outcome.code, 0);
  EXPECT_GE(count_of(outcome.err, "GASNET_PEER_TIMEOUT=0.2 is too short"), 1) << outcome.err;
}

TEST_F(Silence, WithoutATimeoutAStoppedRankIsWaitedFor) {
  Way way = {"switch", {}, {"GASNET_DRIVER=dpdk", "GASNET_PEER_TIMEOUT=0"}, 3};
  std::vector<std::string> all = environment_of(way);
  std::erase(all, kTimeout);
  Running job(command(way.ranks, words({"0", "1"}, "SEQ")), environment(all));
  ASSERT_TRUE(job.wait_for_error("rank 1 computes", 1)) << job.err();
  const int stopped = rank_1();
  ASSERT_GT(stopped, 1);
  ASSERT_EQ(::kill(stopped, SIGSTOP), 0);
  ::sleep(3);
  ::kill(stopped, SIGCONT);
  EXPECT_EQ(job.wait(60).code, 0) << job.err();
}

}  // namespace
}  // namespace pinwire_test
