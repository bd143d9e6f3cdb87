// Which watched memory is stale, between the thread that reads the kernel's events
// (pin/kernel/watch.h) and the threads that use pins of that memory: no lock, so that neither waits
// for the other. The reader may wait for nobody, as whoever unmaps waits for it.
//
// Linux tells of an unmapping in this order (fs/userfaultfd.c; mmap_changing is `changing` here):
//
//   U1  under the lock of the address space: changing += 1, and the memory is gone
//   U2  the address is free: another thread's mmap may have it now
//   U3  an event is queued; whoever unmaps sleeps until it is read
//   U4  changing -= 1, munmap() returns
//
// Events therefore come too late to go by them alone. Memory that is used anew at an old address
// was mapped after U1, and a user who comes after that does
//
//   C1  look at `changing`: not 0: the event may not be read yet; wait
//   C2  look whether the reader is between reading an event and marking what it says; wait
//   C3  look at the mark
//
// in this order, and the reader
//
//   R1  says that it reads (turn_ is odd)
//   R2  reads: this lets U4 happen
//   R3  marks
//   R4  says that it has marked (turn_ is even)
//
// If C1 saw 0, U4 was before it, so R2 and with it R1; C2 then sees the odd turn, or R4 and with it
// R3. Before a range is pinned it is published: then either the pin, which takes the lock of the
// address space as U1 does, came after U1 and holds the new memory, or the reader sees the range.
//
// An event of MADV_DONTNEED comes before the memory goes, but its transfers are then the client's
// race: pins hold no page that their transfer does not use.
//
// Memory order: turn_.store(release) in read()  -> turn_.fetch_add(acq_rel) in is_marked(); a
//               read-modify-write, as it must not be done before C1's load in the kernel
//               the odd turn_ and what publish() stores are handed on by the kernel's locks
// tests/models tries all interleavings of this file with a model of the kernel's side.
#pragma once

#include <atomic>
#include <cstdint>

#include "core/base/check.h"

namespace pinwire {

struct HostWatchMemory {
  template <typename T>
  using Atomic = std::atomic<T>;
};

template <typename Memory>
class BasicWatchBoard {
 public:
  struct Slot {
    typename Memory::template Atomic<uint64_t> from{0};
    typename Memory::template Atomic<uint64_t> to{0};  ///< 0: watches nothing
    typename Memory::template Atomic<uint32_t> is_stale{0};
  };

  void open(Slot* slots, uint32_t count) noexcept {
    slots_ = slots;
    count_ = count;
  }

  /// The reader, of whom there is one. `take(mark)` reads events and calls mark(from, to) for each.
  template <typename Take>
  void read(Take&& take) noexcept {
    const uint64_t turn = turn_.load(std::memory_order_relaxed);
    dcheck((turn & 1) == 0, "two readers of the kernel's events", turn);
    turn_.store(turn + 1, std::memory_order_relaxed);
    take([this](uint64_t from, uint64_t to) noexcept { mark(from, to); });
    turn_.store(turn + 2, std::memory_order_release);
  }

  /// After the kernel said that nothing changes: is what it told before marked?
  bool is_marked() noexcept { return (turn_.fetch_add(0, std::memory_order_acq_rel) & 1) == 0; }
  /// After is_marked().
  bool is_stale(uint32_t slot) const noexcept {
    dcheck(slot < count_, "no such range is watched", slot, count_);
    return slots_[slot].is_stale.load(std::memory_order_relaxed) != 0;
  }

  /// Before the range is watched and pinned. The holder of the slot calls. A slot that is not in
  /// use may be marked for what it was: it is published anew before it is asked about.
  void publish(uint32_t slot, uint64_t from, uint64_t to) noexcept {
    dcheck(slot < count_, "there is no slot for the range", slot, count_);
    dcheck(from < to, "a range of no bytes is watched", from, to);
    Slot& at = slots_[slot];
    at.is_stale.store(0, std::memory_order_relaxed);
    at.from.store(from, std::memory_order_relaxed);
    at.to.store(to, std::memory_order_relaxed);
  }

 private:
  /// A slot that changes meanwhile may be marked for what it was: a pin more, no harm.
  void mark(uint64_t from, uint64_t to) noexcept {
    for (uint32_t i = 0; i < count_; ++i) {
      Slot& at = slots_[i];
      const uint64_t end = at.to.load(std::memory_order_relaxed);
      if (end <= from || at.from.load(std::memory_order_relaxed) >= to) continue;
      at.is_stale.store(1, std::memory_order_relaxed);
    }
  }

  typename Memory::template Atomic<uint64_t> turn_{0};
  Slot* slots_ = nullptr;
  uint32_t count_ = 0;
};

}  // namespace pinwire
