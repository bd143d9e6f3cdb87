// The end of a job (2.1.5).
#pragma once

namespace pinwire {

/// Installs what makes every end of this process end the job: atexit, SIGTERM and SIGINT to
/// SIGQUIT.
void prepare_exit() noexcept;

/// gasnet_exit. From any context.
[[noreturn]] void leave_job(int code) noexcept;

}  // namespace pinwire
