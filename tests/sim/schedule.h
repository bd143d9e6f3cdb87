// Virtual time: one queue of events for the whole simulated cluster. Events of the same instant
// fire in the order in which they were entered, so a run is a function of its seed alone.
#pragma once

#include <cstdint>
#include <queue>
#include <vector>

#include "nicfw/port/clock.h"

namespace pinwire::sim {

class EventTarget {
 public:
  virtual void fire(uint64_t argument) = 0;

 protected:
  ~EventTarget() = default;
};

class Schedule final : public Clock {
 public:
  uint64_t now_ns() noexcept override {
    ++reads_;
    return now_;
  }
  uint64_t now() const noexcept { return now_; }
  /// How often the code under test has read the clock.
  uint64_t reads() const noexcept { return reads_; }
  uint64_t fired() const noexcept { return fired_; }

  void at(uint64_t time_ns, EventTarget& target, uint64_t argument) {
    events_.push({time_ns < now_ ? now_ : time_ns, entered_++, &target, argument});
  }

  /// Fires the earliest event; false when there is none.
  bool step() {
    if (events_.empty()) return false;
    const Event event = events_.top();
    events_.pop();
    now_ = event.time_ns;
    ++fired_;
    event.target->fire(event.argument);
    return true;
  }

 private:
  struct Event {
    uint64_t time_ns;
    uint64_t order;
    EventTarget* target;
    uint64_t argument;
    bool operator<(const Event& other) const {  // priority_queue puts the greatest first
      return time_ns != other.time_ns ? time_ns > other.time_ns : order > other.order;
    }
  };
  std::priority_queue<Event> events_;
  uint64_t now_ = 1'000'000'000;
  uint64_t entered_ = 0;
  uint64_t reads_ = 0;
  uint64_t fired_ = 0;
};

}  // namespace pinwire::sim
