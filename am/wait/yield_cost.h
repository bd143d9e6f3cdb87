// Whether a wait beside more ranks than cores had better sleep than give its core away and keep
// looking. Among ranks that all wait, a yield takes microseconds. Beside other work a yield takes
// time slices of that work: from Linux 6.18 on, a thread that yields forfeits the rest of its own
// time slice, while a thread that sleeps is woken as its message comes. Therefore yields are timed,
// and waits sleep once many yields were slow; now and then one yields all the same, to see whether
// that is over.
#pragma once

#include <atomic>
#include <cstdint>

#include "core/base/check.h"

namespace pinwire {

/// Any thread may add and ask: an update that one loses to another only delays the answer.
class YieldCost {
 public:
  static constexpr uint64_t kSlowUs = 1000;  ///< a sleeper is awake much sooner
  static constexpr uint32_t kScoreMax = 64, kSlowStep = 8;
  static constexpr uint32_t kSleepsPerTrial = 256;

  bool is_high() const noexcept { return is_high_.load(std::memory_order_relaxed); }

  /// After a yield; true: is_high() is another than before.
  bool add(uint64_t took_us) noexcept {
    const bool was_high = is_high();
    const uint32_t score = next_score(took_us >= kSlowUs, was_high);
    dcheck(score <= kScoreMax, "a score above the highest", score);
    score_.store(score, std::memory_order_relaxed);
    const bool is_now = was_high ? score != 0 : score == kScoreMax;
    is_high_.store(is_now, std::memory_order_relaxed);
    return is_now != was_high;
  }

  /// Before a sleep, while is_high(): whether to yield instead.
  bool wants_trial() noexcept {
    const uint32_t sleeps = sleeps_.load(std::memory_order_relaxed) + 1;
    sleeps_.store(sleeps, std::memory_order_relaxed);
    return sleeps % kSleepsPerTrial == 0;
  }

  void reset() noexcept {
    score_.store(0, std::memory_order_relaxed);
    is_high_.store(false, std::memory_order_relaxed);
  }

 private:
  /// Each trial counts fully, as trials are few; of ordinary yields many must be slow.
  uint32_t next_score(bool is_slow, bool is_trial) const noexcept {
    const uint32_t score = score_.load(std::memory_order_relaxed);
    if (is_slow) return is_trial || score > kScoreMax - kSlowStep ? kScoreMax : score + kSlowStep;
    const uint32_t step = is_trial ? kSlowStep : 1;
    return score > step ? score - step : 0;
  }

  std::atomic<uint32_t> score_{0}, sleeps_{0};
  std::atomic<bool> is_high_{false};
};

}  // namespace pinwire
