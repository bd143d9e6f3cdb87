// How a flow's peers share a pool of the lane (send slots, large buffers, operations, responses).
//
// A peer that computes for a minute acknowledges nothing and so gives nothing back; it must not
// take the pool from the peers that answer. Two rules keep that (dynamic thresholds, Choudhury and
// Hahne, IEEE/ACM Transactions on Networking 1998):
//  - A holder may take one more item only while it holds fewer than are free beyond the reserves.
//    One silent holder so ends with half of the pool, n silent holders leave a part of 1 / (n + 1).
//  - A holder with nothing takes its first item from a reserve that is as large as there may be
//    holders (up to kIdleHoldersMax ranks): however many are silent, it gets that item at once.
// Replies have a reserve of their own below that one (lane.h, point 4).
#pragma once

#include <cstdint>

namespace pinwire {

struct PoolReserve {
  uint32_t replies = 0;  ///< items that only replies may take
  uint32_t idle = 0;     ///< items that only holders of nothing may take
  uint32_t first = 1;    ///< how many of those such a holder may take at once
};

/// Ranks for which every pool keeps a first item. In a larger job the pools of a lane are shared by
/// the peers it talks to at once.
inline constexpr uint32_t kIdleHoldersMax = 1024;
/// The same for large buffers, which cost a frame's memory each.
inline constexpr uint32_t kIdleBufferHoldersMax = 256;

/// May a holder of `held` items take `wanted` more of a pool in which `available` are free?
constexpr bool share_allows(uint32_t held, uint32_t wanted, uint32_t available,
                            const PoolReserve& reserve, bool is_reply) noexcept {
  const uint32_t kept = is_reply ? 0 : reserve.replies;
  if (held == 0 && wanted <= reserve.first && available >= kept + wanted) return true;
  return available > kept + reserve.idle &&
         uint64_t{held} + wanted <= available - kept - reserve.idle;
}

}  // namespace pinwire
