#include "extended/pinning.h"

#include <algorithm>

#include "core/base/log.h"
#include "core/engine/engine.h"
#include "core/trace/trace.h"
#include "pin/demand.h"

namespace pinwire {
namespace {

uint32_t peers_over(uint32_t driver_index) noexcept {
  return static_cast<uint32_t>(
      std::count_if(engine.routes, engine.routes + engine.rank_count, [&](const Route& route) {
        return route.driver != nullptr && route.driver_index == driver_index;
      }));
}

/// Of the drivers that pin; each pins for itself.
uint64_t budget_of_one(const Job& job, bool in_parts) noexcept {
  const uint64_t whole = in_parts || job.kind == SegmentKind::kEverything ? 0 : job.segment_bytes;
  const auto count =
      std::count_if(engine.drivers, engine.drivers + engine.driver_count,
                    [](const DriverSlot& slot) { return pins_on_demand(slot.caps); });
  const uint64_t each = job.pin_bytes_max / static_cast<uint64_t>(std::max<int64_t>(count, 1));
  return each > whole ? each - whole : 0;
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
  const uint64_t budget = budget_of_one(job, in_parts);
  const uint32_t peers = in_parts ? peers_over(driver_index) : 0;
  Shares shares = divide_budget(budget, peers);
  if (peers != 0 && shares.buckets_per_peer == 0) {
    log_warning(
        "of %llu bytes that may be pinned, none of %u peers gets a part of %llu: they reach this "
        "segment by messages, which is slow; raise GASNET_PIN_BUDGET",
        static_cast<unsigned long long>(budget), peers,
        static_cast<unsigned long long>(kBucketBytesMin));
    shares = divide_budget(budget, 0);
  }
  auto* demand = new Demand;
  const bool has_buckets = shares.buckets_per_peer != 0;
  demand->own.open(*engine.drivers[driver_index].driver, shares, engine.rank_count,
                   has_buckets ? engine.own_base : 0, has_buckets ? engine.own_bytes : 0);
  open_watch(job);
  if (watch != nullptr) demand->own.keep(*watch);
  demands[driver_index] = demand;
  if (has_buckets && job.settings.verbose_env) {
    log_note("%llu bytes may be pinned: %u parts of %llu KiB for each of %u peers, %u for own use",
             static_cast<unsigned long long>(budget), shares.buckets_per_peer,
             static_cast<unsigned long long>(shares.bucket_bytes() >> 10), peers,
             shares.buckets_own);
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
  demands[driver_index]->cache.open(grants);
  return success();
}

}  // namespace pinwire
