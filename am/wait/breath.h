// When a thread that gives its core away with sched_yield() sleeps for a moment instead.
//
// To the kernel, a thread that yields is still running; it forfeits only the rest of its time among
// the tasks of its own scheduling group (sched(7), autogroup: a session is one). Under Linux 6.18
// ranks that yielded kept all other groups' tasks from their core for 2 to 17 s, in one job of ten:
// a program of another session, the kernel's RCU thread, its workers. A thread that sleeps leaves
// the queue, and the others have their turn.
#pragma once

#include <cstdint>

#include "core/base/check.h"

namespace pinwire {

/// Each thread has its own.
class Breath {
 public:
  static constexpr uint64_t kEveryUs = 2000;
  static constexpr uint32_t kLongUs = 50;  ///< 2.5 % of the time between

  /// Before a yield. A thread that has not yielded for a while has done something else.
  bool is_due(uint64_t now_us) noexcept {
    dcheck(now_us >= yielded_at_us_, "time goes back", now_us, yielded_at_us_);
    dcheck(yielded_at_us_ >= breathed_at_us_, "a breath after the last yield", yielded_at_us_,
           breathed_at_us_);
    if (now_us - yielded_at_us_ >= kEveryUs) breathed_at_us_ = now_us;
    yielded_at_us_ = now_us;
    return now_us - breathed_at_us_ >= kEveryUs;
  }
  void was_taken(uint64_t now_us) noexcept { yielded_at_us_ = breathed_at_us_ = now_us; }

 private:
  uint64_t yielded_at_us_ = 0, breathed_at_us_ = 0;
};

}  // namespace pinwire
