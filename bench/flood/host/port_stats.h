// testpmd's two blocks of port statistics. A port is a rank; a packet is a message (an AM, a put or
// a get), and the frames of the network below have a line of their own.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace pinwire::flood {

struct PortCounters {
  uint64_t rx_messages = 0;
  uint64_t rx_bytes = 0;
  uint64_t rx_missed = 0;  ///< frames that the device dropped
  uint64_t tx_messages = 0;
  uint64_t tx_bytes = 0;
  uint64_t rx_frames = 0;
  uint64_t tx_frames = 0;
};

PortCounters operator-(const PortCounters& now, const PortCounters& before);
PortCounters operator+(const PortCounters& one, const PortCounters& other);

/// "show port stats": `total` since start or clear, `recent` the part of the last `seconds`.
std::string port_statistics(uint32_t port, const PortCounters& total, const PortCounters& recent,
                            double seconds);

/// The statistics that testpmd prints at "stop": each port, and all together.
std::string forward_statistics(const std::vector<PortCounters>& ports);

}  // namespace pinwire::flood
