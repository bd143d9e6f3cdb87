#include "core/bootstrap/launcher_gone.h"

#include <unistd.h>

#include "core/base/log.h"
#include "core/base/no_signals.h"

namespace pinwire::bootstrap {

void end_without_launcher(const char* launcher) noexcept {
  // Standard error may be a pipe to the launcher: SIGPIPE must not decide the exit code.
  const NoSignals quiet;
  log_note("%s is gone: this rank ends", launcher);
  ::_exit(kLauncherGoneExitCode);
}

}  // namespace pinwire::bootstrap
