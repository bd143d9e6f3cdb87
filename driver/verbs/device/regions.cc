#include "driver/verbs/device/regions.h"

#include <cerrno>
#include <cstring>

#include "core/base/bits.h"
#include "driver/verbs/device/memory.h"
#include "driver/verbs/device/short_read.h"

namespace pinwire::verbs {
namespace {

constexpr int kReadAndWrite =
    IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;

struct Extent {
  void* base;
  uint64_t bytes;
};

/// The range to register: just that, but where reads are widened (short_read.h) whole pages.
Extent extent_of(const Device& device, void* base, uint64_t bytes) noexcept {
  if (device.read_bytes_min == 0) return {base, bytes};
  const auto at = reinterpret_cast<uint64_t>(base);
  const uint64_t from = at & ~(kPageBytes - 1);
  return {reinterpret_cast<void*>(from), align_up(at + bytes, kPageBytes) - from};
}

}  // namespace

Result<Region> Regions::pin(const Device& device, void* base, uint64_t bytes) {
  if (bytes > device.limits.max_mr_size) {
    return error(
        "%s registers at most %llu bytes at once, %llu are asked for; lower "
        "GASNET_MAX_SEGSIZE",
        device.name.c_str(), static_cast<unsigned long long>(device.limits.max_mr_size),
        static_cast<unsigned long long>(bytes));
  }
  int access = kReadAndWrite;
  if (device.has_atomics()) access |= IBV_ACCESS_REMOTE_ATOMIC;
  const Extent extent = extent_of(device, base, bytes);
  check(inside(reinterpret_cast<uint64_t>(base), bytes, reinterpret_cast<uint64_t>(extent.base),
               extent.bytes),
        "less is registered than is to be pinned", base, bytes);
  Handle made(ibv_reg_mr(device.pd.get(), extent.base, extent.bytes, access));
  if (!made) {
    const int reason = errno;
    return error("%s: cannot pin %s", device.name.c_str(),
                 registration_failure(bytes, reason).c_str());
  }
  const Region region{reinterpret_cast<uint64_t>(base), bytes, made->lkey, made->rkey};
  hold(std::move(made), region.base, bytes);
  return region;
}

// Without IBV_ACCESS_REMOTE_ATOMIC: remote atomics are for the host's memory (EX-059).
Result<Region> Regions::pin_dmabuf(const Device& device, void* base, uint64_t bytes, int dmabuf) {
  if (device.read_bytes_min != 0) {
    return error("%s reads few bytes by way of the host's memory", device.name.c_str());
  }
  const auto at = reinterpret_cast<uint64_t>(base);
  Handle made(ibv_reg_dmabuf_mr(device.pd.get(), 0, bytes, at, dmabuf, kReadAndWrite));
  if (!made) {
    return error("%s cannot register the dma-buf of %llu bytes of device memory: %s",
                 device.name.c_str(), static_cast<unsigned long long>(bytes), std::strerror(errno));
  }
  const Region region{at, bytes, made->lkey, made->rkey};
  hold(std::move(made), at, bytes);
  return region;
}

void Regions::hold(Handle handle, uint64_t base, uint64_t bytes) {
  check(handle->lkey != kNoRegion, "a device's local key is 0");
  check(handle->rkey != kNoRegion, "a device's remote key is 0");
  regions_.push_back({std::move(handle), base, bytes});
  count_.store(regions_.size(), std::memory_order_relaxed);
}

Result<Region> Regions::expose_all(const Device& device) {
  constexpr int kRead = IBV_ACCESS_ON_DEMAND | IBV_ACCESS_REMOTE_READ;
  int write = kRead | IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
  if (device.has_atomics() && device.paging.has_atomics) write |= IBV_ACCESS_REMOTE_ATOMIC;
  Handle made[2];
  for (size_t i = 0; i < 2; ++i) {
    // "address 0 and length SIZE_MAX": ibv_reg_mr(3) on implicit on-demand paging.
    made[i].reset(ibv_reg_mr(device.pd.get(), nullptr, SIZE_MAX, i == 0 ? write : kRead));
    if (made[i]) continue;
    return error("%s says that it pages all memory on demand, but registering that failed: %s",
                 device.name.c_str(), std::strerror(errno));
  }
  const Region region{0, ~uint64_t{0}, made[0]->lkey, made[0]->rkey, made[1]->lkey, made[1]->rkey};
  for (auto& one : made) hold(std::move(one), 0, ~uint64_t{0});
  return region;
}

Status Regions::unpin(const Region& region) {
  const auto erased = std::erase_if(regions_, [&](const auto& held) {
    const uint32_t key = held.handle->lkey;
    const bool is_named = key == region.local_key ||
                          (region.local_read_key != kNoRegion && key == region.local_read_key);
    return is_named && inside(region.base, region.bytes, held.base, held.bytes);
  });
  count_.store(regions_.size(), std::memory_order_relaxed);
  if (erased == 0) {
    return error("cannot unpin %llu bytes at 0x%llx: no region has the key 0x%x",
                 static_cast<unsigned long long>(region.bytes),
                 static_cast<unsigned long long>(region.base), region.local_key);
  }
  return success();
}

}  // namespace pinwire::verbs
