// IPv4 addresses of the ranks, and which MAC address frames to a peer bear. Pure.
#pragma once

#include "core/base/result.h"
#include "nicfw/port/config.h"
#include "nicfw/wire/wire.h"

namespace pinwire {

inline constexpr uint32_t kLoopbackNet = 127u << 24;
inline constexpr uint32_t kLoopbackPrefixBits = 8;
/// Frames to a neighbour die at the first router: one that receives them by mistake does not send
/// them on.
inline constexpr uint8_t kHopsToNeighbour = 1;
inline constexpr uint8_t kHopsByGateway = 64;

/// The address of a rank that was given none. All ranks are neighbours then, and IP addresses only
/// spread the frames over a switch's links. A kernel that receives such a frame beside this
/// process, as it does below a packet socket, drops it: no host forwards or answers a loopback
/// address that comes from outside.
constexpr uint32_t loopback_address(Rank rank) noexcept {
  return kLoopbackNet | ((rank + 1) & 0xff'ffff);
}

constexpr bool same_network(uint32_t a, uint32_t b, uint32_t prefix_bits) noexcept {
  return prefix_bits == 0 || ((a ^ b) >> (32 - prefix_bits)) == 0;
}

/// "10.1.0.2"
std::string ipv4_text(uint32_t address);

/// Completes the endpoint of a peer: one in another network is reached by the gateway.
Status route_to(const Endpoint& self, const NicConfig& config, Rank peer, Endpoint& to);

}  // namespace pinwire
