// Devices, peers and limits that fail: each gets a sentence, and nothing is left behind (the
// fixture looks).
#include <algorithm>
#include <cerrno>

#include "tests/unit/driver/verbs/two_hosts.h"

namespace pinwire {
namespace {

class Trouble : public TwoHosts {
 protected:
  void expect_failure(Rank rank, const char* part) {
    for (uint32_t turns = 0; at(rank).failure() == nullptr; ++turns) {
      ASSERT_LT(turns, kTurnsMax) << "no failure";
      turn(rank);
    }
    EXPECT_NE(std::string(at(rank).failure()->sentence).find(part), std::string::npos)
        << at(rank).failure()->sentence;
    std::printf("%s\n", at(rank).failure()->sentence);
  }
  void expect_refused(const VerbsOptions& options, const char* part) {
    auto made = make_verbs_driver(options);
    ASSERT_FALSE(made.ok()) << part;
    EXPECT_NE(made.sentence().find(part), std::string::npos) << made.sentence();
  }
};

TEST_F(Trouble, ADeadPeerIsNamedWithWhatTheDeviceSays) {
  connect();
  fabric_.kill("right");
  const uint64_t value = 1;
  const Work work = put(&value, sizeof value, kNoRegion);
  ASSERT_EQ(at(0).post(0, {&work, 1}), 1u);
  expect_failure(0, "to rank 1 failed");
  expect_failure(0, "does not answer");
  ASSERT_EQ(done_.size(), 1u);
  EXPECT_EQ(done_[0].status, WorkStatus::kUnreachable);
  EXPECT_EQ(at(0).failure()->peer, 1u);
}

TEST_F(Trouble, ASilentMessageToADeadPeerFailsTooThoughNobodyWaitsForIt) {
  connect();
  fabric_.kill("right");
  const Work work = message(MessageClass::kRequest);
  ASSERT_EQ(at(0).post(0, {&work, 1}), 1u);
  expect_failure(0, "to rank 1 failed");
}

TEST_F(Trouble, AllSignalledWorkComesBackAfterADeath) {
  connect();
  fabric_.kill("right");
  std::vector<Work> works;
  uint64_t value = 1;
  for (int i = 0; i < 20; ++i) works.push_back(put(&value, sizeof value, kNoRegion));
  ASSERT_EQ(at(0).post(0, works), 20u);
  for (uint32_t turns = 0; done_.size() < 20; ++turns) {
    ASSERT_LT(turns, kTurnsMax) << done_.size();
    turn(0);
  }
  for (const Done& done : done_) EXPECT_NE(done.status, WorkStatus::kOk);
}

TEST_F(Trouble, AnAccessThatThePeerRefuses) {
  connect();
  const uint64_t value = 1;
  Work work = put(&value, sizeof value, kNoRegion);
  work.remote_key ^= 0x55;
  ASSERT_EQ(at(0).post(0, {&work, 1}), 1u);
  expect_failure(0, "outside what it has pinned, or mapped");
  ASSERT_EQ(done_.size(), 1u);
  EXPECT_EQ(done_[0].status, WorkStatus::kRemoteAccess);
}

/// For 65 us: 4 times 2 attempts of 8 us each.
TEST_F(Trouble, APortThatStaysDownForLongerThanRequestsAreRepeated) {
  VerbsOptions impatient = options_of(0);
  impatient.timeout = impatient.retry_count = 1;
  connect(impatient);
  fabric_.set_port_state("left", 1, IBV_PORT_DOWN);
  expect_failure(0, "left port 1 is DOWN: the port went down");
}

TEST_F(Trouble, ALinkThatFlapsForLessThanRequestsAreRepeatedIsNoFailure) {
  connect();
  for (uint64_t round = 1; round <= 20; ++round) {
    const std::string device = round % 2 == 0 ? "left" : "right";
    fabric_.set_port_state(device, 1, IBV_PORT_DOWN);
    const Work work = put(&round, sizeof round, kNoRegion);
    const Work note = message(MessageClass::kRequest);
    ASSERT_EQ(at(0).post(0, {&work, 1}), 1u);
    ASSERT_EQ(at(0).post(0, {&note, 1}), 1u);
    for (uint32_t turns = 0; turns < 2; ++turns) {
      turn(0);
      turn(1);
      ASSERT_EQ(at(0).failure(), nullptr) << at(0).failure()->sentence;
      ASSERT_EQ(at(1).failure(), nullptr) << at(1).failure()->sentence;
    }
    ASSERT_EQ(done_.size(), round - 1) << "nothing passes a port that is down";
    fabric_.set_port_state(device, 1, IBV_PORT_ACTIVE);
    turn_until(
        [&] { return done_.size() == round && arrived(1, MessageClass::kRequest) == round; });
    EXPECT_EQ(done_.back().status, WorkStatus::kOk);
    EXPECT_EQ(std::memcmp(memory_[1].data(), &round, sizeof round), 0);
  }
  EXPECT_GT(fabric_.counters().lost, 20u);
}

/// Each time for less than a port may stay down, all together for longer.
TEST_F(Trouble, APortThatCameUpAgainIsNotCountedAsDown) {
  VerbsOptions impatient = options_of(0);
  impatient.timeout = impatient.retry_count = 1;
  connect(impatient);
  for (uint32_t i = 0; i < 1000; ++i) {
    fabric_.set_port_state("left", 1, IBV_PORT_DOWN);
    fabric_.set_port_state("left", 1, IBV_PORT_ACTIVE);
    turn(0);
    ASSERT_EQ(at(0).failure(), nullptr) << at(0).failure()->sentence;
  }
}

TEST_F(Trouble, ATransferThatFailsAfterALinkFlappedSaysSo) {
  connect();
  fabric_.set_port_state("left", 1, IBV_PORT_DOWN);
  EXPECT_EQ(at(0).failure(), nullptr);
  fabric_.set_port_state("left", 1, IBV_PORT_ACTIVE);
  fabric_.fail_work("left", IBV_WC_LOC_QP_OP_ERR);
  const uint64_t value = 1;
  const Work work = put(&value, sizeof value, kNoRegion);
  ASSERT_EQ(at(0).post(0, {&work, 1}), 1u);
  expect_failure(0, "; this rank's port went down before");
}

TEST_F(Trouble, ADeviceThatFails) {
  connect();
  fabric_.device_fatal("left");
  expect_failure(0, "left port 1");
}

TEST_F(Trouble, APortThatIsDownIsToldRatherThanTheTransferThatFailed) {
  connect();
  fabric_.set_port_state("left", 1, IBV_PORT_DOWN);
  const uint64_t value = 1;
  const Work work = put(&value, sizeof value, kNoRegion);
  ASSERT_EQ(at(0).post(0, {&work, 1}), 1u);
  for (uint32_t turns = 0; done_.empty(); ++turns) {  // nobody looks for events meanwhile
    ASSERT_LT(turns, kTurnsMax);
    turn(0);
  }
  EXPECT_NE(done_[0].status, WorkStatus::kOk);
  expect_failure(0, "the port went down");
}

TEST_F(Trouble, ThePortOfThePeerGoesDown) {
  connect();
  fabric_.set_port_state("right", 1, IBV_PORT_DOWN);
  const uint64_t value = 1;
  const Work work = put(&value, sizeof value, kNoRegion);
  ASSERT_EQ(at(0).post(0, {&work, 1}), 1u);
  expect_failure(0, "does not answer");
  Work back = work;
  back.peer = 0;
  back.remote = regions_[0].base;
  back.remote_key = regions_[0].remote_key;
  ASSERT_EQ(at(1).post(0, {&back, 1}), 1u);
  expect_failure(1, "right port 1 is DOWN: the port went down");
}

TEST_F(Trouble, AConnectionThatItsDeviceBreaks) {
  connect();
  const uint64_t value = 1;
  const Work work = put(&value, sizeof value, kNoRegion);
  ASSERT_EQ(at(0).post(0, {&work, 1}), 1u);
  fabric_.break_connections("left");
  expect_failure(0, "a connection broke");
  for (uint32_t turns = 0; done_.empty(); ++turns) {
    ASSERT_LT(turns, kTurnsMax);
    turn(0);
  }
  EXPECT_EQ(done_[0].status, WorkStatus::kFlushed);
}

TEST_F(Trouble, QueuesThatBreak) {
  connect();
  fabric_.break_queue("left", IBV_EVENT_CQ_ERR);
  expect_failure(0, "a completion queue overran");
  if (!fake_verbs::has_shared_receives()) return;
  fabric_.break_queue("right", IBV_EVENT_SRQ_ERR);
  expect_failure(1, "a receive queue broke");
}

TEST_F(Trouble, ASourceThatIsNotPinned) {
  connect();
  const Work work = put(memory_[0].data(), 10'000, regions_[0].local_key + 1);
  ASSERT_EQ(at(0).post(0, {&work, 1}), 1u);
  expect_failure(0, "not pinned");
  turn(0);
  ASSERT_EQ(done_.size(), 1u);
  EXPECT_EQ(done_[0].status, WorkStatus::kLocalAccess);
}

TEST_F(Trouble, AReceiverWithoutBuffersIsWaitedForHoweverLong) {
  connect();
  constexpr uint64_t kReplies = 500;  // more than it has buffers; replies have no window
  uint64_t sent = 0;
  for (uint32_t turns = 0; turns < 2000; ++turns) {
    const Work work = message(MessageClass::kReply);
    if (sent < kReplies) sent += at(0).post(0, {&work, 1});
    turn(0);
  }
  EXPECT_GT(fabric_.counters("right").rnr_naks, 100u);
  EXPECT_EQ(at(0).failure(), nullptr);
  turn_until([&] {
    const Work work = message(MessageClass::kReply);
    if (sent < kReplies) sent += at(0).post(0, {&work, 1});
    return arrived(1, MessageClass::kReply) == kReplies;
  });
}

struct Decoded {
  ibv_wc_status status;
  WorkStatus means;
  const char* part;
};
class TroubleOfWork : public Trouble, public testing::WithParamInterface<Decoded> {};

TEST_P(TroubleOfWork, IsDecoded) {
  connect();
  fabric_.fail_work("left", GetParam().status);
  const uint64_t value = 1;
  const Work work = put(&value, sizeof value, kNoRegion);
  ASSERT_EQ(at(0).post(0, {&work, 1}), 1u);
  expect_failure(0, GetParam().part);
  turn(0);
  ASSERT_EQ(done_.size(), 1u);
  EXPECT_EQ(done_[0].status, GetParam().means);
  EXPECT_EQ(at(0).failure()->peer, 1u);
}

INSTANTIATE_TEST_SUITE_P(
    Statuses, TroubleOfWork,
    testing::Values(Decoded{IBV_WC_RNR_RETRY_EXC_ERR, WorkStatus::kUnreachable,
                            "has no receive buffers"},
                    Decoded{IBV_WC_RETRY_EXC_ERR, WorkStatus::kUnreachable, "does not answer"},
                    Decoded{IBV_WC_REM_ACCESS_ERR, WorkStatus::kRemoteAccess,
                            "outside what it has pinned, or mapped"},
                    Decoded{IBV_WC_REM_INV_REQ_ERR, WorkStatus::kRemoteAccess, "malformed"},
                    Decoded{IBV_WC_REM_OP_ERR, WorkStatus::kRemoteAccess, "failed to carry it out"},
                    Decoded{IBV_WC_LOC_PROT_ERR, WorkStatus::kLocalAccess, "not pinned"},
                    Decoded{IBV_WC_WR_FLUSH_ERR, WorkStatus::kFlushed, "had failed before"},
                    Decoded{IBV_WC_GENERAL_ERR, WorkStatus::kUnreachable, "log (dmesg)"}));

TEST_F(Trouble, NoDevice) {
  VerbsOptions options = options_of(0);
  options.device = "mlx5_9";
  expect_refused(options, "no RDMA device mlx5_9");
  options.device = "left:x";
  expect_refused(options, "DEVICE:PORT");
  options.device = "left:2";
  expect_refused(options, "left:2");
}

TEST_F(Trouble, APortThatIsDownIsPassedOver) {
  fabric_.set_port_state("left", 1, IBV_PORT_DOWN);
  expect_refused(options_of(0), "not active");
  VerbsOptions any;
  auto made = make_verbs_driver(any);
  ASSERT_TRUE(made.ok()) << made.sentence();  // the other device
}

std::vector<std::string> names_of(Result<std::vector<VerbsPort>> ports) {
  std::vector<std::string> names;
  if (!ports) return {ports.sentence()};
  for (const VerbsPort& port : *ports) names.push_back(port.name);
  return names;
}

TEST_F(Trouble, PortsAreFoundInTheOrderOfTheList) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(names_of(find_verbs_ports("")), (Names{"left:1", "right:1"}));
  EXPECT_EQ(names_of(find_verbs_ports("right,left:1")), (Names{"right:1", "left:1"}));
  EXPECT_EQ(names_of(find_verbs_ports("right")), (Names{"right:1"}));
  auto twin = fake_verbs::roce("twin", 9);
  twin.ports.push_back(twin.ports[0]);
  twin.ports[1].facts.state = IBV_PORT_DOWN;
  fabric_.add(twin);
  EXPECT_EQ(names_of(find_verbs_ports("")), (Names{"left:1", "right:1", "twin:1"}));
  EXPECT_EQ(names_of(find_verbs_ports("twin,left")), (Names{"twin:1", "left:1"}));
  EXPECT_NE(names_of(find_verbs_ports("left,twin:2"))[0].find("twin port 2 is DOWN"),
            std::string::npos);
  EXPECT_NE(names_of(find_verbs_ports("left,middle"))[0].find("no RDMA device middle"),
            std::string::npos);
  EXPECT_NE(names_of(find_verbs_ports("left,twin:x"))[0].find("DEVICE:PORT"), std::string::npos);
}

TEST_F(Trouble, AnAddressThatThePortHasNot) {
  VerbsOptions options = options_of(0);
  options.gid = "10.9.9.9";
  expect_refused(options, "GASNET_GID=10.9.9.9");
}

TEST_F(Trouble, MemoryThatCannotBePinnedComesWithTheLimit) {
  connect();
  fabric_.fail(fake_verbs::Call::kRegMr, ENOMEM);
  std::vector<std::byte> more(8192);
  auto pinned = at(0).pin(more.data(), more.size(), -1, 0);
  ASSERT_FALSE(pinned.ok());
  EXPECT_NE(pinned.sentence().find("limit of locked memory"), std::string::npos)
      << pinned.sentence();
  std::printf("%s\n", pinned.sentence().c_str());
}

TEST_F(Trouble, APeerOfAnotherKindOrWithOtherLanes) {
  auto spec = fake_verbs::infiniband("band", 9);
  fabric_.add(spec);
  VerbsOptions options;
  options.device = "band";
  auto band = make_verbs_driver(options);
  auto left = make_verbs_driver(options_of(0));
  ASSERT_TRUE(band.ok() && left.ok());
  ASSERT_TRUE((*band)->open({.rank = 1, .rank_count = 2}).ok());
  ASSERT_TRUE((*left)->open({.rank = 0, .rank_count = 2}).ok());
  const Status mixed = (*left)->connect(1, (*band)->address());
  ASSERT_FALSE(mixed.ok());
  EXPECT_NE(mixed.sentence().find("on Ethernet"), std::string::npos) << mixed.sentence();
  auto right = make_verbs_driver(options_of(1));
  ASSERT_TRUE(right.ok());
  ASSERT_TRUE((*right)->open({.rank = 1, .rank_count = 2, .lanes = 2}).ok());
  const Status lanes = (*left)->connect(1, (*right)->address());
  ASSERT_FALSE(lanes.ok());
  EXPECT_NE(lanes.sentence().find("GASNET_LANES"), std::string::npos) << lanes.sentence();
}

TEST_F(Trouble, EveryCallOfTheStartMayFail) {
  using fake_verbs::Call;
  constexpr Call kCalls[] = {Call::kGetDeviceList, Call::kOpenDevice, Call::kQueryDevice,
                             Call::kQueryPort,     Call::kAllocPd,    Call::kRegMr,
                             Call::kCreateChannel, Call::kCreateCq,   Call::kCreateSrq,
                             Call::kModifyQp};
  const auto starts = [&] {
    auto made = make_verbs_driver(options_of(0));
    const Status opened = made ? (*made)->open({.rank = 0, .rank_count = 2}) : Status(made.error());
    EXPECT_TRUE(opened.ok() || !opened.sentence().empty());
    return opened.ok();
  };
  for (const Call call : kCalls) {
    if (call == Call::kCreateSrq && !fake_verbs::has_shared_receives()) continue;
    uint32_t nth = 1;
    for (bool is_reached = true; is_reached; ++nth) {
      fabric_.fail(call, ENOMEM, nth);
      is_reached = !starts();
      EXPECT_EQ(fabric_.live(), std::vector<std::string>()) << static_cast<int>(call) << " " << nth;
    }
    EXPECT_GT(nth, 2u) << "the start makes no call " << static_cast<int>(call);
    while (starts()) {  // until the fault that did not come up is used up
    }
  }
}

}  // namespace
}  // namespace pinwire
