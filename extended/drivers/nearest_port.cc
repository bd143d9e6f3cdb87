#include "extended/drivers/nearest_port.h"

#include <algorithm>
#include <cstring>

#include "core/base/check.h"
#include "core/base/log.h"
#include "core/base/threads/cpus.h"
#include "core/engine/engine.h"
#include "core/topo/nearest.h"
#include "core/topo/numa.h"

namespace pinwire {
namespace {

std::vector<std::string> listed(const std::string& text) {
  std::vector<std::string> words;
  for (size_t at = 0; (at = text.find_first_not_of(", ", at)) != std::string::npos;) {
    const size_t end = std::min(text.find_first_of(", ", at), text.size());
    words.push_back(text.substr(at, end - at));
    at = end;
  }
  return words;
}

/// CPUs that no rank is bound to: the port's neighbours, else this rank's, else any.
std::vector<uint32_t> free_cpus(const Job& job, const Numa& numa, NodeMask near_port) {
  const std::vector<uint32_t> all = parse_cpu_list(job.settings.free_cpus);
  for (const NodeMask wanted : {near_port, job.ranks[engine.rank].numa_nodes}) {
    std::vector<uint32_t> near;
    for (const uint32_t cpu : all)
      if ((numa.nodes_of({cpu}) & wanted) != 0) near.push_back(cpu);
    if (!near.empty()) return near;
  }
  return all;
}

NearestDevice describe(const std::vector<std::string>& addresses, const std::vector<int>& nodes,
                       const DeviceDistances& distances, uint32_t index) {
  const uint32_t distance = distances[index];
  const bool is_nearest = distance == *std::min_element(distances.begin(), distances.end());
  NearestDevice device{index, nodes[index], addresses[index]};
  if (device.node < 0) {
    device.description += ", of which no NUMA node is known";
  } else {
    device.description += " of NUMA node " + std::to_string(device.node) + ", distance " +
                          std::to_string(distance) +
                          (is_nearest ? "" : ": nearer ones are other ranks'");
  }
  return device;
}

}  // namespace

NearestDevice nearest_device(const Job& job, const std::vector<std::string>& addresses) {
  const Numa numa;
  std::vector<int> nodes;
  for (const std::string& address : addresses) nodes.push_back(numa.node_of_pci(address));
  std::vector<DeviceDistances> ranks;
  uint32_t mine = 0;
  for (Rank rank = 0; rank < job.ranks.size(); ++rank) {
    if (job.ranks[rank].host != job.ranks[engine.rank].host) continue;
    if (rank == engine.rank) mine = static_cast<uint32_t>(ranks.size());
    DeviceDistances& distances = ranks.emplace_back();
    for (const int node : nodes)
      distances.push_back(numa.distance(job.ranks[rank].numa_nodes, node));
  }
  check(mine < ranks.size(), "this rank is not on its own host", mine, ranks.size());
  const uint32_t index = share_devices(ranks)[mine];
  check(index < addresses.size(), "the share of a device that there is not", index);
  return describe(addresses, nodes, ranks[mine], index);
}

std::vector<NearestDevice> near_devices(const Job& job, const std::vector<std::string>& addresses) {
  const Numa numa;
  const RankFacts& mine = job.ranks[engine.rank];
  std::vector<int> nodes;
  DeviceDistances distances;
  for (const std::string& address : addresses) {
    nodes.push_back(numa.node_of_pci(address));
    distances.push_back(numa.distance(mine.numa_nodes, nodes.back()));
  }
  uint32_t sharers = 0, position = 0;
  for (Rank rank = 0; rank < job.ranks.size(); ++rank) {
    const RankFacts& other = job.ranks[rank];
    if (other.host != mine.host || other.numa_nodes != mine.numa_nodes) continue;
    position += rank < engine.rank;
    ++sharers;
  }
  check(position < sharers, "this rank is not among those that share with it", position, sharers);
  std::vector<NearestDevice> near;
  for (const uint32_t index : near_share(distances, position, sharers)) {
    near.push_back(describe(addresses, nodes, distances, index));
  }
  if (near.empty()) near.push_back(nearest_device(job, addresses));
  return near;
}

PortChoice choose_port(const Job& job) {
  const Numa numa;
  PortChoice choice;
  choice.ports = listed(job.settings.dpdk_pci);
  if (!choice.ports.empty()) {
    const NearestDevice nearest = nearest_device(job, choice.ports);
    choice.index = nearest.index;
    choice.description = "; port " + nearest.description;
    if (nearest.node >= 0) choice.private_cpus = free_cpus(job, numa, NodeMask{1} << nearest.node);
  }
  if (choice.private_cpus.empty()) choice.private_cpus = free_cpus(job, numa, 0);
  choice.description += "; DPDK's threads run on ";
  choice.description += choice.private_cpus.empty() ? "the same"
                                                    : "CPUs " + cpu_list(choice.private_cpus) +
                                                          ", which no rank is bound to";
  return choice;
}

std::vector<uint32_t> dispatcher_cpus(const Job& job) { return free_cpus(job, Numa{}, 0); }

void report_place(const Job& job) {
  bool has_dpdk = false;
  for (uint32_t d = 0; d < engine.driver_count; ++d)
    has_dpdk = has_dpdk || std::strcmp(engine.drivers[d].driver->name(), "dpdk") == 0;
  const std::vector<uint32_t> dispatcher = dispatcher_cpus(job);
  const std::string dispatched =
      !has_dispatcher ? ""
                      : "; the dispatcher runs on " +
                            (dispatcher.empty() ? "the same" : "CPUs " + cpu_list(dispatcher));
  log_note("may run on CPUs %s of NUMA node %s%s%s%s", cpu_list(usable_cpus()).c_str(),
           node_list(job.ranks[engine.rank].numa_nodes).c_str(),
           engine.spinners_max == 0
               ? ": fewer than the ranks that share them, which yield instead of spinning"
               : "",
           has_dpdk ? choose_port(job).description.c_str() : "", dispatched.c_str());
}

}  // namespace pinwire
