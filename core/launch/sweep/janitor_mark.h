// A janitor is known by its name, and by a mark that no other process has (JobMark::of_janitor).
#pragma once

#include <sys/types.h>

namespace pinwire::launch {

/// The name of janitors (prctl(2), PR_SET_NAME). Others may have it; is_janitor() is not taken in.
inline constexpr const char* kJanitorName = "pinwire-janitor";

/// The calling process, which executes no other program, is a janitor from now on, and carries no
/// mark of a job in which its launcher is a rank.
void become_janitor();

/// Whether a process is a janitor of this or another launcher or agent.
bool is_janitor(pid_t process);

}  // namespace pinwire::launch
