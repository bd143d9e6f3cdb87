// Whether a call waits for room.
#pragma once

#include <cstdint>

namespace pinwire {

/// While the driver has no room a call polls and waits, or, with GEX_FLAG_IMMEDIATE, does nothing
/// at all and says so (GX-043).
enum class Patience : uint8_t { kWaits, kTries };

}  // namespace pinwire
