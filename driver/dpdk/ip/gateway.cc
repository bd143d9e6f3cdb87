#include "driver/dpdk/ip/gateway.h"

#include <arpa/inet.h>
#include <linux/filter.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "nicfw/wire/arp.h"
#include "nicfw/wire/route.h"

namespace pinwire {
namespace {

constexpr uint32_t kStepUs = 1'000;
constexpr uint32_t kAskEveryMs = 200;

/// Looks through what has arrived; all of it is for nobody but this.
bool take_answer(Port& port, uint32_t gateway_ipv4, MacAddress& mac) {
  RxFrame frames[32];
  const uint32_t count = port.rx(0, frames);
  bool found = false;
  for (uint32_t i = 0; i < count; ++i)
    found = find_arp_sender(frames[i].data, frames[i].bytes, gateway_ipv4, mac) || found;
  port.release(0, {frames, count});
  return found;
}

}  // namespace

Result<MacAddress> find_gateway(Port& port, const PortAddress& self, uint32_t gateway_ipv4,
                                uint32_t timeout_ms) {
  std::byte question[kArpFrameBytes];
  make_arp_question(question, {port.facts().mac, self.ipv4}, gateway_ipv4);
  const TxFrame frame{question, kArpFrameBytes, 0, nullptr, 0};
  MacAddress mac{};
  for (uint64_t waited_us = 0; waited_us < timeout_ms * uint64_t{1000}; waited_us += kStepUs) {
    if (waited_us % (kAskEveryMs * uint64_t{1000}) == 0) port.tx(0, {&frame, 1});
    if (take_answer(port, gateway_ipv4, mac)) return mac;
    usleep(kStepUs);
  }
  return error(
      "the gateway %s does not answer %s/%u for %u ms: correct GASNET_DPDK_GATEWAY (or "
      "GASNET_DPDK_VLAN), or give its MAC address there",
      ipv4_text(gateway_ipv4).c_str(), ipv4_text(self.ipv4).c_str(), self.prefix_bits, timeout_ms);
}

SilentSockets::~SilentSockets() {
  for (const int fd : fds_) close(fd);
}

Status SilentSockets::open(uint32_t ipv4, uint16_t first_port, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0) return success();  // the worst that follows is needless messages
    fds_.push_back(fd);
    sock_filter drop_all{BPF_RET | BPF_K, 0, 0, 0};
    const sock_fprog program{1, &drop_all};
    setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program);
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(ipv4);
    at.sin_port = htons(static_cast<uint16_t>(first_port + i));
    if (bind(fd, reinterpret_cast<const sockaddr*>(&at), sizeof at) == 0) continue;
    if (errno != EADDRINUSE) return success();  // not an address of the kernel's
    return error(
        "another program of this host has the UDP port %u of %s: set GASNET_DPDK_UDP_PORT to "
        "another",
        first_port + i, ipv4_text(ipv4).c_str());
  }
  return success();
}

}  // namespace pinwire
