// Near its NIC: which port of GASNET_DPDK_PCI this rank takes, and where the threads run that are
// not the client's.
#pragma once

#include <string>
#include <vector>

#include "extended/state/job.h"

namespace pinwire {

struct PortChoice {
  std::vector<std::string> ports;      ///< all that are listed
  uint32_t index = 0;                  ///< which of them is this rank's
  std::vector<uint32_t> private_cpus;  ///< for DPDK's threads; empty: those of the rank
  std::string description;             ///< "port 0000:3b:00.0 of NUMA node 0, distance 10"
};

struct NearestDevice {
  uint32_t index = 0;
  int node = -1;            ///< its NUMA node; -1: none is known
  std::string description;  ///< "0000:3b:00.0 of NUMA node 0, distance 10"
};
/// This rank's device among those with these PCI addresses ("": a device that has none). Every rank
/// of the host computes the same choice from the facts that all ranks exchanged.
NearestDevice nearest_device(const Job& job, const std::vector<std::string>& addresses);

/// This rank's share of the nearest: one as above, or several where they are more than the ranks.
std::vector<NearestDevice> near_devices(const Job& job, const std::vector<std::string>& addresses);

/// Every rank of the host computes the same choice from the facts that all ranks exchanged.
PortChoice choose_port(const Job& job);

/// Where the dispatcher runs (am/interrupts/dispatcher.h): near this rank's cores, on CPUs that no
/// rank is bound to. Empty: where the rank does.
std::vector<uint32_t> dispatcher_cpus(const Job& job);

/// One line of GASNET_VERBOSEENV: this rank's CPUs, its port, and what was made of that.
void report_place(const Job& job);

}  // namespace pinwire
