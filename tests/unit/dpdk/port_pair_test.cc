// Two processes, one port each: frames of all sizes arrive whole, both ways.
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mman.h>

#include <chrono>
#include <cstring>

#include "driver/dpdk/bring_up.h"
#include "tests/unit/dpdk/two_processes.h"

namespace pinwire {
namespace {

constexpr uint32_t kHeadBytes = 64;
constexpr uint16_t kEtherType = 0xb588;  // 0x88b5, local experimental, in wire order
const std::vector<uint32_t> kSizes = {64, 65, 128, 777, 1514, 2048, 4096, 8999, 9014};

double now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::byte pattern(uint32_t seed, uint32_t at) {
  return static_cast<std::byte>((seed * 131 + at * 7 + (at >> 8)) & 0xff);
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

DpdkOptions options_for(const char* fabric, uint32_t rank, uint32_t ranks,
                        const std::string& directory) {
  DpdkOptions options;
  options.fabric = fabric;
  options.rank = options.host_rank = rank;
  options.rank_count = options.host_rank_count = ranks;
  options.job_directory = directory;
  return options;
}

/// One side of an exchange: sends `count` numbered frames, checks as many from the peer.
struct Exchange {
  DpdkPort& port;
  uint32_t count;
  uint32_t frame_bytes_max;
  bool attach = false;
  bool may_lose = false;
  std::vector<std::byte> bodies = std::vector<std::byte>(65536);
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
    const double begin = now_s();
    while (sent < count || seen < count) {
      if (sent < count && sent <= seen) send_next();
      if (std::string wrong = receive(); !wrong.empty()) return wrong;
      if (now_s() - begin > 20)
        return "stuck: sent " + std::to_string(sent) + ", seen " + std::to_string(seen);
    }
    return "";
  }
};

std::string exchange_over(const char* fabric, uint32_t rank, const std::string& directory,
                          Meeting& meeting) {
  auto device = bring_up_dpdk(options_for(fabric, rank, 2, directory));
  if (!device) return device.sentence();
  DpdkPort& port = (*device)->port();
  if (port.facts().frame_bytes_max < 9014) return "no jumbo frames";
  if (!meeting.barrier(2)) return "the peer did not come up";
  Exchange exchange{.port = port, .count = 2000, .frame_bytes_max = port.facts().frame_bytes_max};
  std::string wrong = exchange.run();
  const bool met = meeting.barrier(2);
  if (wrong.empty() && !met) wrong = "the peer did not finish";
  const DpdkPortCounters counters = port.counters();
  if (wrong.empty() &&
      counters.rx_joined_frames + counters.rx_realigned_frames + counters.rx_dropped_frames != 0) {
    wrong = "frames were chained, misaligned or dropped";
  }
  return wrong;
}

TEST(PortPair, VhostAndVirtioUserCarryAllSizesBothWays) {
  const ScratchDirectory scratch;
  const auto said = run_processes(2, 60, [&](uint32_t rank, Meeting& meeting) {
    return exchange_over("pair", rank, scratch.path(), meeting);
  });
  EXPECT_EQ(said[0], "");
  EXPECT_EQ(said[1], "");
  EXPECT_EQ(scratch.entries(), std::vector<std::string>{});
}

TEST(PortPair, MemifCarriesAllSizesBothWays) {
  const ScratchDirectory scratch;
  const auto said = run_processes(2, 60, [&](uint32_t rank, Meeting& meeting) {
    return exchange_over("memif", rank, scratch.path(), meeting);
  });
  EXPECT_EQ(said[0], "");
  EXPECT_EQ(said[1], "");
  EXPECT_EQ(scratch.entries(), std::vector<std::string>{});
}

}  // namespace
}  // namespace pinwire
