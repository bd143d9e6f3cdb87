// This process's end of a transfer, as choose_path() asks for it.
#pragma once

#include <cstdint>

#include "am/path/path.h"
#include "core/engine/engine.h"
#include "pin/demand.h"

namespace pinwire {

struct LocalEnd {
  const Route& route;
  const void* address;
  uint64_t bytes;
  bool is_written = false;  ///< by a get
  bool is_device = false;   ///< memory of a device, which the driver knows

  [[gnu::always_inline]] uint32_t key() const noexcept {
    return is_written ? engine.local_key(route.driver_index, address, bytes)
                      : engine.source_key(route.driver_index, address, bytes);
  }
  /// Whether the memory of this key() is pinned until close().
  bool stays(uint32_t key) const noexcept {
    const DriverSlot& slot = engine.drivers[route.driver_index];
    return key != kNoRegion && key == slot.own_read_key && slot.own_stays;
  }
  bool is_hosts() const noexcept { return !is_device; }
  bool pins() const noexcept { return demands[route.driver_index] != nullptr; }
  uint64_t stripe_min() const noexcept { return engine.stripe_min(route); }
};

}  // namespace pinwire
