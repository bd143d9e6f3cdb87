// A ring of 64-byte slots in shared memory, with a room of as many lines beside it: many producers
// in other processes, one consumer.
//
// A message takes one slot: a word, then its bytes. The word is published last and carries the lap
// of its position, so the consumer needs no shared index to see that a message is there: one cache
// line moves for a message of up to 56 bytes. The bytes of a longer one lie in the room, in whole
// lines, never wrapping. The consumer only reads them: a line that both sides wrote would cross
// between their cores once more. Slot and room are reserved at once, so the order of the slots is
// that of the room, and each side finds the place of the next message from the lengths alone.
//
// A producer goes by an old look at head while that shows a free slot; a slot's position never
// comes back. Those of lines do: with other producers beside it, it looks anew for room.
//
// A consumer that will sleep marks the word of the slot that it waits for; from the first time on
// its producers exchange words rather than store them, and find the mark. Before the first mark the
// consumer says so in `sleeps` and has its producers pass a barrier (membarrier(2)).
//
// Memory order: word.store(release) in publish()       -> word.load(acquire) in next()
//               head.store(release) in free_next()     -> head.load(acquire) in look_at_head()
//               head_seen.store(release) there         -> head_seen.load(acquire) in head_seen() of
//               another thread that shares the producer, and so has not read head itself
// tests/models tries all interleavings of this file under a weak memory model.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "core/base/bits.h"
#include "core/base/check.h"
#include "driver/shm/host_memory.h"

namespace pinwire::shm {

inline constexpr uint32_t kSlotBytes = 64;
inline constexpr uint32_t kWordBytes = 8;
inline constexpr uint32_t kBodyBytes = kSlotBytes - kWordBytes;
/// Where a message begins in the first of its lines of the room. At 8 modulo 16, as in a slot; and
/// a payload behind the 8 bytes of a head without arguments fills whole lines.
inline constexpr uint32_t kRoomSkip = kSlotBytes - 8;

template <typename Memory>
struct alignas(kSlotBytes) BasicSlot {
  typename Memory::template Atomic<uint64_t> word;
  std::byte body[kBodyBytes];
};
using Slot = BasicSlot<HostMemory>;
static_assert(sizeof(Slot) == kSlotBytes && offsetof(Slot, body) == kWordBytes);

inline constexpr uint32_t kSlotCountMax = 1 << 16;

/// How far a ring is in use: of its slots, and of the lines of its room. One word in memory, in
/// which they wrap: slots after a month of nothing but sending, lines as soon as two rooms are
/// full.
struct Extent {
  static constexpr uint32_t kLineBits = 17;
  static constexpr uint32_t kLineMask = (1u << kLineBits) - 1;
  static_assert(kLineMask >= kSlotCountMax);

  uint64_t slots = 0;
  uint32_t lines = 0;

  static constexpr Extent of(uint64_t packed) noexcept {
    return {packed >> kLineBits, static_cast<uint32_t>(packed) & kLineMask};
  }
  constexpr uint64_t packed() const noexcept { return slots << kLineBits | (lines & kLineMask); }
  constexpr uint64_t slots_since(Extent before) const noexcept {
    return (slots - before.slots) & ~uint64_t{0} >> kLineBits;
  }
  constexpr uint32_t lines_since(Extent before) const noexcept {
    return (lines - before.lines) & kLineMask;
  }
};

template <typename Memory>
struct BasicRingControl {
  using Position = typename Memory::template Atomic<uint64_t>;  ///< an Extent
  alignas(kCacheLineBytes) Position tail;                       ///< next free; producers
  /// The consumer sleeps at times. In the line that only several producers write.
  typename Memory::template Atomic<uint32_t> sleeps;
  alignas(kCacheLineBytes) Position head;  ///< first in use; consumer
};
using RingControl = BasicRingControl<HostMemory>;
static_assert(sizeof(RingControl) == 2 * kCacheLineBytes);

/// Lines that a message of `bytes` takes in the room: none if it fits its slot.
constexpr uint32_t lines_for(uint32_t bytes) noexcept {
  return bytes <= kBodyBytes ? 0 : (kRoomSkip + bytes + kSlotBytes - 1) / kSlotBytes;
}

/// Where one ring lies in this process.
template <typename Memory>
struct BasicRingView {
  BasicRingControl<Memory>* control = nullptr;
  BasicSlot<Memory>* slots = nullptr;
  std::byte* room = nullptr;  ///< slot_count lines
  uint32_t slot_count = 0;    ///< a power of two

