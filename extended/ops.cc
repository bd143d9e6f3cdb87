#include "extended/ops.h"

#include "core/base/reserve.h"

namespace pinwire {
namespace {

constinit thread_local ThreadOps ops;

/// A thread that keeps few operations in flight uses few pages. Lives as long as the process,
/// because a handle may be finished by another thread after its owner ended.
void* reserve(size_t bytes) noexcept {
  return reserve_memory(bytes, "the operations of a new thread");
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
