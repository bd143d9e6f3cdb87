// The shared-memory driver: ranks of one host. A message is written straight into a ring of the
// receiver's inbox and handled there; puts and gets are one memcpy into the mapped segment, or,
// where all memory of the peer is exposed, one copy by the kernel.
#pragma once

#include <memory>

#include "driver/driver.h"
#include "driver/shm/inbox.h"

namespace pinwire {

class ShmDriver : public Driver {
 public:
  /// Makes [base, base + bytes) of `peer` reachable at `mapped` for puts, gets and atomics.
  virtual void map_peer_region(Rank peer, uint64_t base, uint64_t bytes, std::byte* mapped) = 0;
  /// The same for further regions, in place of an earlier one of this index. Work names it by the
  /// key that this returns; by kFarKey, what reach_peer_process() made reachable. One thread at a
  /// time, also while others use the lanes, but not this region.
  virtual uint32_t map_bound_region(Rank peer, uint32_t index, uint64_t base, uint64_t bytes,
                                    std::byte* mapped) = 0;
  static constexpr uint32_t kBoundRegionsMax = 64;
  static constexpr uint32_t kFarKey = ~0u;
  /// Makes all memory of `peer`, which exposes it, reachable for puts and gets by the kernel. A
  /// sentence if that does not let this process.
  virtual Status reach_peer_process(Rank peer) = 0;
  /// Lets peers do so, without expose(). Once is enough.
  virtual void allow_peer_processes() noexcept = 0;
};

/// `ring_slots` bounds each ring, whatever the network depth asks for (GASNET_SHM_RING_SLOTS).
std::unique_ptr<ShmDriver> make_shm_driver(uint32_t ring_slots);

}  // namespace pinwire
