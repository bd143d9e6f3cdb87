// net_tap: the port at one end of a kernel interface, a packet socket at the other.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "driver/dpdk/bring_up.h"
#include "tests/unit/driver/dpdk/two_processes.h"

namespace pinwire {
namespace {

constexpr uint16_t kTapEtherType = 0x88b5;  // local experimental

int packet_socket(const char* interface) {
  const int fd = socket(AF_PACKET, SOCK_RAW, htons(kTapEtherType));
  sockaddr_ll to{};
  to.sll_family = AF_PACKET;
  to.sll_protocol = htons(kTapEtherType);
  to.sll_ifindex = static_cast<int>(if_nametoindex(interface));
  if (fd < 0 || bind(fd, reinterpret_cast<sockaddr*>(&to), sizeof to) != 0) return -1;
  return fd;
}

std::vector<std::byte> make_frame(uint32_t bytes) {
  std::vector<std::byte> frame(bytes);
  for (uint32_t i = 0; i < bytes; ++i) frame[i] = static_cast<std::byte>(i * 7 + bytes);
  std::memset(frame.data(), 0xff, 6);
  frame[6] = std::byte{2};
  const uint16_t type = htons(kTapEtherType);
  std::memcpy(frame.data() + 12, &type, 2);
  return frame;
}

/// Waits for our frame on the port, asleep between looks; checks it.
std::string expect_on_port(DpdkPort& port, const std::vector<std::byte>& expected) {
  for (int looks = 0; looks < 100; ++looks) {
    RxFrame got;
    if (port.rx(0, {&got, 1}) == 1) {
      const bool ours = std::memcmp(got.data + 12, expected.data() + 12, 2) == 0;
      const bool right =
          got.bytes == expected.size() && std::memcmp(got.data, expected.data(), got.bytes) == 0;
      port.release(0, {&got, 1});
      if (!ours) continue;
      return right ? "" : "a wrong frame of " + std::to_string(got.bytes) + " bytes";
    }
    if (port.facts().event_fd && port.arm(0) == PortArmed::kArmed) {
      pollfd waiting{port.event_fd(0), POLLIN, 0};
      poll(&waiting, 1, 1000);
    } else {
      usleep(1000);
    }
  }
  return "a frame of " + std::to_string(expected.size()) + " bytes never came";
}

std::string tap_both_ways() {
  if (unshare(CLONE_NEWNET) != 0) return "skip: no network namespaces here";
  if (access("/dev/net/tun", R_OK | W_OK) != 0) return "skip: no /dev/net/tun";
  const ScratchDirectory scratch;
  DpdkOptions options;
  options.fabric = "args";
  options.eal_arguments = "--vdev=net_tap0,iface=dtap0 --no-huge --no-shconf -m 96";
  options.job_directory = scratch.path();
  auto device = bring_up_dpdk(options);
  if (!device) return device.sentence();
  DpdkPort& port = (*device)->port();
  if (system("ip link set dtap0 up") != 0) return "skip: iproute2 is not installed";
  const int fd = packet_socket("dtap0");
  if (fd < 0) return "no packet socket";
  for (uint32_t bytes : {60u, 61u, 200u, 1000u, 1514u}) {
    if (bytes > port.facts().frame_bytes_max) break;
    const std::vector<std::byte> frame = make_frame(bytes);
    if (send(fd, frame.data(), frame.size(), 0) != static_cast<ssize_t>(bytes))
      return "the kernel does not send";
    if (std::string wrong = expect_on_port(port, frame); !wrong.empty()) return "in: " + wrong;
    const TxFrame out{frame.data(), 60, bytes - 60, frame.data() + 60, 0};
    if (port.tx(0, {&out, 1}) != 1) return "the port does not send";
    std::vector<std::byte> got(16384);
    pollfd waiting{fd, POLLIN, 0};
    if (poll(&waiting, 1, 2000) != 1) return "out: never came";
    const ssize_t length = recv(fd, got.data(), got.size(), 0);
    got.resize(static_cast<size_t>(length));
    if (got != frame) return "out: a wrong frame of " + std::to_string(length) + " bytes";
  }
  close(fd);
  return "";
}

TEST(PortTap, FramesPassBetweenThePortAndTheKernel) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root to make a tap interface";
  const auto said = run_processes(1, 30, [](uint32_t, Meeting&) { return tap_both_ways(); });
  if (said[0].starts_with("skip: ")) GTEST_SKIP() << said[0].substr(6);
  EXPECT_EQ(said[0], "");
}

}  // namespace
}  // namespace pinwire
