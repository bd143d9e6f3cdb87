#include "extended/segment_limits.h"

#include <unistd.h>

#include <algorithm>

#include "core/base/log.h"
#include "core/engine/engine.h"
#include "pin/budget.h"
#include "segment/memory.h"

namespace pinwire {
namespace {

constexpr uint64_t kPageBytes = 4096;
/// What the verbs driver pins of its own for each lane, rounded up: 2 * 320 receive and 256 send
/// buffers of 4.2 KiB, and 16 of 64 KiB.
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

uint32_t ranks_beside(const Job& job, Rank rank) noexcept {
  return static_cast<uint32_t>(
      std::count_if(job.ranks.begin(), job.ranks.end(),
                    [&](const RankFacts& other) { return other.host == job.ranks[rank].host; }));
}

uint64_t driver_bytes(const Job& job) noexcept {
  return std::max(job.settings.lanes, 1u) * kDriverBytesPerLane;
}

uint64_t limit_of(const Job& job, Rank rank) noexcept {
  const uint32_t on_host = ranks_beside(job, rank);
  uint64_t limit = job.ranks[rank].segment_limit / on_host;
  limit = std::min(limit, bound_bytes(job.settings.max_segment, on_host));
  if (leaves_host(job)) limit = std::min(limit, job.ranks[rank].pin_limit);
  return std::max(limit / kPageBytes * kPageBytes, kPageBytes);
}

}  // namespace

void state_limits(const Job& job, RankFacts& mine) {
  const PinLimits limits = read_pin_limits();
  // The limit depends on how many share the host, which only the exchange tells: send what is free
  // here, divide after.
  mine.segment_limit = segment_bytes_limit(1, limits);
  mine.pin_limit = may_pin(job.settings) ? pin_budget(limits, driver_bytes(job)).bytes : kUnlimited;
}

void set_segment_limits(Job& job) {
  job.segment_limit_local = limit_of(job, engine.rank);
  job.segment_limit_global = kUnlimited;
  for (Rank rank = 0; rank < job.ranks.size(); ++rank) {
    job.segment_limit_global = std::min(job.segment_limit_global, limit_of(job, rank));
  }
}

uint64_t grant_segment(const Job& job, uint64_t asked) {
  const uint64_t granted = std::min(asked, job.segment_limit_local);
  if (granted == asked) return granted;
  const bool is_pinning =
      leaves_host(job) && job.ranks[engine.rank].pin_limit <= granted + kPageBytes;
  const std::string why =
      is_pinning ? pin_budget(read_pin_limits(), driver_bytes(job)).reason
                 : std::string("GASNET_MAX_SEGSIZE and the memory of the host bound it");
  log_warning("a segment of %llu bytes was asked for, %llu is what it can have: %s",
              static_cast<unsigned long long>(asked), static_cast<unsigned long long>(granted),
              why.c_str());
  return granted;
}

}  // namespace pinwire
