// The prompt's commands: testpmd's verbs, parsed into one plain struct.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "bench/flood/plan/traffic_mode.h"
#include "core/base/result.h"

namespace pinwire::flood {

enum class Verb : uint8_t {
  kNone,  ///< an empty line
  kSetMode,
  kSetBurst,
  kSetBytes,
  kSetDepth,
  kSetDispatch,
  kStart,
  kStop,
  kShowPortStats,
  kShowConfig,
  kShowLanes,
  kShowCredits,
  kClearPortStats,
  kHelp,
  kQuit,
};

/// As GASNET_DISPATCH calls them.
inline constexpr const char* kDispatchModes[] = {"poll", "interrupt", "watchdog", "thread",
                                                 "nicproc"};

struct Command {
  Verb verb = Verb::kNone;
  uint64_t number = 0;                     ///< kSetBurst, kSetBytes, kSetDepth
  TrafficMode mode = TrafficMode::kFlood;  ///< kSetMode
  bool tx_first = false;                   ///< kStart
  const char* dispatch = "";               ///< kSetDispatch: one of kDispatchModes
};

/// A sentence that says what is wrong and what is available, if the line is no command.
Result<Command> parse_command(std::string_view line);

std::string command_help();

}  // namespace pinwire::flood
