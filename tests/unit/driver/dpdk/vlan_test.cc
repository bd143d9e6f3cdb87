// Ports of a VLAN: frames are tagged on the wire, others' frames are not ours.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>

#include "tests/unit/driver/dpdk/local_port.h"
#include "tests/unit/driver/dpdk/namespaces.h"
#include "tests/unit/driver/dpdk/node.h"

namespace pinwire {
namespace {

constexpr uint32_t kTaggedHeadBytes = 42, kTaggedBodyBytes = 3000;

std::vector<std::byte> counted(uint32_t bytes, uint32_t from) {
  std::vector<std::byte> all(bytes);
  for (uint32_t i = 0; i < bytes; ++i) all[i] = static_cast<std::byte>(from + i);
  return all;
}

/// One frame with the tag `tci` to a port of `vlan`; what is wrong with how it comes.
std::string pass_frame(uint16_t vlan, uint16_t tci = 5) {
  constexpr unsigned kFrames = 256;
  rte_ring* out = rte_ring_create("test_out", kFrames, 0, 0);
  rte_ring* in = rte_ring_create("test_in", kFrames, 0, 0);
  auto sender = ring_port("test_sender", in, out, {.vlan = tci});
  if (!sender) return sender.sentence();
  auto receiver = ring_port("test_receiver", out, in, {.vlan = vlan});
  if (!receiver) return receiver.sentence();
  const auto head = counted(kTaggedHeadBytes, 1), body = counted(kTaggedBodyBytes, 77);
  const TxFrame frame{head.data(), kTaggedHeadBytes, kTaggedBodyBytes, body.data(), 0};
  if ((*sender)->tx(0, {&frame, 1}) != 1) return "not sent";
  RxFrame got;
  const bool came = (*receiver)->rx(0, {&got, 1}) == 1;
  if (vlan == 6) {
    if (came) return "another VLAN's frame came through";
    return (*receiver)->counters().rx_other_vlan_frames == 1 ? "" : "not counted";
  }
  if (!came) return "never came";
  const uint32_t tag = vlan == 0 ? 4 : 0;
  const std::byte kTag[] = {std::byte{0x81}, std::byte{0}, std::byte{0}, std::byte{5}};
  const bool right =
      got.bytes == kTaggedHeadBytes + kTaggedBodyBytes + tag &&
      std::memcmp(got.data, head.data(), 12) == 0 && std::memcmp(got.data + 12, kTag, tag) == 0 &&
      std::memcmp(got.data + 12 + tag, head.data() + 12, kTaggedHeadBytes - 12) == 0 &&
      std::memcmp(got.data + kTaggedHeadBytes + tag, body.data(), kTaggedBodyBytes) == 0;
  const bool is_aligned = reinterpret_cast<uintptr_t>(got.data) % 16 == 0;
  (*receiver)->release(0, {&got, 1});
  if (!is_aligned) return "not aligned";
  return right ? "" : "not as it was sent";
}

TEST(Vlan, FramesAreTaggedOnTheWire) {
  with_eal([] { return pass_frame(0); });
}
TEST(Vlan, TheTagIsGoneAndTheDataAlignedWhereTheyArrive) {
  with_eal([] { return pass_frame(5); });
}
TEST(Vlan, FramesOfAnotherVlanAreDroppedAndCounted) {
  with_eal([] { return pass_frame(6); });
}

/// A switch may set the priority bits beside the VLAN's number.
TEST(Vlan, FramesOfAnyPriorityArrive) {
  with_eal([] { return pass_frame(5, 0x6005); });
}

TEST(Vlan, TheTagTakesFourBytesOfTheLongestFrame) {
  with_eal([]() -> std::string {
    uint32_t longest[2];
    for (const uint16_t vlan : {uint16_t{0}, uint16_t{5}}) {
      DpdkPortOptions options = vdev("net_ring0", "");
      options.frame_bytes = UINT32_MAX;
      options.vlan = vlan;
      auto port = open_dpdk_port(options);
      if (!port) return port.sentence();
      longest[vlan != 0] = (*port)->facts().frame_bytes_max;
    }
    return longest[1] + 4 == longest[0] ? "" : "not four bytes less";
  });
}

TEST(Vlan, RanksInTwoNamespacesMeetInTheirVlan) {
  const ScratchDirectory scratch;
  const SharedBoard board;
  const auto said = run_processes(2, 120, [&](uint32_t rank, Meeting& meeting) -> std::string {
    if (std::string wrong = join_namespaces(rank, 2, meeting); !wrong.empty()) return wrong;
    DpdkOptions options = packet_options(rank, scratch.path());
    options.vlan = 5;
    return run_rank(options, meeting, *board);
  });
  EXPECT_ALL_CONTENT(said);
}

}  // namespace
}  // namespace pinwire
