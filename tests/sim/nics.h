// The production NICs of all ranks of a fabric, each connected to every rank.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "fabric.h"

namespace pinwire::sim {

/// Each has a seed of its own. The fabric and the schedule must outlive them.
std::vector<std::unique_ptr<Driver>> connected_nics(const Scenario& scenario, Fabric& fabric,
                                                    Schedule& schedule);

/// Jain's index of fairness: 1 if all shares are equal, 1 / n if one of n has everything.
double jain(std::span<const uint64_t> shares);

}  // namespace pinwire::sim
