#include "bench/flood/roles/prompt.h"

// Rank 0 with continuous traffic: testpmd's prompt, or running rates, or both.
#include <pinwire.h>
#include <unistd.h>

#include <cstdio>
#include <string>
#include <string_view>

#include "bench/flood/host/driver_facts.h"
#include "bench/flood/host/port_stats.h"
#include "bench/flood/host/stop.h"
#include "bench/flood/loops/traffic.h"
#include "bench/flood/plan/again.h"
#include "bench/flood/plan/command.h"
#include "bench/flood/plan/pairs.h"
#include "bench/flood/roles/director.h"
#include "bench/flood/words/line_reader.h"
#include "bench/flood/words/text.h"
#include "bench/flood/words/units.h"

namespace pinwire::flood {
namespace {

void say(const std::string& words) {
  std::fwrite(words.data(), 1, words.size(), stdout);
  std::fflush(stdout);
}

class Prompt {
 public:
  explicit Prompt(const Job& job)
      : job_(job),
        legacy_(take_legacy()),
        settings_(job.options.traffic),
        traffic_(job.path, job.clock),
        zero_(job.ranks),
        shown_(job.ranks),
        shown_s_(now_seconds()) {
    zero_ = shown_ = read_ports();
    for (const std::string& line : legacy_.settings) {
      if (auto command = parse_command(line)) take_setting(*command);
    }
  }

  void run();

 private:
  void once_in_a_while();
  void read_commands();
  void execute(const Command& command);
  std::string take_setting(const Command& command);
  void set_dispatch(const char* mode);
  void start(bool tx_first);
  void stop();
  void show_ports();
  void show_config() const;
  void show_lanes() const;
  void show_credits() const;
  std::vector<PortCounters> read_ports() const;

