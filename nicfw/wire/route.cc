#include "nicfw/wire/route.h"

namespace pinwire {

std::string ipv4_text(uint32_t address) {
  char text[16];
  std::snprintf(text, sizeof text, "%u.%u.%u.%u", address >> 24, address >> 16 & 255,
                address >> 8 & 255, address & 255);
  return text;
}

Status route_to(const Endpoint& self, const NicConfig& config, Rank peer, Endpoint& to) {
  const uint32_t prefix_bits = config.ipv4 != 0 ? config.ipv4_prefix_bits : kLoopbackPrefixBits;
  if (same_network(self.ipv4, to.ipv4, prefix_bits)) {
    to.hops_max = kHopsToNeighbour;
    return success();
  }
  const bool is_configured = !same_network(to.ipv4, kLoopbackNet, kLoopbackPrefixBits);
  if ((config.ipv4 != 0) != is_configured) {
    return error(
        "rank %u has the address %s and this rank %s: give all ranks addresses "
        "(GASNET_DPDK_ADDRESS), or none",
        peer, ipv4_text(to.ipv4).c_str(), ipv4_text(self.ipv4).c_str());
  }
  if (config.gateway_mac == MacAddress{}) {
    return error(
        "rank %u has the address %s, which is outside the network %s/%u of this rank: name its "
        "gateway (GASNET_DPDK_GATEWAY), or correct GASNET_DPDK_ADDRESS",
        peer, ipv4_text(to.ipv4).c_str(), ipv4_text(self.ipv4).c_str(), prefix_bits);
  }
  to.mac = config.gateway_mac;
  to.hops_max = kHopsByGateway;
  return success();
}

}  // namespace pinwire
