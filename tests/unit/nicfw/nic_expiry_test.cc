// When a receiver takes back the credit of a sender that has stopped: not while frames that the
// sender has spent it on may still come.
#include <gtest/gtest.h>

#include "tests/support/frame_look.h"
#include "tests/support/nic_group.h"
#include "tests/unit/nicfw/nic_words.h"

namespace pinwire {
namespace {

constexpr uint64_t kExpired = 20'000'000;  ///< longer than a sender may be silent
constexpr uint32_t kBurstFrames = 32;      ///< that a lane takes from its port at once

/// Rank 0 sends, and was promised more than a rank that does not.
class NicExpiry : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(send());
    ASSERT_EQ(group_.poll(1).size(), 1u);
    group_.poll(1);
    promised_ = last_credit(group_.port(0));
    ASSERT_GT(promised_, 1 + kBuffers / 4 / 2) << "more than a first credit";
    group_.poll(0);
  }
  bool send() { return group_.post(0, send_work(1, kRequest, &kWord, sizeof kWord)); }
  bool put() { return group_.post(0, put_work(1, &kWord, 8, &memory_, region_.remote_key)); }
  /// By how much the first frame that rank 1 sends changes what rank 0 was promised.
  int change() {
    EXPECT_GT(group_.port(0).waiting(), 0u);
    return static_cast<int16_t>(header_at(group_.port(0), 0).credit - promised_);
  }

  static constexpr uint32_t kBuffers = 256;
  NicGroup group_{{.rx_buffers = kBuffers,
                   .network_depth = 64,
                   .config = {.rto_min_ns = kNever, .rto_max_ns = kNever, .coalesce = false},
                   .memory_medium = {true, true}}};
  uint64_t memory_ = 0;
  Region region_ = group_.pin(1, &memory_, sizeof memory_);
  uint16_t promised_ = 0;
};

TEST_F(NicExpiry, ASenderThatHasStoppedGivesItsCreditBack) {
  group_.clock().advance(kExpired);
  ASSERT_TRUE(put());
  group_.poll(1);
  EXPECT_LT(change(), 0);
}

TEST_F(NicExpiry, WhatASenderGaveBackIsPromisedAgain) {
  const int at_first = promised_ - 1;
  for (int accepted = 2; accepted <= 10; ++accepted) {
    group_.clock().advance(kExpired);
    ASSERT_TRUE(put());
    group_.poll(1);
    group_.poll(0);
    ASSERT_TRUE(send());
    ASSERT_EQ(group_.poll(1).size(), 1u);
    group_.poll(1);
    EXPECT_EQ(last_credit(group_.port(0)) - accepted, at_first) << accepted;
    group_.poll(0);
  }
}

/// Rank 1 computed: the request waits in its port behind more frames than it takes at once.
TEST_F(NicExpiry, ARequestThatWaitsInThePortIsNotOverlooked) {
  for (uint32_t i = 0; i < kBurstFrames; ++i) ASSERT_TRUE(put());
  group_.poll(0);  // post() sends the first few alone
  ASSERT_TRUE(send());
  ASSERT_EQ(group_.port(1).waiting(), kBurstFrames + 1);
  group_.clock().advance(kExpired);
  EXPECT_EQ(group_.poll(1).size(), 1u);
  EXPECT_GE(change(), 0);
}

/// A peer keeps the port full for so long that what was in it at first is taken. Credit that the
/// sender was promised does not stay with it for that long.
TEST_F(NicExpiry, ASenderThatHasStoppedGivesItsCreditBackBesideAPortThatIsAlwaysFull) {
  ASSERT_TRUE(put());
  const auto first = group_.port(1).peek();
  const std::vector<std::byte> stale(first.begin(), first.end());
  // A Done that the client does not fetch: each poll takes one burst.
  const Region region = group_.pin(0, &memory_, sizeof memory_);
  ASSERT_TRUE(group_.post(1, put_work(0, &kWord, 8, &memory_, region.remote_key)));
  for (const Rank rank : {1u, 0u, 0u, 1u, 1u, 0u}) group_.poll(rank);
  ASSERT_EQ(group_.port(0).waiting() + group_.port(1).waiting(), 0u);
  const auto poll_full = [&] {
    while (group_.port(1).waiting() <= 2 * kBurstFrames)
      ASSERT_TRUE(group_.port(1).inject(stale.data(), static_cast<uint32_t>(stale.size())));
    group_.poll(1);
    ASSERT_GT(group_.port(1).waiting(), 0u);
  };
  group_.clock().advance(kExpired);
  for (uint32_t poll = 0; poll <= kBuffers / kBurstFrames; ++poll) poll_full();
  ASSERT_TRUE(put());
  for (uint32_t poll = 0; poll < 4; ++poll) poll_full();
  EXPECT_LT(change(), 0);
}

/// The frame before the last is missing: it was sent on credit, and will come again.
TEST_F(NicExpiry, ASenderOfWhichAFrameIsMissingKeepsItsCredit) {
  ASSERT_TRUE(send());
  group_.port(1).lose_waiting();
  ASSERT_TRUE(send());
  ASSERT_EQ(group_.poll(1).size(), 1u);
  group_.poll(1);
  group_.port(0).lose_waiting();
  group_.clock().advance(kExpired);
  ASSERT_TRUE(put());
  group_.poll(1);
  EXPECT_GE(change(), 0);
}

}  // namespace
}  // namespace pinwire
