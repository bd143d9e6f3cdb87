#include "driver/verbs/regions.h"

#include <algorithm>
#include <cerrno>

#include "driver/verbs/memory.h"

namespace pinwire::verbs {

Result<Region> Regions::pin(const Device& device, void* base, uint64_t bytes) {
  if (bytes > device.limits.max_mr_size) {
    return error(
        "%s registers at most %llu bytes at once, %llu are asked for; lower "
        "GASNET_MAX_SEGSIZE",
        device.name.c_str(), static_cast<unsigned long long>(device.limits.max_mr_size),
        static_cast<unsigned long long>(bytes));
  }
  int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
  if (device.has_atomics()) access |= IBV_ACCESS_REMOTE_ATOMIC;
  Owned<ibv_mr, ibv_dereg_mr> made(ibv_reg_mr(device.pd.get(), base, bytes, access));
  if (!made) {
    const int reason = errno;
    return error("%s: cannot pin %s", device.name.c_str(),
                 registration_failure(bytes, reason).c_str());
  }
  check(made->lkey != kNoRegion && made->rkey != kNoRegion, "a device's key is 0", made->lkey);
  const Region region{reinterpret_cast<uint64_t>(base), bytes, made->lkey, made->rkey};
  regions_.push_back(std::move(made));
  return region;
}

Status Regions::unpin(const Region& region) {
  const auto at = std::find_if(regions_.begin(), regions_.end(), [&](const auto& held) {
    return held->lkey == region.local_key && reinterpret_cast<uint64_t>(held->addr) == region.base;
  });
  if (at == regions_.end()) {
    return error("cannot unpin %llu bytes at 0x%llx: no region has the key 0x%x",
                 static_cast<unsigned long long>(region.bytes),
                 static_cast<unsigned long long>(region.base), region.local_key);
  }
  regions_.erase(at);
  return success();
}

}  // namespace pinwire::verbs
