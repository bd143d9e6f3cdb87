// The end of a job (2.1.5).
#pragma once

#include "core/debug/error_policy.h"

namespace pinwire {

/// Installs what makes every end of this process end the job: atexit, SIGTERM and SIGINT to
/// SIGQUIT. Signals in `left_alone` keep their action (GASNET_NO_CATCH_SIGNAL).
void prepare_exit(SignalSet left_alone) noexcept;

/// gasnet_exit. From any context.
[[noreturn]] void leave_job(int code) noexcept;

}  // namespace pinwire
