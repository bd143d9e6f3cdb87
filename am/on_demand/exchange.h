// Peers' buckets: found in this rank's cache, otherwise requested from their owner, which pins them
// (pin/).
//
// A request names the bucket wanted, and the one that is given back for it: therefore a rank never
// holds more than its share, and owners never ask for anything back.
#pragma once

#include <cstdint>

#include "core/engine/engine.h"
#include "pin/remote_cache.h"

namespace pinwire {

/// Where a peer's memory may be reached, until the entry is put back.
struct RemoteBucket {
  uint32_t index = RemoteCache::kNone;
  uint32_t key = kNoRegion;  ///< kNoRegion: not at all; nothing is held then, send messages
  uint64_t end = 0;          ///< of what that is true of
};

/// The bucket around `address`; asks its owner, waits for the answer, and, while all buckets of the
/// share are in use, for transfers to end. Client context only.
RemoteBucket reach_bucket(Rank peer, uint64_t address) noexcept;
/// The same where nothing may be waited for: only what is known already.
RemoteBucket known_bucket(Rank peer, uint64_t address) noexcept;
/// Likewise, in client context: what is not known is asked for, if that takes nothing from anyone,
/// so that the next transfer may find it.
RemoteBucket known_or_wished(Rank peer, uint64_t address) noexcept;

void register_exchange() noexcept;

}  // namespace pinwire
