#include "am/progress.h"

#include <sched.h>
#include <time.h>

#include <algorithm>

#include "am/breath.h"
#include "am/deferred.h"
#include "am/owed.h"
#include "am/sleep.h"
#include "am/yield_cost.h"
#include "core/base/clock.h"
#include "core/base/event_fd.h"
#include "core/base/log.h"
#include "core/base/no_cancel.h"
#include "core/interrupts/client_threads.h"

namespace pinwire {
namespace {

uint64_t now_ns() noexcept { return static_cast<uint64_t>(clock_ns(CLOCK_MONOTONIC)); }

/// One turn of a lane whose lock the caller holds.
uint32_t take_turn(uint32_t driver, uint32_t lane) noexcept {
  DriverLane& l = engine.drivers[driver].lanes[lane];
  const uint64_t begin_ns = l.is_waited_for() ? now_ns() : 0;
  const uint32_t found = drain_lane(driver, lane, RecvFilter::kAll, DispatchSink{});
  if (found != 0 && l.is_waited_for()) [[unlikely]] {
    const uint64_t end_ns = now_ns();
    l.leave_to_waiting(begin_ns != 0 ? end_ns - begin_ns : 0, end_ns);
  }
  return found;
}

/// The lanes that a poller passes over.
enum class Passes : uint8_t { kNone, kLeftToSenders, kLeftToAnybody };

uint32_t poll_lane(uint32_t driver, uint32_t lane, bool& has_served,
                   Passes passes = Passes::kNone) noexcept {
  DriverSlot& slot = engine.drivers[driver];
  DriverLane& l = slot.lanes[lane];
  // An empty lane is left alone: no lock, no batch, where the driver can tell at a glance.
  if (slot.caps.concurrent_idle && slot.driver->idle(lane) && !owes(l)) return 0;
  if (passes == Passes::kLeftToAnybody && l.is_left_to_owner()) return 0;
  if (passes != Passes::kNone && l.is_waited_for() && l.is_left_to_waiting(now_ns())) return 0;
  if (!l.try_lock()) return 0;
  const uint32_t found = take_turn(driver, lane);
  if (found == 0 && slot.caps.tells_service && !slot.driver->idle(lane)) has_served = true;
  if (owes(l)) [[unlikely]]
    settle_owed(slot, lane);
  l.unlock();
  return found;
}

uint32_t poll_all(Passes passes) noexcept {
  uint32_t found = 0;
  bool has_served = false;
  for (uint32_t d = 0; d < engine.driver_count; ++d) {
    for (uint32_t lane = 0; lane < engine.drivers[d].lane_count; ++lane) {
      found += poll_lane(d, lane, has_served, passes);
    }
  }
  if (found != 0) note_progress();
  return found;
}

/// A look at a line takes it from the sender that is about to write there; where senders share a
/// ring, each then waits for the line to come back. A receiver that has run dry in the midst of a
/// stream looks a little later, and finds several messages. Who sends too may be waited for, and
/// looks at once; so does a receiver after a dry spell.
void let_stream_gather(ThreadState& state, uint32_t found) noexcept {
  constexpr uint32_t kStreamFound = 32, kDrySpell = 6, kPauses = 20;
  if (found != 0) {
    state.stream_found = state.has_sent ? 0 : state.stream_found + found;
    state.has_sent = false;
    state.empty_polls = 0;
    return;
  }
  if (++state.empty_polls >= kDrySpell) state.stream_found = 0;
  if (state.stream_found < kStreamFound) [[likely]]
    return;
  for (uint32_t i = 0; i < kPauses; ++i) cpu_relax();
}

void check_drivers() noexcept {
  for (uint32_t d = 0; d < engine.driver_count; ++d) {
    const Driver& driver = *engine.drivers[d].driver;
    if (driver.failure() != nullptr) driver_failed(driver, WorkStatus::kUnreachable);
  }
}

uint32_t end_deferred(uint32_t count) noexcept {
  deferred_list.end();
  if (count != 0) note_progress();
  return count;
}

uint32_t serve_deferred() noexcept {
  if (deferred_list.is_empty()) [[likely]]
    return 0;
  return run_deferred();
}

constinit YieldCost yield_cost;
/// By the client's wait mode.
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

/// Of a wait that may sleep: where ranks outnumber the cores, or did, it finds out what is better.
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

/// A few times what a peer that polls takes to make room.
constexpr uint32_t kPollsBeforeOwing = 128;

/// False: the handler waits on.
bool leave_owed(const Route& route, uint32_t lane, const Work& work) noexcept {
  constexpr uint8_t kFlags = kWorkCopied | kWorkSilent;
  if ((work.flags & kFlags) != kFlags || work.op == Op::kPut) return false;
  return owe_reply(engine.drivers[route.driver_index], lane, work);
}

/// 0: its end wakes who sleeps.
uint32_t nap_us_max_of(Wait wait) noexcept {
  if (wait == Wait::kAnnounced) return 0;
  return wait == Wait::kOfClient ? look_us_max : kNapMaxUs;
}

constexpr uint32_t kSpinsBeforeBlock = 1000;
constexpr uint32_t kSpinsBeforeYield = 20'000;

}  // namespace

uint32_t poll() noexcept {
  ThreadState& state = engine.thread();
  check(!state.in_handler, "a handler may not poll or send requests (C1-172)");
  state.sends_since_poll = 0;
  if (has_dispatcher) [[unlikely]] {
    if (only_dispatcher_polls) {
      ++state.empty_polls;  // its own: the dispatcher's find what there is
      return serve_deferred();
    }
    ++this_client.polls;
  }
  if constexpr (kConcurrent) {
    state.turn = state.turn + 1 >= engine.lane_count ? 0 : state.turn + 1;
  }
  uint32_t found = 0;
  bool has_served = false;  // puts, gets: whoever does must not give its core away between them
  for (uint32_t d = 0; d < engine.driver_count; ++d) {
    const uint32_t own = engine.drivers[d].lane_of(state.lane);
    found += poll_lane(d, own, has_served);
    if constexpr (kConcurrent) {
      const uint32_t other = engine.drivers[d].lane_of(state.turn);
      if (other != own) found += poll_lane(d, other, has_served, Passes::kLeftToAnybody);
    }
  }
  let_stream_gather(state, found);
  if constexpr (kConcurrent) {  // else no other client thread waits
    if (found != 0) note_progress();
  }
  found += serve_deferred();
  return found != 0 ? found : has_served;
}

void poll_for_client() noexcept {
  ThreadState& state = engine.thread();
  // A client that computes between its polls waits for nothing, and keeps its core.
  constexpr uint64_t kBetweenNs = 1'000;
  const bool may_wait = state.empty_polls > Engine::kSpinsOfCrowd && engine.is_crowded();
  const bool is_waiting = may_wait && now_ns() - polled_at_ns <= kBetweenNs;
  if (poll() != 0 || !may_wait) [[likely]]
    return;
  if (is_waiting && !take_breath(monotonic_us())) sched_yield();
  polled_at_ns = now_ns();
}

uint32_t run_or_defer(Deferred& work) noexcept {
  if (!deferred_list.begin()) {
    defer(work);
    return 0;
  }
  return end_deferred(work.run(work));
}

uint32_t run_deferred() noexcept {
  if (!deferred_list.begin()) return 0;
  uint32_t count = 0;
  deferred_list.run_all([&count](DeferredList::Item& item) {
    auto& work = static_cast<Deferred&>(item);
    count += work.run(work);
  });
  return end_deferred(count);
}

DeferredPause::DeferredPause() noexcept {
  wait_until([] { return deferred_list.begin(); });
}
DeferredPause::~DeferredPause() { end_deferred(0); }

uint32_t poll_everything() noexcept { return poll_all(Passes::kNone); }
uint32_t poll_politely() noexcept { return poll_all(Passes::kLeftToSenders); }

uint32_t poll_in_handler(uint32_t driver, uint32_t lane) noexcept {
  const uint32_t found = drain_lane(driver, lane, RecvFilter::kRepliesOnly, DispatchSink{});
  settle_owed(engine.drivers[driver], lane);
  if (found != 0) note_progress();
  return found;
}

void pause_wait(uint32_t empty_polls, Wait wait) noexcept {
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

void offer_until_taken(const ThreadState& state, const Route& route, const Work& work) noexcept {
  uint32_t empty_polls = 0;
  do {
    if (poll() != 0) {
      empty_polls = 0;
    } else {
      after_empty_poll(empty_polls, Wait::kUnannounced);
    }
  } while (!offer_from_client(state, route, work));
}

void post_in_handler(uint32_t lane, const Route& route, const Work& work) noexcept {
  this_thread.has_sent = true;
  const DriverLane& held = engine.drivers[route.driver_index].lanes[lane];
  uint32_t empty_polls = 0;
  for (uint32_t polls = 0;; ++polls) {
    // This reply may be fenced from those that are owed to its peer, so it must not overtake them.
    const bool is_behind = owes_to(held, work.peer);
    if (!is_behind && engine.offer(route.driver_index, lane, work)) return;
    if ((is_behind || polls >= kPollsBeforeOwing) && leave_owed(route, lane, work)) return;
    if (poll_in_handler(route.driver_index, lane) != 0) {
      empty_polls = 0;
    } else {
      after_empty_poll(empty_polls, Wait::kAwake);
    }
  }
}

}  // namespace pinwire
