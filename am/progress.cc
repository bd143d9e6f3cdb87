#include "am/progress.h"

#include <sched.h>

#include "core/base/log.h"

namespace pinwire {
namespace {

uint32_t poll_lane(uint32_t thread_lane) noexcept {
  uint32_t found = 0;
  for (uint32_t d = 0; d < engine.driver_count; ++d) {
    DriverSlot& slot = engine.drivers[d];
    const uint32_t lane = kConcurrent ? thread_lane % slot.lane_count : 0;
    if constexpr (kConcurrent) {
      // An empty lane is left alone without its lock: no locked instruction for an empty poll.
      if (slot.caps.concurrent_idle && slot.driver->idle(lane)) continue;
    }
    Lane& l = slot.lanes[lane];
    if (!l.try_lock()) continue;
    found += drain_lane(d, lane, RecvFilter::kAll, DispatchSink{});
    l.unlock();
  }
  return found;
}

void check_drivers() noexcept {
  for (uint32_t d = 0; d < engine.driver_count; ++d) {
    const Driver& driver = *engine.drivers[d].driver;
    if (driver.failure() != nullptr) driver_failed(driver, WorkStatus::kUnreachable);
  }
}

constexpr uint32_t kSpinsBeforeBlock = 1000;
constexpr uint32_t kPollsPerHealthCheck = 1024;

}  // namespace

uint32_t poll() noexcept {
  ThreadState& state = engine.thread();
  check(!state.in_handler, "a handler may not poll or send requests (C1-172)");
  state.sends_since_poll = 0;
  uint32_t found = poll_lane(state.lane);
  if constexpr (kConcurrent) {
    if (engine.lane_count > 1) {
      state.turn = state.turn + 1 == engine.lane_count ? 0 : state.turn + 1;
      if (state.turn != state.lane) found += poll_lane(state.turn);
    }
  }
  return found;
}

uint32_t poll_in_handler(uint32_t driver, uint32_t lane) noexcept {
  return drain_lane(driver, lane, RecvFilter::kRepliesOnly, DispatchSink{});
}

void after_empty_poll(uint32_t& empty_polls) noexcept {
  ++empty_polls;
  if (empty_polls % kPollsPerHealthCheck == 0) check_drivers();
  const WaitMode mode = wait_mode.load(std::memory_order_relaxed);
  if (mode == WaitMode::kSpin && empty_polls < engine.yield_after_polls) return;
  if (mode == WaitMode::kSpinBlock && empty_polls < kSpinsBeforeBlock &&
      empty_polls < engine.yield_after_polls) {
    return;
  }
  sched_yield();
}

void post_waiting(const Route& route, const Work& work) noexcept {
  ThreadState& state = engine.thread();
  check(!state.in_handler, "a handler may not send requests, put or get (C1-172)");
  const uint32_t d = route.driver_index;
  DriverSlot& slot = engine.drivers[d];
  const uint32_t lane = kConcurrent ? state.lane % slot.lane_count : 0;
  const bool needs_lock = !slot.caps.concurrent_post || !(work.flags & kWorkSilent);
  uint32_t empty_polls = 0;
  for (;;) {
    if (needs_lock) slot.lanes[lane].lock();
    const bool taken = engine.offer(d, lane, work);
    if (needs_lock) slot.lanes[lane].unlock();
    if (taken) break;
    if (poll() != 0) {
      empty_polls = 0;
    } else {
      after_empty_poll(empty_polls);
    }
  }
  // A thread that only sends must still serve its peers (C1-159); not on every send, so that a driver
  // can put several messages into one frame.
  if (++state.sends_since_poll >= kPollBatch) poll();
}

void post_in_handler(uint32_t lane, const Route& route, const Work& work) noexcept {
  uint32_t empty_polls = 0;
  while (!engine.offer(route.driver_index, lane, work)) {
    if (poll_in_handler(route.driver_index, lane) != 0) {
      empty_polls = 0;
    } else {
      after_empty_poll(empty_polls);
    }
  }
}

}  // namespace pinwire
