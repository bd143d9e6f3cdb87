#include "extended/segments/pin.h"

#include <algorithm>

#include "core/base/check.h"
#include "core/base/log.h"
#include "core/engine/engine.h"
#include "core/trace/trace.h"
#include "pin/budget.h"
#include "pin/demand.h"

namespace pinwire {
namespace {

uint32_t peers_over(uint32_t driver_index) noexcept {
  return static_cast<uint32_t>(
      std::count_if(engine.routes, engine.routes + engine.rank_count, [&](const Route& route) {
        return route.driver != nullptr && route.driver_index == driver_index;
      }));
}

/// The bytes that this driver may pin on demand. Messages between two ranks, and the memory that is
/// pinned for them, go by one rail; a segment that is pinned whole is pinned by all.
uint64_t budget_of(const Job& job, uint32_t driver_index, bool in_parts) noexcept {
  const uint64_t whole = in_parts || job.kind == SegmentKind::kEverything ? 0 : job.segment_bytes;
  uint32_t peers_of_all = 0;
  for (uint32_t d = 0; d < engine.driver_count; ++d) {
    if (pins_on_demand(engine.drivers[d].caps)) peers_of_all += peers_over(d);
  }
  return part_of_port(left_for_demand(job.may_pin, whole, engine.rail_count),
                      peers_over(driver_index), peers_of_all);
}

/// One for all drivers, as no memory is watched twice. Never closed: the client may unmap until the
/// process is gone.
Watch* watch = nullptr;
bool has_tried_to_watch = false;

void open_watch(const Job& job) {
  if (has_tried_to_watch) return;
  has_tried_to_watch = true;
  watch = new Watch;
  const Status opened = job.settings.pin_watch ? watch->open(kDriversMax * Kept::kEntriesMax)
                                               : Status(error("GASNET_PIN_WATCH says no"));
  const std::string says =
      opened ? std::string("private memory is watched, and stays pinned between transfers")
             : "memory outside the segment is pinned for each transfer: " + opened.sentence();
  trace_line('O', "%s", says.c_str());
  if (job.settings.verbose_env) log_note("%s", says.c_str());
  if (opened) return;
  delete watch;
  watch = nullptr;
}

}  // namespace

bool pins_on_demand(const Caps& caps) noexcept { return caps.hw_rdma && caps.needs_local_key; }

RemoteCache::Grant open_own_pins(const Job& job, uint32_t driver_index, bool in_parts) {
  check(driver_index < engine.driver_count, "pins of no driver", driver_index);
  check(demands[driver_index] == nullptr, "the pins of a driver are opened twice", driver_index);
  const uint64_t budget = budget_of(job, driver_index, in_parts);
  const uint32_t peers = in_parts ? peers_over(driver_index) : 0;
  Shares shares = divide_budget(budget, peers);
  if (peers != 0 && shares.buckets_per_peer == 0) {
    log_warning(
        "of %llu bytes that %s may pin, none of its %u peers gets a part of %llu: they reach this "
        "segment by messages, which is slow; raise GASNET_PIN_BUDGET",
        static_cast<unsigned long long>(budget), engine.drivers[driver_index].label, peers,
        static_cast<unsigned long long>(kBucketBytesMin));
    shares = divide_budget(budget, 0);
  }
  auto* demand = new Demand;
  const bool has_buckets = shares.buckets_per_peer != 0;
  check(!has_buckets || job.segment.base != nullptr, "buckets of no segment", driver_index);
  demand->own.open(*engine.drivers[driver_index].driver, shares, engine.rank_count,
                   has_buckets ? reinterpret_cast<uint64_t>(job.segment.base) : 0,
                   has_buckets ? job.segment_bytes : 0);
  open_watch(job);
  if (watch != nullptr) demand->own.keep(*watch);
  demands[driver_index] = demand;
  if (has_buckets && job.settings.verbose_env) {
    log_note(
        "%llu bytes may be pinned for %s: %u parts of %llu KiB for each of %u peers, %u for own "
        "use",
        static_cast<unsigned long long>(budget), engine.drivers[driver_index].label,
        shares.buckets_per_peer, static_cast<unsigned long long>(shares.bucket_bytes() >> 10),
        peers, shares.buckets_own);
  }
  return {shares.bucket_shift, shares.buckets_per_peer};
}

Status open_peers_pins(uint32_t driver_index, const std::vector<RemoteCache::Grant>& grants) {
  constexpr uint32_t kShiftMin = 12, kShiftMax = 31;
  for (size_t peer = 0; peer < grants.size(); ++peer) {
    if (grants[peer].bucket_shift < kShiftMin || grants[peer].bucket_shift > kShiftMax) {
      return error("rank %zu sent malformed facts", peer);
    }
  }
  check(demands[driver_index] != nullptr, "peers' pins before a driver's own", driver_index);
  check(grants.size() == engine.rank_count, "a grant of each rank", grants.size());
  demands[driver_index]->cache.open(grants);
  return success();
}

}  // namespace pinwire
