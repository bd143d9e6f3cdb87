// The lock that the dynamic linker holds while dl_iterate_phdr() calls back: the client's text runs
// then, and a handler that loads a library there waits for a thread that loads one, too, and waits
// for this lock. The C library has no name for it, and no question; so it is found once, in the
// linker's memory, by what such a callback sees.
#pragma once

#include <sys/types.h>

namespace pinwire {

/// Finds it. By one thread at a time, which may wait for the lock. Where there is none nothing is
/// found.
void find_linker_lock() noexcept;

/// Whether the calling thread, whose id is given, holds it. In signal context.
bool holds_linker_lock(pid_t thread_id) noexcept;

}  // namespace pinwire
