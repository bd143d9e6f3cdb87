// An isolated port on an interface that the kernel goes on using: net_tap with `remote=` makes its
// flow rules of the kernel's own (cls_flower), which a kernel must have. Two namespaces, joined by
// a veth pair.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "tests/unit/driver/dpdk/namespaces.h"
#include "tests/unit/driver/dpdk/node.h"

namespace pinwire {
namespace {

constexpr uint16_t kTcpPort = 7000, kKernelsUdpPort = 7001;
constexpr int kKernelPatienceMs = 20'000;

sockaddr_in address_of(uint32_t rank, uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(0xc0000201 + rank);  // 192.0.2.1 and on
  return address;
}

/// net_tap's signal, which comes with each of its frames, interrupts poll(2).
bool becomes_readable(int fd, int timeout_ms) {
  pollfd waiting{fd, POLLIN, 0};
  int ready = -1;
  const double begin = monotonic_s();
  do ready = poll(&waiting, 1, timeout_ms);
  while (ready < 0 && errno == EINTR && (monotonic_s() - begin) * 1000 < kKernelPatienceMs);
  return ready == 1;
}

/// A socket of this namespace's kernel, which receives at `port`.
class KernelSocket {
 public:
  KernelSocket(int type, uint32_t rank, uint16_t port)
      : fd_(socket(AF_INET, type | SOCK_CLOEXEC, 0)) {
    const sockaddr_in here = address_of(rank, port);
    is_good_ = bind(fd_, reinterpret_cast<const sockaddr*>(&here), sizeof here) == 0 &&
               (type != SOCK_STREAM || listen(fd_, 1) == 0);
  }
  ~KernelSocket() { close(fd_); }
  KernelSocket(const KernelSocket&) = delete;
  KernelSocket& operator=(const KernelSocket&) = delete;
  bool is_good() const { return is_good_; }
  int fd() const { return fd_; }
  bool is_readable(int timeout_ms) const { return becomes_readable(fd_, timeout_ms); }

