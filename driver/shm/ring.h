// A ring of 64-byte slots in shared memory: many producers in other processes, one consumer.
//
// A message takes consecutive slots, never wrapping: word, then its bytes. The word is published
// last and carries the lap of its position, so the consumer needs no shared index to see that a
// message is there: one cache line moves for a message of up to 56 bytes. Slots that were the
// inside of a longer message hold arbitrary bytes where a word belongs, so the consumer zeroes
// those words before it frees them; a zero word has no kind and never matches.
//
// Memory order: word.store(release) in publish()       -> word.load(acquire) in next()
//               head.store(release) in publish_head()  -> head.load(acquire) in has_room()
//               head_seen.store(release) in has_room() -> head_seen.load(acquire) in has_room() of
//               another thread that shares the producer, and so has not read head itself
// tests/models tries all interleavings of this file under a weak memory model.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "core/base/bits.h"
#include "core/base/check.h"
#include "driver/shm/host_memory.h"

namespace pinwire::shm {

inline constexpr uint32_t kSlotBytes = 64;
inline constexpr uint32_t kWordBytes = 8;
inline constexpr uint64_t kFull = ~uint64_t{0};

template <typename Memory>
struct alignas(kSlotBytes) BasicSlot {
  typename Memory::template Atomic<uint64_t> word;
  std::byte body[kSlotBytes - kWordBytes];
};
using Slot = BasicSlot<HostMemory>;
static_assert(sizeof(Slot) == kSlotBytes && offsetof(Slot, body) == kWordBytes);

template <typename Memory>
struct BasicRingControl {
  using Position = typename Memory::template Atomic<uint64_t>;
  alignas(kCacheLineBytes) Position tail;  ///< next free position; producers
  alignas(kCacheLineBytes) Position head;  ///< first position in use; consumer
};
using RingControl = BasicRingControl<HostMemory>;
static_assert(sizeof(RingControl) == 2 * kCacheLineBytes);

/// Where one ring lies in this process.
template <typename Memory>
struct BasicRingView {
  BasicRingControl<Memory>* control = nullptr;
  BasicSlot<Memory>* slots = nullptr;
  uint32_t slot_count = 0;  ///< a power of two

