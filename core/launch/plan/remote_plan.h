// The plan of a job on other hosts.
#pragma once

#include "core/config/settings.h"
#include "core/launch/options/host_list.h"
#include "core/launch/options/options.h"
#include "core/launch/remote/parcel.h"

namespace pinwire::launch {

/// GASNET_SSH_TIMEOUT, for the launcher and for its agents. 0: silence may last.
int64_t silence_limit_ms(const Settings& settings);

Result<RemotePlan> plan_share(const Settings& settings, const LaunchOptions& options,
                              const HostShare& share, const std::vector<std::string>& environment);

/// The words before a command that make it run on `host`.
Result<std::vector<std::string>> shell_for(const Settings& settings, const std::string& host);

}  // namespace pinwire::launch
