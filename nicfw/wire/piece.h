// Frames that are longer than the path to a peer go in pieces. Each piece is a frame of its own,
// with a number, a hash and a tag, and names the sequence of the frame that it is a part of: so the
// flows, their windows and their acknowledgements know nothing of pieces.
//
// The records of a piece are 16 bytes of fields, little-endian, and a part of the frame's records:
//   0 u16 index of the piece    2 u16 bytes of each piece but the last
//   4 u16 bytes of all pieces   6 10 bytes of zero
#pragma once

#include <algorithm>
#include <cstring>

#include "core/base/check.h"
#include "nicfw/wire/wire.h"

namespace pinwire {

inline constexpr uint32_t kPieceFieldsBytes = 16;
inline constexpr uint32_t kPiecesMax = 64;

/// Which part of a frame's records a piece carries.
struct Piece {
  uint32_t index = 0;
  uint32_t step = 0;   ///< bytes of each piece but the last, a multiple of 16
  uint32_t total = 0;  ///< bytes of all pieces

  uint32_t offset() const noexcept { return index * step; }
  uint32_t bytes() const noexcept { return std::min(step, total - offset()); }
  uint32_t count() const noexcept { return (total + step - 1) / step; }
};

/// The piece with which the next sending of a frame begins. A receiver with few buffers finds no
/// more than the first of a burst: so each sending begins in the other half, and any `count` of
/// them with each piece once.
constexpr uint32_t next_first_piece(uint32_t first, uint32_t count) noexcept {
  const uint32_t half = (count + 1) / 2;
  const uint32_t next = first < half ? first + half : (first + 1) % half;
  return next < count ? next : 0;
}

/// Bytes of records that a piece carries over a path for frames of `path_bytes`.
constexpr uint32_t piece_step(uint32_t path_bytes) noexcept {
  return (path_bytes - kRecordsOffset - kPieceFieldsBytes) & ~15u;
}

inline void encode_piece(std::byte* at, const Piece& piece) noexcept {
  store_little<uint64_t>(at, piece.index | piece.step << 16 | uint64_t{piece.total} << 32);
  store_little<uint64_t>(at + 8, 0);
}

/// A total function over untrusted bytes: is it a piece of `bytes` of a frame with at most
/// `total_max` bytes of records?
inline Reject parse_piece(const std::byte* at, uint32_t bytes, uint32_t total_max,
                          Piece& out) noexcept {
  if (bytes <= kPieceFieldsBytes) return Reject::kRecord;
  const uint64_t first = load_little<uint64_t>(at);
  if (first >> 48 != 0 || load_little<uint64_t>(at + 8) != 0) return Reject::kRecord;
  out.index = first & 0xffff;
  out.step = first >> 16 & 0xffff;
  out.total = first >> 32 & 0xffff;
  const bool sound = out.step != 0 && out.step % 16 == 0 && out.total <= total_max &&
                     out.count() <= kPiecesMax && out.index < out.count() &&
                     out.bytes() == bytes - kPieceFieldsBytes;
  return sound ? Reject::kNone : Reject::kRecord;
}

/// The pieces of one frame that have arrived. Pieces of a repetition complete those of the first
/// sending: a frame that is sent again has the same records, or has been accepted before.
struct Assembly {
  Rank peer = 0;
  Flow flow = Flow::kRequest;
  uint32_t sequence = 0;
  uint64_t number = 0;       ///< of the piece that arrived first
  uint64_t arrived = 0;      ///< by index; 0: unused
  uint64_t progress_ns = 0;  ///< on the lane's watch, when the last new piece arrived
  uint32_t step = 0;
  uint32_t total = 0;

  bool is_of(Rank rank, const FrameHeader& header, const Piece& piece) const noexcept {
    return arrived != 0 && peer == rank && flow == header.flow() && sequence == header.sequence &&
           step == piece.step && total == piece.total;
  }
  void add(uint32_t index, uint64_t watch_ns) noexcept {
    const uint64_t bit = uint64_t{1} << index;
    if (!(arrived & bit)) progress_ns = watch_ns;
    arrived |= bit;
  }
  bool is_whole() const noexcept {
    const uint32_t count = (total + step - 1) / step;
    return arrived == ~uint64_t{0} >> (kPiecesMax - count);
  }
};

}  // namespace pinwire
