#include "extended/barrier/barrier.h"

#include <vector>

#include "am/poll/deferred.h"
#include "am/poll/poll.h"
#include "am/wait/wait.h"
#include "am/wake/sleepers.h"
#include "core/base/breach.h"
#include "extended/barrier/lines.h"

namespace pinwire {
namespace {

struct BarrierState : Deferred {
  BarrierState() noexcept : led(*this) { run = go_on; }

  uint64_t phase = 0;  ///< notifies so far
  bool notified = false;
  BarrierArguments said{};  ///< by notify
  BarrierValue merged{};
  std::vector<shm::BarrierLine*> lines;  ///< of all ranks; empty: `led`
  uint32_t next_line = 0;                ///< ranks before it are merged
  LedBarrier led;

 private:
  static uint32_t go_on(Deferred& self) noexcept {
    auto& state = static_cast<BarrierState&>(self);
    const uint64_t before = state.led.over();
    if (state.led.go_on() == LedBarrier::Awaits::kLine) defer(state);
    return static_cast<uint32_t>(state.led.over() - before);
  }
};
BarrierState state;

LedBarrier* (*find_led_of_team)(uint32_t seat) noexcept = nullptr;

LedBarrier* find_led(uint32_t index) {
  if (index == 0) return state.led.is_open() ? &state.led : nullptr;
  return find_led_of_team(index - 1);
}

/// True when every line shows this phase.
bool read_lines() noexcept {
  for (; state.next_line < state.lines.size(); ++state.next_line) {
    uint64_t value;
    if (!state.lines[state.next_line]->read(state.phase, value)) return false;
    state.merged = BarrierValue::merge(state.merged, BarrierValue::unpack(value));
  }
  return true;
}

/// Before a sleep: has the last to notify send a message. True if none is needed: every line shows
/// this phase by now.
bool ask_for_message() noexcept {
  if (state.lines.empty()) return false;
  for (;;) {
    const uint32_t line = state.next_line;
    await_line(*state.lines[line]);
    if (read_lines()) return true;
    if (state.next_line == line) return false;  // else the next line has no bit yet
  }
}

bool everyone_notified() noexcept {
  if (!state.lines.empty()) return read_lines();
  if (!state.led.is_open()) return true;  // one rank
  if (state.led.over() < state.phase) return false;
  state.merged = BarrierValue::unpack(state.led.merged());
  return true;
}

void check_notified(const char* call) noexcept {
  if (!state.notified)
    breach("C1-298", "%s without a gasnet_barrier_notify before it (C1-267)", call);
}

BarrierResult finish(int id, int flags) noexcept {
  show_order_of_puts();
  state.notified = false;
  const bool fits = barriers_of_ex ? names_what_is_agreed(state.said, {id, flags}, state.merged)
                                   : repeats_notify(state.said, {id, flags});
  return fits && state.merged.kind != BarrierValue::kMismatch ? BarrierResult::kOk
                                                              : BarrierResult::kMismatch;
}

}  // namespace

void open_barrier(LedBarrier* (*find_of_team)(uint32_t seat) noexcept) {
  find_led_of_team = find_of_team;
  open_led_barriers(find_led);
  std::vector<BarrierSeat> seats;
  for (Rank rank = 0; rank < engine.rank_count; ++rank) seats.push_back({rank, 0});
  if (!are_few_beside(seats)) {
    if (engine.rank_count > 1) state.led.open(seats, engine.rank, 0);
    return;
  }
  for (Rank rank = 0; rank < engine.rank_count; ++rank) {
    if (rank != engine.rank) state.lines.push_back(&barrier_lines(rank, 0)->here);
  }
  state.lines.push_back(&barrier_lines(engine.rank, 0)->here);
}

void barrier_notify(int id, int flags) noexcept {
  if (state.notified)
    breach("C1-298", "gasnet_barrier_notify twice without a wait between (C1-265)");
  state.notified = true;
  state.said = {id, flags};
  ++state.phase;
  state.merged = BarrierValue::of(id, flags);
  state.next_line = 0;
  if (!state.lines.empty()) {
    notify_line(*state.lines.back(), state.phase, state.merged.packed());
  } else if (state.led.is_open()) {
    state.led.enter(state.merged.packed());
    run_or_defer(state);
  } else {
    check(engine.target_count != 0, "a barrier before gasnet_attach (C1-056)");
  }
}

BarrierResult barrier_wait(int id, int flags) noexcept {
  check_notified("gasnet_barrier_wait");
  uint32_t misses = 0;
  wait_until([&misses] {
    if (everyone_notified()) return true;
    const bool will_sleep = waits_sleep.load(std::memory_order_relaxed) &&
                            ++misses > engine.spins_now.load(std::memory_order_relaxed);
    cpu_relax();  // see LineBarrier::pass()
    return will_sleep && ask_for_message();
  });
  return finish(id, flags);
}

BarrierResult barrier_try(int id, int flags) noexcept {
  check_notified("gasnet_barrier_try");
  if (!everyone_notified()) {
    poll();  // C1-272
    if (!everyone_notified()) return BarrierResult::kNotReady;
  }
  return finish(id, flags);
}

bool barrier_name(int& id) noexcept {
  if (state.merged.kind != BarrierValue::kNamed) return false;
  id = state.merged.id;
  return true;
}

}  // namespace pinwire
