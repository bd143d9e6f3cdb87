// A rank's side of the talk with gasnetrun_pinwire: one SOCK_SEQPACKET socket, inherited.
#pragma once

#include <memory>

#include "core/bootstrap/bootstrap.h"

namespace pinwire {

/// The variable that holds the number of the inherited socket.
inline constexpr const char* kJobFdVariable = "GASNET_JOB_FD";

/// `fd_text` is the value of that variable. Blocks until the launcher welcomes this rank.
Result<std::unique_ptr<Bootstrap>> make_launcher_bootstrap(const char* fd_text);

}  // namespace pinwire
