// IPv4 addresses of a rank's port and of its gateway, as users name them. Pure but for the
// interface's own address, which the kernel tells.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/result.h"
#include "nicfw/port/port.h"

namespace pinwire {

struct PortAddress {
  uint32_t ipv4 = 0;  ///< host order; 0: nicfw makes one up
  uint32_t prefix_bits = 0;
};

struct Gateway {
  uint32_t ipv4 = 0;  ///< 0: none, or its MAC address is given
  MacAddress mac{};   ///< all zero: ARP finds it
};

/// GASNET_DPDK_ADDRESS: "" for none, "10.1.0.2/24", a comma list of these with one for each rank,
/// or "interface" for the address that the kernel has on the port's interface (`interface_index`).
Result<PortAddress> port_address(std::string_view text, uint32_t rank, uint32_t rank_count,
                                 uint32_t interface_index);

/// GASNET_DPDK_GATEWAY: "", "10.1.0.1" or "02:00:00:00:00:01".
Result<Gateway> gateway_of(std::string_view text, const PortAddress& self);

}  // namespace pinwire
