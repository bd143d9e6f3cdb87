// The pieces of a kScatter: bytes that go to many places at the peer, side by side.
//
// A piece is a word and its bytes, which zeros fill up to a multiple of 8. The word has the number
// of bytes in its highest 16 bits; the others are the distance of the piece's place from
// Work::remote, of either sign. A driver may send the list as it is, so the reader is a total
// function over untrusted bytes.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "core/base/bits.h"

namespace pinwire {

inline constexpr uint32_t kScatterWordBytes = 8;
inline constexpr uint32_t kScatterPieceBytesMax = UINT16_MAX;
static_assert(std::endian::native == std::endian::little, "the words of a list are little-endian");

/// A piece of `bytes`, one at least, takes so many bytes of a list.
constexpr uint32_t scatter_stride(uint32_t bytes) noexcept {
  return kScatterWordBytes + align_up(bytes, kScatterWordBytes);
}

struct ScatterPiece {
  uint64_t remote;
  const std::byte* data;
  uint32_t bytes;

  /// Most pieces are one word of the client's.
  void copy_to(std::byte* to) const noexcept {
    if (bytes == sizeof(uint64_t)) {
      std::memcpy(to, data, sizeof(uint64_t));
    } else {
      std::memcpy(to, data, bytes);
    }
  }
};

/// Puts pieces into `list`.
class ScatterWriter {
 public:
  ScatterWriter(std::byte* list, uint32_t bytes_max) noexcept
      : list_(list), bytes_max_(bytes_max) {}

  bool is_empty() const noexcept { return bytes_ == 0; }
  uint32_t bytes_max() const noexcept { return bytes_max_; }
  /// Work::remote and Work::bytes of the work that posts the list.
  uint64_t base() const noexcept { return base_; }
  uint32_t bytes() const noexcept { return bytes_; }
  void clear() noexcept { bytes_ = 0; }

  /// False: the list has no room for the piece, of 1 to kScatterPieceBytesMax bytes, or it lies too
  /// far from the others; nothing is added.
  bool add(uint64_t remote, const std::byte* data, uint32_t bytes) noexcept {
    if (scatter_stride(bytes) > bytes_max_ - bytes_) return false;
    if (bytes_ == 0) base_ = remote;
    const uint64_t distance = remote - base_;
    if (sign_extended(distance) != distance) return false;
    std::byte* at = list_ + bytes_;
    store(at, (distance & kDistanceMask) | uint64_t{bytes} << kDistanceBits);
    std::byte* to = at + kScatterWordBytes;
    if (bytes == sizeof(uint64_t)) {
      std::memcpy(to, data, sizeof(uint64_t));
    } else {
      store(to + align_up(bytes, kScatterWordBytes) - kScatterWordBytes, 0);
      std::memcpy(to, data, bytes);
    }
    bytes_ += scatter_stride(bytes);
    return true;
  }

 private:
  friend class ScatterReader;
  static constexpr uint32_t kDistanceBits = 48;
  static constexpr uint64_t kDistanceMask = (uint64_t{1} << kDistanceBits) - 1;

  static constexpr uint64_t sign_extended(uint64_t distance) noexcept {
    constexpr uint32_t kShift = 64 - kDistanceBits;
    return static_cast<uint64_t>(static_cast<int64_t>(distance << kShift) >> kShift);
  }
  static void store(std::byte* at, uint64_t word) noexcept { std::memcpy(at, &word, sizeof word); }

  std::byte* list_;
  uint32_t bytes_max_;
  uint32_t bytes_ = 0;
  uint64_t base_ = 0;
};

/// Walks through a list that nobody has checked.
class ScatterReader {
 public:
  ScatterReader(uint64_t base, const std::byte* list, uint32_t bytes) noexcept
      : at_(list), left_(bytes), base_(base) {}

  /// False: there is no further piece, or none that makes sense.
  bool next(ScatterPiece& piece) noexcept {
    if (left_ < kScatterWordBytes) return false;
    uint64_t word;
    std::memcpy(&word, at_, sizeof word);
    const auto bytes = static_cast<uint32_t>(word >> ScatterWriter::kDistanceBits);
    const uint32_t stride = scatter_stride(bytes);
    if (bytes == 0 || stride > left_) return false;
    piece = {base_ + ScatterWriter::sign_extended(word), at_ + kScatterWordBytes, bytes};
    at_ += stride;
    left_ -= stride;
    return true;
  }
  /// After next() has returned false: the list made sense to its end.
  bool is_at_end() const noexcept { return left_ == 0; }

 private:
  const std::byte* at_;
  uint32_t left_;
  uint64_t base_;
};

}  // namespace pinwire
