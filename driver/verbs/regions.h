// Memory of the client that the device may reach.
#pragma once

#include <atomic>
#include <vector>

#include "driver/verbs/device.h"
#include "driver/work.h"

namespace pinwire::verbs {

class Regions {
 public:
  Result<Region> pin(const Device& device, void* base, uint64_t bytes);
  /// All memory, paged on demand; nothing is pinned.
  Result<Region> expose_all(const Device& device);
  Status unpin(const Region& region);
  void unpin_all() noexcept {
    regions_.clear();
    count_.store(0, std::memory_order_relaxed);
  }
  /// From any thread.
  size_t count() const noexcept { return count_.load(std::memory_order_relaxed); }

 private:
  std::vector<Owned<ibv_mr, ibv_dereg_mr>> regions_;
  std::atomic<size_t> count_{0};  // of regions_; relaxed: a figure that orders nothing
};

}  // namespace pinwire::verbs
