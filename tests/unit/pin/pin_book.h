// A driver that pins nothing and keeps a book of what it was asked to pin, by key.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>

#include "tests/support/idle_driver.h"

namespace pinwire::test {

class PinBook : public IdleDriver {
 public:
  Result<Region> pin(void* base, uint64_t bytes, int fd, uint64_t fd_offset) override {
    const std::lock_guard guard(mutex_);
    if (refusals != 0) return --refusals, error("there is no more");
    if (fd != -1 || fd_offset != 0) return error("no file lies behind this memory");
    const uint32_t key = ++last_key_;
    return pins_[key] = Region{reinterpret_cast<uint64_t>(base), bytes, key, key + kRemote};
  }
  Status unpin(const Region& region) override {
    const std::lock_guard guard(mutex_);
    return pins_.erase(region.local_key) == 1 ? success() : error("no such pin");
  }

  /// Bytes that are pinned, and whether a peer's key is one of a pin of [from, from + bytes).
  uint64_t bytes() {
    const std::lock_guard guard(mutex_);
    uint64_t sum = 0;
    for (const auto& [key, region] : pins_) sum += region.bytes;
    return sum;
  }
  bool reaches(uint32_t remote_key, const void* from, uint64_t bytes) {
    const std::lock_guard guard(mutex_);
    const auto at = pins_.find(remote_key - kRemote);
    const auto start = reinterpret_cast<uint64_t>(from);
    return at != pins_.end() && at->second.base <= start &&
           start + bytes <= at->second.base + at->second.bytes;
  }

  uint32_t refusals = 0;

 private:
  static constexpr uint32_t kRemote = 1000;  // peers' keys are other numbers

  std::mutex mutex_;
  std::map<uint32_t, Region> pins_;
  uint32_t last_key_ = 0;
};

}  // namespace pinwire::test
