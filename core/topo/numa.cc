#include "core/topo/numa.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "core/base/threads/cpus.h"

namespace pinwire {
namespace {

/// The first line of a small file; "" if there is none.
std::string line_of(const std::string& path) {
  char text[4096] = "";
  if (FILE* file = std::fopen(path.c_str(), "re")) {
    if (std::fgets(text, sizeof text, file) == nullptr) text[0] = '\0';
    std::fclose(file);
  }
  std::string line = text;
  if (line.ends_with('\n')) line.pop_back();
  return line;
}

std::vector<uint32_t> numbers_of(const std::string& line) {
  std::vector<uint32_t> numbers;
  const char* at = line.c_str();
  char* next = nullptr;
  for (unsigned long number; number = std::strtoul(at, &next, 10), next != at; at = next)
    numbers.push_back(static_cast<uint32_t>(number));
  return numbers;
}

/// Devices of the first domain may leave its number away, as with lspci.
std::string full_address(const std::string& address) {
  return std::count(address.begin(), address.end(), ':') == 1 ? "0000:" + address : address;
}

}  // namespace

Numa::Numa(const std::string& sys_dir) : sys_dir_(sys_dir) {
  const std::string folder = sys_dir + "/devices/system/node/";
  for (const uint32_t number : parse_cpu_list(line_of(folder + "online"))) {
    if (number >= kNodesMax) break;
    const std::string node = folder + "node" + std::to_string(number);
    nodes_.push_back({static_cast<int>(number), parse_cpu_list(line_of(node + "/cpulist")),
                      numbers_of(line_of(node + "/distance"))});
  }
}

NodeMask Numa::nodes_of(const std::vector<uint32_t>& cpus) const {
  NodeMask mask = 0;
  for (const Node& node : nodes_) {
    const auto is_here = [&node](uint32_t cpu) {
      return std::find(node.cpus.begin(), node.cpus.end(), cpu) != node.cpus.end();
    };
    if (std::any_of(cpus.begin(), cpus.end(), is_here)) mask |= NodeMask{1} << node.number;
  }
  return mask;
}

int Numa::node_of_pci(const std::string& address) const {
  const std::string path = sys_dir_ + "/bus/pci/devices/" + full_address(address) + "/numa_node";
  const std::string line = line_of(path);
  int node = -1;
  if (line.empty() || std::sscanf(line.c_str(), "%d", &node) != 1) return -1;
  // Firmware that says nothing of a device (-1) leaves no doubt where there is one node only.
  if (node < 0 && nodes_.size() == 1) return nodes_[0].number;
  return std::clamp(node, -1, kNodesMax - 1);
}

uint32_t Numa::between(const Node& from, int to) const {
  for (size_t i = 0; i < nodes_.size() && i < from.distances.size(); ++i)
    if (nodes_[i].number == to) return from.distances[i];
  return kDistanceUnknown;
}

uint32_t Numa::distance(NodeMask from, int to) const {
  uint32_t sum = 0, count = 0;
  for (const Node& node : nodes_) {
    if ((from >> node.number & 1) == 0) continue;
    sum += between(node, to);
    ++count;
  }
  return count == 0 || to < 0 ? kDistanceUnknown : sum / count;
}

std::string node_list(NodeMask nodes) {
  std::string text;
  for (int node = 0; node < kNodesMax; ++node)
    if ((nodes >> node & 1) != 0) text += (text.empty() ? "" : ",") + std::to_string(node);
  return text.empty() ? "?" : text;
}

}  // namespace pinwire
