// Whether pthread_cancel() would end the calling thread at its next cancellation point.
#pragma once

#include <pthread.h>

#include "core/base/no_cancel.h"

namespace pinwire::test {

inline bool may_be_cancelled() noexcept {
  int state = PTHREAD_CANCEL_DISABLE;
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
  pthread_setcancelstate(state, nullptr);
  return state == PTHREAD_CANCEL_ENABLE;
}

/// Meanwhile the library knows of another thread that calls it, or of none.
class OtherCallers {
 public:
  explicit OtherCallers(bool are_there) noexcept : before_(has_other_callers.exchange(are_there)) {}
  ~OtherCallers() { has_other_callers = before_; }
  OtherCallers(const OtherCallers&) = delete;
  OtherCallers& operator=(const OtherCallers&) = delete;

 private:
  const bool before_;
};

}  // namespace pinwire::test
