#include "extended/segments/limits.h"

#include <unistd.h>

#include <algorithm>

#include "core/base/check.h"
#include "core/base/log.h"
#include "core/base/memory/page.h"
#include "core/engine/engine.h"
#include "extended/drivers/table.h"
#include "pin/budget.h"
#include "segment/memory.h"

namespace pinwire {
namespace {

/// The bytes that the verbs driver pins of its own for each lane, rounded up: 2 * 320 receive and
/// 256 send buffers of 4.2 KiB, and 16 of 64 KiB.
constexpr uint64_t kDriverBytesPerLane = 6u << 20;

uint64_t bound_bytes(const MemoryBound& bound, uint32_t on_host) noexcept {
  const auto physical = static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * kPageBytes;
  const double all = bound.fraction > 0 ? bound.fraction * static_cast<double>(physical)
                                        : static_cast<double>(bound.bytes);
  return static_cast<uint64_t>(bound.per_host ? all / on_host : all);
}

/// Whether a device that locks pages may carry this job: shared memory and DPDK's copies lock none.
bool may_pin(const Settings& settings) noexcept {
  return settings.driver == DriverChoice::kVerbs ||
         (settings.driver == DriverChoice::kAuto && access("/sys/class/infiniband", F_OK) == 0);
}

bool leaves_host(const Job& job) noexcept {
  return job.settings.driver == DriverChoice::kVerbs ||
         std::any_of(job.places.begin(), job.places.end(),
                     [](const RankPlace& place) { return place.supernode != 0; });
}

/// The bytes that the driver pins for itself on each port.
uint64_t driver_bytes(const Job& job) noexcept {
  return std::max(job.settings.lanes, 1u) * kDriverBytesPerLane;
}

/// The bytes that a rank may lock, beside those that the drivers lock.
uint64_t lockable_bytes(const Job& job, const RankTold& told) noexcept {
  const uint64_t taken = driver_bytes(job) * job.ports_expected;
  if (told.locked_limit == kUnlimited) return kUnlimited;
  return told.locked_limit > taken ? told.locked_limit - taken : 0;
}

/// LARGE is bounded by the memory of the host alone.
struct Limit {
  uint64_t bytes;
  bool is_of_pinning;
};
Limit limit_of(const Job& job, const RankTold& told, Rank rank, bool pins) noexcept {
  if (job.kind == SegmentKind::kEverything) return {kUnlimited, false};
  const uint32_t on_host = ranks_on_host(job, rank);
  check(on_host != 0, "a rank that is on no host", rank);
  check(job.ports_expected != 0, "segments that no port pins", rank);
  const uint64_t memory =
      std::min(told.segment_limit / on_host, bound_bytes(job.settings.max_segment, on_host));
  const uint64_t lockable = lockable_bytes(job, told);
  const uint64_t of_segment = lockable == kUnlimited ? lockable : lockable / job.ports_expected;
  const bool is_of_pinning = job.kind == SegmentKind::kFast && pins && of_segment < memory;
  const uint64_t bytes = is_of_pinning ? of_segment : memory;
  return {std::max(bytes / kPageBytes * kPageBytes, kPageBytes), is_of_pinning};
}

/// The bytes that this rank may pin: as the user says, or as the limits leave it.
PinAllowance allowance(const Job& job, const RankTold& mine, bool pins) noexcept {
  const uint32_t on_host = ranks_on_host(job, engine.rank);
  const MemoryBound& asked = job.settings.pin_budget;
  if (asked.fraction > 0 || asked.bytes != 0) return {bound_bytes(asked, on_host), kUnlimited};
  if (!pins) return {kUnlimited, kUnlimited};
  return {mine.segment_limit / on_host, lockable_bytes(job, mine)};
}

/// Looks for the ports where their number matters, before attach opens them: a client may ask
/// before attach how large a segment may be.
Result<uint32_t> ports_expected(const Job& job, const std::vector<RankTold>& told) {
  const bool is_limited = std::any_of(
      told.begin(), told.end(), [](const RankTold& one) { return one.locked_limit != kUnlimited; });
  if (!is_limited || !leaves_host(job)) return 1u;
  auto agreed = rails_everywhere(job, count_verbs_rails(job));
  if (!agreed) return agreed.error();
  return std::max(static_cast<uint32_t>(*agreed), 1u);
}

}  // namespace

void state_limits(const Job& job, RankTold& mine) {
  const PinLimits limits = read_pin_limits();
  // The limit depends on how many share the host, which only the exchange tells: send what is free
  // here, divide after.
  mine.segment_limit = segment_bytes_limit(1, limits);
  mine.locked_limit = kUnlimited;
  if (!may_pin(job.settings) || limits.locked_bytes_max == kUnlimited) return;
  mine.locked_limit =
      limits.locked_bytes_max - std::min(limits.locked_bytes_max, limits.locked_bytes);
}

Status set_segment_limits(Job& job, const std::vector<RankTold>& told) {
  auto ports = ports_expected(job, told);
  if (!ports) return ports.error();
  job.ports_expected = *ports;
  check(told.size() == job.ranks.size(), "the limits of another number of ranks", told.size());
  const bool pins = leaves_host(job);
  job.segment_limit_global = kUnlimited;
  for (Rank rank = 0; rank < told.size(); ++rank) {
    const Limit limit = limit_of(job, told[rank], rank, pins);
    job.segment_limit_global = std::min(job.segment_limit_global, limit.bytes);
    if (rank != engine.rank) continue;
    job.segment_limit_local = limit.bytes;
    job.is_pin_limited = limit.is_of_pinning;
    job.may_pin = allowance(job, told[rank], pins);
  }
  check(job.segment_limit_global <= job.segment_limit_local,
        "all ranks may have a larger segment than this one", job.segment_limit_global,
        job.segment_limit_local);
  return success();
}

uint64_t grant_segment(const Job& job, uint64_t asked) {
  const uint64_t granted = std::min(asked, job.segment_limit_local);
  if (granted == asked) return granted;
  const std::string why =
      job.is_pin_limited
          ? pin_budget(read_pin_limits(), driver_bytes(job), job.ports_expected).reason
          : std::string("GASNET_MAX_SEGSIZE and the memory of the host bound it");
  log_warning("a segment of %llu bytes was asked for, %llu is what it can have: %s",
              static_cast<unsigned long long>(asked), static_cast<unsigned long long>(granted),
              why.c_str());
  return granted;
}

}  // namespace pinwire
