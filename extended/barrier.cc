#include "extended/barrier.h"

#include <atomic>
#include <bit>
#include <vector>

#include "am/handlers.h"
#include "am/progress.h"
#include "am/send.h"
#include "am/sleep.h"
#include "core/base/breach.h"
#include "extended/barrier_lines.h"

namespace pinwire {
namespace {

constexpr int kFlagAnonymous = 1;
constexpr int kFlagMismatch = 2;
constexpr uint32_t kRoundsMax = 32;

struct Arrival {
  std::atomic<bool> here{false};
  std::atomic<uint64_t> value{0};
};

struct BarrierState {
  uint64_t phase = 0;  ///< notifies so far
  bool notified = false;
  BarrierArguments said{};  ///< by notify
  BarrierValue merged{};
  std::vector<shm::BarrierLine*> lines;  ///< of all ranks; empty: dissemination
  uint32_t next_line = 0;                ///< ranks before it are merged
  uint32_t rounds = 0;
  uint32_t round = 0;  ///< rounds sent
  // A peer may be one phase ahead, never two: two sets, by the parity of the phase.
  Arrival arrivals[2][kRoundsMax];
};

BarrierState state;

void on_arrival(pinwire_token*, int32_t where, int32_t kind, int32_t id) {
  Arrival& arrival = state.arrivals[where & 1][where >> 1];
  const BarrierValue value{static_cast<BarrierValue::Kind>(kind), id};
  arrival.value.store(value.packed(), std::memory_order_relaxed);
  arrival.here.store(true, std::memory_order_release);  // pairs with the acquire in disseminate()
}

void send_round() noexcept {
  const Rank to =
      static_cast<Rank>((engine.rank + (uint64_t{1} << state.round)) % engine.rank_count);
  const auto parity = static_cast<int32_t>(state.phase & 1);
  const int32_t args[] = {parity | static_cast<int32_t>(state.round << 1),
                          static_cast<int32_t>(state.merged.kind), state.merged.id};
  request_short(to, {kHandlerBarrier, 3, args});
  ++state.round;
}

/// True when all rounds are in.
bool disseminate() noexcept {
  while (state.round != 0) {
    Arrival& arrival = state.arrivals[state.phase & 1][state.round - 1];
    if (!arrival.here.load(std::memory_order_acquire)) return false;
    arrival.here.store(false, std::memory_order_relaxed);
    state.merged = BarrierValue::merge(
        state.merged, BarrierValue::unpack(arrival.value.load(std::memory_order_relaxed)));
    if (state.round == state.rounds) return true;
    send_round();
  }
  return true;  // one rank
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

bool everyone_notified() noexcept { return state.lines.empty() ? disseminate() : read_lines(); }

void check_notified(const char* call) noexcept {
  if (!state.notified)
    breach("C1-298", "%s without a gasnet_barrier_notify before it (C1-267)", call);
}

BarrierResult finish(int id, int flags) noexcept {
  state.notified = false;
  const bool fits = barriers_of_ex ? names_what_is_agreed(state.said, {id, flags}, state.merged)
                                   : repeats_notify(state.said, {id, flags});
  return fits && state.merged.kind != BarrierValue::kMismatch ? BarrierResult::kOk
                                                              : BarrierResult::kMismatch;
}

}  // namespace

BarrierValue BarrierValue::of(int id, int flags) noexcept {
  if (flags & kFlagMismatch) return {kMismatch, 0};
  if (flags & kFlagAnonymous) return {kAnonymous, 0};
  return {kNamed, id};
}

BarrierValue BarrierValue::merge(BarrierValue a, BarrierValue b) noexcept {
  if (a.kind == kMismatch || b.kind == kMismatch) return {kMismatch, 0};
  if (a.kind == kAnonymous) return b;
  if (b.kind == kAnonymous || a.id == b.id) return a;
  return {kMismatch, 0};
}

bool repeats_notify(BarrierArguments notify, BarrierArguments wait) noexcept {
  return wait.flags == notify.flags && (wait.flags != 0 || wait.id == notify.id);
}

bool names_what_is_agreed(BarrierArguments notify, BarrierArguments wait,
                          BarrierValue agreed) noexcept {
  const auto said = BarrierValue::of(notify.id, notify.flags);
  const auto all = BarrierValue::merge(agreed, BarrierValue::of(wait.id, wait.flags));
  return BarrierValue::merge(all, said).kind != BarrierValue::kMismatch;
}

void open_barrier(bool by_lines) noexcept {
  register_internal(kHandlerBarrier, on_arrival);
  state.rounds = static_cast<uint32_t>(std::bit_width(engine.rank_count - 1));
  if (!by_lines) return;
  for (Rank rank = 0; rank < engine.rank_count; ++rank) {
    if (rank != engine.rank) state.lines.push_back(barrier_line(rank, 0));
  }
  state.lines.push_back(barrier_line(engine.rank, 0));
}

void barrier_notify(int id, int flags) noexcept {
  if (state.notified)
    breach("C1-298", "gasnet_barrier_notify twice without a wait between (C1-265)");
  state.notified = true;
  state.said = {id, flags};
  ++state.phase;
  state.merged = BarrierValue::of(id, flags);
  state.next_line = 0;
  state.round = 0;
  if (!state.lines.empty()) {
    notify_line(*state.lines.back(), state.phase, state.merged.packed());
  } else if (state.rounds != 0) {
    send_round();
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
