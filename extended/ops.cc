#include "extended/ops.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>

#include "core/base/log.h"

namespace pinwire {
namespace {

constinit thread_local ThreadOps ops;

/// Reserved, not touched: a thread that keeps few operations in flight uses few pages. Lives as
/// long as the process, because a handle may be finished by another thread after its owner ended.
std::byte* reserve(size_t bytes) noexcept {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    fatal("no address space for the operations of a new thread (%zu bytes): %s", bytes,
          std::strerror(errno));
  }
  return static_cast<std::byte*>(memory);
}

template <typename T>
void fill(OpPool<T>& pool) noexcept {
  std::byte* items = reserve(kOpsPerThread * sizeof(T));
  std::byte* slots = reserve(kOpsPerThread * sizeof(T*));
  pool.adopt(reinterpret_cast<T*>(items), reinterpret_cast<T**>(slots), kOpsPerThread);
}

}  // namespace

ThreadOps& thread_ops() noexcept {
  ThreadOps& mine = ops;
  if (!mine.ready) [[unlikely]] {
    fill(mine.explicit_ops);
    fill(mine.value_ops);
    mine.ready = true;
  }
  return mine;
}

}  // namespace pinwire
