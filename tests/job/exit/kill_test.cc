// kill -9 of a rank at a random moment of its life, from before gasnet_init to the thick of its
// traffic: the job ends with the right code and in time, and leaves nothing. KILLS and KILL_SEED
// change how many, and which.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <random>

#include "tests/job/launch/run.h"

using namespace pinwire_test;

namespace {

constexpr double kPromisedSeconds = 2;  ///< from the first crash to the end of the last rank
constexpr double kGoneSeconds = 20;     ///< a moment's load may break the promise for one of them
constexpr int kRanksMax = 4;

std::string environment(const char* name, const char* otherwise) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : otherwise;
}

/// The process that is rank `rank` of the job with `mark`; waits until there is one.
int process_of(int rank, const std::string& mark) {
  const std::string assignment = "GASNET_JOB_RANK=" + std::to_string(rank);
  for (const double until = now_s() + kGoneSeconds; now_s() < until; ::usleep(1000)) {
    const std::vector<int> of_job = processes_with(mark);
    for (const int process : processes_with(assignment))
      if (std::find(of_job.begin(), of_job.end(), process) != of_job.end()) return process;
  }
  return -1;
}

/// Seconds from the kill until nothing of the job is left.
double kill_one(const std::string& driver, int ranks, int victim, useconds_t after_us) {
  const Folder folder;
  const std::string mark = "GASNET_TMPDIR=" + folder.path();
  Running job({environment("GASNETRUN", ""), "-n", std::to_string(ranks), environment("STORM", ""),
               "100000000"},
              {mark, "GASNET_DRIVER=" + driver, "GASNET_NETWORKDEPTH=8"});
  const int process = process_of(victim, mark);
  EXPECT_GT(process, 1) << "the rank never started";
  ::usleep(after_us);
  if (process <= 1 || ::kill(process, SIGKILL) != 0) {
    ADD_FAILURE() << "the rank was gone before it was killed: " << job.wait(kGoneSeconds).err;
    return kGoneSeconds;
  }
  const double killed_s = now_s();
  EXPECT_TRUE(gone(mark, kGoneSeconds)) << "processes stayed";
  const double took_s = now_s() - killed_s;
  const Outcome outcome = job.wait(kGoneSeconds);
  EXPECT_EQ(outcome.code, 128 + SIGKILL) << outcome.out << outcome.err;
  EXPECT_NE(outcome.err.find("was killed by signal 9"), std::string::npos) << outcome.err;
  EXPECT_TRUE(entries(folder.path(), "").empty()) << "files stayed";
  return took_s;
}

TEST(Kill, C1_105_AtAnyMomentEndsTheJobInTimeAndLeavesNothing) {
  const std::string driver = environment("EXIT_DRIVER", "shm");
  const bool is_dpdk = driver == "dpdk";
  const unsigned long kills = std::strtoul(environment("KILLS", "30").c_str(), nullptr, 10);
  const unsigned long seed = std::strtoul(environment("KILL_SEED", "1").c_str(), nullptr, 10);
  std::mt19937_64 random(seed);
  // About as long as ranks of this driver take to start, and as long again.
  const useconds_t life_us = is_dpdk ? 2'000'000 : 300'000;
  std::vector<double> took_s;
  for (unsigned long i = 0; i < kills && !HasFailure(); ++i) {
    // Two ranks are joined by a device of their own, more by the switch.
    const int ranks = is_dpdk && i % 3 != 0 ? 2 : 2 + static_cast<int>(random() % (kRanksMax - 1));
    const int victim = static_cast<int>(random() % static_cast<unsigned>(ranks));
    const auto after_us = static_cast<useconds_t>(random() % life_us);
    SCOPED_TRACE("KILL_SEED=" + std::to_string(seed) + ", kill " + std::to_string(i) + ": rank " +
                 std::to_string(victim) + " of " + std::to_string(ranks) + " after " +
                 std::to_string(after_us) + " us");
    took_s.push_back(kill_one(driver, ranks, victim, after_us));
  }
  ASSERT_FALSE(took_s.empty());
  std::sort(took_s.begin(), took_s.end());
  std::printf("%zu kills over %s: all gone after %.2f s (median), %.2f s at most\n", took_s.size(),
              driver.c_str(), took_s[took_s.size() / 2], took_s.back());
  EXPECT_LT(took_s[took_s.size() / 2], kPromisedSeconds);
}

}  // namespace
