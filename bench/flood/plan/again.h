// `set dispatch`: GASNet reads the dispatch mode when a job attaches, so another mode is another
// job. The launcher starts it (core/launch/job/again.h) when this one has ended, with what the user
// has set, and the commands that this one has read but not carried out, in its environment.
#pragma once

#include <string>
#include <vector>

#include "bench/flood/plan/traffic_mode.h"
#include "core/base/result.h"

namespace pinwire::flood {

/// The state that the job before left to this one.
struct Legacy {
  bool is_there = false;              ///< there was one
  std::vector<std::string> settings;  ///< commands to carry out first, silently
  std::string input;                  ///< read, but not carried out
};

/// Takes it out of the environment.
Legacy take_legacy();

/// The job may end now, with exit code 0, and will start again in that mode. A sentence where the
/// launcher starts nothing again.
Status ask_again(const char* dispatch, const TrafficSettings& settings, const std::string& input);

}  // namespace pinwire::flood
