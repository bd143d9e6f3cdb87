// From a command line to an exit code: one job, with all that surrounds it.
#pragma once

#include "core/base/result.h"
#include "core/config/settings.h"
#include "core/launch/options.h"

namespace pinwire::launch {

/// The job's exit code; a sentence if it could not be started. Nothing is left behind in either
/// case.
Result<int> run_job(const Settings& settings, const LaunchOptions& options);

}  // namespace pinwire::launch
