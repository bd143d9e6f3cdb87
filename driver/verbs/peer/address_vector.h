// How packets reach a port (IBA 11.2.2): the address vector of connections and of datagrams.
#pragma once

#include <array>
#include <cstdint>

#include "driver/verbs/device/device.h"

namespace pinwire::verbs {

/// `gid` counts where the device uses GIDs, `lid` on InfiniBand.
ibv_ah_attr address_vector(const Device& device, uint16_t lid,
                           const std::array<uint8_t, 16>& gid) noexcept;

}  // namespace pinwire::verbs
