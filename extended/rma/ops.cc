#include "extended/rma/ops.h"

#include "am/interrupts/interrupts.h"
#include "core/base/memory/reserve.h"
#include "core/base/threads/thread_end.h"
#include "extended/state/handed_on.h"

namespace pinwire {
namespace {

/// C1-224 promises each thread so many.
constexpr uint32_t kOpsPromised = 65'535;

constinit thread_local ThreadOps* own_ops = nullptr;
constinit HandedOn<ThreadOps> left_ops;

/// A thread that keeps few operations in flight uses few pages.
void* reserve(size_t bytes) noexcept {
  return reserve_memory(bytes, "the operations of a new thread");
}

/// The addresses before and after the arena stay reserved, and are never touched.
OpArena& reserve_arena() noexcept {
  const auto base = reinterpret_cast<uintptr_t>(reserve(2 * kOpArenaBytes));
  const uintptr_t aligned = (base + kOpArenaBytes - 1) & ~(kOpArenaBytes - 1);
  check(aligned + sizeof(OpArena) <= base + 2 * kOpArenaBytes, "an arena ends after its memory",
        aligned, base);
  return *reinterpret_cast<OpArena*>(aligned);
}

template <typename T>
void fill(OpPool<T>& pool, T* items) noexcept {
  pool.adopt(items, reinterpret_cast<T**>(reserve(kOpsPerThread * sizeof(T*))), kOpsPerThread);
}

ThreadOps& reserve_ops() noexcept {
  OpArena& arena = reserve_arena();
  fill(arena.owner.explicit_ops, arena.ops);
  fill(arena.owner.value_ops,
       reinterpret_cast<pinwire_value_op*>(reserve(kOpsPerThread * sizeof(pinwire_value_op))));
  return arena.owner;
}

/// Nothing is under way that its thread has left, whose completion may still be counted there; and
/// of handles that nobody has synchronised there are so few that a thread has enough without them.
bool may_begin_again(ThreadOps& its) noexcept {
  for (const pinwire_op* set : {&its.puts, &its.gets, &its.locals, &its.ams, &its.rmws}) {
    if (!set->finished()) return false;
  }
  if (its.region != nullptr && !its.region->finished()) return false;
  take_returned(its.explicit_ops);
  return its.explicit_ops.taken() <= kOpsPerThread - kOpsPromised &&
         its.value_ops.taken() <= kOpsPerThread - kOpsPromised;
}

void hand_on(void* what) noexcept {
  const LibraryCall inside;
  dcheck(own_ops == what, "a thread hands on operations of another", what);
  own_ops = nullptr;
  left_ops.give(*static_cast<ThreadOps*>(what));
}

/// A region that its thread began and left open is no handle of anybody's.
void forget_region(ThreadOps& its) noexcept {
  if constexpr (kChecks) {
    dcheck(its.region == nullptr || its.region->finished(), "an open region is under way");
  }
  if (its.region != nullptr) its.explicit_ops.give(its.region);
  its.region = nullptr;
}

[[gnu::noinline]] ThreadOps& adopt_ops() noexcept {
  static const ThreadEnd end(hand_on);
  own_ops = left_ops.take(may_begin_again);
  if (own_ops == nullptr) own_ops = &reserve_ops();
  forget_region(*own_ops);
  end.arm(own_ops);
  return *own_ops;
}

}  // namespace

void take_returned(OpPool<pinwire_op>& pool) noexcept {
  pinwire_op* op = arena_of(pool.any()).returned.take_all();
  while (op != nullptr) {
    pinwire_op* next = op->next;
    dcheck(next != op, "an operation is returned twice", op);
    pool.give(op);
    op = next;
  }
}

ThreadOps& thread_ops() noexcept { return own_ops != nullptr ? *own_ops : adopt_ops(); }

}  // namespace pinwire
