// A process's outbox: buffers in its inbox's memory, which its peers have mapped, that it lends to
// whoever builds a payload in place (Driver::lend). The message in the peer's ring only says where
// the payload lies; the peer's handler runs on it there, and the peer gives the buffer back. The
// payload is therefore never copied, and a buffer that is out holds up nobody: no ring knows of it
// before the message is sent.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "core/base/bits.h"
#include "core/base/check.h"
#include "driver/work.h"

namespace pinwire::shm {

inline constexpr uint32_t kLentBuffers = 32;
inline constexpr uint32_t kLentBytes = 16384;
/// Before the payload: room for the head, which is written when the message is sent.
inline constexpr uint32_t kLentHeadRoom = 128;
static_assert(kLentHeadRoom >= kHeadBytesMax && kLentHeadRoom % kCacheLineBytes == 0);
inline constexpr uint32_t kLentStride = kLentHeadRoom + kLentBytes;

/// In place of a message's bytes in a ring. In words, as a head is written.
struct alignas(8) Elsewhere {
  uint32_t buffer;
  uint32_t head_bytes;
  uint32_t payload_bytes;
};

/// Which buffers are out; in shared memory. The owner takes, whoever has the buffer gives.
struct LentBoard {
  alignas(kCacheLineBytes) std::array<std::atomic<uint32_t>, kLentBuffers> taken;

  /// The lowest that is free, as it is the warmest; kLentBuffers: none.
  uint32_t take() noexcept {
    for (uint32_t i = 0; i < kLentBuffers; ++i) {
      if (taken[i].load(std::memory_order_relaxed) != 0) continue;
      // acquire pairs with release in give(): the peer's handler is through with the payload
      if (taken[i].exchange(1, std::memory_order_acquire) == 0) return i;
    }
    return kLentBuffers;
  }
  void give(uint32_t buffer) noexcept {
    check(buffer < kLentBuffers, "no such buffer of an outbox", buffer);
    if constexpr (kChecks) {
      check(taken[buffer].load(std::memory_order_relaxed) == 1,
            "a buffer of an outbox is given back that is not out", buffer);
    }
    taken[buffer].store(0, std::memory_order_release);
  }
};

/// Where the outbox of a process lies in this one.
struct OutboxView {
  LentBoard* board = nullptr;
  std::byte* buffers = nullptr;

  std::byte* payload(uint32_t buffer) const noexcept {
    check(buffer < kLentBuffers, "no such buffer of an outbox", buffer);
    return buffers + uint64_t{buffer} * kLentStride + kLentHeadRoom;
  }
};

}  // namespace pinwire::shm
