// From a fabric's name to a port whose link is up.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "driver/dpdk/eal/eal_args.h"
#include "driver/dpdk/eal/new_descriptors.h"
#include "driver/dpdk/fabric/fabric.h"
#include "driver/dpdk/ip/addressing.h"
#include "driver/dpdk/ip/gateway.h"
#include "driver/dpdk/port/port.h"

namespace pinwire {

/// The wishes of a rank for its DPDK port. The comments name the environment variables that fill
/// it.
struct DpdkOptions {
  uint32_t rank = 0;
  uint32_t rank_count = 1;
  uint32_t host_rank = 0;
  uint32_t host_rank_count = 1;
  std::string job_directory;            ///< GASNET_JOB_DIR, or what the host's ranks made
  std::string no_directory_reason;      ///< see FabricRequest
  bool is_directory_of_ranks = false;   ///< see FabricRequest; it goes once all ports are up
  std::string fabric = "auto";          ///< GASNET_DPDK_FABRIC
  std::string eal_arguments;            ///< GASNET_EAL_ARGS
  std::string interface;                ///< GASNET_DPDK_IFACE
  std::string address;                  ///< GASNET_DPDK_ADDRESS
  std::string gateway;                  ///< GASNET_DPDK_GATEWAY
  std::vector<std::string> pci;         ///< GASNET_DPDK_PCI
  uint32_t pci_index = 0;               ///< which of them is this rank's
  std::vector<uint32_t> private_cpus;   ///< see EalOptions
  HugePages huge = HugePages::kAuto;    ///< GASNET_DPDK_HUGEPAGES=auto|never|always
  uint32_t memory_mib = 0;              ///< GASNET_DPDK_MEMORY_MB; 0: as much as the port needs
  uint16_t vlan = 0;                    ///< GASNET_DPDK_VLAN; 0: untagged
  uint32_t mtu = 9000;                  ///< GASNET_DPDK_MTU; a device that carries less wins
  uint16_t udp_port = kDefaultUdpPort;  ///< GASNET_DPDK_UDP_PORT: lane l receives on udp_port + l
  uint32_t lanes = 1;
  uint32_t ring_frames = 256;    ///< GASNET_DPDK_RING
  uint32_t timeout_ms = 30'000;  ///< for peers, switch and link to appear
  bool interrupts = true;
  bool show_story = false;  ///< say which fabric, device and memory were chosen
  bool show_log = false;    ///< GASNET_DPDK_LOG
};

/// A port and the EAL below it; destroyed in the right order.
class DpdkDevice {
 public:
  DpdkDevice(std::unique_ptr<DpdkPort> port, std::string description, NewDescriptors opened_here)
      : port_(std::move(port)),
        description_(std::move(description)),
        opened_here_(std::move(opened_here)) {}
  ~DpdkDevice();
  DpdkDevice(const DpdkDevice&) = delete;
  DpdkDevice& operator=(const DpdkDevice&) = delete;
  DpdkPort& port() noexcept { return *port_; }
  /// Which fabric, device and memory were chosen, for the user.
  const std::string& description() const noexcept { return description_; }
  const PortAddress& address() const noexcept { return address_; }
  const MacAddress& gateway_mac() const noexcept { return gateway_mac_; }
  /// Learns the port's address and finds its gateway.
  Status join_network(const DpdkOptions& options);
  /// Keeps what it has opened until now to this program. A vhost port is up with its first queue,
  /// and is sent the events of the others after that: once more when the peers are up, too.
  void close_on_exec() const { opened_here_.close_on_exec(); }

 private:
  std::unique_ptr<DpdkPort> port_;
  std::string description_;
  PortAddress address_;
  MacAddress gateway_mac_{};
  SilentSockets silent_;
  NewDescriptors opened_here_;
};

/// Which fabric these options ask for, whether it can be or not.
Result<Fabric> chosen_fabric(const DpdkOptions& options);

Result<std::unique_ptr<DpdkDevice>> bring_up_dpdk(const DpdkOptions& options);

}  // namespace pinwire
