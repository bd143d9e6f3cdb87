// Two processes, one port each: frames of all sizes arrive whole, both ways.
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "core/base/clock.h"
#include "driver/dpdk/bring_up.h"
#include "driver/dpdk/eal/huge_pages.h"
#include "tests/support/byte_pattern.h"
#include "tests/unit/driver/dpdk/options.h"
#include "tests/unit/driver/dpdk/two_processes.h"

namespace pinwire {
namespace {

constexpr uint32_t kHeadBytes = 64;
constexpr uint16_t kEtherType = 0xb588;  // 0x88b5, local experimental, in wire order
constexpr double kPatienceS = 60;
const std::vector<uint32_t> kSizes = {64, 65, 128, 777, 1514, 2048, 4096, 8999, 9014};

std::byte pattern(uint32_t seed, uint32_t at) {
  return static_cast<std::byte>(byte_of_pattern(seed, at));
}

struct Head {
  uint8_t to[6];
  uint8_t from[6];
  uint16_t type;
  uint16_t length;
  uint32_t number;
  std::byte filler[kHeadBytes - 20];
};
static_assert(sizeof(Head) == kHeadBytes);

/// Whole pages, as mapping for DMA wants; huge where some are free: QEMU's vmxnet3 sends a body
/// only from physically contiguous memory.
class Bodies {
 public:
  Bodies() {
    constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE;
    bytes_ = mmap(nullptr, kMapped, PROT_READ | PROT_WRITE, kFlags | MAP_HUGETLB, -1, 0);
    if (bytes_ == MAP_FAILED)
      bytes_ = mmap(nullptr, kMapped, PROT_READ | PROT_WRITE, kFlags, -1, 0);
  }
  ~Bodies() { munmap(bytes_, kMapped); }
  Bodies(const Bodies&) = delete;
  Bodies& operator=(const Bodies&) = delete;
  std::byte* data() const { return static_cast<std::byte*>(bytes_); }
  size_t size() const { return 65536; }
  std::byte& operator[](size_t at) { return data()[at]; }

 private:
  static constexpr size_t kMapped = size_t{2} << 20;
  void* bytes_;
};

/// One side of an exchange: sends `count` numbered frames, checks as many from the peer.
struct Exchange {
  DpdkPort& port;
  uint32_t count;
  uint32_t frame_bytes_max;
  bool attach = false;
  bool may_lose = false;
  Bodies bodies;
  uint32_t key = 0;
  uint32_t sent = 0;
  uint32_t seen = 0;

  uint32_t size_of(uint32_t number) const {
    return std::min(kSizes[number % kSizes.size()], frame_bytes_max);
  }

  bool send_next() {
    const uint32_t bytes = size_of(sent);
    Head head{};
    std::memset(head.to, 0xff, 6);
    std::memcpy(head.from, port.facts().mac.data(), 6);
    head.type = kEtherType;
    head.length = static_cast<uint16_t>(bytes);
    head.number = sent;
    for (uint32_t i = 0; i < bytes - kHeadBytes; ++i)
      bodies[(sent % 4) * 16384 + i] = pattern(sent, i);
    const TxFrame frame{reinterpret_cast<std::byte*>(&head), kHeadBytes, bytes - kHeadBytes,
                        bodies.data() + (sent % 4) * 16384, key};
    if (port.tx(0, {&frame, 1}) == 0) return false;
    ++sent;
    return true;
  }

  std::string check_frame(const RxFrame& frame) {
    const auto* head = reinterpret_cast<const Head*>(frame.data);
    if (frame.bytes < kHeadBytes || head->type != kEtherType)
      return "";  // the kernel's own chatter
    if (reinterpret_cast<uintptr_t>(frame.data) % 16 != 0) return "data is not 16-byte aligned";
    if (!may_lose && head->number != seen)
      return "expected frame " + std::to_string(seen) + ", got " + std::to_string(head->number);
    if (frame.bytes != head->length)
      return "length " + std::to_string(frame.bytes) + " of " + std::to_string(head->length);
    for (uint32_t i = 0; i < frame.bytes - kHeadBytes; ++i) {
      if (frame.data[kHeadBytes + i] != pattern(head->number, i))
        return "byte " + std::to_string(i) + " of frame " + std::to_string(head->number);
    }
    seen = head->number + 1;
    return "";
  }

  std::string receive() {
    RxFrame frames[8];
    const uint32_t got = port.rx(0, frames);
    std::string wrong;
    for (uint32_t i = 0; i < got && wrong.empty(); ++i) wrong = check_frame(frames[i]);
    port.release(0, {frames, got});
    if (got == 0) sched_yield();
    return wrong;
  }

