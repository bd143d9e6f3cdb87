// How long a process is waited for that has work to do: as long as it gets on with that. A process
// that is stopped again and again, or waits for a file server that does not answer, does not.
#pragma once

#include <sys/types.h>

#include <string>

#include "core/launch/loop/silence.h"
#include "core/launch/process/process_facts.h"

namespace pinwire::launch {

class Patience {
 public:
  /// The longest time without a tick of CPU time (10 ms). A process that removes files uses one in
  /// far less, on slow file servers too; a process that runs only for a moment after each SIGCONT
  /// uses none.
  static constexpr int64_t kStandstillMs = 10'000;

  Patience(pid_t process, int64_t now_ms) : process_(process), standstill_(kStandstillMs) {
    standstill_.heard(now_ms);
  }
  /// Whether it has stood still for too long. It is to be asked more often than every
  /// kStandstillMs.
  bool is_at_end(int64_t now_ms) { return is_at_end(activity_of(process_), now_ms); }
  bool is_at_end(const Activity& activity, int64_t now_ms) {
    // A process that could run has only to wait for its turn on a busy machine. Where /proc is that
    // of other processes, nothing is known of it, and a signal alone ends the wait.
    const bool may_get_on = activity.state == 'R' || activity.state == '\0';
    if (may_get_on || activity.processor_ticks != last_.processor_ticks) standstill_.heard(now_ms);
    last_ = activity;
    return standstill_.is_too_long(now_ms);
  }
  /// Why it stands still, as far as its last state tells.
  std::string why() const {
    if (last_.state == 'T' || last_.state == 't')
      return "somebody stops it again and again (SIGSTOP, or a debugger)";
    const auto reason = why_not_killed(process_);
    return reason.empty() ? "it waits for something that does not come" : reason;
  }

 private:
  pid_t process_;
  Silence standstill_;
  Activity last_;
};

}  // namespace pinwire::launch