  BasicSlot<Memory>& at(uint64_t position) const noexcept {
    return slots[position & (slot_count - 1)];
  }
};
using RingView = BasicRingView<HostMemory>;

enum class WordKind : uint8_t { kNone = 0, kMessage = 1, kPad = 2 };

/// bytes:32 | source:16 | kind:4 | lap:12
struct Word {
  static constexpr uint64_t make(WordKind kind, uint64_t lap, uint32_t source,
                                 uint32_t bytes) noexcept {
    return uint64_t{bytes} << 32 | uint64_t{source & 0xffff} << 16 |
           static_cast<uint64_t>(kind) << 12 | (lap & 0xfff);
  }
  static constexpr WordKind kind(uint64_t word) noexcept {
    return static_cast<WordKind>(word >> 12 & 0xf);
  }
  static constexpr bool holds(uint64_t word, uint64_t lap) noexcept {
    return kind(word) != WordKind::kNone && ((word ^ lap) & 0xfff) == 0;
  }
  static constexpr uint32_t source(uint64_t word) noexcept { return word >> 16 & 0xffff; }
  static constexpr uint32_t bytes(uint64_t word) noexcept {
    return static_cast<uint32_t>(word >> 32);
  }
};

/// Slots of a message of `bytes`.
constexpr uint32_t slots_for(uint32_t bytes) noexcept {
  return (kWordBytes + bytes + kSlotBytes - 1) / kSlotBytes;
}
/// The same through a branch that predicts one slot: where the next word lies then depends on a
/// prediction and not on this word, so a consumer's misses on successive lines overlap.
inline uint32_t predicted_slots(uint32_t bytes) noexcept {
  uint32_t slots = 1;
  if (bytes > kSlotBytes - kWordBytes) [[unlikely]] {
    slots = slots_for(bytes);
    asm("" : "+r"(slots));  // keeps it a branch: a conditional move would wait for the word
  }
  return slots;
}
/// A message is at most half of the ring: with the pad before it, it then always fits an empty one.
constexpr uint32_t message_bytes_max(uint32_t slot_count) noexcept {
  return slot_count / 2 * kSlotBytes - kWordBytes;
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
        tail_(ring.slot_count) {
    head_seen_.store(ring.slot_count, std::memory_order_relaxed);
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

  /// Position of a place for a message of `bytes`, or kFull. A sender that streams has the lines of
  /// its next messages fetched meanwhile; for a lone message that is one transfer too many.
  uint64_t reserve(uint32_t bytes, bool is_streaming) noexcept {
    const uint64_t position = !is_shared_ && bytes <= kSlotBytes - kWordBytes
                                  ? reserve_line()
                                  : reserve_slots(slots_for(bytes));
    if (is_streaming) prefetch_to_write(&ring_.at(position + slots_for(bytes) + kPrefetchSlots));
    return position;
  }
  std::byte* body(uint64_t position) const noexcept { return ring_.at(position).body; }
  void publish(uint64_t position, uint32_t source, uint32_t bytes) noexcept {
    ring_.at(position).word.store(Word::make(WordKind::kMessage, lap(position), source, bytes),
                                  std::memory_order_release);
  }

 private:
  static constexpr uint64_t kPrefetchSlots = 4;

  /// One line, one writer: the common case, about ten instructions.
  uint64_t reserve_line() noexcept {
    const uint64_t tail = tail_;
    if (!has_room(tail + 1)) [[unlikely]]
      return kFull;
    tail_ = tail + 1;
    return tail;
  }

  uint64_t reserve_slots(uint32_t slots) noexcept {
    uint64_t tail = is_shared_ ? ring_.control->tail.load(std::memory_order_relaxed) : tail_;
    for (;;) {
      const uint64_t to_end = ring_.slot_count - (tail & (ring_.slot_count - 1));
      const uint64_t pad = slots <= to_end ? 0 : to_end;
      if (!has_room(tail + pad + slots)) return kFull;
      if (!is_shared_) {
        tail_ = tail + pad + slots;
      } else if (!ring_.control->tail.compare_exchange_weak(tail, tail + pad + slots,
                                                            std::memory_order_relaxed)) {
        continue;
      }
      if (pad != 0) {
        const auto pad_bytes = static_cast<uint32_t>(pad) * kSlotBytes - kWordBytes;
        ring_.at(tail).word.store(Word::make(WordKind::kPad, lap(tail), 0, pad_bytes),
                                  std::memory_order_release);
      }
      return tail + pad;
    }
  }

  uint64_t lap(uint64_t position) const noexcept { return position >> lap_shift_; }
  bool has_room(uint64_t end) noexcept {
    if (end - head_seen_.load(std::memory_order_acquire) <= ring_.slot_count) return true;
    const uint64_t head = ring_.control->head.load(std::memory_order_acquire);
    head_seen_.store(head, std::memory_order_release);
    return end - head <= ring_.slot_count;
  }

  BasicRingView<Memory> ring_;
  uint32_t lap_shift_ = 0;
  bool is_shared_ = true;
  uint64_t tail_ = 0;  // !is_shared_ only
  /// A lower bound of head; threads may race to raise it.
  typename Memory::template Atomic<uint64_t> head_seen_{0};
};
using RingProducer = BasicRingProducer<HostMemory>;

/// The receiving side; calls are serialised by the lane's owner, but has_message().
template <typename Memory>
class BasicRingConsumer {
 public:
  BasicRingConsumer() = default;
  explicit BasicRingConsumer(BasicRingView<Memory> ring) noexcept
      : ring_(ring), lap_shift_(static_cast<uint32_t>(std::countr_zero(ring.slot_count))) {
    cursor_.store(ring.slot_count, std::memory_order_relaxed);
    freed_ = published_ = ring.slot_count;
  }
  BasicRingConsumer(const BasicRingConsumer& other) noexcept { *this = other; }
  BasicRingConsumer& operator=(const BasicRingConsumer& other) noexcept {
    ring_ = other.ring_;
    lap_shift_ = other.lap_shift_;
    cursor_.store(other.cursor_.load(std::memory_order_relaxed), std::memory_order_relaxed);
    freed_ = other.freed_;
    published_ = other.published_;
    return *this;
  }

  bool has_message() const noexcept {
    const uint64_t position = cursor_.load(std::memory_order_relaxed);
    return Word::holds(ring_.at(position).word.load(std::memory_order_relaxed), lap(position));
  }

  struct Message {
    std::byte* data;  ///< nullptr: none
    uint32_t bytes;
    uint32_t source;
  };

  /// The next message in place; it stays until free_next().
  Message next() noexcept {
    for (;;) {
      const uint64_t position = cursor_.load(std::memory_order_relaxed);
      BasicSlot<Memory>& slot = ring_.at(position);
      const uint64_t word = slot.word.load(std::memory_order_acquire);
      if (!Word::holds(word, lap(position))) return {nullptr, 0, 0};
      const uint32_t bytes = Word::bytes(word);
      dcheck(bytes + kWordBytes <= ring_.slot_count * kSlotBytes, "a word with absurd length",
             bytes);
      cursor_.store(position + predicted_slots(bytes), std::memory_order_relaxed);
      if (Word::kind(word) == WordKind::kMessage) return {slot.body, bytes, Word::source(word)};
      // Pads are freed with the message that follows them.
    }
  }

  /// Frees the oldest message that next() handed out (and a pad before it): in that order.
  void free_next() noexcept {
    uint64_t position = freed_;
    for (;;) {
      const uint64_t word = ring_.at(position).word.load(std::memory_order_relaxed);
      const uint32_t slots = slots_for(Word::bytes(word));
      for (uint32_t inside = 1; inside < slots; ++inside) {
        ring_.at(position + inside).word.store(0, std::memory_order_relaxed);
      }
      position += slots;
      if (Word::kind(word) == WordKind::kMessage) break;
    }
    freed_ = position;
    // Tell producers rarely: every store to head costs them a miss. But when the ring has run dry
    // they must be able to use all of it.
    if (freed_ - published_ >= ring_.slot_count / 8 || !has_message()) publish_head();
  }

 private:
  uint64_t lap(uint64_t position) const noexcept { return position >> lap_shift_; }
  void publish_head() noexcept {
    published_ = freed_;
    ring_.control->head.store(freed_, std::memory_order_release);
  }

  BasicRingView<Memory> ring_;
  uint32_t lap_shift_ = 0;
  /// Next position to read; relaxed: read by idle() elsewhere.
  typename Memory::template Atomic<uint64_t> cursor_{0};
  uint64_t freed_ = 0;
  uint64_t published_ = 0;
};
using RingConsumer = BasicRingConsumer<HostMemory>;

}  // namespace pinwire::shm
