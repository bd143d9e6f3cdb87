#include "am/wait/wait.h"

#include <sched.h>
#include <time.h>

#include "am/wait/breath.h"
#include "am/wait/sleep.h"
#include "am/wait/yield_cost.h"
#include "am/wake/sleepers.h"
#include "core/base/clock.h"
#include "core/base/descriptors/event_fd.h"
#include "core/base/no_cancel.h"

namespace pinwire {
namespace {

void check_drivers() noexcept {
  for (uint32_t d = 0; d < engine.driver_count; ++d) {
    dcheck(engine.drivers[d].driver != nullptr, "a driver is missing", d, engine.driver_count);
    const Driver& driver = *engine.drivers[d].driver;
    if (driver.failure() != nullptr) driver_failed(driver, WorkStatus::kUnreachable);
  }
}

constinit YieldCost yield_cost;
/// The client's wait mode says so.
constinit std::atomic<bool> client_sleeps{false};

constinit thread_local Breath breath;
constinit thread_local uint64_t polled_at_ns = 0;  ///< the end of a client's last poll in vain

/// Beside more ranks than cores, in place of a yield; false: yield.
bool take_breath(uint64_t now) noexcept {
  if (!breath.is_due(now)) return false;
  const NoCancel whole;
  const timespec limit = timespec_of_us(Breath::kLongUs);
  nanosleep(&limit, nullptr);
  breath.was_taken(monotonic_us());
  return true;
}

void yield_awake(uint32_t spins) noexcept {
  if (spins > Engine::kSpinsOfCrowd || !take_breath(monotonic_us())) sched_yield();
}

/// For a wait that may sleep: where ranks outnumber the cores, or did, it finds out what is better.
void yield_and_learn(uint32_t spins) noexcept {
  if (spins > Engine::kSpinsOfCrowd && !yield_cost.is_high()) {
    sched_yield();
    return;
  }
  const uint64_t begin_us = monotonic_us();
  if (take_breath(begin_us)) return;
  sched_yield();
  if (!yield_cost.add(monotonic_us() - begin_us)) return;
  let_waits_sleep(yield_cost.is_high());
  // The client may have named another mode meanwhile: pairs with the fence in set_wait_mode().
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (client_sleeps.load(std::memory_order_relaxed)) let_waits_sleep(true);
}

/// 0: its end wakes the sleeper.
uint32_t nap_us_max_of(Wait wait) noexcept {
  if (wait == Wait::kAnnounced) return 0;
  return wait == Wait::kOfClient ? look_us_max : kNapMaxUs;
}

constexpr uint32_t kSpinsBeforeBlock = 1000;
constexpr uint32_t kSpinsBeforeYield = 20'000;

}  // namespace

void poll_for_client() noexcept {
  ThreadState& state = engine.thread();
  // A client that computes between its polls waits for nothing, and keeps its core.
  constexpr uint64_t kBetweenNs = 1'000;
  const bool may_wait = state.empty_polls > Engine::kSpinsOfCrowd && engine.is_crowded();
  const bool is_waiting = may_wait && monotonic_ns() - polled_at_ns <= kBetweenNs;
  if (poll() != 0 || !may_wait) [[likely]]
    return;
  if (is_waiting && !take_breath(monotonic_us())) sched_yield();
  polled_at_ns = monotonic_ns();
}

void pause_wait(uint32_t empty_polls, Wait wait) noexcept {
  dcheck(wait == Wait::kAwake || !this_thread.in_handler, "a handler waits as a client does");
  check_drivers();
  const uint32_t spins = engine.spins_now.load(std::memory_order_relaxed);
  if (empty_polls <= spins) return;
  if (wait == Wait::kAwake) {
    yield_awake(spins);
    return;
  }
  const bool sleeps = waits_sleep.load(std::memory_order_relaxed);
  if (!sleeps || (yield_cost.is_high() && yield_cost.wants_trial())) {
    yield_and_learn(spins);
    return;
  }
  if (empty_polls == spins + 1) this_thread.nap_us = 0;  // something was found before
  rest(nap_us_max_of(wait));
}

void set_wait_mode(WaitMode mode) noexcept {
  const uint32_t spins = mode == WaitMode::kBlock       ? 0
                         : mode == WaitMode::kSpinBlock ? kSpinsBeforeBlock
                                                        : kSpinsBeforeYield;
  engine.spins_wanted.store(spins, std::memory_order_relaxed);
  engine.set_spins();
  yield_cost.reset();
  client_sleeps.store(mode != WaitMode::kSpin, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_seq_cst);  // pairs with that of yield_and_learn()
  let_waits_sleep(mode != WaitMode::kSpin);
}

}  // namespace pinwire
