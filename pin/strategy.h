// The segment kinds, and how each is published to the peers of a driver (C1-063 to C1-072).
#pragma once

#include <cstdint>

#include "driver/driver.h"

namespace pinwire {

/// As clients compile for it: PINWIRE_SEGMENT of gasnet.h.
enum class SegmentKind : int { kFast = 0, kLarge = 1, kEverything = 2 };

enum class Publication : uint8_t {
  kPinned,   ///< all of it, at attach
  kExposed,  ///< all of it, without a pin: the driver has means of its own
  kWithheld  ///< nothing at attach: peers get parts on demand, or send messages
};

/// `fits`: this process may pin the whole segment. Parts of a LARGE one are pinned on demand even
/// where the device could page it: a part is registered once and never faults again, while paging
/// makes peers wait at the first touch of each page, and after each that the kernel took back.
constexpr Publication publication(SegmentKind kind, const Caps& caps, bool fits) noexcept {
  if (kind == SegmentKind::kFast) return Publication::kPinned;
  if (kind == SegmentKind::kLarge && fits) return Publication::kPinned;
  if (kind == SegmentKind::kLarge && caps.on_demand_paging) return Publication::kWithheld;
  return caps.exposes ? Publication::kExposed : Publication::kWithheld;
}

}  // namespace pinwire
