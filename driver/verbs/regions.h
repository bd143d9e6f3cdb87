// Memory of the client that the device may reach.
#pragma once

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
  void unpin_all() noexcept { regions_.clear(); }
  size_t count() const noexcept { return regions_.size(); }

 private:
  std::vector<Owned<ibv_mr, ibv_dereg_mr>> regions_;
};

}  // namespace pinwire::verbs
