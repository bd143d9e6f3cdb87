// Failures: refused remote accesses, silent peers, wrong local memory, a driver that is closed.
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <string>

#include "tests/support/nic_group.h"

namespace pinwire {
namespace {

struct Outside {
  const char* name;
  std::function<Work(uint64_t* remote, uint32_t key)> work;
};

uint64_t local_memory[512];
uint64_t old_value;
const AtomicOperands kAdd{AtomicCode::kAdd, 1, 0};

class NicAccess : public testing::TestWithParam<Outside> {};

TEST_P(NicAccess, OutsideTheRegionIsRefusedAndChangesNothing) {
  NicGroup group({});
  std::vector<uint64_t> memory(1024, 7);
  const Region region = group.pin(1, &memory[100], 800);  // [100, 200)
  Work work = GetParam().work(&memory[100], region.remote_key);
  work.cookie = 11;
  const uint64_t head = 5;
  if (work.op == Op::kPutSend) {
    work.head = &head;
    work.head_bytes = 8;
  }
  ASSERT_TRUE(group.post(0, work));
  EXPECT_TRUE(group.run(20, 1, 5'000).empty());  // no message of a put-send that was refused
  EXPECT_EQ(memory, std::vector<uint64_t>(1024, 7));
  const auto dones = group.dones(0);
  ASSERT_EQ(dones.size(), 1u);
  EXPECT_EQ(dones[0].status, WorkStatus::kRemoteAccess);
  EXPECT_EQ(dones[0].cookie, 11u);
  ASSERT_NE(group.nic(0).failure(), nullptr);
  const Failure& failure = *group.nic(0).failure();
  EXPECT_EQ(failure.status, WorkStatus::kRemoteAccess);
  EXPECT_EQ(failure.peer, 1u);
  // The sentence names the ranks and the address; and the bounds, or the key if it is wrong.
  const std::string sentence = failure.sentence;
  char address[32];
  std::snprintf(address, sizeof address, "0x%llx", static_cast<unsigned long long>(work.remote));
  EXPECT_NE(sentence.find("rank 1 refused rank 0"), std::string::npos) << sentence;
  EXPECT_NE(sentence.find(address), std::string::npos) << sentence;
  std::snprintf(address, sizeof address, "0x%llx", static_cast<unsigned long long>(region.base));
  const bool key_right = work.remote_key == region.remote_key;
  EXPECT_EQ(sentence.find(address) != std::string::npos, key_right || work.remote == region.base)
      << sentence;
  if (!key_right) {
    std::snprintf(address, sizeof address, "under the key 0x%x", work.remote_key);
    EXPECT_NE(sentence.find(address), std::string::npos) << sentence;
  }
  EXPECT_EQ(group.nic(1).failure(), nullptr);
  EXPECT_GT(group.stat(1, "rx_drop_access"), 0u);
}

INSTANTIATE_TEST_SUITE_P(
    Each, NicAccess,
    testing::Values(
        Outside{"PutBelow", [](uint64_t* at,
                               uint32_t key) { return put_work(1, local_memory, 8, at - 1, key); }},
        Outside{"PutAtTheVeryFirstAddress",
                [](uint64_t*, uint32_t key) { return put_work(1, local_memory, 8, nullptr, key); }},
        Outside{
            "PutAbove",
            [](uint64_t* at, uint32_t key) { return put_work(1, local_memory, 8, at + 100, key); }},
        Outside{
            "PutAcrossTheEnd",
            [](uint64_t* at, uint32_t key) { return put_work(1, local_memory, 16, at + 99, key); }},
        Outside{
            "LongPutAcrossTheEnd",
            [](uint64_t* at, uint32_t key) { return put_work(1, local_memory, 4096, at, key); }},
        Outside{"PutSendAcrossTheEnd",
                [](uint64_t* at, uint32_t key) {
                  Work work = put_work(1, local_memory, 4096, at, key);
                  work.op = Op::kPutSend;
                  return work;
                }},
        Outside{"PutWithAWrongKey",
                [](uint64_t* at, uint32_t key) {
                  return put_work(1, local_memory, 8, at, key ^ 0x10000);
                }},
        Outside{"PutWithoutAKey",
                [](uint64_t* at, uint32_t) { return put_work(1, local_memory, 8, at, 0); }},
        Outside{"GetBelow", [](uint64_t* at,
                               uint32_t key) { return get_work(1, local_memory, 8, at - 1, key); }},
        Outside{
            "GetAcrossTheEnd",
            [](uint64_t* at, uint32_t key) { return get_work(1, local_memory, 4000, at, key); }},
        Outside{"AtomicAbove",
                [](uint64_t* at, uint32_t key) {
                  return atomic_work(1, &kAdd, &old_value, at + 100, key);
                }},
        Outside{"AtomicMisaligned",
                [](uint64_t* at, uint32_t key) {
                  return atomic_work(1, &kAdd, &old_value, reinterpret_cast<char*>(at) + 4, key);
                }}),
    [](const auto& tested) { return std::string(tested.param.name); });

/// The target serves a part of a get, and then its client unpins the memory.
TEST(NicFailure, AGetWhoseRegionVanishesIsRefused) {
  NicGroup group({});
  const std::vector<uint8_t> source(1 << 20, 7);  // more than a window carries
  std::vector<uint8_t> target(source.size());
  const Region region = group.pin(1, const_cast<uint8_t*>(source.data()), source.size());
  Work get = get_work(1, target.data(), source.size(), source.data(), region.remote_key);
  get.cookie = 11;
  ASSERT_TRUE(group.post(0, get));
  group.poll(1);
  ASSERT_GT(group.port(0).waiting(), 0u) << "the target has begun";
  ASSERT_TRUE(group.nic(1).unpin(region).ok());
  group.run(50, 0, 10'000);
  const auto dones = group.dones(0);
  ASSERT_EQ(dones.size(), 1u) << "the initiator waits for ever";
  EXPECT_EQ(dones[0].status, WorkStatus::kRemoteAccess);
  EXPECT_EQ(dones[0].cookie, 11u);
  ASSERT_NE(group.nic(0).failure(), nullptr);
  const std::string sentence = group.nic(0).failure()->sentence;
  EXPECT_NE(sentence.find("rank 1 refused rank 0's access to 1048576 bytes"), std::string::npos)
      << sentence;
  EXPECT_NE(sentence.find("no memory is pinned there"), std::string::npos) << sentence;
  EXPECT_EQ(group.nic(1).failure(), nullptr);
}

/// The region vanishes while a put is under way. An acknowledgement of its first frames comes after
/// the refusal of the last ones, when another put may have the place of the refused operation.
TEST(NicFailure, AnAcknowledgementOfARefusedPutFinishesNoOther) {
  NicGroup group({.config = {.coalesce = false}});
  const std::vector<uint8_t> source(10'000, 7);
  std::vector<uint8_t> target(source.size());
  const auto put = [&](const Region& region, uint64_t cookie) {
    Work work = put_work(1, source.data(), source.size(), target.data(), region.remote_key);
    work.cookie = cookie;
    return group.post(0, work);
  };
  const Region gone = group.pin(1, target.data(), target.size());
  const Region stays = group.pin(1, target.data(), target.size());
  ASSERT_TRUE(put(gone, 11));
  ASSERT_GE(group.port(1).waiting(), 6u);
  group.port(1).take_first();  // it is lost
  std::vector<std::vector<std::byte>> last;
  while (group.port(1).waiting() > 3) last.push_back(group.port(1).take_first());
  group.poll(1);
  ASSERT_EQ(group.port(0).waiting(), 1u);
  const auto acknowledgement = group.port(0).take_first();
  ASSERT_TRUE(group.nic(1).unpin(gone).ok());
  for (const auto& frame : last) {
    ASSERT_TRUE(group.port(1).inject(frame.data(), static_cast<uint32_t>(frame.size())));
  }
  group.poll(1);
  group.poll(0);
  const auto dones = group.dones(0);
  ASSERT_EQ(dones.size(), 1u);
  EXPECT_EQ(dones[0].status, WorkStatus::kRemoteAccess);
  ASSERT_TRUE(put(stays, 12));
  ASSERT_TRUE(
      group.port(0).inject(acknowledgement.data(), static_cast<uint32_t>(acknowledgement.size())));
  group.poll(0);
  EXPECT_TRUE(group.dones(0).empty());
}

/// The target accepts the second of three frames, and its client unpins the memory before the third
/// comes. The refusal overtakes the acknowledgement of the second one, and the frame of the next
/// put is lost.
TEST(NicFailure, AnAcknowledgementOfAPutThatWasRefusedEndsNoOtherPut) {
  NicGroup group({});
  const auto source = byte_pattern(4'000);
  std::vector<uint8_t> target(source.size()), next_target(1'000);
  const Region region = group.pin(1, target.data(), target.size());
  const Region next_region = group.pin(1, next_target.data(), next_target.size());
  ASSERT_TRUE(
      group.post(0, put_work(1, source.data(), source.size(), target.data(), region.remote_key)));
  ASSERT_EQ(group.port(1).waiting(), 3u);
  group.port(1).take_first();
  const auto second = group.port(1).take_first(), third = group.port(1).take_first();
  ASSERT_TRUE(group.port(1).inject(second.data(), static_cast<uint32_t>(second.size())));
  group.poll(1);
  group.port(0).lose_waiting();
  ASSERT_TRUE(group.nic(1).unpin(region).ok());
  ASSERT_TRUE(group.port(1).inject(third.data(), static_cast<uint32_t>(third.size())));
  group.poll(1);
  group.poll(0);
  auto dones = group.dones(0);
  ASSERT_EQ(dones.size(), 1u);
  EXPECT_EQ(dones[0].status, WorkStatus::kRemoteAccess);
  ASSERT_TRUE(group.post(0, put_work(1, source.data(), next_target.size(), next_target.data(),
                                     next_region.remote_key)));
  group.port(1).lose_waiting();
  for (dones.clear(); dones.empty(); dones = group.dones(0)) group.run(1, 0, 10'000);
  ASSERT_EQ(dones.size(), 1u);
  EXPECT_EQ(dones[0].status, WorkStatus::kOk);
  EXPECT_TRUE(std::equal(next_target.begin(), next_target.end(), source.begin()));
}

TEST(NicFailure, ASilentPeerIsUnreachable) {
  NicGroup group({.config = {.peer_timeout_ns = 50'000'000}});
  const uint64_t word = 5;
  uint64_t target = 0;
  const Region region = group.pin(1, &target, 8);
  Work send = send_work(1, MessageClass::kRequest, &word, 8);
  send.flags = 0;
  ASSERT_TRUE(group.post(0, send));
  ASSERT_TRUE(group.post(0, put_work(1, &word, 8, &target, region.remote_key)));
  ASSERT_TRUE(group.post(0, get_work(1, &target, 8, &target, region.remote_key)));
  for (int round = 0; round < 1'000 && group.nic(0).failure() == nullptr; ++round) {
    group.poll(0);
    group.port(1).lose_waiting();
    group.clock().advance(100'000);
  }
  ASSERT_NE(group.nic(0).failure(), nullptr);
  EXPECT_EQ(group.nic(0).failure()->status, WorkStatus::kUnreachable);
  EXPECT_NE(std::string(group.nic(0).failure()->sentence).find("rank 1 did not answer rank 0"),
            std::string::npos);
  const auto dones = group.dones(0);
  EXPECT_EQ(dones.size(), 3u);
  for (const Done& done : dones) EXPECT_EQ(done.status, WorkStatus::kUnreachable);
  // Later work fails at once.
  ASSERT_TRUE(group.post(0, send));
  ASSERT_EQ(group.dones(0).size(), 1u);
  EXPECT_EQ(group.nic(0).arm(0), Armed::kArmed);
}

TEST(NicFailure, ABusyPeerIsNotUnreachable) {
  // It polls once in 40 ms, within a limit of 200 ms, and refuses requests all the time.
  NicGroup group({.rx_buffers = 4, .config = {.peer_timeout_ns = 200'000'000, .coalesce = false}});
  const uint64_t word = 5;
  for (int round = 0; round < 2'000; ++round) {
    group.post(0, send_work(1, MessageClass::kRequest, &word, 8));
    group.poll(0);
    if (round % 40 == 0) group.poll(1, RecvFilter::kRepliesOnly);
    group.clock().advance(1'000'000);
  }
  EXPECT_EQ(group.nic(0).failure(), nullptr);
}

TEST(NicFailure, LocalMemoryMustBeWhatItsKeySays) {
  for (const Op op : {Op::kPut, Op::kGet, Op::kSend}) {
    NicGroup group({});
    std::vector<uint8_t> memory(4096);
    const Region region = group.pin(0, memory.data(), 1000);
    Work work = put_work(1, memory.data() + 500, 600, memory.data(), region.remote_key);
    work.op = op;
    work.local_key = region.local_key;
    ASSERT_TRUE(group.post(0, work));
    const auto dones = group.dones(0);
    ASSERT_EQ(dones.size(), 1u);
    EXPECT_EQ(dones[0].status, WorkStatus::kLocalAccess);
    EXPECT_NE(group.nic(0).failure(), nullptr);
    EXPECT_EQ(group.port(1).waiting(), 0u);
  }
}

TEST(NicFailure, CloseFlushesWhatIsInFlight) {
  NicGroup group({});
  const uint64_t word = 5;
  Work send = send_work(1, MessageClass::kRequest, &word, 8);
  send.flags = 0;
  ASSERT_TRUE(group.post(0, send));
  uint64_t target = 0;
  ASSERT_TRUE(group.post(0, get_work(1, &target, 8, &target, 1)));
  group.nic(0).close();
  group.nic(0).close();  // idempotent
  const auto dones = group.dones(0);
  EXPECT_EQ(dones.size(), 2u);
  for (const Done& done : dones) EXPECT_EQ(done.status, WorkStatus::kFlushed);
}

TEST(NicFailure, CloseLeavesWhatHasEndedAsItIs) {
  NicGroup group({});
  uint64_t source = 5, target = 0;
  const Region region = group.pin(1, &target, sizeof target);
  ASSERT_TRUE(group.post(0, put_work(1, &source, sizeof source, &target, region.remote_key)));
  group.run(5);
  group.nic(0).close();
  const auto dones = group.dones(0);
  ASSERT_EQ(dones.size(), 1u);
  EXPECT_EQ(dones[0].status, WorkStatus::kOk);
}

}  // namespace
}  // namespace pinwire
