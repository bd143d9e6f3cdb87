// A function that runs when a thread ends hands on what that thread has owned.
#pragma once

#include <pthread.h>

#include "core/base/check.h"

namespace pinwire {

class ThreadEnd {
 public:
  /// `hand_on` runs in the thread that ends, with what it has armed. Objects live as long as the
  /// process.
  explicit ThreadEnd(void (*hand_on)(void*) noexcept) noexcept {
    const int problem = pthread_key_create(&key_, hand_on);
    check(problem == 0, "no thread-specific key is left", problem);
  }
  /// Once for each thing. A client's own function of this kind may run later and call the library
  /// again: what is armed meanwhile has its turn, too (PTHREAD_DESTRUCTOR_ITERATIONS).
  void arm(void* what) const noexcept { pthread_setspecific(key_, what); }

 private:
  pthread_key_t key_{};
};

}  // namespace pinwire
