// Which cores each rank of a host gets: --bind.
#pragma once

#include <string>
#include <vector>

#include "core/config/settings.h"
#include "core/launch/hosts/local_host.h"
#include "core/launch/plan/machine.h"
#include "driver/work.h"

namespace pinwire::launch {

struct Placement {
  std::vector<int> cpus;
  std::string description;  ///< "cores 4,5 on NUMA node 1, near 0000:3b:00.0"
};

/// `cores_per_rank` cores for each of `ranks`, which take turns at the machine's devices and get
/// cores near theirs while there are some; else neighbours get neighbouring cores, of one NUMA node
/// where it has enough. A rank gets whole cores with all their hardware threads; if there are too
/// few of them, hardware threads.
Result<std::vector<Placement>> place_ranks(const Machine& machine, Rank ranks,
                                           uint32_t cores_per_rank);

/// The machine's CPUs that none of the placements has, in order.
std::vector<uint32_t> free_cpus(const Machine& machine, const std::vector<Placement>& placements);

/// place_ranks on this host, near the devices that the settings name, into the ranks' plan; they
/// are told which CPUs are left. Tells what was done to which rank under GASNET_VERBOSEENV.
Status bind_ranks(const Settings& settings, uint32_t cores_per_rank, LocalPlan& plan);

}  // namespace pinwire::launch
