// A fenced message comes after all that was sent before it, whatever the wire does, and however few
// receive buffers there are (kWorkFenced).
#include <gtest/gtest.h>

#include <cstring>

#include "tests/support/nic_group.h"

namespace pinwire {
namespace {

constexpr uint64_t kFencedMessages = 1500;
constexpr uint64_t kFenceEvery = 6;

struct Wire {
  LoopFaults faults;
  uint32_t rx_buffers;
  bool coalesce;
};

class NicFence : public testing::TestWithParam<Wire> {
 protected:
  /// Words of one message; every sixth is fenced.
  static bool is_fenced(uint64_t word) { return word % kFenceEvery == kFenceEvery - 1; }
};

TEST_P(NicFence, KeepsWhatWasSentBeforeItInFront) {
  const Wire& wire = GetParam();
  for (const auto cls : {MessageClass::kRequest, MessageClass::kReply}) {
    NicGroup group({.rx_buffers = wire.rx_buffers,
                    .config = {.coalesce = wire.coalesce, .first_sequence = 0xffffff80}});
    group.set_faults(wire.faults);
    const auto payload = byte_pattern(700);
    std::vector<bool> seen(kFencedMessages);
    uint64_t sent = 0, got = 0;
    for (uint64_t round = 0; got < kFencedMessages; ++round) {
      ASSERT_LT(round, 2'000'000u) << sent << " sent, " << got << " arrived";
      while (sent < kFencedMessages) {
        Work work = send_work(1, cls, &sent, 8);
        work.flags =
            static_cast<uint8_t>(kWorkCopied | kWorkSilent | (is_fenced(sent) ? kWorkFenced : 0));
        work.local = const_cast<uint8_t*>(payload.data());
        work.bytes = sent * 37 % payload.size();
        if (!group.post(0, work)) break;
        ++sent;
      }
      group.poll(0);
      for (const uint64_t word : group.poll(1)) {
        ASSERT_LT(word, kFencedMessages);
        ASSERT_FALSE(seen[word]) << word;
        seen[word] = true;
        ++got;
        for (uint64_t before = 0; is_fenced(word) && before < word; ++before) {
          ASSERT_TRUE(seen[before] || is_fenced(before)) << word << " came before " << before;
        }
      }
      group.clock().advance(2'000);
    }
    EXPECT_EQ(group.nic(0).failure(), nullptr);
    EXPECT_EQ(group.nic(1).failure(), nullptr);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Each, NicFence,
    testing::Values(Wire{{}, 256, true}, Wire{{}, 256, false}, Wire{{.loss = 0.1}, 256, true},
                    Wire{{.loss = 0.3, .duplicate = 0.1, .reorder = 0.3}, 256, true},
                    Wire{{.reorder = 0.5}, 256, false},
                    Wire{{.loss = 0.2, .reorder = 0.5}, 4, false},
                    Wire{{.loss = 0.2, .reorder = 0.5}, 8, true}));

/// Rank 1's first message is lost, and its fenced one waits; rank 2's come out of order.
TEST(NicFenceOfMany, WaitsForTheFramesOfItsOwnSenderAlone) {
  NicGroup group({.ranks = 3, .config = {.coalesce = false}});
  const uint64_t words[] = {10, 11, 20, 21};
  const auto send = [&](uint32_t from, uint64_t number, uint8_t flags) {
    Work work = send_work(0, MessageClass::kRequest, &words[number], 8);
    work.flags = static_cast<uint8_t>(work.flags | flags);
    return group.post(from, work);
  };
  ASSERT_TRUE(send(1, 0, 0));
  group.port(0).lose_waiting();
  ASSERT_TRUE(send(1, 1, kWorkFenced));
  EXPECT_TRUE(group.poll(0).empty());
  ASSERT_TRUE(send(2, 2, 0) && send(2, 3, 0));
  group.port(0).swap_waiting(0, 1);
  EXPECT_EQ(group.poll(0), (std::vector<uint64_t>{21, 20}));
  EXPECT_EQ(group.run(500, 0, 10'000), (std::vector<uint64_t>{10, 11}));
}

/// Each message waits for all before it, which need buffers, too, and of which many are lost.
TEST(NicFenceOfMany, MessagesThatWaitLeaveBuffersToThoseThatTheyWaitFor) {
  constexpr uint64_t kCount = 100;
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    NicGroup group({.rx_buffers = 8, .network_depth = kCount, .config = {.coalesce = false}});
    group.set_faults({.loss = 0.4, .seed = seed});
    uint64_t posted = 0;
    std::vector<uint64_t> got;
    for (int round = 0; round < 100'000 && got.size() < kCount; ++round) {
      Work work = send_work(1, MessageClass::kRequest, &posted, 8);
      work.flags |= kWorkFenced;
      while (posted < kCount && group.post(0, work)) ++posted;
      for (const uint64_t word : group.run(1, 1, 200'000)) got.push_back(word);
    }
    ASSERT_EQ(got.size(), kCount) << "seed " << seed;
    for (uint64_t i = 0; i < kCount; ++i) EXPECT_EQ(got[i], i);
  }
}

}  // namespace
}  // namespace pinwire
