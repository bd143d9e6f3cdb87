// The layout of an active message inside a driver's message: an 8-byte header, for a Long its
// destination, the arguments, then (Medium) the payload on a 16-byte boundary of the receive
// buffer. A carried Long has the last bytes of its payload there, on any boundary.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#include "core/base/bits.h"
#include "core/base/check.h"
#include "driver/work.h"

namespace pinwire {

inline constexpr uint32_t kAmArgsMax = 16;

enum class Category : uint8_t { kShort, kMedium, kLong, kCarriedLong };

struct AmHeader {
  uint8_t handler;
  uint8_t endpoint;        ///< of the receiver; handler and endpoint make the index of its function
  uint8_t shape;           ///< argc, category and kMarkMustReply: below
  uint8_t from_endpoint;   ///< of the sender: where a reply goes
  uint32_t payload_bytes;  ///< of a Long: all of it

  uint32_t argc() const noexcept { return shape & 31; }
  Category category() const noexcept { return static_cast<Category>(shape >> 5 & 3); }
  uint32_t function() const noexcept { return handler | uint32_t{endpoint} << 8; }
};
static_assert(sizeof(AmHeader) == 8);
/// In AmHeader::shape: the handler must reply (C1-146). Debug builds alone set and read it; they
/// are never in one job with others.
inline constexpr uint8_t kMarkMustReply = 128;
/// Both endpoints of a message.
struct AmEndpoints {
  uint8_t to = 0;
  uint8_t from = 0;
};

/// AmHeader as one word. A head is written and read in words of eight bytes only: a driver that
/// loads a word that was stored in pieces waits until the pieces have left the store buffer, behind
/// every cache line that the sender is still fetching.
constexpr uint64_t header_word(Category category, uint8_t handler, uint32_t argc,
                               uint32_t payload_bytes, AmEndpoints endpoints) noexcept {
  static_assert(std::endian::native == std::endian::little);
  return handler | uint64_t{endpoints.to} << 8 | uint64_t{argc} << 16 |
         uint64_t{static_cast<uint8_t>(category)} << 21 | uint64_t{endpoints.from} << 24 |
         uint64_t{payload_bytes} << 32;
}

/// The head of a message under construction: AmHeader, then its fields.
struct alignas(16) AmHead {
  uint64_t words[kHeadBytesMax / 8];
};
static_assert(sizeof(AmHead) == kHeadBytesMax);

/// Bytes of the head: data % 16 == 8 at the receiver, so a Medium's payload starts 16-byte aligned.
constexpr uint32_t am_head_bytes(Category category, uint32_t argc) noexcept {
  const uint32_t arg_bytes = argc * 4;
  switch (category) {
    case Category::kShort:
      return 8 + align_up(arg_bytes, 8u);
    case Category::kMedium:
      return 8 + align_up(arg_bytes, 16u);
    case Category::kLong:
    case Category::kCarriedLong:
      return 16 + align_up(arg_bytes, 8u);
  }
  return 0;
}
static_assert(am_head_bytes(Category::kLong, kAmArgsMax) <= kHeadBytesMax);

/// Fills `head`; returns its size. A Short has no payload.
inline uint32_t build_head(AmHead& head, Category category, uint8_t handler, uint32_t argc,
                           const int32_t* args, uint32_t payload_bytes, uint64_t long_dest,
                           AmEndpoints endpoints = {}) noexcept {
  dcheck(argc <= kAmArgsMax, "more arguments than a message has", argc);
  dcheck(argc == 0 || args != nullptr, "arguments that are nowhere", argc);
  dcheck(category != Category::kShort || payload_bytes == 0, "a Short with a payload",
         payload_bytes);
  uint64_t* at = head.words;
  *at++ = header_word(category, handler, argc, payload_bytes, endpoints);
  if (category >= Category::kLong) *at++ = long_dest;
  for (uint32_t i = 0; i + 1 < argc; i += 2) {
    *at++ = static_cast<uint32_t>(args[i]) | uint64_t{static_cast<uint32_t>(args[i + 1])} << 32;
  }
  if (argc % 2 != 0) *at++ = static_cast<uint32_t>(args[argc - 1]);
  const uint32_t head_bytes = am_head_bytes(category, argc);
  dcheck(at <= head.words + head_bytes / 8, "a head whose end is not sent", head_bytes);
  return head_bytes;
}

// A word of 64 bits travels as two arguments.
constexpr int32_t low_half(uint64_t word) noexcept { return static_cast<int32_t>(word); }
constexpr int32_t high_half(uint64_t word) noexcept { return static_cast<int32_t>(word >> 32); }
constexpr uint64_t join_halves(int32_t low, int32_t high) noexcept {
  return static_cast<uint32_t>(low) | uint64_t{static_cast<uint32_t>(high)} << 32;
}

}  // namespace pinwire
