// Keeps signals off the calling thread while it holds a lock that handlers of messages take, too: an
// interrupt may run them in the midst of the library's own text, as of the client's
// (core/interrupts/client_text.h). For rare calls that are no LibraryCall: two system calls.
#pragma once

#include <pthread.h>
#include <signal.h>

namespace pinwire {

class NoSignals {
 public:
  NoSignals() noexcept {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~NoSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  NoSignals(const NoSignals&) = delete;
  NoSignals& operator=(const NoSignals&) = delete;

 private:
  sigset_t before_;
};

}  // namespace pinwire
