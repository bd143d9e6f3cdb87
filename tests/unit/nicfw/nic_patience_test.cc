// A peer that computes between its polls is late, and has lost nothing: it is
// given its time.
#include <gtest/gtest.h>

#include <cstring>

#include "tests/support/nic_group.h"
#include "tests/unit/nicfw/nic_words.h"

namespace pinwire {
namespace {

/// Rank 0 sends one message each `pause_ns` and looks as often; rank 1 looks each
/// ten pauses.
class NicRarePolls : public testing::TestWithParam<uint64_t> {};

TEST_P(NicRarePolls, R22APeerThatPollsRarelyIsGivenItsTime) {
  NicGroup group({.config = {.coalesce = false}});
  const uint64_t word = 5;
  uint64_t posted = 0;
  uint64_t got = 0;
  for (int i = 0; i < 4'000; ++i) {
    posted += group.post(0, send_work(1, kRequest, &word, 8));
    group.poll(0);
    if (i % 10 == 9) got += group.poll(1).size();
    group.clock().advance(GetParam());
  }
  EXPECT_GT(got, 3'900u);
  EXPECT_LE(posted - got, 64u);
  EXPECT_LE(group.stat(0, "retransmits") * kPercent, group.stat(0, "frames_sent"));
}

TEST_P(NicRarePolls, ALoneMessageIsNotRepeatedForAPeerThatPollsRarely) {
  NicGroup group({});
  const uint64_t word = 5;
  for (int i = 0; i < 2'000; ++i) {
    ASSERT_TRUE(group.post(0, send_work(1, kRequest, &word, 8)));
    for (int k = 0; k < 10; ++k) {
      group.poll(0);
      group.clock().advance(GetParam());
    }
    ASSERT_EQ(group.poll(1).size(), 1u);
    group.poll(0);
  }
  EXPECT_LE(group.stat(0, "retransmits") * kPercent, group.stat(0, "frames_sent"));
}

INSTANTIATE_TEST_SUITE_P(Pauses, NicRarePolls, testing::Values(150'000, 250'000, 1'000'000));

TEST(NicRepeats, APeerThatComputesForAMinuteIsAskedNowAndThen) {
  NicGroup group({.rx_buffers = 1024});
  const auto source = byte_pattern(1 << 20);
  std::vector<uint8_t> target(source.size());
  const Region region = group.pin(1, target.data(), target.size());
  const Work put = put_work(1, source.data(), source.size(), target.data(), region.remote_key);
  ASSERT_TRUE(group.post(0, put));
  for (uint64_t waited_ns = 0; waited_ns < 50'000'000'000; waited_ns += 100'000) {
    group.poll(0);
    group.clock().advance(100'000);
  }
  // Sixteen in the first second, then one each second.
  EXPECT_LE(group.stat(0, "late_asks"), 16u + 50u);
  EXPECT_GE(group.stat(0, "late_asks"), 30u);
  group.run(2'000, 0, 1'000);
  EXPECT_EQ(source, target);
  EXPECT_EQ(group.dones(0).size(), 1u);
  EXPECT_EQ(group.stat(0, "retransmits"), 0u);
}

}  // namespace
}  // namespace pinwire
