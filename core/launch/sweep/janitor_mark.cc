#include "core/launch/sweep/janitor_mark.h"

#include <sys/prctl.h>
#include <unistd.h>

#include "core/launch/process/job_mark.h"
#include "core/launch/process/process_facts.h"

namespace pinwire::launch {

void become_janitor() {
  ::prctl(PR_SET_NAME, kJanitorName);
  JobMark::of_janitor(::getpid()).replace_on_self();
}

bool is_janitor(pid_t process) {
  return name_of(process) == kJanitorName && JobMark::of_janitor(process).is_on(process);
}

}  // namespace pinwire::launch
