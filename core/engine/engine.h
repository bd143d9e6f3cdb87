// The engine: the drivers of this process, the lanes over them, the route to each peer. Everything is
// set up by attach and constant afterwards, but the lanes.
//
// What a message or a completion means is the business of the room above, which passes a sink.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "core/engine/lane.h"
#include "driver/driver.h"

namespace pinwire {

/// How to reach one peer, and its segment.
struct Route {
  Driver* driver = nullptr;  ///< nullptr: this process itself
  uint32_t driver_index = 0;
  uint32_t region_key = kNoRegion;
  uint64_t segment_base = 0;
  uint64_t segment_bytes = 0;
};

struct DriverSlot {
  Driver* driver = nullptr;
  Caps caps;
  uint32_t lanes = 1;          ///< of the driver; lane i of ours uses lane i % lanes of its
  uint32_t own_key = kNoRegion;  ///< of this process's segment
};

struct Engine {
  Rank rank = 0;
  Rank rank_count = 1;
  uint32_t lane_count = 1;
  uint32_t driver_count = 0;
  uint32_t yield_after_polls = ~0u;  ///< empty polls before a waiting thread gives up its core
  DriverSlot drivers[kDriversMax];
  Lane lanes[kLanesMax];
  Route* routes = nullptr;  ///< rank_count of them
  uint64_t own_base = 0;
  uint64_t own_bytes = 0;
  std::atomic<uint32_t> threads{0};

  ThreadState& thread() noexcept {
    ThreadState& state = this_thread;
    if (state.lane == ThreadState::kUnassigned) [[unlikely]] {
      state.lane = threads.fetch_add(1, std::memory_order_relaxed) % lane_count;
      state.turn = state.lane;
    }
    return state;
  }

  /// The key under which `driver` knows [address, address + bytes), or kNoRegion.
  uint32_t local_key(uint32_t driver, const void* address, uint64_t bytes) const noexcept {
    const auto at = reinterpret_cast<uint64_t>(address);
    return inside(at, bytes, own_base, own_bytes) ? drivers[driver].own_key : kNoRegion;
  }

  /// Offers one piece of work on `lane`, whose lock the caller holds unless the driver does not mind.
  bool offer(uint32_t lane, uint32_t driver, const Work& work) noexcept {
    DriverSlot& slot = drivers[driver];
    if (slot.driver->post(lane % slot.lanes, {&work, 1}) == 0) return false;
    if ((work.flags & kWorkSilent) == 0) ++lanes[lane].pending[driver];
    return true;
  }
};

inline constinit Engine engine;

/// Ends the job with what the driver says of its failure, or of this status.
[[noreturn]] void driver_failed(const Driver& driver, WorkStatus status) noexcept;

inline constexpr uint32_t kPollBatch = 16;

/// One turn over the drivers of a lane whose lock the caller holds. `sink.message(lane, driver, recv)`
/// runs for each message, `sink.done(cookie)` for each completion. Returns how many there were.
template <typename Sink>
inline uint32_t drain_lane(uint32_t lane, RecvFilter filter, Sink&& sink) noexcept {
  uint32_t found = 0;
  for (uint32_t d = 0; d < engine.driver_count; ++d) {
    DriverSlot& slot = engine.drivers[d];
    const uint32_t driver_lane = lane % slot.lanes;
    Recv batch[kPollBatch];
    const uint32_t count = slot.driver->recv(driver_lane, filter, batch);
    if (count != 0) {
      for (uint32_t i = 0; i < count; ++i) sink.message(lane, d, batch[i]);
      slot.driver->give_back(driver_lane, {batch, count});
      found += count;
    }
    uint32_t& pending = engine.lanes[lane].pending[d];
    if (pending != 0) {
      Done done[kPollBatch];
      const uint32_t finished = slot.driver->done(driver_lane, done);
      check(finished <= pending, "a driver reported more than it was given", finished, pending);
      pending -= finished;
      for (uint32_t i = 0; i < finished; ++i) {
        if (done[i].status != WorkStatus::kOk) driver_failed(*slot.driver, done[i].status);
        sink.done(done[i].cookie);
      }
      found += finished;
    }
  }
  return found;
}

}  // namespace pinwire
