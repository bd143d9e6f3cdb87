// One simulated rank's pinned memory: cells for atomics, a window for each writer, and slots from
// which and into which the rank itself transfers. Fences on both sides, outside what is pinned,
// must survive.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "driver/work.h"
#include "tests/sim/oracle/verdict.h"
#include "tests/sim/scenario.h"

namespace pinwire::sim {

inline constexpr uint64_t kFenceBytes = 4096;
inline constexpr uint64_t kSlotFenceBytes = 64;

class Memory {
 public:
  Memory(Rank rank, const Scenario& scenario, uint32_t cells, std::span<const std::byte> image);

  std::byte* base() { return bytes_.data() + start_; }
  uint64_t bytes() const noexcept { return pinned_bytes_; }
  std::span<const uint64_t> cells() const;
  std::span<const std::byte> windows() const;
  uint64_t cell_address(uint32_t cell);
  uint64_t window_address(uint64_t offset);
  /// The memory of slot `index`, which lies between two fences. The last slot is in_flight_max.
  std::byte* slot(uint32_t index);

  void check_fences(Verdict& verdict) const;

  Region region{};  ///< once pinned

 private:
  Rank rank_;
  uint64_t slot_bytes_;
  uint64_t windows_at_;
  uint64_t windows_bytes_;
  uint64_t slots_at_;
  uint64_t pinned_bytes_;
  uint64_t start_;
  std::vector<std::byte> bytes_;
};

}  // namespace pinwire::sim
