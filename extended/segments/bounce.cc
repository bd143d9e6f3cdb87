#include "extended/segments/bounce.h"

#include <atomic>
#include <cstdint>

#include "am/wait/wait.h"
#include "am/wake/sleepers.h"
#include "core/base/memory/reserve.h"

namespace pinwire {
namespace {

constexpr uint32_t kBounces = 8;
constexpr size_t kBounceBytes = 2 * Bounce::kHalfBytes;

std::byte* bounces = nullptr;  ///< touched as it is used
std::atomic<uint32_t> taken_bounces{0};
static_assert(kBounces <= 32);

/// False: all are taken.
bool take(uint32_t& index) noexcept {
  uint32_t before = taken_bounces.load(std::memory_order_relaxed);
  do {
    index = static_cast<uint32_t>(__builtin_ctz(~before));
    if (index >= kBounces) return false;
    // acquire pairs with the release in ~Bounce(): the last user of the buffer is done with it
  } while (!taken_bounces.compare_exchange_weak(
      before, before | 1u << index, std::memory_order_acquire, std::memory_order_relaxed));
  return true;
}

}  // namespace

Bounce::Bounce() noexcept {
  check(bounces != nullptr, "bounces are opened before device memory is bound");
  uint32_t index = 0;
  if (!take(index)) wait_until([&index] { return take(index); });
  dcheck(index < kBounces, "a bounce that there is not", index);
  memory_ = bounces + index * kBounceBytes;
}

Bounce::~Bounce() {
  const auto index = static_cast<uint32_t>(static_cast<size_t>(memory_ - bounces) / kBounceBytes);
  dcheck(index < kBounces, "memory that is no bounce", index);
  const uint32_t before = taken_bounces.fetch_and(~(1u << index), std::memory_order_release);
  dcheck((before >> index & 1) != 0, "a bounce is given back twice", index);
  note_progress();
}

void open_bounces() noexcept {
  if (bounces != nullptr) return;
  bounces = reserve_table<std::byte>(kBounces * kBounceBytes, "copies of device memory");
}

}  // namespace pinwire
