// Shared by the tests of arms against messages that are just coming: how long to wait before the
// next message, before an arm, and for what must come.
#pragma once

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "core/base/random.h"

namespace pinwire_test {

inline int64_t steady_ns() {
  return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Every so many turns of a loop that waits for the other side: it may want this core.
class Deadline {
 public:
  /// False: it is at its end.
  bool lasts() {
    constexpr uint32_t kTurnsBeforeYield = 200;
    if (++turns_ % kTurnsBeforeYield != 0) return true;
    sched_yield();
    return steady_ns() < until_ns_;
  }

 private:
  static constexpr int64_t kPatienceNs = 60'000'000'000;
  uint32_t turns_ = 0;
  const int64_t until_ns_ = steady_ns() + kPatienceNs;
};

/// One arm in so many comes late after the look before it, with the core left to the other side, so
/// that arms find messages also where the pauses alone do not bring that about: on one core, or
/// where a sanitizer makes the way of a message longer than any pause.
class LateArms {
 public:
  explicit LateArms(uint64_t seed) : random_(seed) {}

  void maybe_wait() {
    constexpr uint64_t kOneIn = 128;
    constexpr int64_t kLateNs = 50'000;
    if (random_.below(kOneIn) != 0) return;
    const int64_t until_ns = steady_ns() + kLateNs;
    do {
      sched_yield();
    } while (steady_ns() < until_ns);
  }

 private:
  pinwire::Random random_;
};

/// Such that about half of the arms find a message.
class Pauses {
 public:
  explicit Pauses(uint64_t seed) : random_(seed) {}

  /// Runs `turn` meanwhile, once at least: what is on its way may need it.
  template <typename Turn>
  void pause(Turn&& turn) {
    const int64_t until =
        steady_ns() + static_cast<int64_t>(random_.below(static_cast<uint64_t>(max_ns_)));
    do {
      turn();
    } while (steady_ns() < until);
  }
  /// Results of the last arms.
  void adapt(uint64_t found, uint64_t woken) {
    constexpr double kLonger = 1.1, kShorter = 0.9, kNsMin = 50, kNsMax = 1e6;
    max_ns_ = std::clamp(max_ns_ * (woken > found ? kShorter : kLonger), kNsMin, kNsMax);
  }

 private:
  pinwire::Random random_;
  double max_ns_ = 1000;
};

}  // namespace pinwire_test
