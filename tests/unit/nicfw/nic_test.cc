// The NIC as its user sees it, on a good wire.
#include <gtest/gtest.h>

#include <cstring>

#include "tests/support/nic_group.h"
#include "tests/unit/nicfw/nic_words.h"

namespace pinwire {
namespace {

TEST(Nic, ALoneMessageGoesAtOnceAndIsAcknowledged) {
  NicGroup group({});
  const uint64_t word = 42;
  Work work = send_work(1, kRequest, &word, 8);
  work.flags = 0;
  work.cookie = 7;
  ASSERT_TRUE(group.post(0, work));
  EXPECT_EQ(group.poll(0), std::vector<uint64_t>{});
  EXPECT_EQ(group.nic(0).arm(0), Armed::kTimed) << "until it is acknowledged";
  EXPECT_EQ(group.port(1).waiting(), 1u);
  EXPECT_EQ(group.poll(1), std::vector<uint64_t>{42});
  EXPECT_EQ(group.port(0).waiting(), 0u);  // time for a reply to carry the acknowledgement
  EXPECT_EQ(group.poll(1), std::vector<uint64_t>{});
  EXPECT_EQ(group.port(0).waiting(), 1u);
  group.poll(0);
  const auto dones = group.dones(0);
  ASSERT_EQ(dones.size(), 1u);
  EXPECT_EQ(dones[0].cookie, 7u);
  EXPECT_EQ(dones[0].status, WorkStatus::kOk);
  EXPECT_EQ(group.nic(0).arm(0), Armed::kArmed);
}

TEST(Nic, AReplyCarriesTheAcknowledgement) {
  NicGroup group({});
  const uint64_t word = 1;
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(group.post(0, send_work(1, kRequest, &word, 8)));
    ASSERT_EQ(group.poll(1).size(), 1u);
    ASSERT_TRUE(group.post(1, send_work(0, kReply, &word, 8)));
    ASSERT_EQ(group.poll(0).size(), 1u);
  }
  EXPECT_EQ(group.stat(0, "acks_sent"), 0u);
  EXPECT_EQ(group.stat(1, "acks_sent"), 0u);
  EXPECT_EQ(group.stat(0, "frames_sent"), 100u);
}

TEST(Nic, HeadAndPayloadArriveWhole) {
  NicGroup group({});
  const uint64_t max = group.nic(0).caps().send_bytes_max;
  std::vector<uint8_t> head = byte_pattern(kHeadBytesMax, 1);
  std::vector<uint8_t> payload = byte_pattern(max, 2);
  const Region region = group.pin(0, payload.data(), payload.size());
  for (const uint8_t flags : {uint8_t{0}, uint8_t{kWorkCopied}}) {
    for (const uint64_t bytes :
         {uint64_t{0}, uint64_t{1}, uint64_t{256}, uint64_t{257}, max - 96}) {
      Work work = send_work(1, kReply, head.data(), kHeadBytesMax);
      work.flags = flags;
      work.local = payload.data();
      work.local_key = region.local_key;
      work.bytes = bytes;
      ASSERT_TRUE(group.post(0, work));
      Recv out[4];
      ASSERT_EQ(group.nic(1).recv(0, RecvFilter::kAll, out), 1u) << bytes;
      ASSERT_EQ(out[0].bytes, kHeadBytesMax + bytes);
      EXPECT_EQ(out[0].peer, 0u);
      EXPECT_EQ(out[0].cls, kReply);
      EXPECT_EQ(reinterpret_cast<uintptr_t>(out[0].data) % 16, 8u);
      EXPECT_EQ(0, std::memcmp(out[0].data, head.data(), kHeadBytesMax));
      EXPECT_EQ(0, std::memcmp(out[0].data + kHeadBytesMax, payload.data(), bytes));
      group.nic(1).give_back(0, std::span(out, 1));
      group.run(3);
      EXPECT_EQ(group.dones(0).size(), 1u);
    }
  }
}

TEST(Nic, MessagesBehindOthersShareFrames) {
  NicGroup group({});
  constexpr uint64_t kCount = 500;
  std::vector<int> seen(kCount);
  uint64_t posted = 0;
  uint64_t got = 0;
  for (int round = 0; round < 1000 && got < kCount; ++round) {
    while (posted < kCount && group.post(0, send_work(1, kRequest, &posted, 8))) ++posted;
    for (const uint64_t word : group.poll(1)) {
      ++seen[word];
      ++got;
    }
    group.poll(0);
  }
  EXPECT_EQ(seen, std::vector<int>(kCount, 1));
  EXPECT_LT(group.stat(0, "frames_sent"), kCount / 8);
  EXPECT_EQ(group.stat(0, "messages_sent"), kCount);
  EXPECT_EQ(group.stat(1, "messages_received"), kCount);
  EXPECT_EQ(group.stat(0, "retransmits"), 0u);
  EXPECT_EQ(group.port(1).free_buffers(), 256u);  // every receive buffer came back
}

TEST(Nic, WithoutCoalescingEachMessageHasAFrame) {
  NicGroup group({.config = {.coalesce = false}});
  uint64_t posted = 0;
  uint64_t got = 0;
  while (got < 200) {
    while (posted < 200 && group.post(0, send_work(1, kRequest, &posted, 8))) ++posted;
    got += group.poll(1).size();
    group.poll(0);
  }
  EXPECT_EQ(group.stat(0, "frames_sent") - group.stat(0, "acks_sent"), 200u);
}

TEST(Nic, PutOfManyFramesLandsAndIsZeroCopy) {
  NicGroup group({});
  const auto source = byte_pattern(300'001);
  std::vector<uint8_t> target(source.size() + 2, 0xee);
  const Region local = group.pin(0, const_cast<uint8_t*>(source.data()), source.size());
  const Region remote = group.pin(1, target.data() + 1, source.size());
  Work work = put_work(1, source.data(), source.size(), target.data() + 1, remote.remote_key);
  work.local_key = local.local_key;
  ASSERT_TRUE(group.post(0, work));
  group.run(100);
  EXPECT_EQ(group.dones(0).size(), 1u);
  EXPECT_EQ(0, std::memcmp(source.data(), target.data() + 1, source.size()));
  EXPECT_EQ(target.front(), 0xee);
  EXPECT_EQ(target.back(), 0xee);
  EXPECT_EQ(group.stat(0, "tx_zero_copy_bytes"), source.size());
  EXPECT_EQ(group.stat(0, "tx_copied_bytes"), 0u);
  EXPECT_EQ(group.stat(1, "rx_placed_bytes"), source.size());
  EXPECT_EQ(group.stat(0, "retransmits"), 0u);
}

TEST(Nic, ABlockingPutNeedsOnePollOfTheTarget) {
  NicGroup group({});
  uint64_t source = 5;
  uint64_t target = 0;
  const Region remote = group.pin(1, &target, sizeof target);
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(group.post(0, put_work(1, &source, 8, &target, remote.remote_key)));
    group.poll(1);
    group.poll(0);
    EXPECT_EQ(group.dones(0).size(), 1u);
    EXPECT_EQ(target, source++);
  }
}

TEST(Nic, CopiedPutsAreReusableAtOnce) {
  NicGroup group({});
  for (const size_t bytes : {size_t{8}, size_t{1000}, size_t{1400}, size_t{5000}}) {
    auto source = byte_pattern(bytes);
    const auto wanted = source;
    std::vector<uint8_t> target(bytes);
    const Region remote = group.pin(1, target.data(), bytes);
    Work work = put_work(1, source.data(), bytes, target.data(), remote.remote_key);
    work.flags = kWorkCopied;
    ASSERT_TRUE(group.post(0, work));
    source.assign(bytes, 0xdd);
    group.run(5);
    EXPECT_EQ(target, wanted);
    EXPECT_EQ(group.dones(0).size(), 1u);
  }
}

TEST(Nic, GetOfManyFrames) {
  NicGroup group({});
  for (const size_t bytes : {size_t{1}, size_t{256}, size_t{257}, size_t{100'003}}) {
    auto source = byte_pattern(bytes);
    std::vector<uint8_t> target(bytes + 1, 0xee);
    const Region region = group.pin(1, source.data(), bytes);
    ASSERT_TRUE(group.post(0, get_work(1, target.data(), bytes, source.data(), region.remote_key)));
    group.run(100);
    EXPECT_EQ(group.dones(0).size(), 1u);
    EXPECT_EQ(0, std::memcmp(source.data(), target.data(), bytes));
    EXPECT_EQ(target.back(), 0xee);
  }
  EXPECT_EQ(group.stat(1, "gets_served"), 4u);
}

TEST(Nic, AtomicsOfEveryKind) {
  struct Case {
    AtomicCode code;
    uint64_t before, operand, compare, after;
  };
  constexpr uint64_t kMinusOne = ~uint64_t{0};
  const Case cases[] = {
      {AtomicCode::kAdd, 5, 3, 0, 8},         {AtomicCode::kAdd, kMinusOne, 3, 0, 2},
      {AtomicCode::kAnd, 6, 3, 0, 2},         {AtomicCode::kOr, 6, 3, 0, 7},
      {AtomicCode::kXor, 6, 3, 0, 5},         {AtomicCode::kMin, 6, 3, 0, 3},
      {AtomicCode::kMin, 3, 6, 0, 3},         {AtomicCode::kMax, 6, kMinusOne, 0, kMinusOne},
      {AtomicCode::kMax, 6, 3, 0, 6},         {AtomicCode::kSwap, 6, 3, 0, 3},
      {AtomicCode::kCompareSwap, 6, 3, 6, 3}, {AtomicCode::kCompareSwap, 6, 3, 7, 6},
      {AtomicCode::kGet, 6, 3, 0, 6}};
  NicGroup group({});
  uint64_t word = 0;
  const Region region = group.pin(1, &word, sizeof word);
  for (const Case& tested : cases) {
    word = tested.before;
    uint64_t old = 99;
    const AtomicOperands operands{tested.code, tested.operand, tested.compare};
    ASSERT_TRUE(group.post(0, atomic_work(1, &operands, &old, &word, region.remote_key)));
    group.run(3);
    ASSERT_EQ(group.dones(0).size(), 1u) << static_cast<int>(tested.code);
    EXPECT_EQ(old, tested.before) << static_cast<int>(tested.code);
    EXPECT_EQ(word, tested.after) << static_cast<int>(tested.code);
  }
  EXPECT_EQ(group.stat(1, "atomics_served"), std::size(cases));
}

TEST(Nic, PutSendDeliversAfterTheDataInAnyOrderOfFrames) {
  for (const size_t bytes : {size_t{8}, size_t{1000}, size_t{1390}, size_t{1500}, size_t{5000}}) {
    for (const auto cls : {kRequest, kReply}) {
      for (uint32_t swaps = 0; swaps < 20; ++swaps) {
        NicGroup group({});
        const auto source = byte_pattern(bytes);
        std::vector<uint8_t> target(bytes);
        const Region region = group.pin(1, target.data(), bytes);
        Work work = put_work(1, source.data(), bytes, target.data(), region.remote_key);
        uint64_t head[12] = {99};
        work.op = Op::kPutSend;
        work.cls = cls;
        work.head = head;
        work.head_bytes = sizeof head;
        ASSERT_TRUE(group.post(0, work));
        // Shuffle the frames, then let them arrive one by one behind small receive bursts.
        Random random(swaps + 1);
        const uint32_t waiting = group.port(1).waiting();
        for (uint32_t i = waiting; i > 1 && swaps != 0; --i) {
          group.port(1).swap_waiting(i - 1, static_cast<uint32_t>(random.below(i)));
        }
        const auto words = group.run(6, 1);
        ASSERT_EQ(words, std::vector<uint64_t>{99}) << bytes;
        EXPECT_EQ(source, target);
        EXPECT_EQ(group.dones(0).size(), 1u);
      }
    }
  }
}

TEST(Nic, CopiedPutSendsShareFramesAndKeepTheirData) {
  NicGroup group({});
  constexpr uint64_t kCount = 40;
  uint64_t target[kCount] = {};
  const Region region = group.pin(1, target, sizeof target);
  for (uint64_t i = 0; i < kCount; ++i) {
    uint64_t value = 1000 + i;  // gone when post() returns
    Work work = put_work(1, &value, sizeof value, &target[i], region.remote_key);
    work.op = Op::kPutSend;
    work.cls = kRequest;
    work.flags = kWorkCopied | kWorkSilent;
    work.head = &i;
    work.head_bytes = 8;
    ASSERT_TRUE(group.post(0, work));
  }
  uint64_t seen = 0;
  for (int round = 0; round < 30; ++round) {
    group.poll(0);
    for (const uint64_t i : group.poll(1)) {
      EXPECT_EQ(i, seen++);
      EXPECT_EQ(target[i], 1000 + i);
    }
    group.clock().advance(10'000);
  }
  EXPECT_EQ(seen, kCount);
  EXPECT_LT(group.stat(0, "frames_sent"), kCount / 4);
  EXPECT_EQ(group.dones(0).size(), 0u);
}

TEST(Nic, PutSendWaitsForAFragmentThatWasLost) {
  NicGroup group({});
  const auto source = byte_pattern(5000);
  std::vector<uint8_t> target(5000);
  const Region region = group.pin(1, target.data(), 5000);
  Work work = put_work(1, source.data(), 5000, target.data(), region.remote_key);
  const uint64_t head = 99;
  work.op = Op::kPutSend;
  work.cls = kRequest;
  work.head = &head;
  work.head_bytes = 8;
  ASSERT_TRUE(group.post(0, work));
  ASSERT_GE(group.port(1).waiting(), 4u);
  group.port(1).peek(1)[100] ^= std::byte{1};  // the second fragment is damaged
  EXPECT_EQ(group.poll(1).size(), 0u);
  EXPECT_EQ(group.stat(1, "rx_drop_tag"), 1u);
  EXPECT_NE(source, target);
  EXPECT_EQ(group.run(40, 1, 50'000), std::vector<uint64_t>{99});
  EXPECT_EQ(source, target);
  EXPECT_EQ(group.dones(0).size(), 1u);
}

TEST(Nic, RepliesOnlyLeavesRequestsWhereTheyAre) {
  NicGroup group({});
  const uint64_t request = 1;
  const uint64_t reply = 2;
  ASSERT_TRUE(group.post(0, send_work(1, kRequest, &request, 8)));
  ASSERT_TRUE(group.post(0, send_work(1, kReply, &reply, 8)));
  EXPECT_EQ(group.poll(1, RecvFilter::kRepliesOnly), std::vector<uint64_t>{2});
  EXPECT_EQ(group.poll(1, RecvFilter::kRepliesOnly), std::vector<uint64_t>{});
  EXPECT_FALSE(group.nic(1).idle(0));
  EXPECT_EQ(group.nic(1).arm(0), Armed::kBusy);
  EXPECT_EQ(group.poll(1), std::vector<uint64_t>{1});
}

/// More than the window takes is to be sent, and the peer computes.
TEST(Nic, ALaneThatWaitsForAPeerSleepsWithATimer) {
  constexpr uint64_t kBytes = 4 << 20;
  constexpr int kPolls = 100;
  NicGroup group({});
  std::vector<std::byte> source(kBytes, std::byte{3}), target(kBytes);
  const Region region = group.pin(1, target.data(), kBytes);
  Work work = put_work(1, source.data(), kBytes, target.data(), region.remote_key);
  work.flags = 0;
  ASSERT_TRUE(group.post(0, work));
  EXPECT_EQ(group.nic(0).arm(0), Armed::kBusy) << "it was posted since the last poll";
  for (int i = 0; i < kPolls; ++i) group.poll(0);
  EXPECT_EQ(group.nic(0).arm(0), Armed::kTimed);
  group.poll(1);
  group.poll(0);
  EXPECT_EQ(group.nic(0).arm(0), Armed::kBusy) << "the peer is back";
  group.run(10'000);
  EXPECT_EQ(group.dones(0).size(), 1u);
  EXPECT_EQ(source, target);
}

TEST(Nic, SilentWorkHasNoDone) {
  NicGroup group({});
  uint64_t target[64] = {};
  const Region region = group.pin(1, target, sizeof target);
  for (uint64_t i = 0; i < 64; ++i) {
    Work work = put_work(1, &i, 8, &target[i], region.remote_key);
    work.flags = kWorkSilent | kWorkCopied;
    ASSERT_TRUE(group.post(0, work));
  }
  group.run(10);
  EXPECT_EQ(group.dones(0).size(), 0u);
  for (uint64_t i = 0; i < 64; ++i) EXPECT_EQ(target[i], i);
  EXPECT_EQ(group.nic(0).arm(0), Armed::kArmed);
}

TEST(Nic, LanesAreIndependent) {
  NicGroup group({.lanes = 3});
  ASSERT_EQ(group.nic(0).caps().lanes_max, 3u);
  for (uint32_t lane = 0; lane < 3; ++lane) {
    const uint64_t word = lane + 10;
    const Work work = send_work(1, kRequest, &word, 8);
    ASSERT_EQ(group.nic(0).post(lane, {&work, 1}), 1u);
  }
  for (uint32_t lane = 0; lane < 3; ++lane) {
    EXPECT_EQ(group.poll(1, RecvFilter::kAll, lane), std::vector<uint64_t>{lane + 10});
  }
}

TEST(Nic, PortsOfDifferentFrameSizesMeetAtTheSmaller) {
  ManualClock clock;
  LoopPort big(1, 9014);
  LoopPort small(2, 1514);
  small.join(big);
  const auto a = make_nic(big, clock, {});
  const auto b = make_nic(small, clock, {});
  OpenInfo info{.rank = 0, .rank_count = 2, .job_key = 5};
  ASSERT_TRUE(a->open(info).ok());
  info.rank = 1;
  ASSERT_TRUE(b->open(info).ok());
  EXPECT_GT(a->caps().send_bytes_max, 8000u);
  ASSERT_TRUE(a->connect(1, b->address()).ok());
  ASSERT_TRUE(b->connect(0, a->address()).ok());
  EXPECT_LT(a->caps().send_bytes_max, 1500u);
  std::vector<uint8_t> target(20'000);
  const auto source = byte_pattern(target.size());
  const Region region = b->pin(target.data(), target.size(), -1, 0).value();
  const Work work = put_work(1, source.data(), source.size(), target.data(), region.remote_key);
  ASSERT_EQ(a->post(0, {&work, 1}), 1u);
  for (uint32_t i = 0; i < small.waiting(); ++i) EXPECT_LE(small.peek(i).size(), 1514u);
  Recv out[1];
  Done done[1];
  for (int i = 0; i < 10; ++i) {
    b->recv(0, RecvFilter::kAll, out);
    a->recv(0, RecvFilter::kAll, out);
  }
  EXPECT_EQ(a->done(0, done), 1u);
  EXPECT_EQ(source, target);
}

TEST(Nic, JumboFramesCarryMore) {
  NicGroup group({.frame_bytes_max = 9014});
  const auto source = byte_pattern(80'000);
  std::vector<uint8_t> target(source.size());
  const Region region = group.pin(1, target.data(), target.size());
  ASSERT_TRUE(
      group.post(0, put_work(1, source.data(), source.size(), target.data(), region.remote_key)));
  group.run(20);
  EXPECT_EQ(source, target);
  const uint64_t frames = group.stat(0, "frames_sent");  // with the probes of the path
  target.assign(source.size(), 0);
  ASSERT_TRUE(
      group.post(0, put_work(1, source.data(), source.size(), target.data(), region.remote_key)));
  group.run(20);
  EXPECT_EQ(source, target);
  EXPECT_LE(group.stat(0, "frames_sent"), frames + 10);
}

TEST(Nic, OpenSaysWhatIsWrong) {
  ManualClock clock;
  LoopPort port(1);
  const auto opened = [&](NicConfig config, OpenInfo info) {
    return make_nic(port, clock, config)->open(info).ok();
  };
  EXPECT_TRUE(opened({}, {.rank = 0, .rank_count = 1}));
  EXPECT_FALSE(opened({.window_frames = 100}, {}));
  EXPECT_FALSE(opened({.window_frames = 1024}, {}));
  EXPECT_FALSE(opened({}, {.lanes = 2}));
  EXPECT_FALSE(opened({}, {.rank = 3, .rank_count = 2}));
  LoopPort tiny(2, 256);
  const Status small = make_nic(tiny, clock, {})->open({});
  ASSERT_FALSE(small.ok());
  EXPECT_NE(small.sentence().find("256 bytes"), std::string::npos);
}

TEST(Nic, ConnectRefusesAnAddressThatItDoesNotUnderstand) {
  ManualClock clock;
  LoopPort port(1);
  const auto nic = make_nic(port, clock, {});
  ASSERT_TRUE(nic->open({.rank = 0, .rank_count = 2}).ok());
  auto address = nic->address();
  EXPECT_TRUE(nic->connect(1, address).ok());
  address[0] = std::byte{9};
  EXPECT_FALSE(nic->connect(0, address).ok());
  address[0] = std::byte{1};
  address.pop_back();
  EXPECT_FALSE(nic->connect(0, address).ok());
}

/// Each rank's address says on which UDP ports it receives, so that ranks need not agree.
TEST(Nic, RanksWithDifferentUdpPortsReachEachOther) {
  ManualClock clock;
  LoopPort ports[2] = {LoopPort(1), LoopPort(2)};
  ports[1].join(ports[0]);
  std::unique_ptr<Driver> nics[2];
  for (uint32_t r = 0; r < 2; ++r) {
    const auto udp_port = static_cast<uint16_t>(2000 + 1000 * r);
    nics[r] = make_nic(ports[r], clock, {.udp_port = udp_port});
    ASSERT_TRUE(nics[r]->open({.rank = r, .rank_count = 2, .job_key = 77}).ok());
  }
  for (uint32_t r = 0; r < 2; ++r)
    ASSERT_TRUE(nics[r]->connect(1 - r, nics[1 - r]->address()).ok());
  const uint64_t word = 5;
  const Work work = send_work(1, MessageClass::kRequest, &word, 8);
  ASSERT_EQ(nics[0]->post(0, {&work, 1}), 1u);
  ASSERT_EQ(ports[1].waiting(), 1u);
  EXPECT_EQ(load_network<uint16_t>(ports[1].peek().data() + 34), 2000);
  EXPECT_EQ(load_network<uint16_t>(ports[1].peek().data() + 36), 3000);
  Recv got[1];
  ASSERT_EQ(nics[1]->recv(0, RecvFilter::kAll, got), 1u);
  EXPECT_EQ(std::memcmp(got[0].data, &word, 8), 0);
  nics[1]->give_back(0, got);
}

}  // namespace
}  // namespace pinwire
