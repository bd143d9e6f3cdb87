// Which of the three ways this process was started.
#include <cstdlib>

#include "core/bootstrap/bootstrap.h"
#include "core/bootstrap/launcher_client.h"
#include "core/bootstrap/outer_job.h"
#include "core/bootstrap/pmix/pmix_bootstrap.h"
#include "core/bootstrap/singleton.h"

namespace pinwire {
namespace {

/// A launcher takes each rank once. Without this a second start, after one that failed later, would
/// make a job of one rank.
bool launcher_was_asked = false;

}  // namespace

Result<std::unique_ptr<Bootstrap>> make_bootstrap() {
  if (is_of_inner_job()) leave_outer_job();
  if (const char* fd = std::getenv(kJobFdVariable)) {
    auto made = make_launcher_bootstrap(fd);
    // A process that this one starts is not this rank.
    ::unsetenv(kJobFdVariable);
    launcher_was_asked = true;
    return made;
  }
  if (launcher_was_asked) {
    return error(
        "an earlier start of this rank failed after it had joined the launcher's job, which it can "
        "join once: start the job anew");
  }
  if (started_by_pmix()) return make_pmix_bootstrap();
  return make_singleton_bootstrap();
}

}  // namespace pinwire
