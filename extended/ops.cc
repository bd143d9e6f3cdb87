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

/// What lies before and after stays reserved, and is never touched.
OpArena& reserve_arena() noexcept {
  const auto base = reinterpret_cast<uintptr_t>(reserve(2 * kOpArenaBytes));
  const uintptr_t aligned = (base + kOpArenaBytes - 1) & ~(kOpArenaBytes - 1);
  return *reinterpret_cast<OpArena*>(aligned);
}

template <typename T>
void fill(OpPool<T>& pool, T* items) noexcept {
  pool.adopt(items, reinterpret_cast<T**>(reserve(kOpsPerThread * sizeof(T*))), kOpsPerThread);
}

}  // namespace

ThreadOps& thread_ops() noexcept {
  ThreadOps& mine = ops;
  if (!mine.ready) [[unlikely]] {
    fill(mine.explicit_ops, reserve_arena().ops);
    fill(mine.value_ops,
         reinterpret_cast<pinwire_value_op*>(reserve(kOpsPerThread * sizeof(pinwire_value_op))));
    mine.ready = true;
  }
  return mine;
}

}  // namespace pinwire
