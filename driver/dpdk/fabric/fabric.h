// Which device rank r of n opens, for each way of joining ranks over DPDK. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "driver/dpdk/fabric/fabric_choice.h"
#include "nicfw/port/port.h"

namespace pinwire {

struct FabricRequest {
  Fabric fabric = Fabric::kAuto;
  uint32_t rank = 0;
  uint32_t rank_count = 1;
  uint32_t host_rank = 0;  ///< of the ranks on this host
  uint32_t host_rank_count = 1;
  std::string job_directory;           ///< for sockets (GASNET_JOB_DIR)
  std::string no_directory_reason;     ///< why `job_directory` is empty; empty: nobody named one
  bool is_directory_of_ranks = false;  ///< the ranks made it: no switch has its sockets there
  bool eal_names_device = false;       ///< names_device()
  std::string interface;               ///< GASNET_DPDK_IFACE
  std::vector<std::string> pci;        ///< GASNET_DPDK_PCI
  uint32_t pci_index = 0;              ///< which of them is this rank's
  uint32_t queues = 1;
  uint32_t frame_bytes = 9014;
  uint32_t ring_frames = 256;
};

struct FabricPlan {
  Fabric fabric;
  std::string device;            ///< ethdev name; empty: the first there is
  std::string device_arguments;  ///< of a vdev to make; empty: it exists once EAL runs
  std::vector<std::string> eal_words;
  MacAddress mac{};  ///< all zero: the device's own
  bool physical = false;
};

FabricWish wish_of(const FabricRequest& request) noexcept;

Result<FabricPlan> plan_fabric(const FabricRequest& request);

}  // namespace pinwire
