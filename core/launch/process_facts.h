// Facts about processes, from /proc.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace pinwire::launch {

/// When it was born, in ticks since boot (field 22 of its stat); 0 if it is not there.
uint64_t birth_ticks(pid_t process);

/// Its name of at most 15 letters; empty if it is not there.
std::string name_of(pid_t process);

/// Whether its environment has `assignment` ("NAME=value"). False where that may not be read, and
/// in the middle of its execve().
bool has_in_environment(pid_t process, const std::string& assignment);

/// Its soft limit of RLIMIT_RTTIME, which everybody may read; 0 if it has none, or is not there.
uint64_t real_time_limit_us(pid_t process);

/// The children of this process, those that it adopted as a subreaper among them.
std::vector<pid_t> children_now();

}  // namespace pinwire::launch
