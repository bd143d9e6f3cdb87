// The mark that tells the processes of a job from others once nobody is their parent any more: the
// job's directory in their environment, and a number in a limit that they inherit.
//
// The environment alone is not enough: the kernel hides that of a privileged program (file
// capabilities, set-user-ID) from its own user, and a program may clear it. A limit goes on to
// every child and over every execve(2), and /proc/<pid>/limits shows it to everybody. RLIMIT_RTTIME
// is how long a process of a real-time class may run without a pause; as a number of microseconds
// the mark is some 70,000 years, so that it limits nothing.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

namespace pinwire::launch {

class JobMark {
 public:
  /// No process carries the mark of an empty name: users who mean to unset GASNET_JOB_DIR empty it.
  explicit JobMark(const std::string& job_dir);
  /// The mark of the job whose directory this environment has; without one, a mark that no process
  /// carries.
  static JobMark in(const std::vector<std::string>& environment);

  /// The mark of one janitor, by which other processes recognise it, whatever they are called: no
  /// other process has its number and its birth.
  static JobMark of_janitor(pid_t process);

  /// Marks the calling process. Nothing where its hard limit does not allow it: then the
  /// environment has to do. Async-signal-safe.
  void put_on_limits() const noexcept;
  /// The calling process, which executes no other program, carries this mark alone from now on, and
  /// none of a job in which its launcher is a rank. In its environment, too, whose first variables
  /// are lost: its user may have set the limit, and anybody of the same user may change it.
  void replace_on_self() const;
  /// Whether a process carries either mark. False where neither can be read, and, of one with the
  /// environment alone, in the middle of its execve().
  bool is_on(pid_t process) const;

 private:
  friend class JobMarks;
  JobMark() = default;
  void put_on_environment(std::span<char> shown) const;
  std::string assignment_;
  uint64_t number_ = 0;
};

/// The marks of many jobs: each process is looked at once, however many they are.
class JobMarks {
 public:
  explicit JobMarks(std::span<const std::string> job_dirs);
  bool any_is_on(pid_t process) const;

 private:
  std::unordered_set<std::string> assignments_;
  std::unordered_set<uint64_t> numbers_;
};

}  // namespace pinwire::launch
