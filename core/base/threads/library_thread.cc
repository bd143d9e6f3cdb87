#include "core/base/threads/library_thread.h"

#include <signal.h>

namespace pinwire {

int start_library_thread(pthread_t* thread, void* (*run)(void*), void* argument) noexcept {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const int failed = pthread_create(thread, nullptr, run, argument);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return failed;
}

}  // namespace pinwire
