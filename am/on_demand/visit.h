// Memory of a peer that is pinned for a transfer: its owner pins it when asked, and is told when
// the transfer is over. The asker remembers nothing, and the owner keeps only what it sees unmapped
// (pin/kernel/watch.h): memory that is mapped anew is never taken for what it was (EVERYTHING).
#pragma once

#include <cstdint>

#include "driver/work.h"

namespace pinwire {

struct Visit {
  uint32_t key = kNoRegion;  ///< kNoRegion: the owner cannot pin it; send messages
  uint32_t place = 0;        ///< where the owner remembers it
};

/// Asks and waits for the answer. Client context only, as end_visit().
Visit begin_visit(Rank peer, uint64_t address, uint64_t bytes) noexcept;
void end_visit(Rank peer, const Visit& visit) noexcept;

void register_visits() noexcept;

}  // namespace pinwire
