// The partition of a port that a job uses (IBA 10.9): an index into the port's table of keys.
#pragma once

#include <cstdint>
#include <span>

#include "core/base/result.h"

namespace pinwire::verbs {

/// Where the table has the key of 15 bits, as a full member if it is there as one; its 16th bit,
/// the membership, is ignored. 0: no key is wanted, and index 0 is the partition.
Result<uint16_t> choose_partition(std::span<const uint16_t> table, uint32_t wanted);

}  // namespace pinwire::verbs
