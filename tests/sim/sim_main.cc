// Runs seeds of the simulator. A seed and a scenario determine a run; when one fails, the line that
// replays it is printed.
#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <string>

#include "core/base/log.h"
#include "world.h"

namespace {

using namespace pinwire;
using namespace pinwire::sim;

char replay_line[256];

void say_replay() noexcept {
  [[maybe_unused]] const auto written =
      ::write(STDERR_FILENO, replay_line, std::strlen(replay_line));
}

void on_crash(int signal_number) {
  say_replay();
  std::signal(signal_number, SIG_DFL);
  std::raise(signal_number);
}

void print_counts(const World& world, const FabricCounts& c) {
  std::printf(
      "scenario %s, seed %lu: %u ranks, %lu frames sent, %lu delivered, %lu lost, %lu cut off, "
      "%lu duplicated, %lu corrupted, %lu truncated, %lu overran the switch, %lu found no "
      "buffer, %lu injected\n",
      world.scenario().name.data(), world.scenario().seed, world.scenario().ranks, c.sent,
      c.delivered, c.lost, c.partitioned, c.duplicated, c.corrupted, c.truncated, c.overrun,
      c.unbuffered, c.injected);
}

bool run_one(const std::string& name, uint64_t seed, bool trace, bool verbose) {
  std::snprintf(replay_line, sizeof replay_line,
                "replay: sim_main --scenario %s --seed %lu --trace\n", name.c_str(), seed);
  World world(make_scenario(name, seed), World::nic, trace);
  const bool good = world.run();
  if (verbose || !good) {
    std::printf("%.3f ms of virtual time, %lu events; ",
                static_cast<double>(world.clock().now() - 1'000'000'000) / 1e6,
                world.clock().fired());
    print_counts(world, world.fabric().counts());
  }
  if (!good) std::printf("FAILED %s\n%s", world.sentence().c_str(), replay_line);
  std::fflush(stdout);
  return good;
}

}  // namespace

int main(int argc, char** argv) {
  std::string scenario = "any";
  uint64_t seed = 0;
  uint64_t count = 1;
  bool trace = false;
  bool verbose = false;
  bool keep_going = false;
  bool list = false;
  CLI::App app{"Pinwire's simulator: ranks of the production NIC code on virtual time"};
  app.add_option("--scenario", scenario, "which one, or any: the seed draws it");
  app.add_option("--seed", seed, "the first seed");
  app.add_option("--count", count, "how many seeds");
  app.add_flag("--trace", trace, "print every event");
  app.add_flag("--verbose", verbose, "print what each run saw");
  app.add_flag("--keep-going", keep_going, "go on after a failure");
  app.add_flag("--list", list, "print the scenarios");
  CLI11_PARSE(app, argc, argv);
  if (list) {
    for (const auto name : scenario_names()) std::printf("%s\n", name.data());
    return 0;
  }
  if (make_scenario(scenario, 0).ranks == 0) {
    std::fprintf(stderr, "no scenario \"%s\"; --list prints them\n", scenario.c_str());
    return 2;
  }
  on_fatal(say_replay);
  std::signal(SIGSEGV, on_crash);
  std::signal(SIGBUS, on_crash);
  uint64_t failures = 0;
  for (uint64_t i = 0; i < count && (failures == 0 || keep_going); ++i) {
    failures += !run_one(scenario, seed + i, trace, verbose || count == 1);
  }
  if (count > 1)
    std::printf("%lu seeds of %s from %lu: %lu failed\n", count, scenario.c_str(), seed, failures);
  return failures == 0 ? 0 : 1;
}
