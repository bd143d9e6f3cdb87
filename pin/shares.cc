#include "pin/shares.h"

#include <algorithm>
#include <bit>

#include "core/base/check.h"

namespace pinwire {
namespace {

/// Entries are kept of each bucket: with the largest buckets, these are 64 GiB.
constexpr uint64_t kBucketsMax = 1 << 16;

}  // namespace

Shares divide_budget(uint64_t budget_bytes, uint32_t peers) noexcept {
  Shares shares;
  if (peers == 0) {
    shares.alone_bytes = budget_bytes;
    return shares;
  }
  const uint64_t half = budget_bytes / 2, quarter = budget_bytes / 4;
  const uint64_t wanted =
      std::bit_floor(std::max<uint64_t>(half / peers / kBucketsPerPeerWanted, 1));
  const uint64_t bytes = std::clamp(wanted, kBucketBytesMin, kBucketBytesMax);
  const uint64_t each = std::min(half / bytes, kBucketsMax) / peers;
  shares.bucket_shift = static_cast<uint32_t>(std::countr_zero(bytes));
  shares.buckets_per_peer = static_cast<uint32_t>(each);
  shares.buckets_of_peers = static_cast<uint32_t>(each * peers);
  shares.buckets_own = static_cast<uint32_t>(std::min(quarter / bytes, kBucketsMax));
  shares.alone_bytes = quarter;
  check(bytes == shares.bucket_bytes(), "buckets are of a power of two bytes", bytes);
  check(shares.buckets_of_peers * bytes <= half, "buckets of peers exceed their half",
        shares.buckets_of_peers, half);
  check(shares.buckets_own * bytes <= quarter, "buckets of own transfers exceed their quarter",
        shares.buckets_own, quarter);
  return shares;
}

}  // namespace pinwire