  BasicSlot<Memory>& at(uint64_t slot) const noexcept { return slots[slot & (slot_count - 1)]; }
  /// Where the bytes of a message of so many lie that begins at `place`.
  std::byte* body(Extent place, uint32_t bytes) const noexcept {
    if (bytes <= kBodyBytes) [[likely]]
      return at(place.slots).body;
    dcheck((place.lines & (slot_count - 1)) + lines_for(bytes) <= slot_count,
           "a message runs past the end of its ring's room", place.lines, bytes);
    return room + uint64_t{place.lines & (slot_count - 1)} * kSlotBytes + kRoomSkip;
  }
};
using RingView = BasicRingView<HostMemory>;

/// has its payload elsewhere:1 | bytes:31 | source:16 | is a message:4 | lap:12
struct Word {
  static constexpr uint64_t kMessage = 1;
  static constexpr uint64_t kElsewhere = uint64_t{1} << 63;  ///< the bytes say where (outbox.h)
  static constexpr uint64_t kAwaited = 2 << 12;  ///< in the word that a message will replace

  static constexpr uint64_t make(uint64_t lap, uint32_t source, uint32_t bytes,
                                 bool is_elsewhere = false) noexcept {
    return (is_elsewhere ? kElsewhere : 0) | uint64_t{bytes} << 32 |
           uint64_t{source & 0xffff} << 16 | kMessage << 12 | (lap & 0xfff);
  }
  static constexpr bool holds(uint64_t word, uint64_t lap) noexcept {
    return (word & 0xffff) == (kMessage << 12 | (lap & 0xfff));
  }
  static constexpr uint32_t source(uint64_t word) noexcept { return word >> 16 & 0xffff; }
  static constexpr uint32_t bytes(uint64_t word) noexcept {
    return static_cast<uint32_t>(word >> 32) & 0x7fff'ffff;
  }
};

/// A message takes at most half of the room: with what it leaves free before it, rather than wrap,
/// it then always fits an empty one.
constexpr uint32_t message_bytes_max(uint32_t slot_count) noexcept {
  return slot_count / 2 * kSlotBytes - kRoomSkip;
}
/// The place of a message in a ring that is in use up to `before`.
constexpr Extent place_after(Extent before, uint32_t bytes, uint32_t slot_count) noexcept {
  if (bytes <= kBodyBytes) [[likely]]  // it takes no lines
    return before;
  const uint32_t to_end = slot_count - (before.lines & (slot_count - 1));
  return {before.slots, before.lines + (lines_for(bytes) <= to_end ? 0 : to_end)};
}
/// How far the ring is in use with a message at `place`.
constexpr Extent end_of(Extent place, uint32_t bytes) noexcept {
  return {place.slots + 1, place.lines + lines_for(bytes)};
}

/// The sending side of one ring in one process. Threads may share it when `is_shared`.
template <typename Memory>
class BasicRingProducer {
 public:
  BasicRingProducer() = default;
  BasicRingProducer(BasicRingView<Memory> ring, bool is_shared) noexcept
      : ring_(ring),
        lap_shift_(static_cast<uint32_t>(std::countr_zero(ring.slot_count))),
        is_shared_(is_shared),
        tail_{ring.slot_count, ring.slot_count} {
    check(ring.slot_count <= kSlotCountMax, "a ring of more lines than an Extent counts",
          ring.slot_count);
  }
  BasicRingProducer(const BasicRingProducer& other) noexcept { *this = other; }
  BasicRingProducer& operator=(const BasicRingProducer& other) noexcept {
    ring_ = other.ring_;
    lap_shift_ = other.lap_shift_;
    is_shared_ = other.is_shared_;
    tail_ = other.tail_;
    head_seen_.store(other.head_seen_.load(std::memory_order_relaxed), std::memory_order_relaxed);
    return *this;
  }

