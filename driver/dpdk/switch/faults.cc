#include "driver/dpdk/switch/faults.h"

namespace pinwire {
namespace {
constexpr uint32_t kOvertakersMax = 16;
}

FrameFate FaultDice::roll(uint32_t bytes) noexcept {
  FrameFate fate;
  if (burst_left_ == 0 && random_.chance(faults_.burst_loss)) burst_left_ = faults_.burst_frames;
  if (burst_left_ > 0) {
    --burst_left_;
    fate.lost = true;
    return fate;
  }
  fate.lost = random_.chance(faults_.loss);
  fate.duplicated = random_.chance(faults_.duplicate);
  if (random_.chance(faults_.reorder)) {
    fate.overtaken_by = 1 + static_cast<uint32_t>(random_.below(kOvertakersMax));
  }
  fate.corrupted = random_.chance(faults_.corrupt);
  fate.flipped_bit = static_cast<uint32_t>(random_.below(uint64_t{8} * bytes));
  fate.truncated = bytes > 1 && random_.chance(faults_.truncate);
  if (fate.truncated) fate.bytes_left = 1 + static_cast<uint32_t>(random_.below(bytes - 1));
  return fate;
}

}  // namespace pinwire
