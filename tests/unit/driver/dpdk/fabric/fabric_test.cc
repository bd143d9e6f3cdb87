#include "driver/dpdk/fabric/fabric.h"

#include <gtest/gtest.h>

namespace pinwire {
namespace {

FabricRequest request_of(Fabric fabric, uint32_t rank, uint32_t ranks) {
  FabricRequest request;
  request.fabric = fabric;
  request.rank = request.host_rank = rank;
  request.rank_count = request.host_rank_count = ranks;
  request.job_directory = "/run/job";
  return request;
}

bool mentions(const std::string& text, const char* words) {
  return text.find(words) != std::string::npos;
}

TEST(Fabric, NamesGoBothWays) {
  for (const char* name : {"auto", "args", "pair", "memif", "switch", "af_packet", "pci"}) {
    EXPECT_STREQ(fabric_name(*fabric_from_name(name)), name);
  }
  const auto unknown = fabric_from_name("ether");
  ASSERT_FALSE(unknown.ok());
  EXPECT_TRUE(mentions(unknown.sentence(), "GASNET_DPDK_FABRIC=ether"));
}

TEST(Fabric, PairIsVhostForRankZeroAndVirtioUserForRankOne) {
  const FabricPlan first = *plan_fabric(request_of(Fabric::kPair, 0, 2));
  EXPECT_EQ(first.device, "net_vhost0");
  EXPECT_EQ(first.device_arguments, "iface=/run/job/pair.sock,queues=1");
  FabricRequest request = request_of(Fabric::kPair, 1, 2);
  request.queues = 4;
  const FabricPlan second = *plan_fabric(request);
  EXPECT_EQ(second.device, "net_virtio_user0");
  EXPECT_EQ(
      second.device_arguments,
      "path=/run/job/pair.sock,mac=02:50:00:00:00:01,packed_vq=1,queue_size=256,queues=4,cq=1");
  EXPECT_EQ(second.mac, (MacAddress{2, 0x50, 0, 0, 0, 1}));
}

TEST(Fabric, TextsThatDpdkWouldCutGetASentence) {
  for (const char letter : {',', ' ', '[', ']', '"', '\'', '\\', '\n', '\x7f'}) {
    for (const Fabric fabric : {Fabric::kPair, Fabric::kMemif, Fabric::kSwitch}) {
      FabricRequest request = request_of(fabric, 0, 2);
      request.job_directory += letter;
      const auto plan = plan_fabric(request);
      ASSERT_FALSE(plan.ok()) << letter;
      EXPECT_TRUE(mentions(plan.sentence(), "GASNET_TMPDIR")) << plan.sentence();
    }
    FabricRequest request = request_of(Fabric::kAfPacket, 0, 2);
    request.interface = std::string("eth") + letter;
    const auto plan = plan_fabric(request);
    ASSERT_FALSE(plan.ok()) << letter;
    EXPECT_TRUE(mentions(plan.sentence(), "GASNET_DPDK_IFACE")) << plan.sentence();
  }
  FabricRequest pci = request_of(Fabric::kPci, 0, 1);
  pci.pci = {"0000:17:00.0\n"};
  EXPECT_TRUE(mentions(plan_fabric(pci).sentence(), "GASNET_DPDK_PCI"));
  FabricRequest request = request_of(Fabric::kPair, 0, 2);
  request.job_directory = "/run/a=b;c@d~\xc3\xa4";
  EXPECT_TRUE(plan_fabric(request).ok());
}

TEST(Fabric, SocketsWithLongerPathsThanTheyMayHaveGetASentence) {
  for (const Fabric fabric : {Fabric::kPair, Fabric::kMemif, Fabric::kSwitch}) {
    FabricRequest request = request_of(fabric, 0, 2);
    const size_t name_bytes = fabric_socket(fabric, "").size();
    request.job_directory = "/" + std::string(106 - name_bytes, 'd');
    EXPECT_TRUE(plan_fabric(request).ok()) << fabric_name(fabric);
    request.job_directory += 'd';
    EXPECT_TRUE(
        mentions(plan_fabric(request).sentence(), "108 bytes, 1 more than a Unix socket's"));
  }
}

TEST(Fabric, MemifBuffersHoldTheLargestFrame) {
  FabricRequest request = request_of(Fabric::kMemif, 0, 2);
  request.frame_bytes = 9014;
  const FabricPlan server = *plan_fabric(request);
  EXPECT_TRUE(mentions(server.device_arguments, "role=server"));
  EXPECT_TRUE(mentions(server.device_arguments, "bsize=9030"));
  EXPECT_TRUE(mentions(server.device_arguments, "rsize=8"));
  EXPECT_TRUE(
      mentions((*plan_fabric(request_of(Fabric::kMemif, 1, 2))).device_arguments, "role=client"));
}

TEST(Fabric, SwitchGivesEachRankItsPort) {
  const FabricPlan plan = *plan_fabric(request_of(Fabric::kSwitch, 6, 8));
  EXPECT_TRUE(mentions(plan.device_arguments, "path=/run/job/sw_6.sock"));
  EXPECT_TRUE(mentions(plan.device_arguments, "mac=02:50:00:00:00:06"));
}

TEST(Fabric, NoSwitchIsLookedForInADirectoryThatTheRanksMade) {
  FabricRequest request = request_of(Fabric::kAuto, 2, 3);
  request.is_directory_of_ranks = true;
  EXPECT_TRUE(mentions(plan_fabric(request).sentence(), "pinwire_switch --ports 3 --dir DIR"));
  request.rank = 1;
  request.rank_count = request.host_rank_count = 2;
  EXPECT_TRUE(plan_fabric(request).ok()) << "a pair";
}

TEST(Fabric, ThreeMeetInsideAHost) {
  for (const Fabric fabric : {Fabric::kPair, Fabric::kMemif, Fabric::kSwitch})
    EXPECT_TRUE(is_inside_host(fabric)) << fabric_name(fabric);
  for (const Fabric fabric : {Fabric::kArgs, Fabric::kAfPacket, Fabric::kPci})
    EXPECT_FALSE(is_inside_host(fabric)) << fabric_name(fabric);
}

TEST(Fabric, AutoChoosesByWhatIsThere) {
  EXPECT_EQ((*plan_fabric(request_of(Fabric::kAuto, 0, 2))).fabric, Fabric::kPair);
  EXPECT_EQ((*plan_fabric(request_of(Fabric::kAuto, 0, 3))).fabric, Fabric::kSwitch);
  FabricRequest request = request_of(Fabric::kAuto, 0, 2);
  request.interface = "e0";
  EXPECT_EQ((*plan_fabric(request)).fabric, Fabric::kAfPacket);
  request.pci = {"0000:17:00.0", "0000:17:00.1"};
  EXPECT_EQ((*plan_fabric(request)).fabric, Fabric::kPci);
  request.eal_names_device = true;
  EXPECT_EQ((*plan_fabric(request)).fabric, Fabric::kArgs);
}

TEST(Fabric, PciRanksTakeThePortThatTheyAreToldAndMustNotShare) {
  FabricRequest request = request_of(Fabric::kPci, 0, 2);
  request.pci = {"0000:17:00.0", "0000:17:00.1"};
  request.pci_index = 1;
  const FabricPlan plan = *plan_fabric(request);
  EXPECT_EQ(plan.device, "0000:17:00.1");
  EXPECT_EQ(plan.eal_words, (std::vector<std::string>{"-a", "0000:17:00.1"}));
  EXPECT_TRUE(plan.physical);
  request.host_rank_count = 3;
  EXPECT_TRUE(mentions(plan_fabric(request).sentence(), "share"));
}

TEST(Fabric, AfPacketSlotsHoldTheLargestFrame) {
  FabricRequest request = request_of(Fabric::kAfPacket, 0, 4);
  request.interface = "e0";
  EXPECT_EQ((*plan_fabric(request)).device_arguments,
            "iface=e0,framesz=9216,blocksz=36864,framecnt=256");
}

TEST(Fabric, SaysWhatIsMissing) {
  EXPECT_TRUE(mentions(plan_fabric(request_of(Fabric::kPair, 0, 3)).sentence(), "exactly 2 ranks"));
  EXPECT_TRUE(
      mentions(plan_fabric(request_of(Fabric::kAfPacket, 0, 2)).sentence(), "GASNET_DPDK_IFACE"));
  EXPECT_TRUE(mentions(plan_fabric(request_of(Fabric::kPci, 0, 2)).sentence(), "GASNET_DPDK_PCI"));
  FabricRequest request = request_of(Fabric::kSwitch, 0, 4);
  request.host_rank_count = 2;
  EXPECT_TRUE(mentions(plan_fabric(request).sentence(), "2 of 4 ranks run elsewhere"));
  request = request_of(Fabric::kPair, 0, 2);
  request.job_directory.clear();
  EXPECT_TRUE(mentions(plan_fabric(request).sentence(), "GASNET_JOB_DIR"));
  request.no_directory_reason = "no room on /tmp";
  EXPECT_TRUE(mentions(plan_fabric(request).sentence(), "no room on /tmp"));
}

}  // namespace
}  // namespace pinwire
