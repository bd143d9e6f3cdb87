// Barriers one after the other, as they are timed.
#pragma once

#include <gasnet.h>

#include <cstdint>

namespace pinwire::flood {

inline void join_barriers(uint64_t count) {
  for (uint64_t i = 0; i < count; ++i) {
    gasnet_barrier_notify(0, GASNET_BARRIERFLAG_ANONYMOUS);
    gasnet_barrier_wait(0, GASNET_BARRIERFLAG_ANONYMOUS);
  }
}

}  // namespace pinwire::flood
