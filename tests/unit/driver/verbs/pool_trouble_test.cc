// A bounded pool of connections (GASNET_QP_MAX) that cannot be: refused with a sentence; or that
// meets ranks without a bound, or that have died.
#include <cstdio>

#include "driver/verbs/lane/needs.h"
#include "tests/unit/driver/verbs/pool_hosts.h"

namespace pinwire {
namespace {

class PoolTrouble : public Pool {
 protected:
  /// Rank 0 sends to rank 1, which is dead.
  static void expect_failure_on_use(PoolHosts& hosts, const char* part) {
    for (uint32_t turns = 0; hosts.at(0).failure() == nullptr; ++turns) {
      ASSERT_LT(turns, 10 * PoolHosts::kTurnsMax);
      (void)hosts.send(0, 1);
      hosts.turn_others(1);
    }
    EXPECT_EQ(hosts.at(0).failure()->peer, 1u);
    EXPECT_NE(std::string(hosts.at(0).failure()->sentence).find(part), std::string::npos)
        << hosts.at(0).failure()->sentence;
    std::printf("%s\n", hosts.at(0).failure()->sentence);
  }
};

TEST_F(PoolTrouble, APeerThatDiesWhileItIsAskedIsGivenUpOnceItIsWanted) {
  PoolHosts hosts(3, 1, 1);
  hosts.exchange(0, 1);
  hosts.ask_for_place(0, 2, 1);
  hosts.fabric().kill("host1");
  bool is_sent = false;
  for (uint32_t turns = 0; !is_sent; ++turns) {
    ASSERT_LT(turns, PoolHosts::kTurnsMax);
    is_sent = hosts.send(0, 2);
    hosts.turn(0);
    hosts.turn(2);
  }
  EXPECT_EQ(hosts.at(0).failure(), nullptr) << "nobody wants it";
  for (uint32_t turns = 0; hosts.at(0).failure() == nullptr; ++turns) {
    ASSERT_LT(turns, 10 * PoolHosts::kTurnsMax);
    EXPECT_FALSE(hosts.send(0, 1));
    hosts.turn(0);
    hosts.turn(2);
  }
  EXPECT_EQ(hosts.at(0).failure()->peer, 1u);
  std::printf("%s\n", hosts.at(0).failure()->sentence);
}

/// Its device gives up a write that only asks whether the connection is quiet.
TEST_F(PoolTrouble, APeerThatDiesUnusedIsNoFailureUntilItIsUsed) {
  PoolHosts hosts(3, 1, 1);
  hosts.exchange(0, 1);
  hosts.fabric().kill("host1");
  const uint64_t lost = hosts.fabric().counters("host0").lost;
  bool is_sent = false;
  hosts.turn_others_until(1, [&] {
    if (!is_sent) is_sent = hosts.send(0, 2);
    return hosts.answered(0) == 2;
  });
  EXPECT_GT(hosts.fabric().counters("host0").lost, lost) << "it was not even asked";
  for (uint32_t turns = 0; turns < 2000; ++turns) hosts.turn_others(1);
  EXPECT_EQ(hosts.at(0).failure(), nullptr) << hosts.at(0).failure()->sentence;
  expect_failure_on_use(hosts, "does not answer");
}

TEST_F(PoolTrouble, AMessageBehindThatWriteFailsAsToAnyDeadPeer) {
  PoolHosts hosts(3, 1, 1);
  hosts.exchange(0, 1);
  hosts.fabric().kill("host1");
  const uint64_t posted = hosts.stat(0, "requests_posted");
  hosts.turn_others_until(1, [&] {
    EXPECT_FALSE(hosts.send(0, 2));
    return hosts.stat(0, "requests_posted") != posted;
  });
  ASSERT_TRUE(hosts.send(0, 1)) << "the lane does not know yet";
  expect_failure_on_use(hosts, "failed: transport retry counter exceeded (status 12");
}

/// Only what the lane wrote for itself may be lost without a word.
TEST_F(PoolTrouble, APutToADeadPeerFailsAsWithoutABound) {
  PoolHosts hosts(3, 1);
  hosts.exchange(0, 1);
  hosts.fabric().kill("host1");
  ASSERT_TRUE(hosts.post(0, hosts.one_sided(Op::kPut, 0, 1, 64, true)));
  for (uint32_t turns = 0; hosts.at(0).failure() == nullptr; ++turns) {
    ASSERT_LT(turns, PoolHosts::kTurnsMax);
    Recv none[1];
    hosts.at(0).recv(0, RecvFilter::kAll, none);
  }
  EXPECT_NE(std::string(hosts.at(0).failure()->sentence).find("(status 12"), std::string::npos);
}

/// Its port was down for as long as the device repeats requests.
TEST_F(PoolTrouble, APeerThatComesBackIsMetAnewAndItsLossForgotten) {
  PoolHosts hosts(3, 1);
  hosts.exchange(0, 1);
  hosts.fabric().set_port_state("host1", 1, IBV_PORT_DOWN);
  bool is_sent = false;
  for (uint32_t turns = 0; turns < 2000; ++turns) {
    if (!is_sent) is_sent = hosts.send(0, 2);
    hosts.turn_others(1);
  }
  EXPECT_TRUE(is_sent);
  EXPECT_EQ(hosts.closed(0), 0u);
  hosts.fabric().set_port_state("host1", 1, IBV_PORT_ACTIVE);
  hosts.turn_until([&] { return hosts.closed(0) == 1; });
  hosts.exchange(0, 1);
  ASSERT_EQ(hosts.at(0).failure(), nullptr) << hosts.at(0).failure()->sentence;
  hosts.fabric().fail_work("host0", IBV_WC_WR_FLUSH_ERR);
  expect_failure_on_use(hosts, "failed: Work Request Flushed Error (status 5");
}

TEST_F(PoolTrouble, OthersStayConnectedToRanksWithoutABound) {
  PoolHosts hosts(4, 1, 600, 1);
  for (uint32_t round = 0; round < 3; ++round) {
    for (Rank peer = 1; peer < 4; ++peer) {
      hosts.exchange(0, peer);
      hosts.exchange(peer, 0);
    }
  }
  hosts.exchange(1, 2);
  EXPECT_EQ(hosts.stat("connections_closed"), 0u);
  EXPECT_EQ(hosts.stat(0, "peers_over_bound"), 2u);
  EXPECT_GT(hosts.stat(0, "closings_refused"), 0u);
  EXPECT_EQ(hosts.stat("closings_refused"), hosts.stat(0, "closings_refused"));
}

/// Two of five.
TEST_F(PoolTrouble, RanksWithABoundCloseAmongThemselvesAlone) {
  PoolHosts hosts(5, 1, 600, 3);
  for (uint32_t round = 0; round < 3; ++round) {
    for (const Rank from : {1u, 2u, 3u, 4u}) hosts.exchange(0, from);
  }
  EXPECT_GT(hosts.closed(0), 0u);
  EXPECT_EQ(hosts.closed(0), hosts.closed(1) + hosts.closed(2));
  EXPECT_EQ(hosts.closed(3) + hosts.closed(4), 0u);
}

using verbs::check_bound;
using verbs::Device;

TEST(PoolNeeds, SharedReceiveQueues) {
  Device device;
  device.name = "irdma0";
  device.shares_receives = false;
  EXPECT_TRUE(check_bound(device, 0).ok()) << "no bound is wanted";
  EXPECT_EQ(
      check_bound(device, 1).sentence(),
      "irdma0 has no shared receive queues, or GASNET_USE_SRQ takes none, so that connections "
      "own the buffers of their messages and are not closed: unset GASNET_QP_MAX, or choose "
      "another device with GASNET_VERBS_DEVICE");
  device.shares_receives = true;
  EXPECT_TRUE(check_bound(device, 1).ok());
}

TEST(PoolNeeds, ConnectionsThatAreMadeOnFirstUse) {
  Device device;
  device.name = "siw0";
  device.is_iwarp = true;
  EXPECT_TRUE(check_bound(device, 0).ok()) << "no bound is wanted";
  EXPECT_EQ(check_bound(device, 1).sentence(),
            "siw0 is an iWARP device, whose connections are made at start and stay: unset "
            "GASNET_QP_MAX, or choose another device with GASNET_VERBS_DEVICE");
}

/// Opens rank 0 of three.
Status open_alone(const fake_verbs::HcaSpec& spec, uint32_t peers_max, bool shares_receives) {
  fake_verbs::Fabric fabric;
  fabric.add(spec);
  VerbsOptions options;
  options.device = spec.name;
  options.peers_max = peers_max;
  options.shares_receives = shares_receives;
  options.connects_in_polls = true;
  auto made = make_verbs_driver(options);
  if (!made) return made.error();
  const Status opened =
      (*made)->open({.rank = 0, .rank_count = 3, .job_key = 7, .network_depth = 32});
  made->reset();
  EXPECT_EQ(fabric.live(), std::vector<std::string>());
  return opened;
}

TEST_F(PoolTrouble, IsRefusedWhereTheDeviceHasNoDatagrams) {
  auto spec = fake_verbs::infiniband("plain", 1);
  spec.has_datagrams = false;
  EXPECT_TRUE(open_alone(spec, 0, true).ok());
  EXPECT_TRUE(open_alone(spec, 2, true).ok()) << "as many as there are is no bound";
  EXPECT_EQ(open_alone(spec, 1, true).sentence(),
            "plain has no datagrams, so that connections are made at start and stay: unset "
            "GASNET_QP_MAX, or choose another device with GASNET_VERBS_DEVICE");
}

TEST_F(PoolTrouble, IsRefusedWhereConnectionsOwnTheirBuffers) {
  const auto spec = fake_verbs::infiniband("owner", 1);
  EXPECT_TRUE(open_alone(spec, 0, false).ok());
  EXPECT_TRUE(open_alone(spec, 2, false).ok()) << "as many as there are is no bound";
  const Status refused = open_alone(spec, 1, false);
  EXPECT_NE(refused.sentence().find("owner has no shared receive queues, or GASNET_USE_SRQ takes"),
            std::string::npos)
      << refused.sentence();
}

}  // namespace
}  // namespace pinwire
