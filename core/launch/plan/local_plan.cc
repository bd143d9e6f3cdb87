#include "core/launch/plan/local_plan.h"

#include <algorithm>

#include "core/launch/hosts/this_host.h"
#include "core/launch/plan/placement.h"
#include "core/launch/process/environment.h"

namespace pinwire::launch {
namespace {

/// The ranks of a test network talk over its interfaces unless the user asks for something else.
Status make_namespaces(const LaunchOptions& options, const Settings& settings,
                       LocalNetwork& network, std::vector<std::string>& environment) {
  auto made = TestNetwork::make(options.rank_count, settings.dpdk_mtu_bytes);
  if (!made) return made.error();
  network.namespaces = std::move(*made);
  if (settings.dpdk_fabric == "auto") set_variable(environment, "GASNET_DPDK_FABRIC", "af_packet");
  if (settings.dpdk_iface.empty())
    set_variable(environment, "GASNET_DPDK_IFACE", TestNetwork::kInterface);
  return success();
}

}  // namespace

Result<Settings> settings_of(const std::vector<std::string>& environment) {
  return read_settings([&](const char* name) { return find_variable(environment, name); });
}

Result<LocalNetwork> make_network(SupervisorLoop& loop, const LaunchOptions& options,
                                  const std::string& job_dir,
                                  std::vector<std::string>& environment) {
  LocalNetwork network;
  auto settings = settings_of(environment);
  if (!settings) return settings.error();
  if (spawner_of(options) == SpawnerChoice::kNetns) {
    if (auto made = make_namespaces(options, *settings, network, environment); !made)
      return made.error();
    return network;
  }
  auto has_switch = needs_switch(*settings, options.rank_count, job_dir);
  if (!has_switch) return has_switch.error();
  if (*has_switch) {
    auto started =
        FabricSwitch::start(loop, *settings, options.rank_count, job_dir, options.verbose);
    if (!started) return started.error();
    network.fabric_switch = std::move(*started);
    set_variable(environment, "GASNET_DPDK_FABRIC", "switch");
  }
  return network;
}

Result<LocalPlan> plan_ranks(const LaunchOptions& options, const LocalNetwork& network,
                             const std::vector<std::string>& environment) {
  auto path = find_program(options.command[0]);
  if (!path) return path.error();
  LocalPlan plan{.host_name = this_host(),
                 .first = 0,
                 .count = options.rank_count,
                 .rank_count = options.rank_count,
                 .path = *path,
                 .arguments = options.command,
                 .environment = environment,
                 .stdin_fd = 0,
                 .no_aslr = options.no_aslr,
                 .own = std::vector<LocalPlan::Own>(options.rank_count)};
  if (options.bind) {
    auto settings = settings_of(environment);
    if (!settings) return settings.error();
    if (auto bound = bind_ranks(*settings, std::max(options.cpus_per_rank, 1U), plan); !bound)
      return bound.error();
  }
  if (network.namespaces) {
    for (Rank rank = 0; rank < options.rank_count; ++rank)
      plan.own[rank].net_namespace_fd = network.namespaces->namespace_of(rank);
  }
  return plan;
}

}  // namespace pinwire::launch
