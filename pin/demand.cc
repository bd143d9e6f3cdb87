#include "pin/demand.h"

namespace pinwire {

void Demand::stats(StatSink& sink) const noexcept {
  const PinCounters local = own.counters();
  sink.stat("pin_pins", local.pins);
  sink.stat("pin_unpins", local.unpins);
  sink.stat("pin_refusals", local.refusals);
  sink.stat("pin_local_hits", local.hits);
  sink.stat("pin_local_misses", local.misses);
  sink.stat("pin_bounces", local.bounces);
  sink.stat("pin_demand_bytes", local.bytes);
  sink.stat("pin_demand_bytes_max", local.bytes_max);
  sink.stat("pin_kept_hits", local.kept_hits);
  sink.stat("pin_kept_misses", local.kept_misses);
  sink.stat("pin_kept_stale", local.kept_stale);
  sink.stat("pin_kept_evictions", local.kept_evictions);
  sink.stat("pin_kept_bytes", local.kept_bytes);
  sink.stat("pin_kept_bytes_max", local.kept_bytes_max);
  sink.stat("pin_kept_unsettled", local.unsettled);
  sink.stat("pin_kept_unwatchable", local.unwatchable);
  const std::lock_guard guard(cache_lock);
  sink.stat("pin_remote_hits", cache.hits());
  sink.stat("pin_remote_misses", cache.misses());
  sink.stat("pin_remote_evictions", cache.evictions());
}

}  // namespace pinwire
