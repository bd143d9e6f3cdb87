// Facts about processes, from /proc. Where that is of an outer PID namespace nothing is known of
// any process by its number.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace pinwire::launch {

/// When it was born, in ticks since boot (field 22 of its stat); 0 if it is not there.
uint64_t birth_ticks(pid_t process);

/// Whether it is gone or a zombie, which nothing can kill. A process whose first thread has ended
/// is none as long as others of its threads run.
bool has_ended(pid_t process);

/// Why SIGKILL does not end a process soon: it acts for another user, or waits in the kernel for
/// something that does not come. Empty if it may be on its way.
std::string why_not_killed(pid_t process);

/// The end of a process that another one traces: its parent cannot reap it before the tracer does,
/// which may be stopped.
struct HeldEnd {
  pid_t tracer = 0;                ///< 0: it is in another namespace of processes
  std::optional<int> wait_status;  ///< none: this process may not read it
  std::string sentence() const;
};
/// None: it has not ended, or nobody traces it.
std::optional<HeldEnd> held_end_of(pid_t process);

/// How a process that is waited for gets on: its state ('D', 'T' and so on; 0: nothing is known of
/// it), and how long it has had the processor, in ticks (proc(5)).
struct Activity {
  char state = 0;
  uint64_t processor_ticks = 0;
};
Activity activity_of(pid_t process);

/// Its name of at most 15 letters; empty if it is not there.
std::string name_of(pid_t process);

/// Its environment, each assignment ("NAME=value") with a NUL before and after it. Empty where that
/// may not be read, and in the middle of its execve().
std::string environment_of(pid_t process);
bool has_in_environment(pid_t process, const std::string& assignment);

/// The memory in which /proc/self/environ shows this process's environment: what it was started
/// with, whatever setenv(3) did since.
std::span<char> shown_environment();

/// Its soft limit of RLIMIT_RTTIME, which everybody may read; 0 if it has none, or is not there.
uint64_t real_time_limit_us(pid_t process);

/// The children of this process, those that it adopted as a subreaper among them.
std::vector<pid_t> children_now();

}  // namespace pinwire::launch
