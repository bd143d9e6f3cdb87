// Operations in flight of one thread: explicit handles, the implicit set, access regions.
//
// A handle points to an Op that counts completions: finished when `done` has reached `started`. Any
// thread that polls adds to `done`; only the owning thread touches the rest, until another thread
// synchronises the Op, as GASNet-EX allows (GX-040).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "am/message/done_count.h"
#include "core/base/check.h"

/// A gasnet_handle_t, or a root gex_Event_t, points to one of these.
struct pinwire_op {
  pinwire::DoneCount done;
  uint32_t started;
  std::atomic<uint32_t> life;  ///< counts its uses: what was a leaf of an earlier one is complete
  bool is_local;               ///< a put whose source was free when the call returned (GX-038)
  pinwire_op* next;            ///< of those that other threads gave back

  // acquire pairs with the release in count_done(): the data of the operation is visible
  bool finished() const noexcept { return done.load(std::memory_order_acquire) == started; }
};

/// A gasnet_valget_handle_t.
struct pinwire_value_op {
  pinwire_op op;
  uint64_t value;
};

namespace pinwire {

/// The Ops that other threads synchronised, for the owner to use again. They push, it takes all.
struct ReturnedOps {
  std::atomic<pinwire_op*> first{nullptr};

  // release pairs with the acquire of take_all(): they have read the last of it
  void push(pinwire_op* op) noexcept {
    pinwire_op* head = first.load(std::memory_order_relaxed);
    do {
      op->next = head;
    } while (!first.compare_exchange_weak(head, op, std::memory_order_release,
                                          std::memory_order_relaxed));
  }
  pinwire_op* take_all() noexcept { return first.exchange(nullptr, std::memory_order_acquire); }
};

/// Fixed-size objects of one thread, from memory reserved once and touched as it is used.
template <typename T>
class OpPool {
 public:
  /// nullptr when all are in flight.
  T* take() noexcept {
    dcheck(free_count_ <= fresh_, "more operations are free than there ever were", free_count_,
           fresh_);
    dcheck(fresh_ <= capacity_, "more operations than there is memory for", fresh_, capacity_);
    if (free_count_ != 0) return slots_[--free_count_];
    if (fresh_ == capacity_) return nullptr;
    return &items_[fresh_++];
  }
  void give(T* item) noexcept {
    dcheck(owns(item), "an operation of another thread is given back here", item);
    dcheck(free_count_ < fresh_, "an operation is given back that was not taken", free_count_);
    slots_[free_count_++] = item;
  }
  /// In flight.
  uint32_t taken() const noexcept { return fresh_ - free_count_; }
  T* any() const noexcept { return items_; }
  bool owns(const T* item) const noexcept { return item >= items_ && item < items_ + fresh_; }

  void adopt(T* items, T** slots, uint32_t capacity) noexcept {
    dcheck(fresh_ == 0, "a pool whose operations are in use takes other memory", fresh_);
    items_ = items;
    slots_ = slots;
    capacity_ = capacity;
  }

 private:
  T* items_ = nullptr;
  T** slots_ = nullptr;  // stack of returned ones
  uint32_t capacity_ = 0;
  uint32_t fresh_ = 0;
  uint32_t free_count_ = 0;
};

/// C1-224 asks for 65,535 per thread; an access region and a few more ride along.
inline constexpr uint32_t kOpsPerThread = 66'000;

/// One thread after the other has these: operations that are under way when their thread ends are
/// still counted here, and other threads may finish its handles later.
struct ThreadOps {
  pinwire_op puts{};  ///< the implicit set; `started` wraps with `done`
  pinwire_op gets{};
  pinwire_op locals{};  ///< puts, too
  pinwire_op ams{};
  pinwire_op rmws{};             ///< remote atomics but GET and SET (GX-159)
  pinwire_op* region = nullptr;  ///< open access region
  OpPool<pinwire_op> explicit_ops;
  OpPool<pinwire_value_op> value_ops;
  ThreadOps* next_left = nullptr;  ///< of those whose threads have ended
};

/// The memory of a thread's operations, so aligned that each explicit one tells where it begins. It
/// begins as zeros.
inline constexpr size_t kOpArenaBytes = size_t{1} << 21;
struct OpArena {
  alignas(64) ReturnedOps returned;
  alignas(64) ThreadOps owner;
  alignas(64) pinwire_op ops[kOpsPerThread];
};
static_assert(sizeof(OpArena) <= kOpArenaBytes);
inline OpArena& arena_of(const pinwire_op* op) noexcept {
  return *reinterpret_cast<OpArena*>(reinterpret_cast<uintptr_t>(op) & ~(kOpArenaBytes - 1));
}
/// Gives the pool what other threads have synchronised.
void take_returned(OpPool<pinwire_op>& pool) noexcept;

/// The calling thread's; the first call of a thread takes over those of one that has ended, or
/// reserves memory.
ThreadOps& thread_ops() noexcept;

}  // namespace pinwire
