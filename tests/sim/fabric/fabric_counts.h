// The fates of the frames of a run.
#pragma once

#include <cstdint>

namespace pinwire::sim {

struct FabricCounts {
  uint64_t sent, delivered, lost, partitioned, duplicated, corrupted, truncated, overrun,
      unbuffered, oversized, injected, detoured;
  uint64_t overtaken;      ///< and acknowledged late (overtaken.h)
  uint64_t mute_timeouts;  ///< that ports explain which were full for a while
};

}  // namespace pinwire::sim
