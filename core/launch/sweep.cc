#include "core/launch/sweep.h"

#include <signal.h>
#include <unistd.h>

#include "core/launch/job_mark.h"
#include "core/launch/process_facts.h"

namespace pinwire::launch {
namespace {

constexpr int kRoundsMax = 200;
constexpr int kQuietRounds = 2;  // in the middle of execve() a process shows no mark
constexpr useconds_t kPauseUs = 5000;

bool is_ours(pid_t child, const InheritedChildren& inherited, const JobMark& mark) {
  if (child <= 1 || inherited.contains(child)) return false;
  if (is_janitor(child)) return false;  // of an agent here that is lost: it is at work
  return !inherited.any() || mark.is_on(child);
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

bool kill_children(Janitor* own, const InheritedChildren& inherited, const std::string& job_dir) {
  const JobMark mark(job_dir);
  const int quiet_rounds = inherited.any() ? kQuietRounds : 1;
  for (int round = 0, quiet = 0; round < kRoundsMax; ++round) {
    reap_children([own](pid_t process) { return own != nullptr && own->reap(process); });
    bool any = false;
    for (const pid_t child : children_now()) {
      // Nobody gets its number before it is reaped, and nobody else reaps it.
      if (own != nullptr && child == own->number()) continue;
      if (!is_ours(child, inherited, mark)) continue;
      any = true;
      ::kill(child, SIGKILL);
    }
    quiet = any ? 0 : quiet + 1;
    if (quiet == quiet_rounds) return true;
    ::usleep(kPauseUs);
  }
  return false;
}

}  // namespace pinwire::launch
