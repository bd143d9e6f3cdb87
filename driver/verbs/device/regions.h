// Memory of the client that the device may reach.
#pragma once

#include <atomic>
#include <vector>

#include "driver/verbs/device/device.h"
#include "driver/work.h"

namespace pinwire::verbs {

class Regions {
 public:
  Result<Region> pin(const Device& device, void* base, uint64_t bytes);
  /// Memory of another device, by the dma-buf that it handed out.
  Result<Region> pin_dmabuf(const Device& device, void* base, uint64_t bytes, int dmabuf);
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
  using Handle = Owned<ibv_mr, ibv_dereg_mr>;
  /// Its own address is not always what it reaches.
  struct Held {
    Handle handle;
    uint64_t base;
    uint64_t bytes;
  };
  void hold(Handle handle, uint64_t base, uint64_t bytes);

  std::vector<Held> regions_;
  std::atomic<size_t> count_{0};  // of regions_; relaxed: a figure that orders nothing
};

}  // namespace pinwire::verbs