  /// Finds a place for a message of `bytes`. A sender that streams has the slots of its next
  /// messages fetched meanwhile; for a lone message that is one transfer too many.
  bool reserve(uint32_t bytes, bool is_streaming, Extent& place) noexcept {
    const bool is_reserved = is_shared_            ? reserve_shared(bytes, place)
                             : bytes <= kBodyBytes ? reserve_slot(place)
                                                   : reserve_lines(bytes, place);
    if (is_streaming) prefetch_to_write(&ring_.at(place.slots + 1 + kPrefetchSlots));
    return is_reserved;
  }
  std::byte* body(Extent place, uint32_t bytes) const noexcept { return ring_.body(place, bytes); }
  /// True: the consumer sleeps, and must be woken.
  bool publish(Extent place, uint32_t source, uint32_t bytes, bool is_elsewhere = false) noexcept {
    dcheck(lines_for(bytes) <= ring_.slot_count / 2,
           "a message of more than half of its ring's room is published", bytes);
    dcheck(source <= 0xffff, "a rank that the word of a message has no bits for", source);
    const uint64_t word = Word::make(place.slots >> lap_shift_, source, bytes, is_elsewhere);
    auto& at = ring_.at(place.slots).word;
    auto& sleeps = ring_.control->sleeps;
    if (sleeps.load(std::memory_order_relaxed) == 0) [[likely]] {
      at.store(word, std::memory_order_release);
      // The first mark of all may have come in between, and is overwritten then. Either this sees
      // that the consumer sleeps, or the consumer saw the word: it set `sleeps`, had this process
      // pass a barrier, and looked.
      std::atomic_signal_fence(std::memory_order_seq_cst);  // the compiler's order, too
      return sleeps.load(std::memory_order_relaxed) != 0;
    }
    return (at.exchange(word, std::memory_order_release) & Word::kAwaited) != 0;
  }
  /// A lone sender waits for the answer now. Meanwhile the lines that the next message of `bytes`
  /// will take in the room, which the receiver read a lap ago, become its own again.
  void own_next_lines(Extent place, uint32_t bytes) noexcept {
    const std::span<const std::byte> lines = next_lines(place, bytes);
    for (size_t at = 0; at < lines.size(); at += kSlotBytes) prefetch_to_write(lines.data() + at);
  }
  /// Those lines; none while the receiver may still read them. It is for large messages: a few
  /// lines take longer to ask for, before the next poll, than they save.
  std::span<const std::byte> next_lines(Extent place, uint32_t bytes) const noexcept {
    const uint32_t lines = std::min(lines_for(bytes), kOwnedLinesMax);
    if (is_shared_ || lines < kOwnedLinesMin) return {};
    const Extent next = place_after(end_of(place, bytes), bytes, ring_.slot_count);
    if (!fits(end_of(next, bytes), head_seen())) return {};
    return {ring_.body(next, bytes) - kRoomSkip, size_t{lines} * kSlotBytes};
  }

 private:
  static constexpr uint32_t kPrefetchSlots = 4;
  static constexpr uint32_t kOwnedLinesMin = 32, kOwnedLinesMax = 72;

  /// One slot, one writer: the common case, about ten instructions.
  bool reserve_slot(Extent& place) noexcept {
    place = tail_;
    if (!has_slot(end_of(place, 0))) [[unlikely]]
      return false;
    ++tail_.slots;
    return true;
  }

  bool reserve_lines(uint32_t bytes, Extent& place) noexcept {
    place = place_after(tail_, bytes, ring_.slot_count);
    const Extent end = end_of(place, bytes);
    if (!fits(end, head_seen()) && !fits(end, look_at_head())) return false;
    tail_ = end;
    return true;
  }

  bool reserve_shared(uint32_t bytes, Extent& place) noexcept {
    uint64_t tail = ring_.control->tail.load(std::memory_order_relaxed);
    for (;;) {
      place = place_after(Extent::of(tail), bytes, ring_.slot_count);
      const Extent end = end_of(place, bytes);
      if (!(bytes <= kBodyBytes ? has_slot(end) : fits(end, look_at_head()))) return false;
      if (ring_.control->tail.compare_exchange_weak(tail, end.packed(), std::memory_order_relaxed))
        return true;
    }
  }

  bool has_slot(Extent end) noexcept {
    return end.slots_since(head_seen()) <= ring_.slot_count ||
           end.slots_since(look_at_head()) <= ring_.slot_count;
  }
  bool fits(Extent end, Extent head) const noexcept {
    return end.slots_since(head) <= ring_.slot_count && end.lines_since(head) <= ring_.slot_count;
  }
  Extent head_seen() const noexcept {
    return Extent::of(head_seen_.load(std::memory_order_acquire));
  }
  Extent look_at_head() noexcept {
    const uint64_t head = ring_.control->head.load(std::memory_order_acquire);
    // A model's memory lies about head at times, to see what the protocol then does.
    constexpr bool kIsModel = !std::is_same_v<Memory, HostMemory>;
    dcheck(kIsModel || is_shared_ || tail_.slots_since(Extent::of(head)) <= ring_.slot_count,
           "a ring holds more messages than it has slots", tail_.slots, Extent::of(head).slots);
    dcheck(kIsModel || is_shared_ || tail_.lines_since(Extent::of(head)) <= ring_.slot_count,
           "messages take more lines than a ring has", tail_.lines, Extent::of(head).lines);
    head_seen_.store(head, std::memory_order_release);
    return Extent::of(head);
  }

