// Which of a NIC's queues a lane's frames go to.
#pragma once

#include <cstdint>

namespace pinwire {

/// UDP destination port first_port + q goes to queue q, for q < queues. False, with nothing
/// changed, when the device has no such rules.
bool steer_udp_ports(uint16_t ethdev, uint16_t first_port, uint16_t queues, uint16_t vlan) noexcept;

}  // namespace pinwire
