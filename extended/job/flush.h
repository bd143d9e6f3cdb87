// The output of a rank that leaves (C1-100), beside threads that hold the locks of streams: one
// that reads standard input, or any other stream, holds that stream's lock for as long as nothing
// comes.
#pragma once

#include <signal.h>

namespace pinwire {

/// SIGALRM runs `action` from here on, in the calling thread, too, even if it was blocked there.
void take_alarms(const struct sigaction& action) noexcept;

/// Flushes standard output and error, but neither if another thread holds its lock. exit() flushes
/// all other streams, and waits for no lock.
void flush_free_streams() noexcept;

/// Flushes all streams, and waits for the lock of each. Where that takes long, `go_on()` runs on
/// top of the wait and ends the process; a write that takes long is waited for.
void flush_all_streams(void (*go_on)() noexcept) noexcept;

}  // namespace pinwire
