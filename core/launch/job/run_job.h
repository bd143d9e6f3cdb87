// From a command line to an exit code: one job, with all that surrounds it.
#pragma once

#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/config/settings.h"
#include "core/launch/options/options.h"

namespace pinwire::launch {

struct JobEnd {
  int exit_code = 0;
  /// `NAME=value`: it shall be started again with these in the environment
  /// (core/launch/job/again.h).
  std::vector<std::string> again;
};

/// A sentence if the job could not be started. Nothing is left behind in either case.
Result<JobEnd> run_job(const Settings& settings, const LaunchOptions& options);

}  // namespace pinwire::launch
