// Puts together what the ranks contribute to one all_gather.
#pragma once

#include <vector>

#include "core/launch/hosts/host.h"

namespace pinwire::launch {

class Gathering {
 public:
  explicit Gathering(Rank rank_count) : parts_(rank_count), whole_(rank_count) {}
  /// A sentence if the rank sent what it must not. The value: whether all ranks' contributions are
  /// whole now.
  Result<bool> add(Rank rank, const FrameHeader& header, Bytes chunk);
  /// All contributions in one message; then the next round begins.
  std::vector<std::byte> take();
  uint32_t round() const noexcept { return round_; }

 private:
  std::vector<bootstrap::Assembly> parts_;
  std::vector<bool> whole_;
  Rank whole_count_ = 0;
  uint32_t round_ = 1;
  uint64_t bytes_ = 0;
};

}  // namespace pinwire::launch
