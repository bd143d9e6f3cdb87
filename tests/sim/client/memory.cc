#include "tests/sim/client/memory.h"

#include <cstring>

#include "core/base/bits.h"
#include "tests/sim/client/pattern.h"

namespace pinwire::sim {
namespace {

constexpr uint64_t kFenceContent = 0xfe2ce;

}  // namespace

Memory::Memory(Rank rank, const Scenario& scenario, uint32_t cells,
               std::span<const std::byte> image)
    : rank_(rank),
      slot_bytes_(align_up(scenario.message_bytes_max, uint64_t{64}) + 2 * kSlotFenceBytes),
      windows_at_(align_up(uint64_t{cells} * 8, uint64_t{64})),
      windows_bytes_(image.size()),
      slots_at_(align_up(windows_at_ + windows_bytes_, uint64_t{64})),
      pinned_bytes_(slots_at_ + slot_bytes_ * (scenario.in_flight_max + 1)),
      start_(0),
      bytes_(pinned_bytes_ + 2 * kFenceBytes + 64) {
  const auto address = reinterpret_cast<uintptr_t>(bytes_.data()) + kFenceBytes;
  start_ = kFenceBytes + (align_up(address, uintptr_t{64}) - address);
  fill_pattern({base() - kFenceBytes, kFenceBytes}, kFenceContent);
  fill_pattern({base() + pinned_bytes_, kFenceBytes}, kFenceContent);
  std::memcpy(base() + windows_at_, image.data(), image.size());
}

std::span<const uint64_t> Memory::cells() const {
  return {reinterpret_cast<const uint64_t*>(bytes_.data() + start_), windows_at_ / 8};
}

std::span<const std::byte> Memory::windows() const {
  return {bytes_.data() + start_ + windows_at_, windows_bytes_};
}

uint64_t Memory::cell_address(uint32_t cell) {
  return reinterpret_cast<uintptr_t>(base()) + uint64_t{cell} * 8;
}

uint64_t Memory::window_address(uint64_t offset) {
  return reinterpret_cast<uintptr_t>(base()) + windows_at_ + offset;
}

std::byte* Memory::slot(uint32_t index) {
  return base() + slots_at_ + slot_bytes_ * index + kSlotFenceBytes;
}

void Memory::check_fences(Verdict& verdict) const {
  const std::byte* const pinned = bytes_.data() + start_;
  const size_t before = pattern_mismatch({pinned - kFenceBytes, kFenceBytes}, kFenceContent);
  const size_t after = pattern_mismatch({pinned + pinned_bytes_, kFenceBytes}, kFenceContent);
  if (before != kFenceBytes || after != kFenceBytes) {
    verdict.fail("somebody wrote outside the pinned memory of rank %u", rank_);
  }
}

}  // namespace pinwire::sim
