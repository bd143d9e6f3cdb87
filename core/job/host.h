// Which ranks share this host's memory.
#pragma once

#include <cstdint>

#include "core/config/settings.h"

namespace pinwire {

/// Equal for processes of one host, as GASNET_HOST_DETECT wants it told. kConduit: exactly for
/// processes that can map each other's memory: same boot, PID namespace and user; network
/// namespaces count as hosts of their own, because jobs use them to stand for some.
uint64_t host_identity(HostDetect how) noexcept;

}  // namespace pinwire
