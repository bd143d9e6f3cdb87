// Asks the network of a port with an IP address for its router, before nicfw uses the port.
#pragma once

#include <vector>

#include "core/base/result.h"
#include "driver/dpdk/ip/addressing.h"

namespace pinwire {

/// Asks for the gateway's MAC address by ARP. Nobody else uses the port yet.
Result<MacAddress> find_gateway(Port& port, const PortAddress& self, uint32_t gateway_ipv4,
                                uint32_t timeout_ms);

/// UDP sockets that read nothing. Where the kernel receives this rank's frames, too, and owns the
/// rank's address, it would answer each of them with an ICMP message that nobody listens there.
class SilentSockets {
 public:
  SilentSockets() = default;
  ~SilentSockets();
  SilentSockets(const SilentSockets&) = delete;
  SilentSockets& operator=(const SilentSockets&) = delete;
  /// On `count` ports from `first_port` on; nothing where the kernel does not have the address.
  Status open(uint32_t ipv4, uint16_t first_port, uint32_t count);

 private:
  std::vector<int> fds_;
};

}  // namespace pinwire
