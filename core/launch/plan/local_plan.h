// The plan of a job on this host: its ranks, and the network that is made for them.
#pragma once

#include <optional>

#include "core/config/settings.h"
#include "core/launch/hosts/local_host.h"
#include "core/launch/network/fabric_switch.h"
#include "core/launch/network/test_network.h"
#include "core/launch/options/options.h"

namespace pinwire::launch {

/// Lives as long as the ranks.
struct LocalNetwork {
  std::optional<TestNetwork> namespaces;
  std::unique_ptr<FabricSwitch> fabric_switch;
};

/// The settings that the ranks' variables state, checked.
Result<Settings> settings_of(const std::vector<std::string>& environment);

/// Makes the network that the options and the environment ask for, if any, and says so in the
/// environment.
Result<LocalNetwork> make_network(SupervisorLoop& loop, const LaunchOptions& options,
                                  const std::string& job_dir,
                                  std::vector<std::string>& environment);

Result<LocalPlan> plan_ranks(const LaunchOptions& options, const LocalNetwork& network,
                             const std::vector<std::string>& environment);

}  // namespace pinwire::launch
