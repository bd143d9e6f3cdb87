// Whether pthread_cancel() would end the calling thread at its next cancellation point.
#pragma once

#include <pthread.h>

namespace pinwire::test {

inline bool may_be_cancelled() noexcept {
  int state = PTHREAD_CANCEL_DISABLE;
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
  pthread_setcancelstate(state, nullptr);
  return state == PTHREAD_CANCEL_ENABLE;
}

}  // namespace pinwire::test
