// Which UDP ports the dpdk driver's frames may use.
#pragma once

#include <cstdint>

namespace pinwire {

/// Lane l receives on this port + l unless GASNET_DPDK_UDP_PORT says otherwise. It lies in IANA's
/// range for private use, and above the ports 32768 to 60999 that Linux hands out to programs.
inline constexpr uint16_t kDefaultUdpPort = 62700;

/// NICs interpret datagrams to these ports themselves (RoCE v2), or parse a second packet behind
/// their UDP header (tunnels), so that such frames may never reach the queue that they are steered
/// to. Returns the protocol's name, or nullptr for a port that is free.
constexpr const char* udp_port_claimed_by(uint32_t port) noexcept {
  switch (port) {
    case 2152:
      return "GTP-U";
    case 4789:
      return "VXLAN";
    case 4790:
      return "VXLAN-GPE";
    case 4791:
      return "RoCE v2";
    case 6081:
      return "Geneve";
    default:
      return nullptr;
  }
}

}  // namespace pinwire
