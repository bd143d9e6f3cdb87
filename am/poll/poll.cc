#include "am/poll/poll.h"

#include "am/handlers/dispatch.h"
#include "am/poll/deferred.h"
#include "am/poll/owed.h"
#include "am/wake/sleepers.h"
#include "core/base/clock.h"
#include "core/engine/engine.h"
#include "core/interrupts/client_threads.h"

namespace pinwire {
namespace {

/// One turn of a lane whose lock the caller holds.
uint32_t take_turn(uint32_t driver, uint32_t lane) noexcept {
  DriverLane& l = engine.drivers[driver].lanes[lane];
  const uint64_t begin_ns = l.is_waited_for() ? monotonic_ns() : 0;
  const uint32_t found = drain_lane(driver, lane, RecvFilter::kAll, DispatchSink{});
  if (found != 0 && l.is_waited_for()) [[unlikely]] {
    const uint64_t end_ns = monotonic_ns();
    l.leave_to_waiting(begin_ns != 0 ? end_ns - begin_ns : 0, end_ns);
  }
  return found;
}

/// The lanes that a poller passes over.
enum class Passes : uint8_t { kNone, kLeftToSenders, kLeftToAnybody };

uint32_t poll_lane(uint32_t driver, uint32_t lane, bool& has_served,
                   Passes passes = Passes::kNone) noexcept {
  DriverSlot& slot = engine.drivers[driver];
  dcheck(slot.driver != nullptr, "a turn of no driver", driver);
  dcheck(lane < slot.lane_count, "a turn of no lane", lane, slot.lane_count);
  DriverLane& l = slot.lanes[lane];
  // An empty lane is left alone: no lock, no batch, where the driver can tell at a glance.
  if (slot.caps.concurrent_idle && slot.driver->idle(lane) && !owes(l)) return 0;
  if (passes == Passes::kLeftToAnybody && l.is_left_to_owner()) return 0;
  if (passes != Passes::kNone && l.is_waited_for() && l.is_left_to_waiting(monotonic_ns()))
    return 0;
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
  engine.visit_lanes([&](uint32_t driver, uint32_t lane) noexcept {
    found += poll_lane(driver, lane, has_served, passes);
    return true;
  });
  if (found != 0) note_progress();
  return found;
}

/// A look at a line takes it from the sender that is about to write there; where senders share a
/// ring, each then waits for the line to come back. A receiver that has run dry in the midst of a
/// stream looks a little later, and finds several messages. A receiver that sends, too, may be
/// waited for, and looks at once, as does one after a dry spell.
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

uint32_t serve_deferred() noexcept {
  if (deferred_list.is_empty()) [[likely]]
    return 0;
  return run_deferred();
}

}  // namespace

uint32_t poll() noexcept {
  ThreadState& state = engine.thread();
  check(!state.in_handler, "a handler may not poll or send requests (C1-172)");
  dcheck(state.lane < engine.lane_count, "a thread polls on a lane that is not there", state.lane,
         engine.lane_count);
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
  bool has_served = false;  // puts, gets: a thread that does must not yield between them
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

uint32_t poll_everything() noexcept { return poll_all(Passes::kNone); }
uint32_t poll_politely() noexcept { return poll_all(Passes::kLeftToSenders); }

uint32_t poll_in_handler(uint32_t driver, uint32_t lane) noexcept {
  const uint32_t found = drain_lane(driver, lane, RecvFilter::kRepliesOnly, DispatchSink{});
  settle_owed(engine.drivers[driver], lane);
  if (found != 0) note_progress();
  return found;
}

}  // namespace pinwire
