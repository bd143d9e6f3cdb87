// Runs seeds of the simulator. A seed and a scenario determine a run; when one fails, the line that
// replays it is printed.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <string>

#include "core/base/log.h"
#include "tests/sim/am/am_world.h"
#include "tests/sim/world.h"

namespace {

using namespace pinwire;
using namespace pinwire::sim;

constexpr uint64_t kCampaignSeeds = 900;  ///< from so many on, every fault must have happened

char replay_line[256];

struct Options {
  bool trace = false;
  bool verbose = false;
  bool am = false;  ///< the engine and active messages, not the driver alone
};

void say_replay() noexcept {
  [[maybe_unused]] const auto written =
      ::write(STDERR_FILENO, replay_line, std::strlen(replay_line));
}

void on_crash(int signal_number) {
  say_replay();
  std::signal(signal_number, SIG_DFL);
  std::raise(signal_number);
}

struct CountName {
  const char* name;
  uint64_t FabricCounts::*count;
};
constexpr CountName kCounts[] = {
    {"sent", &FabricCounts::sent},
    {"delivered", &FabricCounts::delivered},
    {"lost", &FabricCounts::lost},
    {"cut off", &FabricCounts::partitioned},
    {"duplicated", &FabricCounts::duplicated},
    {"corrupted", &FabricCounts::corrupted},
    {"truncated", &FabricCounts::truncated},
    {"overran the switch", &FabricCounts::overrun},
    {"found no buffer", &FabricCounts::unbuffered},
    {"too long for the path", &FabricCounts::oversized},
    {"injected", &FabricCounts::injected},
    {"took a detour", &FabricCounts::detoured},
    {"were overtaken and acknowledged late", &FabricCounts::overtaken},
};

void print_counts(const FabricCounts& counts) {
  std::printf("frames:");
  for (const auto& [name, count] : kCounts) std::printf(" %lu %s,", counts.*count, name);
  std::printf("\b \n");
}

template <typename AnyWorld>
bool report(const AnyWorld& world, uint64_t seed, bool good, const Options& options,
            FabricCounts& totals) {
  const FabricCounts& counts = world.fabric().counts();
  for (const auto& [_, count] : kCounts) totals.*count += counts.*count;
  if (options.verbose || !good) {
    std::printf("scenario %s, seed %lu: %u ranks, %.3f ms of virtual time, %lu events\n",
                world.scenario().name.data(), seed, world.scenario().ranks,
                static_cast<double>(world.clock().now() - 1'000'000'000) / 1e6,
                world.clock().fired());
    print_counts(counts);
    if constexpr (requires { world.counted(); }) {
      const auto counted = world.counted();
      std::printf("%lu frames were repeated; %lu may have been\n", counted.repeats,
                  world.repeats().allowed(counts, counted));
    }
    std::printf("the longest operation took %.3f of its deadline\n", world.worst_share());
  }
  if (!good) std::printf("FAILED %s\n%s", world.sentence().c_str(), replay_line);
  std::fflush(stdout);
  return good;
}

bool run_one(const std::string& name, uint64_t seed, const Options& options, FabricCounts& totals) {
  std::snprintf(replay_line, sizeof replay_line,
                "replay: sim_main%s --scenario %s --seed %lu --trace\n", options.am ? " --am" : "",
                name.c_str(), seed);
  if (options.am) {
    AmWorld world(make_scenario(name, seed), AmWorld::nic, options.trace);
    return report(world, seed, world.run(), options, totals);
  }
  World world(make_scenario(name, seed), World::nic, options.trace);
  return report(world, seed, world.run(), options, totals);
}

/// A campaign in which some fault never happened has not tested what it says.
bool saw_every_fault(const FabricCounts& totals, bool am) {
  bool all = true;
  for (const auto& [name, count] : kCounts) {
    if (totals.*count != 0 || (am && count == &FabricCounts::injected)) continue;
    std::printf("FAILED no frame in this campaign %s: the scenarios are broken\n", name);
    all = false;
  }
  return all;
}

void list_scenarios() {
  for (const auto name : scenario_names()) std::printf("%s\n", name.data());
}

}  // namespace

int main(int argc, char** argv) {
  std::string scenario = "any";
  uint64_t seed = 0;
  uint64_t count = 1;
  Options options;
  bool keep_going = false;
  bool list = false;
  CLI::App app{"Pinwire's simulator: ranks of the production NIC code on virtual time"};
  app.add_option("--scenario", scenario, "which one, or any: the seed draws it");
  app.add_option("--seed", seed, "the first seed");
  app.add_option("--count", count, "how many seeds");
  app.add_flag("--am", options.am, "run active messages, not the driver alone");
  app.add_flag("--trace", options.trace, "print every event");
  app.add_flag("--verbose", options.verbose, "print what each run saw");
  app.add_flag("--keep-going", keep_going, "go on after a failure");
  app.add_flag("--list", list, "print the scenarios");
  CLI11_PARSE(app, argc, argv);
  if (list) {
    list_scenarios();
    return 0;
  }
  if (make_scenario(scenario, 0).ranks == 0) {
    std::fprintf(stderr, "no scenario \"%s\"; --list prints them\n", scenario.c_str());
    return 2;
  }
  on_fatal(say_replay);
  std::signal(SIGSEGV, on_crash);
  std::signal(SIGBUS, on_crash);
  options.verbose |= count == 1;
  FabricCounts totals{};
  uint64_t failures = 0;
  for (uint64_t i = 0; i < count && (failures == 0 || keep_going); ++i) {
    failures += !run_one(scenario, seed + i, options, totals);
  }
  if (count > 1) {
    std::printf("%lu seeds of %s from %lu: %lu failed\n", count, scenario.c_str(), seed, failures);
    print_counts(totals);
  }
  const bool campaign = scenario == "any" && count >= kCampaignSeeds && failures == 0;
  return failures == 0 && (!campaign || saw_every_fault(totals, options.am)) ? 0 : 1;
}
