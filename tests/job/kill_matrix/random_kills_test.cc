// Random cells of the kill matrix, struck at random moments. KILLS and KILL_SEED say how many, and
// which: kill i has the seed KILL_SEED + i, so that one can be repeated alone. TARGETS names those
// that are drawn from (all that this host has). scripts/kill-matrix makes thousands.
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <optional>
#include <random>
#include <sstream>

#include "tests/job/kill_matrix/expect_end.h"
#include "tests/job/kill_matrix/surroundings.h"

namespace pinwire_test {
namespace {

constexpr size_t kStopUsMax = 400'000, kDelayUsMax = 30'000, kParts = 1000;

std::string environment(const char* name, const char* otherwise) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : otherwise;
}

struct Kill {
  Cell cell;
  unsigned delay_us, stop_us;
};

std::vector<Target> drawn_targets() {
  const std::string names = "," + environment("TARGETS", "") + ",";
  std::vector<Target> targets;
  for (const Target one : all_targets()) {
    const bool wanted = names == ",," || names.find("," + name_of(one) + ",") != std::string::npos;
    if (wanted && surroundings().missing_for(one).empty()) targets.push_back(one);
  }
  return targets;
}

Kill draw(const std::vector<Target>& targets, unsigned long seed) {
  std::mt19937_64 random(seed);
  const auto below = [&random](size_t bound) { return static_cast<size_t>(random() % bound); };
  constexpr Phase kPhases[] = {Phase::kAtOnce, Phase::kStarting, Phase::kRunning, Phase::kExiting};
  Kill kill{};
  kill.cell.target = targets[below(targets.size())];
  kill.cell.signal = all_signals()[below(all_signals().size())];
  kill.cell.phase = kPhases[below(std::size(kPhases))];
  // A start takes up to so long, and longer over DPDK; most moments are early, when most happens.
  // In the other phases the job waits for a gate.
  const bool wants_switch = below(2) == 1;  // drawn everywhere, so that a seed is the same job
  const bool may_have_switch = surroundings().missing_for(Target::kSwitch).empty();
  if (kill.cell.target == Target::kLauncher) kill.cell.over_dpdk = may_have_switch && wants_switch;
  const size_t start_us = has_switch(kill.cell) ? 1'500'000 : 150'000;
  const size_t early = below(kParts) * below(kParts) / kParts;
  kill.delay_us = static_cast<unsigned>(
      kill.cell.phase == Phase::kAtOnce ? start_us / kParts * early : below(kDelayUsMax));
  kill.stop_us = static_cast<unsigned>(below(kStopUsMax));
  return kill;
}

std::string describe(const Kill& kill) {
  std::string text = name_of(kill.cell) + " after " + std::to_string(kill.delay_us) + " us";
  if (kill.cell.signal == SIGSTOP) text += ", stopped for " + std::to_string(kill.stop_us) + " us";
  return text;
}

/// How long the ends took, and what was left, for each target and signal.
class Table {
 public:
  void add(const Kill& kill, const MatrixJob::Verdict& verdict) {
    auto& row = rows_[{name_of(kill.cell.target), name_of_signal(kill.cell.signal)}];
    row.seconds.push_back(verdict.seconds);
    row.left += verdict.left.size();
  }
  void print() {
    std::printf("%-9s %-9s %6s %9s %7s  %s\n", "target", "signal", "kills", "median/s", "max/s",
                "left");
    for (auto& [names, row] : rows_) {
      std::sort(row.seconds.begin(), row.seconds.end());
      std::printf("%-9s %-9s %6zu %9.2f %7.2f  %zu\n", names.first.c_str(), names.second.c_str(),
                  row.seconds.size(), row.seconds[row.seconds.size() / 2], row.seconds.back(),
                  row.left);
    }
  }

 private:
  struct Row {
    std::vector<double> seconds;
    size_t left = 0;
  };
  std::map<std::pair<std::string, std::string>, Row> rows_;
};

/// None, and the test fails, if the job does not get so far. Slurm may: what it knows of tasks of
/// killed sruns lags behind, and then it has no cores for the next; so it gets a new cluster once.
std::optional<MatrixJob::Verdict> carry_out(const Kill& kill) {
  const int tries = kill.cell.target == Target::kSrun ? 2 : 1;
  std::string why;
  for (int i = 0; i < tries; ++i) {
    MatrixJob job(kill.cell, surroundings().variables_for(kill.cell.target));
    const auto trouble = job.strike(kill.delay_us, kill.stop_us);
    if (!trouble) return job.end();
    why = *trouble;
    surroundings().close();
  }
  ADD_FAILURE() << why;
  return std::nullopt;
}

TEST(RandomKills, EndTheJobOrLetItGoOnAndLeaveNothing) {
  const auto targets = drawn_targets();
  ASSERT_FALSE(targets.empty()) << "none of TARGETS is here";
  const unsigned long kills = std::strtoul(environment("KILLS", "12").c_str(), nullptr, 10);
  const unsigned long seed = std::strtoul(environment("KILL_SEED", "1").c_str(), nullptr, 10);
  Table table;
  for (unsigned long i = 0; i < kills; ++i) {
    const Kill kill = draw(targets, seed + i);
    SCOPED_TRACE("KILLS=1 KILL_SEED=" + std::to_string(seed + i) + " repeats " + describe(kill));
    const auto verdict = carry_out(kill);
    if (!verdict) continue;
    expect_end(kill.cell, *verdict);
    table.add(kill, *verdict);
    std::printf("seed %lu: %s: code %d after %.2f s\n", seed + i, describe(kill).c_str(),
                verdict->outcome.code, verdict->seconds);
    std::fflush(stdout);
  }
  surroundings().close();
  table.print();
}

}  // namespace
}  // namespace pinwire_test
