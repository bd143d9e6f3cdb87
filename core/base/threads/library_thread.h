// A thread of the library, beside those of the client.
#pragma once

#include <pthread.h>

namespace pinwire {

inline constexpr char kRaiseThreads[] =
    "raise the limits of processes and of address space (ulimit -u, ulimit -v)";

/// Starts one that blocks all signals: the client's are for the client's threads. 0, or an errno.
/// EAGAIN stands for any limit: kRaiseThreads says what to do.
int start_library_thread(pthread_t* thread, void* (*run)(void*), void* argument) noexcept;

}  // namespace pinwire
