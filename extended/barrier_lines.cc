#include "extended/barrier_lines.h"

#include "am/handlers.h"
#include "am/send.h"
#include "core/engine/engine.h"

namespace pinwire {
namespace {

struct Lines {
  ShmDriver* shm = nullptr;
  uint32_t shm_index = 0;
};
Lines lines;

constexpr uint64_t bit_of(Rank rank) noexcept { return uint64_t{1} << rank % 64; }

/// What wakes who sleeps, handlers that have run, is not there where lines are read.
void on_wake(pinwire_token*) {}

[[gnu::cold]] void wake_readers(uint64_t bits) noexcept {
  for (Rank rank = 0; rank < engine.rank_count; ++rank) {
    const bool is_asleep = rank != engine.rank && (bits & bit_of(rank)) != 0;
    if (is_asleep && barrier_line(rank, 0) != nullptr) {
      request_short(rank, {kHandlerBarrierWake, 0, nullptr});
    }
  }
}

}  // namespace

void open_barrier_lines(ShmDriver* shm, uint32_t shm_index) noexcept {
  register_internal(kHandlerBarrierWake, on_wake);
  lines = {shm, shm_index};
}

shm::BarrierLine* barrier_line(Rank jobrank, uint32_t index) noexcept {
  if (lines.shm == nullptr || index >= shm::kBarrierLines) return nullptr;
  const Route& route = engine.routes[jobrank];
  const bool is_near =
      jobrank == engine.rank || (route.driver != nullptr && route.driver_index == lines.shm_index);
  return is_near ? &lines.shm->barrier_line(jobrank, index) : nullptr;
}

void notify_line(shm::BarrierLine& own, uint64_t phase, uint64_t value) noexcept {
  const uint64_t asleep = own.notify(phase, value);
  if (asleep != 0) [[unlikely]]
    wake_readers(asleep);
}

void await_line(shm::BarrierLine& line) noexcept {
  static const bool are_told = (lines.shm->tell_notifiers(), true);
  static_cast<void>(are_told);
  line.await(bit_of(engine.rank));
}

}  // namespace pinwire
