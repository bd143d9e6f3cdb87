// A DPDK ethdev as a Port: any poll-mode driver, virtual or physical. No DPDK header leaks from
// here.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "core/base/counter.h"
#include "core/base/udp_ports.h"
#include "driver/dpdk/port/device_traits.h"
#include "nicfw/port/port.h"

namespace pinwire {

struct DpdkPortOptions {
  std::string device;      ///< ethdev name ("net_vhost0", "0000:17:00.0"); empty: the first one
  bool make_vdev = false;  ///< open makes the device, close removes it
  std::string device_arguments;  ///< of the vdev to make ("iface=/x,queues=2")
  uint32_t queues = 1;
  uint32_t frame_bytes = 9014;         ///< wished; facts() says what the device carries
  uint32_t ring_frames = 256;          ///< descriptors of a queue, each way
  uint32_t rx_buffers = 1024;          ///< received frames of a queue that may be held unreleased
  uint32_t copy_bytes_max = 1024;      ///< bodies up to this are copied even if attached: cheaper
  uint32_t probe_timeout_ms = 10'000;  ///< for a vdev's peer to appear
  /// A file that the peer makes where it cannot appear (bring_up.cc), or "": the wait ends then.
  std::string failure_path;
  uint16_t udp_port =
      kDefaultUdpPort;         ///< frames to udp_port + q are steered to queue q where needed
  bool interrupts = true;      ///< ask for an event fd
  bool memory_medium = false;  ///< the device's peer is another process of this host, and nothing
                               ///< in between: PortFacts::memory_medium
  bool inside_host = false;    ///< frames never leave the host: PortFacts::inside_host
  MacAddress mac{};            ///< all zero: the device's own
  uint16_t vlan = 0;           ///< of all frames, both ways; 0: untagged
  uint32_t detach_timeout_ms = 1'000;   ///< for the device to give back what it sends in place
  std::optional<BodyPath> body_path{};  ///< for tests: another than the device's driver has
};

/// Bytes of EAL memory that such a port takes, with room for the device's own rings.
uint64_t dpdk_port_memory_bytes(const DpdkPortOptions& options);

struct DpdkPortCounters {
  Counter tx_frames;
  Counter tx_bytes;
  Counter tx_attached_frames;  ///< body sent from where it lies
  Counter tx_attached_bytes;
  Counter tx_copied_body_bytes;
  Counter tx_refused_calls;  ///< back-pressure: took less than offered
  Counter rx_frames;
  Counter rx_bytes;
  Counter rx_realigned_frames;   ///< moved so that data % 16 == 0
  Counter rx_joined_frames;      ///< chained by the device, joined by a copy
  Counter rx_dropped_frames;     ///< chained and too long to join
  Counter rx_other_vlan_frames;  ///< untagged, or of another VLAN than the port's
  Counter wakeups_armed;
  Counter unmapped_regions;   ///< attach() could not make them known: bodies there are copied
  Counter lingering_regions;  ///< detach() waited in vain for the device to be done with them
};

class DpdkPort : public Port {
 public:
  /// Waits until the device says that its peer or cable is there.
  virtual Status wait_link_up(uint32_t timeout_ms) = 0;
  virtual DpdkPortCounters counters() const noexcept = 0;
  /// "net_vhost0 (net_vhost), 2 queues of 512 frames of 9014 bytes, …"
  virtual std::string describe() const = 0;
  /// Only this rank's own UDP ports arrive: all else stays with the kernel.
  virtual bool is_isolated() const noexcept = 0;
  /// The kernel's number of the interface on the same device; 0: it has none.
  virtual uint32_t interface_index() const noexcept = 0;
  /// DPDK's number of the device, for benches that go below the port.
  virtual uint16_t ethdev() const noexcept = 0;
};

/// EAL must run, and must outlive the port.
Result<std::unique_ptr<DpdkPort>> open_dpdk_port(const DpdkPortOptions& options);

}  // namespace pinwire