 private:
  int fd_;
  bool is_good_;
};

bool send_datagram(const KernelSocket& from, uint32_t rank, uint16_t port, char word) {
  const sockaddr_in to = address_of(rank, port);
  return sendto(from.fd(), &word, 1, 0, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 1;
}

/// A TCP connection through both kernels, and a byte each way. Rank 0 listens.
std::string talk_by_tcp(uint32_t rank, Meeting& meeting) {
  const KernelSocket here(SOCK_STREAM, rank, kTcpPort);
  if (!here.is_good()) return "no TCP socket";
  if (!meeting.barrier(2)) return "alone";
  int fd = -1;
  if (rank == 0) {
    if (!here.is_readable(kKernelPatienceMs)) return "nobody connects through the kernel";
    fd = accept4(here.fd(), nullptr, nullptr, SOCK_CLOEXEC);
  } else {
    fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const sockaddr_in to = address_of(0, kTcpPort);
    if (connect(fd, reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0)
      return "no TCP connection through the kernel";
  }
  char word = static_cast<char>('a' + rank);
  bool passed = write(fd, &word, 1) == 1;
  passed = passed && becomes_readable(fd, kKernelPatienceMs) && read(fd, &word, 1) == 1 &&
           word == static_cast<char>('b' - rank);
  if (!meeting.barrier(2)) return "alone";
  close(fd);
  return passed ? "" : "TCP through the kernel stopped";
}

DpdkOptions isolated_options(uint32_t rank, const std::string& directory) {
  DpdkOptions options = options_for("args", rank, 2, directory);
  options.host_rank = 0;
  options.eal_arguments = "--vdev=net_tap0,iface=dtap0,remote=e0 --no-huge --no-shconf -m 128";
  return options;
}

std::string join_with_addresses(uint32_t rank, Meeting& meeting) {
  if (std::string wrong = join_namespaces(rank, 2, meeting); !wrong.empty()) return wrong;
  return shell("ip address add 192.0.2." + std::to_string(rank + 1) + "/24 dev e0");
}

/// The first frame of all that have come is the datagram `word` for the port.
std::string expect_only(DpdkPort& port, char word) {
  constexpr uint32_t kPayloadAt = 42;
  RxFrame got;
  for (const double begin = monotonic_s(); port.rx(0, {&got, 1}) == 0; usleep(1000))
    if (monotonic_s() - begin > kPatience) return "the port got nothing";
  const bool is_it = got.bytes > kPayloadAt && got.data[kPayloadAt] == static_cast<std::byte>(word);
  const std::string what =
      "a frame of " + std::to_string(got.bytes) + " bytes, type " +
      std::to_string(std::to_integer<int>(got.data[12]) * 256 + std::to_integer<int>(got.data[13]));
  port.release(0, {&got, 1});
  return is_it ? "" : "the port got what is the kernel's: " + what;
}

/// Rank 0 has the port; rank 1 is a host like any other.
std::string port_and_kernel(uint32_t rank, Meeting& meeting, const std::string& directory) {
  if (std::string wrong = join_with_addresses(rank, meeting); !wrong.empty()) return wrong;
  std::unique_ptr<DpdkDevice> device;
  if (rank == 0) {
    auto made = bring_up_dpdk(isolated_options(rank, directory));
    if (!made) return made.sentence();
    device = std::move(*made);
    if (!device->port().is_isolated()) return "not isolated";
  }
  const KernelSocket ours(SOCK_DGRAM, rank, kDefaultUdpPort);
  const KernelSocket kernels(SOCK_DGRAM, rank, kKernelsUdpPort);
  if (!ours.is_good() || !kernels.is_good()) return "no UDP sockets";
  if (std::string wrong = talk_by_tcp(rank, meeting); !wrong.empty()) return wrong;
  if (rank == 1) {
    if (!send_datagram(kernels, 0, kKernelsUdpPort, 'k')) return "nothing sent to the kernel";
    if (!send_datagram(kernels, 0, kDefaultUdpPort, 'p')) return "nothing sent to the port";
    return meeting.barrier(2) ? "" : "alone";
  }
  std::string wrong = expect_only(device->port(), 'p');
  if (wrong.empty() && !kernels.is_readable(kKernelPatienceMs))
    wrong = "the kernel got no datagram";
  if (wrong.empty() && ours.is_readable(0)) wrong = "the kernel got the port's datagram, too";
  return meeting.barrier(2) ? wrong : "alone";
}

/// Where it runs at all, nothing may be missing.
class BesideKernel : public testing::Test {
 protected:
  void SetUp() override {
    if (getenv("TEST_FLOWS") == nullptr)
      GTEST_SKIP() << "this kernel may have no flow rules: guest/isolation gives it one that has";
  }
  const ScratchDirectory scratch_;
};

TEST_F(BesideKernel, APortGetsItsUdpPortAndTheKernelEverythingElse) {
  const auto said = run_processes(2, 120, [this](uint32_t rank, Meeting& meeting) {
    return port_and_kernel(rank, meeting, scratch_.path());
  });
  for (const std::string& words : said) EXPECT_EQ(words, "");
}

std::string ranks_and_kernels(uint32_t rank, Meeting& meeting, Board& board,
                              const std::string& directory) {
  if (std::string wrong = join_with_addresses(rank, meeting); !wrong.empty()) return wrong;
  Node node(rank, 2, meeting, board);
  if (std::string wrong = node.start(isolated_options(rank, directory)); !wrong.empty())
    return "start: " + wrong;
  for (auto step : {&Node::all_to_all, &Node::put_and_get, &Node::settle})
    if (std::string wrong = (node.*step)(); !wrong.empty()) return wrong;
  if (std::string wrong = talk_by_tcp(rank, meeting); !wrong.empty()) return wrong;
  node.driver().close();
  return "";
}

TEST_F(BesideKernel, RanksMeetOnInterfacesThatTheirKernelsGoOnUsing) {
  const SharedBoard board;
  const auto said = run_processes(2, 240, [&](uint32_t rank, Meeting& meeting) {
    return ranks_and_kernels(rank, meeting, *board, scratch_.path());
  });
  for (const std::string& words : said) EXPECT_EQ(words, "");
}

}  // namespace
}  // namespace pinwire
