#include "core/launch/sweep/sweep.h"

#include <dirent.h>
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>

#include "core/base/check.h"
#include "core/launch/process/held_process.h"
#include "core/launch/process/job_mark.h"
#include "core/launch/process/process_facts.h"
#include "core/launch/sweep/janitor_mark.h"

namespace pinwire::launch {
namespace {

/// Kills by `kill_once`, which tells whether there was any, until that finds nobody. A process may
/// fork while a list is read, so more than one look may be needed; in the middle of execve() it
/// shows no mark, so where marks tell, nobody must be found twice.
template <typename KillOnce>
bool kill_until_none(bool marks_tell, KillOnce kill_once) {
  constexpr int kRoundsMax = 200;
  constexpr useconds_t kPauseUs = 5000;
  const int quiet_rounds = marks_tell ? 2 : 1;
  for (int round = 0, quiet = 0; round < kRoundsMax; ++round) {
    quiet = kill_once() ? 0 : quiet + 1;
    if (quiet == quiet_rounds) return true;
    ::usleep(kPauseUs);
  }
  return false;
}

bool kill_marked(const JobMarks& marks, uint64_t since_ticks) {
  const std::unique_ptr<DIR, int (*)(DIR*)> proc(::opendir("/proc"), ::closedir);
  bool any = false;
  while (const dirent* entry = proc ? ::readdir(proc.get()) : nullptr) {
    const int process = std::atoi(entry->d_name);
    if (process <= 1 || process == ::getpid()) continue;
    // Held before it is looked at: else another might get its number in between, and die for it.
    const HeldProcess held(process);
    // A zombie shows its limits until its parent reaps it, which may be never.
    if (birth_ticks(process) >= since_ticks && marks.any_is_on(process) && !has_ended(process))
      any = held.signal(SIGKILL) || any;
  }
  return any;
}

/// One whose launcher is gone; somebody may have stopped it.
bool is_at_work(pid_t child) {
  if (!is_janitor(child)) return false;
  ::kill(child, SIGCONT);
  return true;
}

/// Whether it may be waited for. One that acts for another user cannot be killed, and one that has
/// ended while it is traced cannot be reaped.
bool end_child(pid_t child, const InheritedChildren& inherited, const JobMark& mark) {
  if (child <= 1 || inherited.contains(child)) return false;
  if (is_at_work(child)) return true;
  if (inherited.any() && !mark.is_on(child)) return false;
  return ::kill(child, SIGKILL) == 0 && !held_end_of(child);
}

}  // namespace

InheritedChildren InheritedChildren::now() {
  InheritedChildren made;
  for (const pid_t child : children_now()) made.births_[child] = birth_ticks(child);
  return made;
}

bool InheritedChildren::contains(pid_t process) const {
  // The number alone may be that of a later child by now.
  const auto one = births_.find(process);
  return one != births_.end() && one->second == birth_ticks(process);
}

bool kill_children(SupervisorLoop& loop, pid_t own_janitor, const InheritedChildren& inherited,
                   const std::string& job_dir) {
  const JobMark mark(job_dir);
  return kill_until_none(inherited.any(), [&] {
    loop.reap();
    bool any = false;
    // Nobody gets a child's number before it is reaped, and nobody else reaps it.
    for (const pid_t child : children_now())
      if (child != own_janitor) any = end_child(child, inherited, mark) || any;
    return any;
  });
}

bool kill_processes_of(const std::string& job_dir, uint64_t since_ticks) {
  check(!job_dir.empty(), "processes of a job without a directory");
  return kill_processes_of(std::span(&job_dir, 1), since_ticks);
}

bool kill_processes_of(std::span<const std::string> job_dirs, uint64_t since_ticks) {
  const JobMarks marks(job_dirs);
  return kill_until_none(true, [&] { return kill_marked(marks, since_ticks); });
}

}  // namespace pinwire::launch
