// A process that waits for a debugger (GASNET_FREEZE and its kin).
#pragma once

extern "C" {
/// 1 while this process is frozen by freeze(); a debugger sets it to 0 to let it go on.
extern volatile int pinwire_frozen;
}

namespace pinwire {

/// Says on stderr why this process waits and how to let it go on: a debugger sets `flag`, known to
/// it as `flag_name`, to 0; or SIGCONT comes. Then waits. Async-signal-safe; one thread at a time,
/// others return.
void freeze(const char* why, volatile int& flag, const char* flag_name) noexcept;
void freeze(const char* why) noexcept;

}  // namespace pinwire
