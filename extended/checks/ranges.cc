#include "extended/checks/ranges.h"

#include <algorithm>
#include <atomic>

#include "core/api_types.h"
#include "core/base/bits.h"
#include "core/base/breach.h"
#include "core/engine/engine.h"

namespace pinwire {

void check_range(const char* call, Target to, const void* address, size_t bytes) noexcept {
  const Rank node = rank_of(to);
  if (node >= engine.rank_count || endpoint_of(to) >= kEndpointsMax) {
    breach("C1-295", "%s: node %u does not exist; this job has nodes 0 to %u", call, to,
           engine.rank_count - 1);
  }
  const Route& route = engine.routes[to];
  if (bytes == 0) return;                                        // addresses may be anything
  if (route.known_bytes() == 0 && endpoint_of(to) != 0) return;  // not known yet: the call will ask
  if (route.covers(address, bytes)) return;
  breach("C1-295", "%s: %zu bytes at %p are not in the segment of node %u, %llu bytes at 0x%llx",
         call, bytes, address, node, static_cast<unsigned long long>(route.segment_bytes),
         static_cast<unsigned long long>(route.segment_base));
}

void check_overlap(const char* call, const void* here, const void* local, size_t bytes) noexcept {
  if (here == nullptr || local == nullptr || here == local) return;
  const auto a = reinterpret_cast<uintptr_t>(here), b = reinterpret_cast<uintptr_t>(local);
  if (std::max(a, b) - std::min(a, b) >= bytes) return;
  breach("C1-296", "%s: source and destination, %zu bytes at %p and at %p, overlap", call, bytes,
         here, local);
}

void* checked_place(const char* call, Target node, const void* remote, const void* local,
                    size_t bytes) noexcept {
  check_range(call, node, remote, bytes);
  if (bytes == 0) return nullptr;
  struct pinwire_reach& reach = ::pinwire_reach[node];
  // Pairs with the release in let_headers_reach(), as in the headers' pinwire_direct().
  const uintptr_t size = std::atomic_ref(reach.size).load(std::memory_order_acquire);
  const auto address = reinterpret_cast<uintptr_t>(remote);
  void* here = inside(address, bytes, reach.base, size)
                   ? reinterpret_cast<void*>(address + reach.delta)
                   : nullptr;
  check_overlap(call, rank_of(node) == engine.rank ? remote : here, local, bytes);
  return here;
}

}  // namespace pinwire
