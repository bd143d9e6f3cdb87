#include "am/wait/sleep.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>

#include "am/poll/deferred.h"
#include "am/poll/owed.h"
#include "am/poll/poll.h"
#include "am/wake/sleepers.h"
#include "core/base/descriptors/event_fd.h"
#include "core/base/no_cancel.h"
#include "core/engine/engine.h"

namespace pinwire {
namespace {

constexpr uint32_t kNapMinUs = 50;

/// The descriptors that a thread sleeps over: its doorbell and those of all lanes.
class WaitSet {
 public:
  WaitSet(int bell_fd, uint32_t nap_us_max, uint32_t& nap_us) noexcept
      : bell_fd_(bell_fd),
        is_nap_(nap_us_max != 0 || bell_fd < 0 ||
                deferred_without_room.load(std::memory_order_relaxed) != 0),
        nap_us_max_(nap_us_max != 0 ? nap_us_max : kNapMaxUs),
        nap_us_(nap_us) {
    nap_us_ = std::max(nap_us_, kNapMinUs);
    if (bell_fd >= 0) fds_[count_++] = {bell_fd, POLLIN, 0};
  }

  bool arm() noexcept {
    return only_dispatcher_polls ||
           engine.visit_lanes([this](uint32_t driver, uint32_t lane) noexcept {
             DriverSlot& slot = engine.drivers[driver];
             if (!slot.caps.event_fd || !slot.lanes[lane].try_lock()) {
               is_nap_ = true;
               return true;
             }
             const Armed armed = arm_lane(slot, lane);
             slot.lanes[lane].unlock();
             if (armed == Armed::kBusy) return false;
             is_nap_ = is_nap_ || armed == Armed::kTimed;
             const int fd = slot.driver->event_fd(lane);
             dcheck(fd >= 0, "a driver arms a lane that tells nobody", driver, lane);
             dcheck(count_ < kFdsMax, "more descriptors than lanes", count_);
             fds_[count_++] = {fd, POLLIN, 0};
             return true;
           });
  }

  void sleep() noexcept {
    ++(is_nap_ ? wait_counters.naps : wait_counters.sleeps);
    const bool is_over = !wait(is_nap_ ? std::min(nap_us_, nap_us_max_) : sleep_us_max);
    if (is_nap_ && is_over) {
      nap_us_ = std::min(2 * nap_us_, nap_us_max_);
      return;
    }
    nap_us_ = kNapMinUs;
    if (!is_over || only_dispatcher_polls) return;
    // A lane's driver tells of all that it brings. The doorbell says nothing about that: handlers
    // that this very poll runs ring it.
    const bool was_told = a_lane_tells(0);
    const bool finds = poll_everything() != 0;
    if (finds && !was_told && !a_lane_tells(kTellingUsMax)) ++wait_counters.overslept;
    if (finds) wait(0);  // drains the doorbell: the thread is awake
  }

  void poll() noexcept {
    if (poll_everything() != 0) return;
    // Others were faster, or the driver needs turns; and what arrives now may wake nobody.
    count_ = std::min(count_, bell_fd_ >= 0 ? 1u : 0u);
    is_nap_ = true;
    sleep();
  }

  void ring(uint32_t seats) noexcept { ring_seats(seats); }

 private:
  static constexpr uint32_t kFdsMax = kDriversMax * kLanesMax + 1;
  /// A sender may lose its core between a message and the wake for it.
  static constexpr uint32_t kTellingUsMax = 20'000;

  bool a_lane_tells(uint32_t limit_us) noexcept {
    const uint32_t first = bell_fd_ >= 0 ? 1 : 0;
    const timespec limit = timespec_of_us(limit_us);
    return ppoll(fds_ + first, count_ - first, &limit, nullptr) > 0;
  }

  /// False: the time is over.
  bool wait(uint32_t limit_us) noexcept {
    const timespec limit = timespec_of_us(limit_us);
    const int ready = ppoll(fds_, count_, &limit, nullptr);  // < 0: a signal came
    if (ready > 0 && bell_fd_ >= 0 && fds_[0].revents != 0) drain_event_fd(bell_fd_);
    return ready != 0;
  }

  const int bell_fd_;
  bool is_nap_;
  const uint32_t nap_us_max_;
  uint32_t& nap_us_;
  uint32_t count_ = 0;
  pollfd fds_[kFdsMax];
};

}  // namespace

void rest(uint32_t nap_us_max) noexcept {
  const NoCancel whole;
  ThreadState& state = this_thread;
  dcheck(!state.in_handler, "a handler sleeps, with the lane of its message");
  if (!sleepers_bell.look(state.seen)) return;
  const uint32_t seat = sleepers_bell.take_seat();
  const int fd = open_bell(seat);
  WaitSet wait_set(fd, nap_us_max, state.nap_us);
  if (fd >= 0) {
    park(sleepers_bell, seat, state.seen, wait_set);
  } else if (wait_set.arm()) {
    wait_set.sleep();
  } else {
    wait_set.ring(sleepers_bell.call());
    wait_set.poll();
  }
  if (seat != Doorbell::kNoSeat) sleepers_bell.leave_seat(seat);
}

}  // namespace pinwire
