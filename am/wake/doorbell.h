// How a client thread that sleeps in a wait is woken by another that ran the handler it waits for:
// an event count, all of it in one word.
//
// One half counts events: polls that found something. The other half has a bit for each seat whose
// thread parks. A thread looks at the count, tests its condition, and parks only if the
// count is still the same: one compare-and-swap. A thread that makes something happen counts it and
// learns which seats park by one fetch-and-add. As both are operations on one word, one of them
// comes first: either the count has changed, or the bit is seen. Therefore a wait whose condition
// the library does not know (GASNET_BLOCKUNTIL's is the client's code) need not be tested after it
// has parked, and nothing must be taken back when it ends between two looks.
//
// Memory order: fetch_add(release) in happened() -> load(acquire) in look(): what a handler wrote
// is seen by the test after the look. CAS(release) in prepare_to_park() -> fetch_and(acquire) in
// call(): the fd of the seat. A template over its memory: tests/models tries every interleaving.
#pragma once

#include <atomic>
#include <bit>
#include <cstdint>

#include "core/base/check.h"

namespace pinwire {

template <typename Memory>
class BasicDoorbell {
 public:
  static constexpr uint32_t kSeats = 32;
  static constexpr uint32_t kNoSeat = kSeats;

  /// For a thread that is about to park; nobody else has it until leave_seat().
  uint32_t take_seat() noexcept {
    uint32_t taken = taken_.load(std::memory_order_relaxed);
    for (;;) {
      const auto seat = static_cast<uint32_t>(std::countr_one(taken));
      if (seat == kSeats) return kNoSeat;
      if (taken_.compare_exchange_weak(taken, taken | 1u << seat, std::memory_order_acquire)) {
        return seat;
      }
    }
  }
  // release pairs with the acquire in take_seat(): the fd of the seat
  void leave_seat(uint32_t seat) noexcept {
    dcheck(seat < kSeats, "no seat of the doorbell", seat);
    const uint32_t before = taken_.fetch_and(~(1u << seat), std::memory_order_release);
    dcheck((before >> seat & 1) != 0, "a seat is left that nobody has", seat);
  }

  /// True: nothing has happened since the look before. False: the caller tests its condition before
  /// it looks again.
  bool look(uint32_t& seen) const noexcept {
    const uint32_t now = count_of(word_.load(std::memory_order_acquire));
    if (now == seen) return true;
    seen = now;
    return false;
  }

  /// From now on this seat is rung when something happens. False: something has, since that look.
  bool prepare_to_park(uint32_t seat, uint32_t seen) noexcept {
    dcheck(seat < kSeats, "a thread parks without a seat", seat);
    uint64_t word = word_.load(std::memory_order_relaxed);
    while (count_of(word) == seen) {
      if (word_.compare_exchange_weak(word, word | uint64_t{1} << seat,
                                      std::memory_order_release)) {
        return true;
      }
    }
    return false;
  }
  /// It may have been rung, or will be, once too often.
  void get_up(uint32_t seat) noexcept {
    dcheck(seat < kSeats, "a thread gets up from no seat", seat);
    word_.fetch_and(~(uint64_t{1} << seat), std::memory_order_relaxed);
  }

  /// Something has happened that a wait may be for. Returns the seats that the caller must ring.
  uint32_t happened() noexcept {
    const uint64_t before = word_.fetch_add(kOne, std::memory_order_release);
    return (before & kBits) == 0 ? 0 : call();
  }
  /// All that park, which the caller must ring.
  uint32_t call() noexcept {
    return static_cast<uint32_t>(word_.fetch_and(~kBits, std::memory_order_acquire) & kBits);
  }

 private:
  static constexpr uint64_t kOne = uint64_t{1} << 32;
  static constexpr uint64_t kBits = kOne - 1;
  static constexpr uint32_t count_of(uint64_t word) noexcept {
    return static_cast<uint32_t>(word >> 32);
  }

  typename Memory::template Atomic<uint64_t> word_{};
  typename Memory::template Atomic<uint32_t> taken_{};
};

/// One turn of a wait that found nothing, by a thread whose look() said that nothing has happened.
/// `lanes.arm()`: from now on what arrives wakes sleep(); false if something is there already. It
/// may have taken the wake of others: they are rung, and look for themselves.
template <typename Memory, typename Lanes>
void park(BasicDoorbell<Memory>& bell, uint32_t seat, uint32_t seen, Lanes&& lanes) noexcept {
  if (!bell.prepare_to_park(seat, seen)) return;
  if (lanes.arm()) {
    lanes.sleep();
    bell.get_up(seat);
  } else {
    bell.get_up(seat);
    lanes.ring(bell.call());
    lanes.poll();
  }
}

}  // namespace pinwire
