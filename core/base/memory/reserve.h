// Address space for tables that are touched only where they are used.
#pragma once

#include <sys/mman.h>

#include <cerrno>
#include <cstddef>
#include <cstring>

#include "core/base/log.h"

namespace pinwire {

/// Zeroed memory that takes pages as it is touched; nullptr with errno: there is no address space.
inline void* map_zeroed(size_t bytes) noexcept {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory != MAP_FAILED ? memory : nullptr;
}

/// The same, never given back. `what` is for the sentence with which the process ends if there is
/// no address space.
inline void* reserve_memory(size_t bytes, const char* what) noexcept {
  void* memory = map_zeroed(bytes);
  if (memory == nullptr) {
    fatal(
        "no address space for %s (%zu bytes): %s; raise the limits of the process (ulimit -v, "
        "ulimit -d), or, if it has as many mappings as it may, that of mappings (sysctl "
        "vm.max_map_count)",
        what, bytes, std::strerror(errno));
  }
  return memory;
}
template <typename T>
T* reserve_table(size_t count, const char* what) noexcept {
  return static_cast<T*>(reserve_memory(count * sizeof(T), what));
}

}  // namespace pinwire
