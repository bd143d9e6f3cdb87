#include "bench/flood/plan/command.h"

#include <array>
#include <vector>

#include "bench/flood/words/text.h"

namespace pinwire::flood {
namespace {

using Words = std::vector<std::string>;

Words split_words(std::string_view line) {
  Words words;
  size_t at = 0;
  while ((at = line.find_first_not_of(" \t\r\n", at)) != std::string_view::npos) {
    const size_t end = std::min(line.find_first_of(" \t\r\n", at), line.size());
    words.emplace_back(line.substr(at, end - at));
    at = end;
  }
  return words;
}

std::string mode_names() {
  std::string names;
  for (const auto& candidate : kTrafficModes) {
    names += (names.empty() ? "" : "|") + std::string(candidate.name);
  }
  return names;
}

Result<Command> set_mode(const std::string& value) {
  const auto* found = find_mode(value);
  if (found == nullptr) {
    return error("there is no forwarding mode '%s'; choose one of %s", value.c_str(),
                 mode_names().c_str());
  }
  return Command{.verb = Verb::kSetMode, .mode = found->mode};
}

Result<Command> set_number(Verb verb, const char* what, const std::string& value, uint64_t least,
                           uint64_t most) {
  uint64_t number = 0;
  if (!parse_bytes(value, number) || number < least || number > most) {
    return error("%s must be a number from %llu to %llu, not '%s'", what,
                 static_cast<unsigned long long>(least), static_cast<unsigned long long>(most),
                 value.c_str());
  }
  return Command{.verb = verb, .number = number};
}

Result<Command> set_dispatch(const std::string& value) {
  std::string names;
  for (const char* mode : kDispatchModes) {
    if (value == mode) return Command{.verb = Verb::kSetDispatch, .dispatch = mode};
    names += (names.empty() ? "" : "|") + std::string(mode);
  }
  return error("there is no dispatch mode '%s'; choose one of %s", value.c_str(), names.c_str());
}

Result<Command> parse_set(const Words& words) {
  if (words.size() == 3) {
    const std::string& what = words[1];
    const std::string& value = words[2];
    if (what == "fwd") return set_mode(value);
    if (what == "burst") return set_number(Verb::kSetBurst, "burst", value, 1, kBurstMax);
    if (what == "depth") return set_number(Verb::kSetDepth, "depth", value, 1, kDepthMax);
    if (what == "txpkts") return set_number(Verb::kSetBytes, "txpkts", value, 0, kTrafficBytesMax);
    if (what == "dispatch") return set_dispatch(value);
  }
  return error(
      "set takes one thing and its value: set fwd %s, set burst N, set txpkts BYTES, "
      "set depth N, set dispatch MODE",
      mode_names().c_str());
}

Result<Command> parse_show(const Words& words) {
  if (words == Words{"show", "port", "stats", "all"}) return Command{.verb = Verb::kShowPortStats};
  if (words == Words{"show", "config", "fwd"}) return Command{.verb = Verb::kShowConfig};
  if (words == Words{"show", "lanes"}) return Command{.verb = Verb::kShowLanes};
  if (words == Words{"show", "credits"}) return Command{.verb = Verb::kShowCredits};
  return error("show knows: show port stats all, show config fwd, show lanes, show credits");
}

Result<Command> parse_start(const Words& words) {
  if (words.size() == 1) return Command{.verb = Verb::kStart};
  if (words.size() == 2 && words[1] == "tx_first") {
    return Command{.verb = Verb::kStart, .tx_first = true};
  }
  return error("start takes nothing, or tx_first");
}

Result<Command> parse_alone(const Words& words, Verb verb) {
  if (words.size() == 1) return Command{.verb = verb};
  return error("%s takes no arguments", words[0].c_str());
}

}  // namespace

Result<Command> parse_command(std::string_view line) {
  const Words words = split_words(line);
  if (words.empty() || words[0][0] == '#') return Command{};
  if (words[0] == "set") return parse_set(words);
  if (words[0] == "show") return parse_show(words);
  if (words[0] == "start") return parse_start(words);
  if (words[0] == "stop") return parse_alone(words, Verb::kStop);
  if (words[0] == "quit") return parse_alone(words, Verb::kQuit);
  if (words[0] == "help") return parse_alone(words, Verb::kHelp);
  if (words[0] == "clear") {
    if (words == Words{"clear", "port", "stats", "all"}) {
      return Command{.verb = Verb::kClearPortStats};
    }
    return error("clear knows: clear port stats all");
  }
  return error("unknown command '%s'; help lists the commands", words[0].c_str());
}

std::string command_help() {
  std::string out = "  set fwd MODE              choose what flows:\n";
  for (const auto& candidate : kTrafficModes) {
    out += text("      %-10s %s\n", candidate.name, candidate.meaning);
  }
  out +=
      "  set burst N               operations between two polls (1-512)\n"
      "  set txpkts BYTES          payload of each; 0: Short AMs (K and M are understood)\n"
      "  set depth N               operations in flight, in put, get and am (1-65535)\n"
      "  set dispatch MODE         who runs the handlers of arriving messages: poll, interrupt,\n"
      "                            watchdog, thread or nicproc; starts the job again in that mode\n"
      "  start [tx_first]          let it flow; tx_first: send one burst of AMs first\n"
      "  stop                      stop, and print the totals\n"
      "  show port stats all       counters and rates since the last show; a port is a rank\n"
      "  show config fwd           what would flow\n"
      "  show lanes                queues of the driver\n"
      "  show credits              flow control of the driver\n"
      "  clear port stats all      counters back to zero\n"
      "  quit                      stop and leave (also end of input)\n"
      "  help                      this list\n";
  return out;
}

}  // namespace pinwire::flood
