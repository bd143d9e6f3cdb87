// Which way of joining ranks over DPDK a job takes. Pure, and without DPDK: the launcher decides by
// it what it makes for the ranks (a switch), and their driver which device they open.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace pinwire {

enum class Fabric : uint8_t {
  kAuto,
  kArgs,      ///< the user's EAL arguments make the device
  kPair,      ///< two ranks of one host: net_vhost and net_virtio_user
  kMemif,     ///< two ranks of one host: net_memif
  kSwitch,    ///< ranks of one host, each a net_virtio_user port of pinwire_switch
  kAfPacket,  ///< a kernel interface: veth in a namespace, or any NIC
  kPci,       ///< physical ports by address
};

/// Whether ranks of one host meet in it, at sockets in the job's directory.
constexpr bool is_inside_host(Fabric fabric) {
  return fabric == Fabric::kPair || fabric == Fabric::kMemif || fabric == Fabric::kSwitch;
}

/// GASNET_DPDK_FABRIC: "auto", "args", "pair", "memif", "switch", "af_packet", "pci".
Result<Fabric> fabric_from_name(std::string_view name);
const char* fabric_name(Fabric fabric);

/// The user's words about it.
struct FabricWish {
  Fabric fabric = Fabric::kAuto;
  bool eal_names_device = false;  ///< names_device() of GASNET_EAL_ARGS
  bool names_pci = false;         ///< GASNET_DPDK_PCI
  bool names_interface = false;   ///< GASNET_DPDK_IFACE
  uint32_t rank_count = 1;        ///< of the whole job
};

/// Never kAuto.
Fabric choose_fabric(const FabricWish& wish) noexcept;

/// The socket of a fabric inside a host; of the switch's port of `rank`, where that is meant.
std::string fabric_socket(Fabric fabric, const std::string& directory, uint32_t rank = 0);

}  // namespace pinwire
