// The capabilities that each poll-mode driver really has. The device's own claims are the start;
// this table knows where DPDK 22.11's drivers say too little or too much. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace pinwire {

/// The header of a frame, which an MTU leaves out.
inline constexpr uint32_t kEthernetBytes = 14;

/// Claims of the ethdev about itself.
struct DeviceReport {
  std::string_view driver;     ///< "net_vhost", "net_ixgbe", …
  std::string_view arguments;  ///< its devargs: "iface=/run/x,queues=2"
  uint32_t mtu_max = 1500;
  uint32_t interface_mtu = 0;  ///< of the kernel's interface below, or 0
  bool multi_segment_tx = false;
  bool iova_is_va = true;
};

enum class BodyPath : uint8_t {
  kCopy,    ///< bodies are copied into the frame's buffer
  kCpu,     ///< the driver's CPU reads them wherever they lie: no mapping is needed
  kMapped,  ///< the device reads them by DMA: they must be mapped for it
};

struct DeviceTraits {
  uint32_t frame_bytes_max;
  uint32_t buffer_bytes_min = 0;      ///< smaller receive buffers are refused, whatever the frames
  bool power_of_two_buffers = false;  ///< rounds a buffer's size down to one, and chains frames
  bool takes_mtu;  ///< tell the device the MTU; others refuse what they carry all the same
  BodyPath body_path;
  bool paired_queues;        ///< what is sent on queue q arrives on the peer's queue q
  bool any_mac;              ///< no address filter: the address may be chosen freely
  bool burst_costs = false;  ///< a receive burst costs what it may return, not what it returns
  /// The kernel keeps its interface on the same device, and its traffic only if that is isolated.
  bool shares_with_kernel = false;
  /// It is isolated between its configuration and its start; earlier it accepts that and forgets
  /// it. DPDK wants others to be isolated before they are configured.
  bool isolates_with_queues = false;
  bool wakes = true;  ///< its receive interrupts come
  /// Its bursts may be system calls, at which a thread can be cancelled.
  bool calls_kernel = true;
  /// It takes the connection apart in EAL's interrupt thread when the peer leaves, whatever this
  /// process does with the device meanwhile (interrupt_thread.h).
  bool hears_peer_leave = false;
  bool restarts_link;  ///< a link that stays down needs a stop and a start (memif's client)
};

DeviceTraits device_traits(const DeviceReport& report);

/// The value of `key` in "a=1,b=2", or "".
std::string_view device_argument(std::string_view arguments, std::string_view key);

}  // namespace pinwire