  /// In step with the peer, so that bodies (4 slots) stay unchanged until they were read.
  std::string run() {
    const double begin = monotonic_s();
    while (sent < count || seen < count) {
      if (sent < count && sent <= seen) send_next();
      if (std::string wrong = receive(); !wrong.empty()) return wrong;
      if (monotonic_s() - begin > kPatienceS)
        return "stuck: sent " + std::to_string(sent) + ", seen " + std::to_string(seen);
    }
    return "";
  }
};

/// Counters prove what facts() claims: large attached bodies in place, or all copied.
std::string check_copies(DpdkPort& port, const DpdkPortCounters& counters, uint32_t count) {
  uint64_t large_frames = 0, large_bytes = 0, small_bytes = 0;
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t body = kSizes[i % kSizes.size()] - kHeadBytes;
    if (body > DpdkPortOptions{}.copy_bytes_max) {
      ++large_frames;
      large_bytes += body;
    } else {
      small_bytes += body;
    }
  }
  const bool in_place = port.facts().zero_copy_tx;
  if (counters.tx_attached_frames != (in_place ? large_frames : 0))
    return "attached frames miscounted";
  if (counters.tx_attached_bytes != (in_place ? large_bytes : 0))
    return "attached bytes miscounted";
  if (counters.tx_copied_body_bytes != small_bytes + (in_place ? 0 : large_bytes))
    return "copied bytes miscounted";
  return "";
}

/// A frame that is sent on queue q comes out of the peer's queue q and no other.
std::string queues_are_paired(DpdkPort& port) {
  const uint32_t queues = port.facts().queues;
  uint32_t sent = 0, seen = 0;
  const double begin = monotonic_s();
  while (sent < 300 || seen < 300) {
    Head head{};
    std::memset(head.to, 0xff, 6);
    head.type = kEtherType;
    head.number = sent;
    const TxFrame frame{reinterpret_cast<std::byte*>(&head), kHeadBytes, 0, nullptr, 0};
    if (sent < 300 && sent <= seen) sent += port.tx(sent % queues, {&frame, 1});
    for (uint32_t q = 0; q < queues; ++q) {
      RxFrame got;
      if (port.rx(q, {&got, 1}) == 0) continue;
      const uint32_t number = reinterpret_cast<const Head*>(got.data)->number;
      port.release(q, {&got, 1});
      if (number % queues != q)
        return "frame " + std::to_string(number) + " on queue " + std::to_string(q);
      ++seen;
    }
    sched_yield();
    if (monotonic_s() - begin > kPatienceS) return "stuck";
  }
  return "";
}

/// Each rank in a network namespace of its own that dies with it, joined by a veth pair called e0
/// at both ends.
std::string join_by_veth(uint32_t rank, Meeting& meeting) {
  if (unshare(CLONE_NEWNET) != 0) return "skip: no network namespaces here";
  if (FILE* off = fopen("/proc/sys/net/ipv6/conf/all/disable_ipv6", "we")) {
    fputs("1", off);
    fclose(off);
  }
  std::atomic_ref<uint64_t>(meeting.words[rank]).store(static_cast<uint64_t>(getpid()));
  if (!meeting.barrier(2)) return "alone";
  int failed = 0;
  if (rank == 0) {
    const std::string peer = std::to_string(meeting.words[1]);
    failed = system(
        ("ip link add e0 mtu 9000 type veth peer name e0 mtu 9000 netns " + peer + " 2>/dev/null")
            .c_str());
    std::atomic_ref<uint64_t>(meeting.words[2]).store(failed != 0);
  }
  if (!meeting.barrier(2)) return "alone";
  if (meeting.words[2] != 0) return "skip: cannot make a veth pair (is iproute2 installed?)";
  if (system("ip link set e0 up") != 0) return "cannot set e0 up";
  return meeting.barrier(2) ? "" : "alone";
}

std::string exchange_over(const DpdkOptions& options, Meeting& meeting, bool attach = false,
                          uint32_t frame_bytes_least = 9014, uint32_t count = 2000) {
  auto device = bring_up_dpdk(options);
  if (!device) return device.sentence();
  DpdkPort& port = (*device)->port();
  if (port.facts().frame_bytes_max < frame_bytes_least)
    return "no jumbo frames: " + (*device)->description();
  if (!meeting.barrier(2)) return "the peer did not come up";
  Exchange exchange{.port = port, .count = count, .frame_bytes_max = port.facts().frame_bytes_max};
  if (attach) {
    auto key = port.attach(exchange.bodies.data(), exchange.bodies.size());
    if (!key) return key.sentence();
    if ((*key != 0) != port.facts().zero_copy_tx) return "attach and facts disagree";
    exchange.key = *key;
  }
  std::string wrong = exchange.run();
  if (exchange.key != 0) port.detach(exchange.key);
  const bool met = meeting.barrier(2);
  if (wrong.empty() && !met) wrong = "the peer did not finish";
  const DpdkPortCounters counters = port.counters();
  if (wrong.empty() &&
      counters.rx_joined_frames + counters.rx_realigned_frames + counters.rx_dropped_frames != 0) {
    wrong = "frames were chained, misaligned or dropped";
  }
  if (wrong.empty() && attach) wrong = check_copies(port, counters, count);
  return wrong;
}

void run_pair(const char* fabric, const std::function<void(DpdkOptions&)>& change = {},
              bool attach = false) {
  const ScratchDirectory scratch;
  const auto said = run_processes(2, 60, [&](uint32_t rank, Meeting& meeting) {
    DpdkOptions options = options_for(fabric, rank, 2, scratch.path());
    if (change) change(options);
    return exchange_over(options, meeting, attach);
  });
  EXPECT_EQ(said[0], "");
  EXPECT_EQ(said[1], "");
  EXPECT_EQ(scratch.entries(), std::vector<std::string>{});
}

TEST(PortPair, VhostAndVirtioUserCarryAllSizesBothWays) { run_pair("pair"); }

TEST(PortPair, MemifCarriesAllSizesBothWays) { run_pair("memif"); }

TEST(PortPair, VhostSendsAttachedBodiesInPlaceAndVirtioUserCopies) { run_pair("pair", {}, true); }

TEST(PortPair, MemifCopiesAttachedBodies) { run_pair("memif", {}, true); }

TEST(PortPair, HugePagesWhenThereAreEnough) {
  if (huge_bytes_free() < uint64_t{200} << 20)
    GTEST_SKIP() << "less than 200 MiB of huge pages are free";
  run_pair(
      "pair", [](DpdkOptions& options) { options.huge = HugePages::kAlways; }, true);
}

TEST(PortPair, NicsCarryAllSizesBothWaysAndReadAttachedBodiesInPlace) {
  const std::vector<std::string> nics = test_nics();
  if (nics.size() < 2) GTEST_SKIP() << "no NICs here: guest/ports gives it emulated ones";
  const ScratchDirectory scratch;
  const auto said = run_processes(2, 240, [&](uint32_t rank, Meeting& meeting) {
    DpdkOptions options = options_for("pci", rank, 2, scratch.path());
    options.pci = nics;
    options.pci_index = rank;
    return exchange_over(options, meeting, true, 9014, 500);
  });
  EXPECT_EQ(said[0], "");
  EXPECT_EQ(said[1], "");
}

TEST(PortPair, QueuesArePaired) {
  const ScratchDirectory scratch;
  const auto said = run_processes(2, 60, [&](uint32_t rank, Meeting& meeting) -> std::string {
    DpdkOptions options = options_for("pair", rank, 2, scratch.path());
    options.lanes = 3;
    auto device = bring_up_dpdk(options);
    if (!device) return device.sentence();
    DpdkPort& port = (*device)->port();
    if (port.facts().queues != 3) return "not 3 queues";
    if (!meeting.barrier(2)) return "alone";
    std::string wrong = queues_are_paired(port);
    if (wrong.empty() && !meeting.barrier(2)) wrong = "alone";
    return wrong;
  });
  EXPECT_EQ(said[0], "");
  EXPECT_EQ(said[1], "");
}

TEST(PortPair, AfPacketOverVethBetweenTwoNetworkNamespaces) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root to make network namespaces";
  const ScratchDirectory scratch;
  const auto said = run_processes(2, 60, [&](uint32_t rank, Meeting& meeting) -> std::string {
    if (std::string wrong = join_by_veth(rank, meeting); !wrong.empty()) return wrong;
    DpdkOptions options = options_for("af_packet", rank, 2, scratch.path());
    options.interface = "e0";
    return exchange_over(options, meeting, false, 9014, 500);
  });
  for (const std::string& words : said) {
    if (words.starts_with("skip: ")) GTEST_SKIP() << words.substr(6);
  }
  EXPECT_EQ(said[0], "");
  EXPECT_EQ(said[1], "");
  EXPECT_EQ(scratch.entries(), std::vector<std::string>{});
}

}  // namespace
}  // namespace pinwire
