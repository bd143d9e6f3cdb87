#include "tests/unit/driver/dpdk/namespaces.h"

#include <sched.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <sstream>

namespace pinwire {
namespace {

std::string make_links(uint32_t parties, Meeting& meeting) {
  for (uint32_t r = 0; r + 1 < parties; ++r) {
    const std::string name = "e" + std::to_string(r);
    const std::string pid = std::to_string(meeting.words[r]);
    if (std::string wrong =
            shell("ip link add " + name + " mtu 9000 type veth peer name e0 mtu 9000 netns " + pid);
        !wrong.empty())
      return wrong;
    if (std::string wrong = shell("ip link set " + name + " up"); !wrong.empty()) return wrong;
  }
  return "";
}

}  // namespace

std::string shell(const std::string& command) {
  return system((command + " 2>/dev/null").c_str()) == 0 ? "" : "failed: " + command;
}

std::string join_namespaces(uint32_t rank, uint32_t parties, Meeting& meeting) {
  if (geteuid() != 0) return "skip: needs root to make network namespaces";
  if (unshare(CLONE_NEWNET) != 0) return "skip: no network namespaces here";
  std::ofstream("/proc/sys/net/ipv6/conf/all/disable_ipv6") << 1;
  std::atomic_ref<uint64_t>(meeting.words[rank]).store(static_cast<uint64_t>(getpid()));
  if (!meeting.barrier(parties)) return "alone";
  const bool is_last = rank + 1 == parties;
  std::string wrong;
  if (is_last) {
    wrong = make_links(parties, meeting);
    std::atomic_ref<uint64_t>(meeting.words[7]).store(!wrong.empty());
  }
  if (!meeting.barrier(parties)) return "alone";
  if (meeting.words[7] != 0) return "skip: no veth pairs here, or no iproute2";
  if (!is_last) wrong = shell("ip link set e0 up");
  if (!meeting.barrier(parties)) return "alone";
  if (is_last) {
    for (uint64_t& word : meeting.words) word = 0;
  }
  return meeting.barrier(parties) ? wrong : "alone";
}

void forward_packets() { std::ofstream("/proc/sys/net/ipv4/ip_forward") << 1; }

uint64_t kernel_counter(const std::string& protocol, const std::string& name) {
  std::ifstream file("/proc/self/net/snmp");
  for (std::string names, values; std::getline(file, names) && std::getline(file, values);) {
    std::istringstream heads(names), numbers(values);
    std::string head, number;
    while (heads >> head && numbers >> number) {
      if (head == name && names.starts_with(protocol + ":")) return std::stoull(number);
    }
  }
  return ~uint64_t{0};
}

}  // namespace pinwire
