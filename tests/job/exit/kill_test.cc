// kill -9 of a rank at a random moment of its life, from before gasnet_init to the thick of its
// traffic: the job ends with the right code and in time, and leaves nothing. KILLS and KILL_SEED
// change how many, and which: kill i has the seed KILL_SEED + i, so one can be repeated alone.
// scripts/kill-campaign makes thousands.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <random>

#include "tests/job/launch/run.h"

using namespace pinwire_test;

namespace {

constexpr double kPromisedSeconds = 2;  ///< from the first crash to the end of the last rank
constexpr double kGoneSeconds = 20;     ///< a moment's load may break the promise for one of them
constexpr int kRanksMax = 4;
constexpr unsigned long kQuiet = 100;  ///< more kills than these are shown one by one
constexpr const char* kModes[] = {"SEQ", "PARSYNC", "PAR"};

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

struct Kill {
  std::string driver, mode;
  int ranks, victim;
  useconds_t after_us;
};

Kill draw(const std::string& driver, unsigned long seed) {
  std::mt19937_64 random(seed);
  const auto below = [&random](int bound) {
    return static_cast<int>(random() % static_cast<unsigned>(bound));
  };
  const bool is_dpdk = driver == "dpdk";
  // Two ranks are joined by a device of their own, more by the switch, which takes longer to start.
  const bool is_pair = is_dpdk && below(3) != 0;
  const int ranks = is_pair ? 2 : (is_dpdk ? 2 : 1) + below(is_dpdk ? kRanksMax - 1 : kRanksMax);
  // About as long as ranks of this driver take to start, and as long again.
  const int life_us = is_dpdk ? 2'000'000 : 300'000;
  const char* const mode = kModes[below(static_cast<int>(std::size(kModes)))];
  const int victim = below(ranks);
  return {driver, mode, ranks, victim, static_cast<useconds_t>(below(life_us))};
}

/// Seconds from the kill until nothing of the job is left.
double carry_out(const Kill& kill) {
  const Folder folder;
  const std::string mark = "GASNET_TMPDIR=" + folder.path();
  Running job({environment("GASNETRUN", ""), "-n", std::to_string(kill.ranks),
               environment(("STORM_" + kill.mode).c_str(), ""), "100000000"},
              {mark, "GASNET_DRIVER=" + kill.driver, "GASNET_NETWORKDEPTH=8"});
  const int process = process_of(kill.victim, mark);
  EXPECT_GT(process, 1) << "the rank never started";
  ::usleep(kill.after_us);
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
  const unsigned long kills = std::strtoul(environment("KILLS", "30").c_str(), nullptr, 10);
  const unsigned long seed = std::strtoul(environment("KILL_SEED", "1").c_str(), nullptr, 10);
  std::vector<double> took_s;
  for (unsigned long i = 0; i < kills && !HasFailure(); ++i) {
    const Kill kill = draw(driver, seed + i);
    const std::string description = "seed " + std::to_string(seed + i) + ": rank " +
                                    std::to_string(kill.victim) + " of " +
                                    std::to_string(kill.ranks) + " over " + driver + " in " +
                                    kill.mode + " after " + std::to_string(kill.after_us) + " us";
    SCOPED_TRACE("KILLS=1 KILL_SEED=" + std::to_string(seed + i) + " repeats it; " + description);
    took_s.push_back(carry_out(kill));
    if (kills > kQuiet || took_s.back() > kPromisedSeconds)
      std::printf("%s: gone in %.2f s\n", description.c_str(), took_s.back()), std::fflush(stdout);
  }
  ASSERT_FALSE(took_s.empty());
  std::sort(took_s.begin(), took_s.end());
  const auto late =
      std::count_if(took_s.begin(), took_s.end(), [](double s) { return s > kPromisedSeconds; });
  std::printf(
      "%zu kills over %s: all gone after %.2f s (median), %.2f s at most; %ld took more than %g "
      "s\n",
      took_s.size(), driver.c_str(), took_s[took_s.size() / 2], took_s.back(),
      static_cast<long>(late), kPromisedSeconds);
  EXPECT_LT(took_s[took_s.size() / 2], kPromisedSeconds);
}

}  // namespace
