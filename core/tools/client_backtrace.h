// gasnett_backtrace_user: a mechanism of backtraces that the client brings.
#pragma once

namespace pinwire {

/// Makes it known to prepare_backtraces, once, if there is one.
void add_client_backtrace() noexcept;

}  // namespace pinwire