  const Job& job_;
  const Legacy legacy_;
  TrafficSettings settings_;
  Traffic traffic_;
  LineReader input_{STDIN_FILENO, legacy_.input};
  bool leaving_ = false;
  double started_s_ = 0;
  double next_stats_s_ = 0;
  std::vector<PortCounters> zero_;   ///< at the last clear
  std::vector<PortCounters> start_;  ///< at the last start
  std::vector<PortCounters> shown_;  ///< at the last show
  double shown_s_;
};

std::vector<PortCounters> Prompt::read_ports() const {
  std::vector<PortCounters> ports;
  for (gasnet_node_t rank = 0; rank < job_.ranks; ++rank) ports.push_back(ask_snapshot(rank).port);
  return ports;
}

void Prompt::show_ports() {
  const std::vector<PortCounters> now = read_ports();
  const double now_s = now_seconds();
  std::string out;
  for (uint32_t port = 0; port < now.size(); ++port) {
    out +=
        port_statistics(port, now[port] - zero_[port], now[port] - shown_[port], now_s - shown_s_);
  }
  shown_ = now;
  shown_s_ = now_s;
  say(out);
}

void Prompt::show_config() const {
  std::string out = text("%s forwarding - ranks=%u - pairs=%u - driver=%s - dispatch=%s - %s\n",
                         entry(settings_.mode).name, job_.ranks, pairs_of(job_.ranks),
                         pinwire_driver_name(job_.path.partner), pinwire_dispatch(),
                         traffic_.running() ? "running" : "stopped");
  out += text("  %s\n", entry(settings_.mode).meaning);
  out += text("  burst=%u - txpkts=%llu bytes - depth=%u - network depth=%u\n", settings_.burst,
              static_cast<unsigned long long>(settings_.bytes), settings_.depth,
              pinwire_network_depth());
  for (uint32_t rank = 0; rank < job_.ranks; ++rank) {
    if (!sends(rank, job_.ranks, settings_.mode)) continue;
    out += text("  rank %u -> rank %u\n", rank, *partner_of(rank, job_.ranks));
  }
  say(out);
}

void Prompt::show_lanes() const {
  std::string out = text("  lanes of this rank: %u, in use by this thread: %u\n", pinwire_lanes(),
                         pinwire_my_lane());
  for (gasnet_node_t rank = 0; rank < job_.ranks; ++rank) {
    out += text("  to rank %u over %s\n", rank, pinwire_driver_name(rank));
  }
  say(out);
}

void Prompt::show_credits() const {
  say(text("  requests in flight to one peer: at most %u (GASNET_NETWORKDEPTH)\n",
           pinwire_network_depth()) +
      stats_about("credit"));
}

void Prompt::start(bool tx_first) {
  if (traffic_.running()) return say("Traffic is running already; stop it first.\n");
  start_ = read_ports();
  order_all(job_, {.kind = Order::Kind::kRun, .traffic = settings_});
  traffic_.start(settings_, sends(0, job_.ranks, settings_.mode), tx_first);
  started_s_ = now_seconds();
  next_stats_s_ = started_s_ + job_.options.stats_period_s;
}

void Prompt::stop() {
  if (!traffic_.running()) return say("Traffic is not running.\n");
  traffic_.halt();
  order_all(job_, {.kind = Order::Kind::kHalt});
  std::vector<PortCounters> ports = read_ports();
  for (uint32_t port = 0; port < ports.size(); ++port) ports[port] = ports[port] - start_[port];
  std::string out = forward_statistics(ports);
  const Histogram& trips = traffic_.round_trips();
  if (trips.count() != 0) {
    out += text("  Round trips: %llu, p50 %s, p99 %s, p99.9 %s\n",
                static_cast<unsigned long long>(trips.count()),
                time_text(trips.percentile(0.5) / 1e3).c_str(),
                time_text(trips.percentile(0.99) / 1e3).c_str(),
                time_text(trips.percentile(0.999) / 1e3).c_str());
  }
  say(out +
      text("  Ran for %.3g s, dispatch %s.\n", now_seconds() - started_s_, pinwire_dispatch()));
}

/// Says what has been set.
std::string Prompt::take_setting(const Command& command) {
  switch (command.verb) {
    case Verb::kSetMode:
      settings_.mode = command.mode;
      return text("Set %s forwarding mode%s\n", entry(command.mode).name,
                  traffic_.running() ? ", from the next start on" : "");
    case Verb::kSetBurst:
      settings_.burst = static_cast<uint32_t>(command.number);
      return text("Number of packets per burst set to %u\n", settings_.burst);
    case Verb::kSetBytes:
      settings_.bytes = command.number;
      return text("TX packet size set to %llu bytes\n",
                  static_cast<unsigned long long>(settings_.bytes));
    case Verb::kSetDepth:
      settings_.depth = static_cast<uint32_t>(command.number);
      return text("Operations in flight set to %u\n", settings_.depth);
    default:
      return "";
  }
}

void Prompt::set_dispatch(const char* mode) {
  if (std::string_view(mode) == pinwire_dispatch()) return say(text("Dispatch is %s\n", mode));
  if (traffic_.running()) return say("Traffic is running; stop it first.\n");
  auto asked = ask_again(mode, settings_, input_.pending());
  if (!asked) return say(asked.sentence() + "\n");
  say(text("Starting the job again with dispatch %s\n", mode));
  leaving_ = true;
}

void Prompt::execute(const Command& command) {
  switch (command.verb) {
    case Verb::kNone:
      return;
    case Verb::kSetMode:
    case Verb::kSetBurst:
    case Verb::kSetBytes:
    case Verb::kSetDepth:
      return say(take_setting(command));
    case Verb::kSetDispatch:
      return set_dispatch(command.dispatch);
    case Verb::kStart:
      return start(command.tx_first);
    case Verb::kStop:
      return stop();
    case Verb::kShowPortStats:
      return show_ports();
    case Verb::kShowConfig:
      return show_config();
    case Verb::kShowLanes:
      return show_lanes();
    case Verb::kShowCredits:
      return show_credits();
    case Verb::kClearPortStats:
      zero_ = shown_ = read_ports();
      shown_s_ = now_seconds();
      return say("  NIC statistics for all ports cleared\n");
    case Verb::kHelp:
      return say(command_help());
    case Verb::kQuit:
      leaving_ = true;
      return;
  }
}

void Prompt::read_commands() {
  // While traffic flows the network goes first; else this is where the process rests.
  input_.poll(traffic_.running() ? 0 : 1);
  // One command at a time, so that traffic flows between those of a script, too.
  if (const auto line = input_.next()) {
    auto command = parse_command(*line);
    if (command) {
      execute(*command);
    } else {
      say(command.sentence() + "\n");
    }
    if (!leaving_) say("flood> ");
  } else if (input_.at_end()) {
    say("\n");
    leaving_ = true;
  }
}

void Prompt::once_in_a_while() {
  const double now_s = now_seconds();
  const Options& options = job_.options;
  if (traffic_.running()) {
    if (options.stats_period_s > 0 && now_s >= next_stats_s_) {
      next_stats_s_ += options.stats_period_s;
      show_ports();
    }
    const bool over = options.duration_s > 0 && now_s - started_s_ >= options.duration_s;
    if (over) stop();
    if (over && !options.interactive) leaving_ = true;
  }
  if (options.interactive) read_commands();
  if (stop_requested()) leaving_ = true;
}

void Prompt::run() {
  if (legacy_.is_there) {
    say(text("Dispatch is %s\n", pinwire_dispatch()));
  } else if (job_.options.auto_start) {
    start(false);
  }
  if (job_.options.interactive) say("flood> ");
  constexpr uint64_t kLookEvery_ns = 1'000'000;
  uint64_t looked = 0;
  while (!leaving_) {
    traffic_.step();
    poll_network();
    const uint64_t now = cycles();
    if (traffic_.running() && job_.clock.ns(now - looked) < kLookEvery_ns) continue;
    looked = now;
    once_in_a_while();
  }
  if (traffic_.running()) stop();
}

}  // namespace

int run_traffic(const Job& job) {
  Prompt(job).run();
  return 0;
}

}  // namespace pinwire::flood
