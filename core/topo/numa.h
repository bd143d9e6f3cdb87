// The NUMA nodes of this host, as the kernel tells of them in sysfs: where CPUs and PCI devices
// are, and how far from each other. (hwloc reads the same files; its archive wants libudev's shared
// library, which programs of clients must not, so only the launcher has it.)
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace pinwire {

/// ACPI's numbers: of a node to itself, and what Linux takes for others where nobody says.
inline constexpr uint32_t kDistanceLocal = 10;
inline constexpr uint32_t kDistanceUnknown = 20;

/// Bit n is node n. 0: nothing is known.
using NodeMask = uint64_t;
inline constexpr int kNodesMax = 64;

class Numa {
 public:
  explicit Numa(const std::string& sys_dir = "/sys");

  /// The nodes that have one of these CPUs.
  NodeMask nodes_of(const std::vector<uint32_t>& cpus) const;
  /// The node of a PCI device ("0000:3b:00.0", "3b:00.0"); -1: nothing is known.
  int node_of_pci(const std::string& address) const;
  /// From CPUs of these nodes to memory and devices of that one, on average.
  uint32_t distance(NodeMask from, int to) const;

 private:
  struct Node {
    int number;
    std::vector<uint32_t> cpus;
    std::vector<uint32_t> distances;  ///< to each of nodes_, in their order
  };
  uint32_t between(const Node& from, int to) const;

  std::string sys_dir_;
  std::vector<Node> nodes_;  ///< by number
};

/// "0", "0,1", "?"
std::string node_list(NodeMask nodes);

}  // namespace pinwire
