// Programs that may do what the user who starts them may not.
#pragma once

#include <sys/auxv.h>

namespace pinwire {

/// Whether the kernel gave this program rights at its start that its user may lack: it is
/// set-user-id or set-group-id, or its file has capabilities (as users of DPDK and verbs give
/// them). Such a program runs and loads nothing, and writes no file, that the environment names.
inline bool is_privileged() noexcept { return getauxval(AT_SECURE) != 0; }

}  // namespace pinwire
