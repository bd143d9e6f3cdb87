// How many requests the send queue of a connection holds, and how many bytes of each: memory that
// each peer costs on each lane as soon as it was met. A job of few ranks has plenty; from 65 on a
// peer gets 16 KiB by libmlx5's formula, and a request of up to 60 bytes is sent inline.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "core/base/bits.h"
#include "driver/work.h"

namespace pinwire::verbs {

struct QueueSizes {
  uint32_t send_depth = 0;
  uint32_t inline_bytes = 0;  ///< wanted; what the device gives is written back
};

inline constexpr uint32_t kSendPiecesMax = 2;  // of one request

/// `depth`: as many requests as may be under way to a peer, of which not all wait for the device.
constexpr QueueSizes queue_sizes_for(Rank rank_count, uint32_t depth) noexcept {
  constexpr Rank kFewRanks = 64;
  return rank_count <= kFewRanks ? QueueSizes{std::min(depth, 64u), 256}
                                 : QueueSizes{std::min(depth, 32u), 60};
}

/// Bytes of a send queue of a reliable connection as libmlx5 lays it out (mlx5_calc_send_wqe() of
/// rdma-core): 192 bytes of segments before the data of each request, then pieces of 16 bytes or a
/// word of length and what is inline; whole blocks of 64 bytes, and a power of two of them.
constexpr uint64_t mlx5_send_queue_bytes(const QueueSizes& sizes) noexcept {
  constexpr uint64_t kSegments = 192, kPiece = 16, kLengthWord = 4, kBlock = 64;
  const uint64_t pieces = kSegments + kSendPiecesMax * kPiece;
  const uint64_t with_inline = kSegments + align_up(kLengthWord + sizes.inline_bytes, kPiece);
  return std::bit_ceil(sizes.send_depth * align_up(std::max(pieces, with_inline), kBlock));
}

}  // namespace pinwire::verbs
