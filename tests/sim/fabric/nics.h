// The production NICs of the ranks of a fabric.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "tests/sim/fabric/fabric.h"

namespace pinwire::sim {

/// The scenario's settings of the NICs, with a seed of its own for each rank.
NicConfig config_of(const Scenario& scenario, Rank rank);

/// The production NIC of one rank, open. The fabric and the schedule must outlive it.
std::unique_ptr<Driver> open_nic(const Scenario& scenario, Rank rank, Fabric& fabric,
                                 Schedule& schedule);

/// Those of all ranks, each connected to every rank.
std::vector<std::unique_ptr<Driver>> connected_nics(const Scenario& scenario, Fabric& fabric,
                                                    Schedule& schedule);

/// Jain's index of fairness: 1 if all shares are equal, 1 / n if one of n has everything.
double jain(std::span<const uint64_t> shares);

}  // namespace pinwire::sim
