// Work that post() refuses takes nothing from the work that it accepts later.
#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <string>

#include "tests/support/nic_group.h"

namespace pinwire {
namespace {

struct Memory {
  std::vector<uint8_t> source = byte_pattern(1'400);
  std::vector<uint8_t> target = std::vector<uint8_t>(1'400);
  uint64_t old = 0;
  uint32_t key = 0;
};
const AtomicOperands kAdd{AtomicCode::kAdd, 1, 0};
const uint64_t kHead = 5;

struct Kind {
  const char* name;
  std::function<Work(Memory&)> work;
  uint32_t accepted_max = 20;  ///< by a window of 4 frames
};
/// Gets and atomics wait for frames, and hold an operation each (nic_waiting_asks_test.cc).
constexpr uint32_t kWaitingMax = 32;

class NicRefused : public testing::TestWithParam<Kind> {};

/// The peer computes, while a client offers ten times as much as the lane has operations for.
/// Refused work holds an operation during the call only.
TEST_P(NicRefused, WorkCostsNoOperation) {
  NicGroup group({.config = {.window_frames = 4, .coalesce = false}});
  Memory memory;
  memory.key = group.pin(1, memory.target.data(), memory.target.size()).remote_key;
  const Work work = GetParam().work(memory);
  size_t accepted = 0;
  for (int i = 0; i < 1'000; ++i) accepted += group.post(0, work) ? 1 : 0;
  EXPECT_LT(accepted, GetParam().accepted_max);
  EXPECT_LE(group.stat(0, "operations_high_water"), accepted + 1);
  group.run(100, 0, 1'000);
  EXPECT_EQ(group.dones(0).size(), accepted);
  EXPECT_TRUE(group.nic(0).drained(0));
  ASSERT_TRUE(group.post(0, work));
  group.run(10);
  EXPECT_EQ(group.dones(0).size(), 1u);
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, NicRefused,
    testing::Values(
        Kind{"Send",
             [](Memory&) {
               Work work = send_work(1, MessageClass::kRequest, &kHead, 8);
               work.flags = 0;
               return work;
             }},
        Kind{"LongSend",
             [](Memory& m) {
               Work work = send_work(1, MessageClass::kRequest, &kHead, 8);
               work.flags = 0;
               work.local = m.source.data();
               work.bytes = 1'000;
               return work;
             }},
        Kind{"SmallPut",
             [](Memory& m) { return put_work(1, m.source.data(), 8, m.target.data(), m.key); }},
        Kind{"CopiedPut",
             [](Memory& m) {
               Work work = put_work(1, m.source.data(), 1'300, m.target.data(), m.key);
               work.flags = kWorkCopied;
               return work;
             }},
        Kind{"CopiedPutSend",
             [](Memory& m) {
               Work work = put_work(1, m.source.data(), 8, m.target.data(), m.key);
               work.op = Op::kPutSend;
               work.cls = MessageClass::kRequest;
               work.flags = kWorkCopied;
               work.head = &kHead;
               work.head_bytes = 8;
               return work;
             }},
        Kind{"Get",
             [](Memory& m) { return get_work(1, m.source.data(), 8, m.target.data(), m.key); },
             kWaitingMax},
        Kind{"Atomic",
             [](Memory& m) { return atomic_work(1, &kAdd, &m.old, m.target.data(), m.key); },
             kWaitingMax}),
    [](const auto& tested) { return std::string(tested.param.name); });

/// The receiver holds as many requests as it can, and gives no more credit.
TEST(NicRefusedForCredit, IsAlsoACopiedPutSendOfSeveralFrames) {
  NicGroup group({.rx_buffers = 16, .network_depth = 2, .config = {.coalesce = false}});
  fill_with_requests(group);
  if (HasFatalFailure()) return;
  for (int i = 0; i < 10; ++i) {
    group.poll(1, RecvFilter::kRepliesOnly);
    group.poll(0);
  }
  constexpr uint64_t kBytes = 4'000;
  const auto source = byte_pattern(kBytes);
  std::vector<uint8_t> target(kBytes);
  const Region region = group.pin(1, target.data(), kBytes);
  Work work = put_work(1, source.data(), kBytes, target.data(), region.remote_key);
  work.op = Op::kPutSend;
  work.flags = kWorkCopied;
  work.head = &kHead;
  work.head_bytes = sizeof kHead;
  work.cls = MessageClass::kRequest;
  EXPECT_FALSE(group.post(0, work));
  EXPECT_EQ(group.port(1).waiting(), 0u);
  work.cls = MessageClass::kReply;
  EXPECT_TRUE(group.post(0, work));
}

/// However many operations ranks that compute keep, each flow to another rank has one.
TEST(NicRefusedForOperations, IsNotTheFirstWorkForARank) {
  constexpr Rank kRanks = 9, kLast = kRanks - 1;
  NicGroup group({.ranks = kRanks, .config = {.window_frames = 4}});
  uint64_t source = 7, target = 0;
  const Region region = group.pin(kLast, &target, sizeof target);
  const auto works_for = [&](Rank rank) {
    std::array works{put_work(rank, &source, 8, &target, region.remote_key),
                     send_work(rank, MessageClass::kRequest, &kHead, 8),
                     send_work(rank, MessageClass::kReply, &kHead, 8)};
    for (Work& work : works) work.flags = 0;
    return works;
  };
  for (Rank rank = 1; rank < kLast; ++rank) {
    for (const Work& work : works_for(rank)) {
      while (group.post(0, work)) {
      }
    }
  }
  for (const Work& work : works_for(kLast)) EXPECT_TRUE(group.post(0, work));
  for (int i = 0; i < 20; ++i) {
    group.poll(0);
    group.poll(kLast);
  }
  EXPECT_EQ(group.dones(0).size(), 3u);
  EXPECT_EQ(target, source);
}

}  // namespace
}  // namespace pinwire
