// Where DPDK's own log goes: kept in memory, so that a failure can quote its last lines, and shown
// only to a user who asks.
#pragma once

#include <string>

namespace pinwire {

/// Before EAL starts. `show`: on stderr too.
void eal_log_capture(bool show);

/// The last lines that speak of trouble, joined by "; ", or "" when there were none.
std::string eal_log_tail();

/// Forgets what was logged so far: what follows is about the next step.
void eal_log_clear();

}  // namespace pinwire
