// Ctrl-C: asks for an orderly stop. A second one, seconds later, ends the process at once.
#pragma once

namespace pinwire::flood {

/// After the job has started, so that handlers of the library are seen.
void install_stop_handler() noexcept;
/// True once Ctrl-C was pressed, or request_stop called.
bool stop_requested() noexcept;
void request_stop() noexcept;

}  // namespace pinwire::flood
