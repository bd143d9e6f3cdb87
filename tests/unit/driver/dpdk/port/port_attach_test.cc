// Memory that bodies are sent from in place: it may go away only when no device reads it any more,
// and it is copied where it cannot be mapped.
#include <gtest/gtest.h>
#include <rte_eth_ring.h>
#include <rte_ethdev.h>
#include <rte_memory.h>
#include <rte_ring.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <thread>

#include "driver/dpdk/port/port.h"
#include "tests/unit/driver/dpdk/local_port.h"

namespace pinwire {
namespace {

constexpr uint32_t kBodyBytes = 4096;
constexpr uint64_t kMappedBytes = uint64_t{1} << 16;

/// Whole pages, as a device wants them.
class Pages {
 public:
  Pages()
      : bytes_(static_cast<std::byte*>(mmap(nullptr, kMappedBytes, PROT_READ | PROT_WRITE,
                                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {}
  ~Pages() { munmap(bytes_, kMappedBytes); }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;
  std::byte* data() const { return bytes_; }

 private:
  std::byte* bytes_;
};

DpdkPortOptions in_place(DpdkPortOptions options) {
  options.body_path = BodyPath::kCpu;
  return options;
}

/// One body in place, from `pages`.
bool send_body(DpdkPort& port, const Pages& pages, uint32_t key) {
  const std::byte head[64] = {};
  const TxFrame frame{head, sizeof head, kBodyBytes, pages.data(), key};
  return port.tx(0, {&frame, 1}) == 1;
}

/// net_ring hands over the sender's own buffers: what one port sends stays referenced until the
/// other has received it. The receiver here is late, and must still find what was sent.
std::string detach_waits() {
  constexpr unsigned kFrames = 256;
  rte_ring* out = rte_ring_create("test_out", kFrames, 0, 0);
  rte_ring* in = rte_ring_create("test_in", kFrames, 0, 0);
  auto sender = ring_port("test_sender", in, out, in_place({}));
  if (!sender) return sender.sentence();
  auto receiver = ring_port("test_receiver", out, in, in_place({}));
  if (!receiver) return receiver.sentence();
  const Pages pages;
  std::memset(pages.data(), 7, kBodyBytes);
  auto key = (*sender)->attach(pages.data(), kMappedBytes);
  if (!key || *key == 0) return "not attached";
  if (!send_body(**sender, pages, *key)) return "not sent";
  if ((*sender)->counters().tx_attached_frames != 1) return "not sent in place";
  std::string wrong = "never received";
  std::thread late([&] {
    usleep(100'000);
    RxFrame got;
    if ((*receiver)->rx(0, {&got, 1}) != 1) return;
    wrong = got.bytes == 64 + kBodyBytes && got.data[64] == std::byte{7} &&
                    got.data[64 + kBodyBytes - 1] == std::byte{7}
                ? ""
                : "the memory was taken away before the device had read it";
    (*receiver)->release(0, {&got, 1});
  });
  (*sender)->detach(*key);
  std::memset(pages.data(), 0, kBodyBytes);
  late.join();
  if (wrong.empty() && (*sender)->counters().lingering_regions != 0) wrong = "not waited for";
  return wrong;
}

TEST(PortAttach, DetachWaitsUntilTheDeviceHasGivenTheBodiesBack) { with_eal(detach_waits); }

/// The wait is bounded; what lingers is neither sent from again nor taken for free.
std::string detach_gives_up() {
  DpdkPortOptions options = in_place(vdev("net_ring0", ""));
  options.detach_timeout_ms = 20;
  auto port = open_dpdk_port(options);
  if (!port) return port.sentence();
  const Pages pages;
  auto key = (*port)->attach(pages.data(), kMappedBytes);
  if (!key || *key == 0) return "not attached";
  if (!send_body(**port, pages, *key)) return "not sent";
  (*port)->detach(*key);
  if ((*port)->counters().lingering_regions != 1) return "did not say that it gave up";
  if (!send_body(**port, pages, *key)) return "not sent";
  if ((*port)->counters().tx_attached_frames != 1) return "sent in place from detached memory";
  const Pages others;
  auto other = (*port)->attach(others.data(), kMappedBytes);
  if (!other || *other == 0 || *other == *key)
    return "the place of memory that the device may still read is given away";
  (*port)->detach(*other);
  RxFrame got[2];
  if ((*port)->rx(0, got) != 2) return "frames are lost";
  (*port)->release(0, got);
  auto again = (*port)->attach(pages.data(), kMappedBytes);
  if (!again || *again != *key) return "the place of what no longer lingers is not free";
  (*port)->detach(*again);
  return (*port)->counters().lingering_regions == 1 ? "" : "gave up without a reason";
}

TEST(PortAttach, DetachGivesUpAfterAWhileAndRemembers) { with_eal(detach_gives_up); }

/// The body of the next frame comes as it was sent from `pages`.
std::string pass_body(DpdkPort& port, const Pages& pages, uint32_t key) {
  if (!send_body(port, pages, key)) return "not sent";
  RxFrame got;
  if (port.rx(0, {&got, 1}) != 1) return "not received";
  const bool whole = got.bytes == 64 + kBodyBytes && got.data[64 + 99] == std::byte{7};
  port.release(0, {&got, 1});
  return whole ? "" : "not as it was sent";
}

/// DPDK refuses a region that is not whole pages; of one that it takes, nothing stays behind.
std::string unmappable_is_copied() {
  DpdkPortOptions options = vdev("net_ring0", "");
  options.body_path = BodyPath::kMapped;
  auto port = open_dpdk_port(options);
  if (!port) return port.sentence();
  const Pages pages;
  std::memset(pages.data(), 7, kMappedBytes);
  for (uint64_t refused = 1; refused <= 2; ++refused) {
    auto key = (*port)->attach(pages.data(), kMappedBytes - 1);
    if (!key) return "the job ends: " + key.sentence();
    if (*key != 0) return "claims to have mapped it";
    if ((*port)->counters().unmapped_regions != refused) return "not counted";
    if (std::string wrong = pass_body(**port, pages, *key); !wrong.empty()) return wrong;
  }
  if ((*port)->counters().tx_attached_frames != 0) return "not copied";
  auto key = (*port)->attach(pages.data(), kMappedBytes);
  if (!key || *key == 0) return "whole pages are refused, too";
  if (*(*port)->attach(pages.data() + kMappedBytes / 2, kMappedBytes / 2) != 0)
    return "mapped twice, so that the first detach takes it from the other";
  if (std::string wrong = pass_body(**port, pages, *key); !wrong.empty()) return wrong;
  if ((*port)->counters().tx_attached_frames != 1) return "copied";
  (*port)->detach(*key);
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  if (rte_extmem_register(pages.data(), kMappedBytes, nullptr, 0, page) != 0)
    return "DPDK still knows memory that is detached";
  rte_extmem_unregister(pages.data(), kMappedBytes);
  return "";
}

TEST(PortAttach, WhatCannotBeMappedIsCopiedAndCounted) {
  testing::internal::CaptureStderr();
  with_eal(unmappable_is_copied);
  const std::string said = testing::internal::GetCapturedStderr();
  const size_t first = said.find("cannot be mapped for DMA");
  EXPECT_NE(first, std::string::npos) << said;
  EXPECT_EQ(said.find("cannot be mapped for DMA", first + 1), std::string::npos)
      << "said twice: " << said;
}

}  // namespace
}  // namespace pinwire
