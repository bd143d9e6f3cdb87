#include "extended/reach.h"

#include <algorithm>
#include <cstring>

#include "core/api_types.h"
#include "core/engine/engine.h"
#include "core/trace/trace.h"
#include "pin/populate.h"

namespace pinwire {
namespace {

/// What every rank tells every other about its segment.
struct SegmentFacts {
  uint64_t base;
  uint64_t bytes;
  int32_t pid;
  int32_t fd;
  uint32_t keys[kDriversMax];  ///< by driver index, which is the same on all ranks
};

/// Whether a driver's device keeps pages in place, which must then all be there.
bool locks_pages() noexcept {
  return std::any_of(engine.drivers, engine.drivers + engine.driver_count,
                     [](const DriverSlot& slot) { return slot.caps.needs_local_key; });
}

/// FAST: all of it, now (DESIGN §7).
Result<SegmentFacts> pin_everywhere(Job& job) {
  SegmentFacts facts{};
  facts.base = reinterpret_cast<uint64_t>(job.segment.base);
  facts.bytes = job.segment_bytes;
  facts.pid = job.ranks[engine.rank].pid;
  facts.fd = job.segment.fd;
  engine.own_base = facts.base;
  engine.own_bytes = facts.bytes;
  if (facts.bytes != 0 && locks_pages()) {
    auto present = populate(job.segment.base, facts.bytes, engine.spinners_max);
    if (!present) return present.error();
  }
  for (uint32_t d = 0; d < engine.driver_count && facts.bytes != 0; ++d) {
    auto region = engine.drivers[d].driver->pin(job.segment.base, facts.bytes, job.segment.fd, 0);
    if (!region) return region.error();
    engine.drivers[d].own_key = region->local_key;
    facts.keys[d] = region->remote_key;
  }
  return facts;
}

/// Puts and gets that are traced or counted must come to the library: an empty table inlines none.
bool withholds_reach() noexcept { return watches('G') || watches('P') || watches('D'); }

Status map_peer(Job& job, Rank peer, const SegmentFacts& facts) {
  auto mapped = map_peer_memory(facts.pid, facts.fd, facts.bytes);
  if (!mapped) return error("rank %u: %s", peer, mapped.sentence().c_str());
  job.shm->map_peer_region(peer, facts.base, facts.bytes, mapped->base);
  if (withholds_reach()) return success();
  pinwire_reach[peer] = {facts.base, facts.bytes,
                         reinterpret_cast<uintptr_t>(mapped->base) - facts.base, 0};
  return success();
}

}  // namespace

Status publish_segments(Job& job) {
  auto mine = pin_everywhere(job);
  if (!mine) return mine.error();
  const auto* bytes = reinterpret_cast<const std::byte*>(&*mine);
  auto all = job.bootstrap->all_gather({bytes, sizeof(SegmentFacts)});
  if (!all) return all.error();
  for (Rank peer = 0; peer < engine.rank_count; ++peer) {
    SegmentFacts facts{};
    if ((*all)[peer].size() != sizeof facts) return error("rank %u sent malformed facts", peer);
    std::memcpy(&facts, (*all)[peer].data(), sizeof facts);
    Route& route = engine.routes[peer];
    route.segment_base = facts.base;
    route.segment_bytes = facts.bytes;
    route.region_key = facts.keys[route.driver_index];
    if (facts.bytes == 0) continue;
    if (peer == engine.rank) {
      if (withholds_reach()) continue;
      pinwire_reach[peer] = {facts.base, facts.bytes, 0, 0};
    } else if (job.shm != nullptr && route.driver_index == job.shm_index) {
      if (auto mapped = map_peer(job, peer, facts); !mapped) return mapped;
    }
  }
  return success();
}

}  // namespace pinwire
