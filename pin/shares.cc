#include "pin/shares.h"

#include <algorithm>
#include <bit>

namespace pinwire {
namespace {

/// Entries are kept of each bucket: with the largest buckets, these are 64 GiB.
constexpr uint64_t kBucketsMax = 1 << 16;

}  // namespace

Shares divide_budget(uint64_t budget_bytes, uint32_t peers) noexcept {
  const uint64_t half = budget_bytes / 2;
  const uint64_t count = std::max(peers, 1u);
  const uint64_t bytes =
      std::clamp(std::bit_floor(std::max<uint64_t>(half / (count * kBucketsPerPeerWanted), 1)),
                 kBucketBytesMin, kBucketBytesMax);
  const uint64_t each = std::min(half / bytes, kBucketsMax) / count;
  Shares shares;
  shares.bucket_shift = static_cast<uint32_t>(std::countr_zero(bytes));
  shares.buckets_per_peer = static_cast<uint32_t>(each);
  shares.buckets_of_peers = static_cast<uint32_t>(each * peers);
  shares.buckets_own = static_cast<uint32_t>(std::min(half / bytes, kBucketsMax));
  return shares;
}

}  // namespace pinwire
