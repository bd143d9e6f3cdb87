// Opens what pins memory on demand (pin/demand.h), for the drivers that work by keys of pinned
// memory: before the segments are published, and after.
#pragma once

#include "extended/state/job.h"
#include "pin/remote_cache.h"

namespace pinwire {

/// Does this driver need memory pinned on demand?
bool pins_on_demand(const Caps& caps) noexcept;

/// `in_parts`: peers reach the segment by buckets; else all of it is pinned, or none. Returns what
/// each peer may hold: no buckets, if the budget is too small for one each.
RemoteCache::Grant open_own_pins(const Job& job, uint32_t driver_index, bool in_parts);
/// `grants`: how much each rank grants this one.
Status open_peers_pins(uint32_t driver_index, const std::vector<RemoteCache::Grant>& grants);

}  // namespace pinwire
