// How a rank's pin budget is divided: one half among the peers that reach this rank's memory by
// buckets, a quarter to buckets that its own transfers read and write, a quarter to memory that is
// pinned for one transfer alone. Without such peers all of it goes to the last.
//
// The shares are fixed: whoever has a share uses it without asking anybody to give something up, so
// ranks that exhaust each other's budget at once never wait for each other.
#pragma once

#include <cstdint>

namespace pinwire {

inline constexpr uint64_t kBucketBytesMin = 64 << 10;
inline constexpr uint64_t kBucketBytesMax = 1 << 20;
/// Up to this number for each peer, more buckets are worth more than larger ones.
inline constexpr uint64_t kBucketsPerPeerWanted = 16;

struct Shares {
  uint32_t bucket_shift = 16;     ///< buckets are aligned, of 2^bucket_shift bytes
  uint32_t buckets_per_peer = 0;  ///< 0: not even one; peers send messages instead
  uint32_t buckets_of_peers = 0;  ///< of all of them together
  uint32_t buckets_own = 0;       ///< in use by this rank's transfers at once
  uint64_t alone_bytes = 0;       ///< pinned for one transfer each
  uint64_t bucket_bytes() const noexcept { return uint64_t{1} << bucket_shift; }
};
/// `peers`: that reach this rank by such buckets.
Shares divide_budget(uint64_t budget_bytes, uint32_t peers) noexcept;

}  // namespace pinwire
