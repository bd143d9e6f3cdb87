#include "bench/flood/plan/options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>

#include "bench/flood/words/text.h"

namespace pinwire::flood {
namespace {

/// Filled by CLI11: words that are checked and converted afterwards.
struct Words {
  std::vector<std::string> tests, operations, sizes;
  std::string forward_mode = "flood", txpkts = "8", buffers = "segment", yield = "auto";
  uint64_t depth = 0, burst = 32, iterations = 0, repetitions = 0;
  double loop_ms = 0;
  bool no_references = false, all = false;
};

void declare(CLI::App& app, Options& options, Words& words) {
  app.get_formatter()->column_width(34);
  app.add_flag("-i,--interactive", options.interactive, "a prompt with testpmd's commands");
  app.add_flag("--auto-start", options.auto_start,
               "continuous traffic at once, until Ctrl-C or --duration");
  app.add_option("--stats-period", options.stats_period_s, "print running rates every S seconds");
  app.add_option("--duration", options.duration_s, "end continuous traffic after S seconds");
  app.add_option("--forward-mode", words.forward_mode,
                 "what flows: flood, pingpong, put, get, am, rxonly, txonly");
  app.add_option("--burst", words.burst, "operations between two polls (1-512)");
  app.add_option("--txpkts", words.txpkts, "payload bytes of continuous traffic; 0: Short AMs");
  app.add_option("--depth", words.depth,
                 "operations in flight; 0, the default of the tables: all, bounded by the network");
  app.add_flag("--depth-sweep", options.plan.depth_sweep, "flood at depths 1, 2, 4 ... 256");
  app.add_option("--json", options.json_path, "write every measurement to FILE as a JSON array");
  app.add_flag("--all", words.all,
               "measure and print the tables, too, not the ten key figures alone");
  app.add_flag("--quick", options.plan.quick, "fewer sizes, shorter loops, 3 repetitions");
  app.add_option("--tests", words.tests, "only these: pingpong, flood")->delimiter(',');
  app.add_option("--ops", words.operations, "only these, by their JSON names: put_nb,am_short ...")
      ->delimiter(',');
  app.add_option("--sizes", words.sizes, "only these, in bytes: 1,8,4K,1M ...")->delimiter(',');
  app.add_option("--iterations", words.iterations, "of one timed loop (10000)");
  app.add_option("--repetitions", words.repetitions, "timed loops per measurement (9)");
  app.add_option("--loop-ms", words.loop_ms, "time limit of one loop above 8 bytes (40)");
  app.add_option("--buffers", words.buffers, "local buffers in the segment or in the heap");
  app.add_option("--yield", words.yield,
                 "give the CPU away while polling: auto (more ranks than CPUs), always, never");
  app.add_flag("--no-references", words.no_references,
               "skip what the figures are compared with: barrier, cache line, memcpy");
  app.add_option("--references-json", options.references_path,
                 "write what the figures are compared with to FILE as a JSON array");
}

template <typename Enum, size_t kCount>
Result<Enum> find_name(const std::array<Enum, kCount>& all, const std::string& wanted,
                       const char* option) {
  std::string names;
  for (const Enum candidate : all) {
    if (wanted == name(candidate)) return candidate;
    names += (names.empty() ? "" : ", ") + std::string(name(candidate));
  }
  return error("%s does not know '%s'; it takes: %s", option, wanted.c_str(), names.c_str());
}

Status take_plan(const Words& words, PlanRequest& plan) {
  for (const std::string& word : words.tests) {
    auto found = find_name(kPatterns, word, "--tests");
    if (!found) return found.error();
    plan.tests.push_back(*found);
  }
  for (const std::string& word : words.operations) {
    auto found = find_name(kOperations, word, "--ops");
    if (!found) return found.error();
    plan.operations.push_back(*found);
  }
  for (const std::string& word : words.sizes) {
    uint64_t bytes = 0;
    if (!parse_bytes(word, bytes) || bytes > kSweepBytesMax) {
      return error("--sizes takes bytes from 0 to 4M (as 8, 64K, 1M), not '%s'", word.c_str());
    }
    plan.sizes.push_back(bytes);
  }
  if (words.depth > kDepthMax) {
    return error("--depth must be at most %u, not %llu", kDepthMax,
                 static_cast<unsigned long long>(words.depth));
  }
  plan.depth = static_cast<uint32_t>(words.depth);
  return success();
}

Status take_limits(const CLI::App& app, const Words& words, bool quick, LoopLimits& limits) {
  if (quick) {
    limits.repetitions = 3;
    limits.seconds_max = 0.02;
    limits.small_seconds_max = 0.2;
  }
  if (app.count("--iterations") != 0) {
    if (words.iterations < 1 || words.iterations > 100'000'000) {
      return error("--iterations must be from 1 to 100000000");
    }
    limits.iterations = words.iterations;
  }
  if (app.count("--repetitions") != 0) {
    if (words.repetitions < 1 || words.repetitions > 1000) {
      return error("--repetitions must be from 1 to 1000");
    }
    limits.repetitions = static_cast<uint32_t>(words.repetitions);
  }
  if (app.count("--loop-ms") != 0) {
    if (!(words.loop_ms > 0) || words.loop_ms > 60'000) {
      return error("--loop-ms must be above 0 and at most 60000");
    }
    limits.seconds_max = words.loop_ms / 1000;
  }
  return success();
}

Status take_traffic(const Words& words, TrafficSettings& traffic) {
  const auto* mode = find_mode(words.forward_mode);
  if (mode == nullptr) {
    return error("--forward-mode takes flood, pingpong, put, get, am, rxonly or txonly, not '%s'",
                 words.forward_mode.c_str());
  }
  traffic.mode = mode->mode;
  if (words.burst < 1 || words.burst > kBurstMax) return error("--burst must be from 1 to 512");
  traffic.burst = static_cast<uint32_t>(words.burst);
  if (!parse_bytes(words.txpkts, traffic.bytes) || traffic.bytes > kTrafficBytesMax) {
    return error("--txpkts takes bytes from 0 to 4M (as 8, 64K, 1M), not '%s'",
                 words.txpkts.c_str());
  }
  if (words.depth != 0) traffic.depth = static_cast<uint32_t>(words.depth);
  return success();
}

bool bad_seconds(double seconds) { return !std::isfinite(seconds) || seconds < 0; }

Status take_rest(const CLI::App& app, const Words& words, Options& options) {
  if (words.buffers != "segment" && words.buffers != "heap") {
    return error("--buffers takes segment or heap, not '%s'", words.buffers.c_str());
  }
  options.buffers_in_heap = words.buffers == "heap";
  if (words.yield != "auto" && words.yield != "always" && words.yield != "never") {
    return error("--yield takes auto, always or never, not '%s'", words.yield.c_str());
  }
  options.yield = words.yield == "auto"     ? Yield::kAuto
                  : words.yield == "always" ? Yield::kAlways
                                            : Yield::kNever;
  options.references = !words.no_references;
  if (words.no_references && !options.references_path.empty()) {
    return error("--references-json writes what --no-references skips; leave out one of them");
  }
  if (bad_seconds(options.stats_period_s)) return error("--stats-period must not be negative");
  if (bad_seconds(options.duration_s)) return error("--duration must not be negative");
  if (!options.continuous()) {
    for (const char* name :
         {"--stats-period", "--duration", "--forward-mode", "--burst", "--txpkts"}) {
      if (app.count(name) != 0) {
        return error("%s is about continuous traffic; add --auto-start or -i", name);
      }
    }
  } else {
    for (const char* name : {"--json", "--references-json", "--all"}) {
      if (app.count(name) != 0) {
        return error("%s is about the tables; leave out --auto-start and -i", name);
      }
    }
  }
  // A run whose rows were chosen prints them. A JSON file holds every measurement, whatever the run
  // prints.
  options.tables = words.all || options.plan.depth_sweep || !options.plan.tests.empty() ||
                   !options.plan.operations.empty() || !options.plan.sizes.empty();
  options.plan.key_figures = !options.tables && options.json_path.empty();
  return success();
}

}  // namespace

Result<Options> parse_options(const std::string& program,
                              const std::vector<std::string>& arguments) {
  Options options;
  Words words;
  CLI::App app(
      "Floods a Pinwire job and prints what came through. EAL arguments go before a `--`, "
      "these after it.");
  app.name(program + " [EAL arguments] --");
  declare(app, options, words);
  try {
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));  // from the back
  } catch (const CLI::CallForHelp&) {
    options.help = app.help();
    return options;
  } catch (const CLI::ParseError& bad) {
    return error("%s; --help lists the arguments", bad.what());
  }
  Status good = take_plan(words, options.plan);
  if (good) good = take_limits(app, words, options.plan.quick, options.limits);
  if (good) good = take_traffic(words, options.traffic);
  if (good) good = take_rest(app, words, options);
  if (!good) return good.error();
  return options;
}

}  // namespace pinwire::flood