  BasicRingView<Memory> ring_;
  uint32_t lap_shift_ = 0;
  bool is_shared_ = true;
  Extent tail_{};  // !is_shared_ only
  /// A lower bound of head; threads may race to raise it. A fresh producer begins a lap before the
  /// first slot, as if the ring were full: it looks.
  typename Memory::template Atomic<uint64_t> head_seen_{0};
};
using RingProducer = BasicRingProducer<HostMemory>;

/// The receiving side; calls are serialised by the lane's owner, but has_message().
template <typename Memory>
class BasicRingConsumer {
 public:
  BasicRingConsumer() = default;
  explicit BasicRingConsumer(BasicRingView<Memory> ring) noexcept
      : ring_(ring),
        lap_shift_(static_cast<uint32_t>(std::countr_zero(ring.slot_count))),
        lines_(ring.slot_count),
        freed_{ring.slot_count, ring.slot_count},
        published_(freed_) {
    cursor_.store(ring.slot_count, std::memory_order_relaxed);
  }
  BasicRingConsumer(const BasicRingConsumer& other) noexcept { *this = other; }
  BasicRingConsumer& operator=(const BasicRingConsumer& other) noexcept {
    ring_ = other.ring_;
    lap_shift_ = other.lap_shift_;
    cursor_.store(other.cursor_.load(std::memory_order_relaxed), std::memory_order_relaxed);
    lines_ = other.lines_;
    freed_ = other.freed_;
    published_ = other.published_;
    return *this;
  }

  bool has_message() const noexcept {
    const uint64_t slot = cursor_.load(std::memory_order_relaxed);
    return Word::holds(ring_.at(slot).word.load(std::memory_order_relaxed), slot >> lap_shift_);
  }

  /// True: whoever publishes the next message is told to wake this consumer. False: it is there.
  /// Only after `sleeps` was set, and every producer has passed a barrier since.
  bool await() noexcept {
    const uint64_t slot = cursor_.load(std::memory_order_relaxed);
    auto& word = ring_.at(slot).word;
    uint64_t seen = word.load(std::memory_order_relaxed);
    while (!Word::holds(seen, slot >> lap_shift_)) {
      if ((seen & Word::kAwaited) != 0) return true;
      if (word.compare_exchange_weak(seen, seen | Word::kAwaited, std::memory_order_relaxed)) {
        return true;
      }
    }
    return false;
  }

  struct Message {
    std::byte* data;  ///< nullptr: none
    uint32_t bytes;
    uint32_t source;
    bool is_elsewhere;
  };

  /// The next message in place; it stays until free_next().
  Message next() noexcept {
    const uint64_t slot = cursor_.load(std::memory_order_relaxed);
    const uint64_t word = ring_.at(slot).word.load(std::memory_order_acquire);
    if (!Word::holds(word, slot >> lap_shift_)) return {nullptr, 0, 0, false};
    const uint32_t bytes = Word::bytes(word);
    dcheck(slot - freed_.slots < ring_.slot_count,
           "a receiver holds a message for each slot, and is handed another one", slot,
           freed_.slots);
    cursor_.store(slot + 1, std::memory_order_relaxed);
    Extent place{slot, lines_};
    if (bytes > kBodyBytes) [[unlikely]] {
      check(bytes <= message_bytes_max(ring_.slot_count), "a word with absurd length", bytes);
      place = place_after(place, bytes, ring_.slot_count);
      lines_ = end_of(place, bytes).lines;
      dcheck(Extent{slot, lines_}.lines_since(freed_) <= ring_.slot_count,
             "a receiver holds more lines than its ring has", lines_, freed_.lines);
    }
    return {ring_.body(place, bytes), bytes, Word::source(word), (word & Word::kElsewhere) != 0};
  }

  /// Frees the oldest message that next() handed out.
  void free_next() noexcept {
    const uint64_t word = ring_.at(freed_.slots).word.load(std::memory_order_relaxed);
    dcheck(Word::holds(word, freed_.slots >> lap_shift_), "a slot is freed that holds no message",
           freed_.slots);
    const uint32_t bytes = Word::bytes(word);
    freed_ = end_of(place_after(freed_, bytes, ring_.slot_count), bytes);
    // Tell producers rarely: every store to head costs them a miss. But when the ring has run dry
    // they must be able to use all of it.
    const uint32_t rarely = ring_.slot_count / 8;
    if (freed_.slots_since(published_) >= rarely || freed_.lines_since(published_) >= rarely ||
        !has_message()) {
      published_ = freed_;
      ring_.control->head.store(freed_.packed(), std::memory_order_release);
    }
  }

 private:
  BasicRingView<Memory> ring_;
  uint32_t lap_shift_ = 0;
  /// Next slot to read; relaxed: read by idle() elsewhere.
  typename Memory::template Atomic<uint64_t> cursor_{0};
  uint32_t lines_ = 0;  ///< of the room, read
  Extent freed_{};
  Extent published_{};
};
using RingConsumer = BasicRingConsumer<HostMemory>;

}  // namespace pinwire::shm
