// An agent carries out its launcher's plan: it enters the working directory, takes over variables,
// and plans the ranks of this host.
#pragma once

#include <string>

#include "core/base/result.h"
#include "core/config/settings.h"
#include "core/launch/hosts/local_host.h"
#include "core/launch/remote/parcel.h"

namespace pinwire::launch {

/// Enters the plan's folder, and adds the plan's variables to the environment of this process. The
/// value: the settings that the environment states then.
Result<Settings> enter_plan(const RemotePlan& plan);

/// The ranks run in the environment of this process, and rank 0 without standard input.
Result<LocalPlan> plan_own_ranks(const RemotePlan& plan, const Settings& settings,
                                 const std::string& job_dir);

}  // namespace pinwire::launch
