// The fate of a frame in a bad network: decided from a seed, so that a run can be repeated.
#pragma once

#include <cstdint>

#include "core/base/random.h"
#include "driver/dpdk/switch/switch_options.h"

namespace pinwire {

struct FrameFate {
  bool lost = false;
  bool duplicated = false;
  uint32_t overtaken_by = 0;  ///< frames that pass it
  bool corrupted = false;
  uint32_t flipped_bit = 0;  ///< if corrupted: < 8 * bytes
  bool truncated = false;
  uint32_t bytes_left = 0;  ///< if truncated: in [1, bytes)
};

class FaultDice {
 public:
  explicit FaultDice(const SwitchFaults& faults) : faults_(faults), random_(faults.seed) {}
  FrameFate roll(uint32_t bytes) noexcept;

 private:
  SwitchFaults faults_;
  Random random_;
  uint32_t burst_left_ = 0;
};

}  // namespace pinwire
