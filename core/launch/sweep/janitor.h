// The janitor removes the remains of a job even if the launcher is killed: a child of the launcher,
// in a session of its own, waits for the launcher's end of a socket to close, kills every process
// that carries the job's mark (core/launch/process/job_mark.h), and removes the directory. It
// carries no job's mark itself: a launcher may be a rank of another job, whose janitor kills it,
// and this one outlives that.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "core/base/result.h"
#include "core/launch/loop/silence.h"
#include "core/launch/process/child_process.h"
#include "core/launch/process/patience.h"
#include "core/launch/process/supervisor_loop.h"

namespace pinwire::launch {

class Janitor {
 public:
  using Ready = std::function<void(Status made)>;
  /// The longest time to the answer: processes of dead jobs die meanwhile, and the file system
  /// makes the directory.
  static constexpr int64_t kAnswerMs = 20'000;

  /// Before the first rank is started. The janitor itself makes the job's directory below `parent`,
  /// after it has killed what is left over there, and before it removes that: there is none that a
  /// killed launcher would leave to nobody. Turns of the loop tell `ready`, once, whether job_dir()
  /// is there. One that is killed before is replaced.
  static Result<std::unique_ptr<Janitor>> start(SupervisorLoop& loop, const std::string& parent,
                                                bool keep_job_dir, Ready ready);
  /// The same, and waits: a sentence, too, if a signal that asks for the end came first.
  static Result<std::unique_ptr<Janitor>> start_and_wait(SupervisorLoop& loop,
                                                         const std::string& parent,
                                                         bool keep_job_dir);
  /// One that was not stopped is on its own: it removes what it may still make.
  ~Janitor();
  Janitor(const Janitor&) = delete;
  Janitor& operator=(const Janitor&) = delete;
  /// Empty as long as there is none.
  const std::string& job_dir() const noexcept { return job_dir_; }
  /// When due() is due: kNever once `ready` was told.
  int64_t deadline_ms() const noexcept { return ready_ ? answer_.next_look_ms() : kNever; }
  /// If it did not answer for too long: `ready` gets a sentence. Time for which this process stood
  /// still hardly counts (Silence).
  void due(int64_t now_ms);
  /// The job is over: returns when all of it is swept up. `processes_are_gone`: kill_children has
  /// seen to that, so the janitor has no need to look at strangers, which takes as long as they
  /// like. A second janitor does what one left undone that was killed, or that could not remove
  /// all, and the launcher names what stays. A janitor that gets on no more (Patience), or does not
  /// die of a signal to its launcher, is left alone with a warning. Says where a directory is kept.
  void stop(bool processes_are_gone);
  pid_t number() const noexcept { return process_.number(); }

 private:
  Janitor(SupervisorLoop& loop, const std::string& parent, bool keep_job_dir, Ready ready);
  Status begin();
  void hear();
  void tell(Status made);
  bool sweep_again(bool processes_are_gone);
  void tell_what_stays(const std::string& why) const;
  void tell_where_kept() const;
  void give_up_answer();
  bool outwait();
  void leave();
  void close_pipe();
  bool reap(pid_t process);
  void has_ended_early(pid_t process, int wait_status);

  SupervisorLoop& loop_;
  const std::string parent_;
  const bool keep_job_dir_;
  Ready ready_;  // none: it has been told
  Silence answer_{kAnswerMs};
  int begun_ = 0;
  ChildProcess process_;
  Fd pipe_;  // closed: it is stopped
  Loop::Watch pipe_watch_;
  const SupervisorLoop::ChildWatch children_;
  std::string job_dir_;
  Fd lock_;  // of the directory: it stays locked as long as this or the janitor lives
  bool has_swept_ = false;
  std::optional<Patience> patience_;  // with the process that is waited for last
  bool is_killed_ = false;            // by this process, after a signal
};

}  // namespace pinwire::launch
