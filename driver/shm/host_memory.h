// The memory that the shared-memory protocols of this room work on. They are templates over it, so
// that tests/models can put a model in its place and try every interleaving and every stale read.
#pragma once

#include <atomic>

namespace pinwire::shm {

struct HostMemory {
  template <typename T>
  using Atomic = std::atomic<T>;
};

}  // namespace pinwire::shm
