#include "am/interrupts/heartbeat.h"

#include <poll.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <string>

#include "am/wake/sleepers.h"
#include "core/base/descriptors/event_fd.h"
#include "core/base/descriptors/no_descriptor.h"
#include "core/base/log.h"
#include "core/base/threads/library_thread.h"
#include "core/base/threads/membarrier.h"
#include "core/engine/engine.h"
#include "core/interrupts/client_threads.h"

namespace pinwire {
namespace {

/// Beats in recv_gap_ns_max: several frames may be lost in a row.
constexpr uint64_t kBeatsPerGap = 8;
constexpr uint64_t kPeriodMaxUs = 5'000'000;

/// Drives a lane that the caller holds until nothing more arrives; a port's ring of frames at most.
/// True: messages wait that nobody takes.
bool drive(Driver& driver, uint32_t lane) noexcept {
  constexpr int kTurnsMax = 16;
  bool is_idle = false;
  for (int turn = 0; turn < kTurnsMax && !is_idle; ++turn) {
    driver.recv(lane, RecvFilter::kAll, {});
    is_idle = driver.idle(lane);
  }
  return driver.has_arrivals(lane);
}

class Heartbeat {
 public:
  Status start() {
    period_us_ = beat_period_us();
    if (period_us_ == 0) return success();
    if (!register_thread_barriers() && !kConcurrent) {
      log_warning(
          "the kernel refuses membarrier(2), so that a rank that computes for longer than "
          "GASNET_PEER_TIMEOUT is taken for dead; set it to 0, or GASNET_DISPATCH=thread");
      return success();
    }
    wake_fd_ = open_event_fd();
    if (wake_fd_ < 0) return cannot(no_descriptor(errno));
    is_running_.store(true, std::memory_order_relaxed);
    pthread_t thread;
    const int why = start_library_thread(
        &thread,
        [](void* self) -> void* {
          static_cast<Heartbeat*>(self)->run();
          return nullptr;
        },
        this);
    if (why != 0) {
      is_running_.store(false, std::memory_order_relaxed);
      return cannot(std::string(std::strerror(why)) + "; " + kRaiseThreads);
    }
    pthread_setname_np(thread, "heartbeat");
    pthread_detach(thread);
    return success();
  }

  void stop() noexcept {
    constexpr int kTurnsMax = 10'000;
    constexpr useconds_t kPauseUs = 100;
    is_stopping_.store(true, std::memory_order_relaxed);
    // acquire pairs with the release in run()
    for (int i = 0; i < kTurnsMax && is_running_.load(std::memory_order_acquire); ++i) {
      ring_event_fd(wake_fd_);
      usleep(kPauseUs);
    }
  }

  void beat() noexcept {
    bool waits = false;
    engine.visit_lanes([&](uint32_t driver, uint32_t lane) noexcept {
      DriverSlot& slot = engine.drivers[driver];
      if (slot.caps.recv_gap_ns_max != 0) {
        waits = beat_lane(slot, lane, turns_seen_[driver][lane]) || waits;
      }
      return true;
    });
    // This thread may have taken the event that was to wake a client's.
    if (waits) call_sleepers();
  }

 private:
  static Status cannot(const std::string& why) {
    return error(
        "cannot start the thread that answers peers while this rank computes: %s "
        "(GASNET_PEER_TIMEOUT=0 does without it)",
        why.c_str());
  }

  void run() noexcept {
    while (!is_stopping_.load(std::memory_order_relaxed)) {
      sleep(period_us_);
      beat_for_all();
    }
    is_running_.store(false, std::memory_order_release);  // pairs with stop()
  }

  /// Each peer that waits for this rank repeats a frame about once a second. More peers than the
  /// port's ring has frames are heard by several beats, spread over that second.
  void beat_for_all() noexcept {
    constexpr uint32_t kRanksPerBeat = 256, kRepeatUs = 1'000'000;
    const uint32_t beats = 1 + engine.rank_count / kRanksPerBeat;
    const uint32_t gap_us = std::min(kRepeatUs, period_us_) / beats;
    for (uint32_t i = 0; i < beats && !is_stopping_.load(std::memory_order_relaxed); ++i) {
      if (i != 0) sleep(gap_us);
      beat();
    }
  }

  /// True: messages wait there.
  static bool beat_lane(DriverSlot& slot, uint32_t index, uint32_t& turns_seen) noexcept {
    DriverLane& lane = slot.lanes[index];
    const uint32_t turns = lane.owner_turns.load(std::memory_order_relaxed);
    const bool has_come = turns != turns_seen;
    turns_seen = turns;
    if (has_come || !lane.try_lock_beside()) return false;
    const bool waits = drive(*slot.driver, index);
    lane.unlock_beside();
    return waits;
  }

  void sleep(uint32_t us) noexcept {
    pollfd wake{wake_fd_, POLLIN, 0};
    const timespec limit = timespec_of_us(us);
    ppoll(&wake, 1, &limit, nullptr);
  }

  int wake_fd_ = -1;
  uint32_t period_us_ = 0;
  uint32_t turns_seen_[kDriversMax][kLanesMax] = {};  ///< the owners', at the last beat
  std::atomic<bool> is_stopping_{false};
  std::atomic<bool> is_running_{false};
};
constinit Heartbeat heartbeat;

}  // namespace

uint32_t beat_period_us() noexcept {
  uint64_t gap_ns = 0;
  for (uint32_t d = 0; d < engine.driver_count; ++d) {
    const uint64_t wanted_ns = engine.drivers[d].caps.recv_gap_ns_max;
    if (wanted_ns != 0) gap_ns = gap_ns == 0 ? wanted_ns : std::min(gap_ns, wanted_ns);
  }
  return static_cast<uint32_t>(std::min(gap_ns / kBeatsPerGap / 1000, kPeriodMaxUs));
}

Status start_heartbeat() { return heartbeat.start(); }
void stop_heartbeat() noexcept { heartbeat.stop(); }
void beat_once() noexcept { heartbeat.beat(); }

}  // namespace pinwire
