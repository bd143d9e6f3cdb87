// The first thing that went wrong, kept for the engine, which ends the job with its sentence.
#pragma once

#include <infiniband/verbs.h>

#include <atomic>

#include "driver/driver.h"

namespace pinwire::verbs {

class FailureNote {
 public:
  /// Later ones are consequences of the first, and dropped. Any thread.
  [[gnu::format(printf, 4, 5)]] void record(Rank peer, WorkStatus status, const char* format,
                                            ...) noexcept;
  const Failure* get() const noexcept {
    return state_.load(std::memory_order_acquire) == kWritten ? &failure_ : nullptr;
  }

 private:
  enum State : int { kNone, kWriting, kWritten };
  std::atomic<int> state_{kNone};  // release after writing pairs with acquire in get()
  Failure failure_{};
};

WorkStatus status_of(ibv_wc_status status) noexcept;
/// What it means for the user, and what to look at.
const char* advice_on(ibv_wc_status status) noexcept;

}  // namespace pinwire::verbs
