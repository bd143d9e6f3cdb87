// Which ranks share this host's memory.
#pragma once

#include <cstdint>

namespace pinwire {

/// Equal exactly for processes that can map each other's memory: same boot, PID namespace and user.
/// Network namespaces count as hosts of their own, because jobs use them to stand for some.
uint64_t host_identity() noexcept;

/// Processors that this process may run on.
uint32_t usable_processors() noexcept;

}  // namespace pinwire
