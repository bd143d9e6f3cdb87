#include "driver/dpdk/ip/gateway.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>

#include "nicfw/wire/arp.h"
#include "tests/support/loop_port.h"

namespace pinwire {
namespace {

constexpr PortAddress kSelf{0x0a010002, 24};
constexpr ArpStation kRouter{{2, 9, 9, 9, 9, 9}, 0x0a010001};
constexpr ArpStation kNeighbour{{2, 7, 7, 7, 7, 7}, 0x0a010007};

/// A port whose network answers the question `answered`, counted from 1, after the answer of a
/// station that nobody asked and a frame that is none.
class RoutedPort final : public Port {
 public:
  explicit RoutedPort(uint32_t answered) : answered_(answered) {}
  uint32_t tx(uint32_t, std::span<const TxFrame> frames) noexcept override {
    std::byte answer[kArpFrameBytes];
    for (const TxFrame& frame : frames) {
      if (!make_arp_answer(frame.head, frame.head_bytes, kRouter, answer)) continue;
      ++questions_;
      say(kNeighbour);
      wire_.inject(frame.head, 20);
      if (questions_ == answered_) wire_.inject(answer, sizeof answer);
    }
    return static_cast<uint32_t>(frames.size());
  }
  uint32_t rx(uint32_t queue, std::span<RxFrame> frames) noexcept override {
    return wire_.rx(queue, frames);
  }
  void release(uint32_t queue, std::span<const RxFrame> frames) noexcept override {
    wire_.release(queue, frames);
  }
  PortFacts facts() const noexcept override { return wire_.facts(); }
  bool widen(uint32_t, RxFrame&, uint32_t) noexcept override { return false; }
  Result<uint32_t> attach(void*, uint64_t) override { return uint32_t{0}; }
  void detach(uint32_t) override {}
  int event_fd(uint32_t) const noexcept override { return -1; }
  PortArmed arm(uint32_t) noexcept override { return PortArmed::kBusy; }

  uint32_t questions() const { return questions_; }
  bool holds_nothing() const { return wire_.free_buffers() == kBuffers; }

 private:
  static constexpr uint32_t kBuffers = 16;

  /// The station asks for this port, and so tells its own address.
  void say(const ArpStation& station) {
    std::byte question[kArpFrameBytes];
    make_arp_question(question, station, kSelf.ipv4);
    wire_.inject(question, sizeof question);
  }

  LoopPort wire_{1, 1514, kBuffers};
  const uint32_t answered_;
  uint32_t questions_ = 0;
};

TEST(FindGateway, AsksUntilTheGatewayAndNobodyElseAnswers) {
  for (const uint32_t answered : {1u, 2u}) {
    RoutedPort port(answered);
    auto mac = find_gateway(port, kSelf, kRouter.ipv4, 2'000);
    ASSERT_TRUE(mac.ok()) << mac.sentence();
    EXPECT_EQ(*mac, kRouter.mac);
    EXPECT_EQ(port.questions(), answered);
    EXPECT_TRUE(port.holds_nothing());
  }
}

TEST(FindGateway, SaysThatNobodyAnswers) {
  RoutedPort port(0);
  auto mac = find_gateway(port, kSelf, kRouter.ipv4, 20);
  ASSERT_FALSE(mac.ok());
  for (const char* part : {"10.1.0.1", "10.1.0.2/24", "20 ms", "GASNET_DPDK_GATEWAY"})
    EXPECT_NE(mac.sentence().find(part), std::string::npos) << mac.sentence();
  EXPECT_TRUE(port.holds_nothing());
}

/// A UDP socket of this host's, on a port that the kernel chooses or on `port`.
class HostSocket {
 public:
  explicit HostSocket(uint16_t port = 0) : fd_(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in at = address(port);
    socklen_t bytes = sizeof at;
    is_bound_ = bind(fd_, reinterpret_cast<sockaddr*>(&at), sizeof at) == 0 &&
                getsockname(fd_, reinterpret_cast<sockaddr*>(&at), &bytes) == 0;
    port_ = ntohs(at.sin_port);
  }
  ~HostSocket() { close(fd_); }
  HostSocket(const HostSocket&) = delete;
  HostSocket& operator=(const HostSocket&) = delete;
  bool is_bound() const { return is_bound_; }
  uint16_t port() const { return port_; }
  /// 0, or why the kernel refused what was sent to `port`: nobody is there.
  int send_to(uint16_t port) const {
    const sockaddr_in to = address(port);
    char word = 1;
    if (connect(fd_, reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0) return errno;
    if (send(fd_, &word, 1, 0) != 1) return errno;
    return recv(fd_, &word, 1, MSG_DONTWAIT) < 0 && errno != EAGAIN ? errno : 0;
  }

 private:
  static sockaddr_in address(uint16_t port) {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    at.sin_port = htons(port);
    return at;
  }

  int fd_;
  bool is_bound_;
  uint16_t port_;
};

/// Bytes that wait in the kernel's socket at `port`; ~0: there is none.
uint32_t bytes_waiting(uint16_t port) {
  std::ifstream table("/proc/self/net/udp");
  for (std::string line; std::getline(table, line);) {
    unsigned at = 0, sent = 0, waiting = 0;
    if (std::sscanf(line.c_str(), " %*u: %*x:%x %*x:%*x %*x %x:%x", &at, &sent, &waiting) == 3 &&
        at == port)
      return waiting;
  }
  return ~uint32_t{0};
}

uint16_t free_port() { return HostSocket().port(); }

TEST(SilentSockets, KeepTheKernelFromAnsweringAndFillNoMemory) {
  const uint16_t port = free_port();
  ASSERT_EQ(HostSocket().send_to(port), ECONNREFUSED);
  SilentSockets silent;
  ASSERT_TRUE(silent.open(INADDR_LOOPBACK, port, 1).ok());
  EXPECT_EQ(HostSocket().send_to(port), 0);
  EXPECT_EQ(bytes_waiting(port), 0u);
}

TEST(SilentSockets, SayThatAnotherProgramHasThePort) {
  const HostSocket other;
  ASSERT_TRUE(other.is_bound());
  SilentSockets silent;
  const Status opened = silent.open(INADDR_LOOPBACK, other.port(), 1);
  ASSERT_FALSE(opened.ok());
  EXPECT_NE(opened.sentence().find(std::to_string(other.port()) + " of 127.0.0.1"),
            std::string::npos)
      << opened.sentence();
  EXPECT_NE(opened.sentence().find("GASNET_DPDK_UDP_PORT"), std::string::npos);
}

TEST(SilentSockets, AreNotThereForAnAddressThatTheKernelDoesNotHave) {
  const uint16_t port = free_port();
  SilentSockets silent;
  EXPECT_TRUE(silent.open(0xc0000263, port, 4).ok()) << "192.0.2.99 of RFC 5737";
  EXPECT_EQ(bytes_waiting(port), ~uint32_t{0});
}

}  // namespace
}  // namespace pinwire
