// The first thing that went wrong in a driver, kept for the engine, which ends the job with its
// sentence.
#pragma once

#include <atomic>

#include "driver/driver.h"

namespace pinwire {

class FailureNote {
 public:
  /// Later ones are consequences of the first, and dropped. Any thread.
  [[gnu::format(printf, 4, 5)]] void record(Rank peer, WorkStatus status, const char* format,
                                            ...) noexcept;
  /// nullptr: nothing went wrong yet.
  const Failure* get() const noexcept {
    return state_.load(std::memory_order_acquire) == kWritten ? &failure_ : nullptr;
  }

 private:
  enum State : int { kNone, kWriting, kWritten };
  std::atomic<int> state_{kNone};  // release after writing pairs with acquire in get()
  Failure failure_{};
};

}  // namespace pinwire
