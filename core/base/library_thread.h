// A thread of the library, beside those of the client.
#pragma once

#include <pthread.h>

namespace pinwire {

/// Starts one that blocks all signals: the client's are for the client's threads. 0, or an errno.
int start_library_thread(pthread_t* thread, void* (*run)(void*), void* argument) noexcept;

}  // namespace pinwire
