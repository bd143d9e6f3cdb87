// Credit: how many requests a sender may have at a receiver that does not take them, and how soon
// it learns that there is room again.
#include <gtest/gtest.h>

#include "core/base/bits.h"
#include "tests/support/frame_look.h"
#include "tests/support/nic_group.h"
#include "tests/unit/nicfw/nic_words.h"

namespace pinwire {
namespace {

Work request() { return send_work(1, kRequest, &kWord, sizeof kWord); }

/// Posts a request before each of `rounds` polls of both; rank 1 takes only replies. How many went.
uint64_t flood(NicGroup& group, int rounds) {
  uint64_t posted = 0;
  for (int round = 0; round < rounds; ++round) {
    posted += group.post(0, request());
    group.poll(1, RecvFilter::kRepliesOnly);
    group.poll(0);
    group.clock().advance(1'000);
  }
  return posted;
}

TEST(NicCredit, ASenderThatHasSpentItsCreditSendsNoMore) {
  constexpr uint32_t kBuffers = 256;
  NicGroup group({.rx_buffers = kBuffers,
                  .network_depth = 2,
                  .config = {.rto_min_ns = kNever, .rto_max_ns = kNever, .coalesce = false}});
  const uint64_t posted = flood(group, 4 * kBuffers);
  EXPECT_GE(posted, kBuffers / 4);  // requests may hold half of the buffers
  EXPECT_LE(posted, kBuffers / 2 + 1);
  EXPECT_LE(group.stat(1, "rx_drop_refused"), 1u);
  EXPECT_GT(group.stat(0, "credit_stalls"), 0u);
}

TEST(NicCredit, RefusedRequestsComeAsSoonAsThereIsRoom) {
  // More senders than buffers for requests, and no timeout that would help.
  constexpr uint32_t kSenders = 20;
  NicGroup group({.ranks = kSenders + 1,
                  .rx_buffers = 32,
                  .config = {.rto_min_ns = kNever, .rto_max_ns = kNever, .coalesce = false}});
  uint64_t posted = 0;
  for (int round = 0; round < 100; ++round) {
    for (Rank rank = 1; rank <= kSenders; ++rank) {
      posted += group.post(rank, send_work(0, kRequest, &kWord, sizeof kWord));
      group.poll(rank);
    }
    group.poll(0, RecvFilter::kRepliesOnly);
    group.clock().advance(1'000);
  }
  EXPECT_EQ(group.port(0).overflows(), 0u);
  EXPECT_GE(posted, kSenders);  // each has its first credit
  EXPECT_GT(group.stat(0, "rx_drop_refused"), 0u);
  EXPECT_LE(group.stat(0, "rx_drop_refused"), kSenders);
  EXPECT_EQ(group.run(1'000, 0, 1'000).size(), posted);
  for (Rank rank = 1; rank <= kSenders; ++rank) EXPECT_EQ(group.stat(rank, "timeouts"), 0u);
}

/// A request that was refused, and came again, was accepted without a promise.
TEST(NicCredit, ASenderOfWhichARequestWasRefusedGetsCreditLikeAnyOther) {
  constexpr uint32_t kSenders = 20;
  NicGroup group({.ranks = kSenders + 1, .rx_buffers = 32, .config = {.coalesce = false}});
  const auto post = [&](Rank rank) {
    return group.post(rank, send_work(0, kRequest, &kWord, sizeof kWord));
  };
  for (Rank rank = 1; rank <= kSenders; ++rank) {
    ASSERT_TRUE(post(rank));
    group.poll(0, RecvFilter::kRepliesOnly);
  }
  ASSERT_GT(group.stat(0, "rx_drop_refused"), 0u);
  ASSERT_EQ(group.run(1'000, 0, 1'000).size(), kSenders);
  uint32_t posted[kSenders + 1] = {};
  for (int round = 0; round < 100; ++round) {
    for (Rank rank = 1; rank <= kSenders; ++rank) posted[rank] += post(rank) ? 1 : 0;
    group.run(1, 0, 1'000);
  }
  for (Rank rank = 1; rank <= kSenders; ++rank) EXPECT_GE(posted[rank], 10u) << "rank " << rank;
}

/// The frame that gave it was lost.
TEST(NicCredit, ASenderThatMissesItAsksForIt) {
  NicGroup group({.rx_buffers = 16, .network_depth = 2, .config = {.coalesce = false}});
  fill_with_requests(group);
  if (HasFatalFailure()) return;
  for (int polls = 0; polls < 5; ++polls) group.poll(1);
  group.port(0).lose_waiting();
  uint64_t waited_ns = 0;
  for (; !group.post(0, request()) && waited_ns < 1'000'000'000; waited_ns += 10'000) {
    group.poll(0);
    group.poll(1);
    group.clock().advance(10'000);
  }
  EXPECT_LT(waited_ns, 20'000'000u);
}

TEST(NicCredit, WhatWasPromisedIsNotTakenBackWhenOthersBeginToSend) {
  constexpr uint32_t kSenders = 8;
  NicGroup group({.ranks = kSenders + 1,
                  .rx_buffers = 256,
                  .network_depth = 64,
                  .config = {.rto_min_ns = kNever, .rto_max_ns = kNever, .coalesce = false}});
  const auto send = [&](Rank rank) {
    ASSERT_TRUE(group.post(rank, send_work(0, kRequest, &kWord, sizeof kWord)));
    ASSERT_EQ(group.poll(0).size(), 1u);
    group.poll(0);
  };
  send(1);
  group.poll(1);
  send(1);
  ASSERT_GT(group.port(1).waiting(), 0u);
  const uint16_t alone = last_credit(group.port(1));
  ASSERT_GT(alone, 2 + 256 / 2 / kSenders) << "more than its share among all of them";
  for (Rank rank = 2; rank <= kSenders; ++rank) send(rank);
  group.poll(1);
  send(1);
  ASSERT_GT(group.port(1).waiting(), 0u);
  EXPECT_GE(static_cast<int16_t>(last_credit(group.port(1)) - alone), 0);
  // All of it is kept: as many frames as were promised are accepted.
  const uint32_t left = alone - 3u;
  uint32_t posted = 0;
  while (posted < left && group.post(1, send_work(0, kRequest, &kWord, sizeof kWord))) ++posted;
  group.poll(0, RecvFilter::kRepliesOnly);
  EXPECT_GT(posted, 0u);
  EXPECT_EQ(group.stat(0, "rx_drop_refused"), 0u);
}

TEST(NicCredit, AFrameThatWasOvertakenTakesNoneBack) {
  NicGroup group({.rx_buffers = 24,
                  .network_depth = 16,
                  .config = {.rto_min_ns = kNever, .rto_max_ns = kNever, .coalesce = false}});
  const Work back = send_work(0, kRequest, &kWord, sizeof kWord);
  ASSERT_TRUE(group.post(1, back));
  ASSERT_TRUE(group.post(0, request()));
  group.poll(0);
  ASSERT_TRUE(group.post(0, request()));
  LoopPort& port = group.port(1);
  const uint16_t before = header_at(port, 0).credit, after = last_credit(port);
  ASSERT_GT(after, before);
  port.swap_waiting(0, port.waiting() - 1);
  group.poll(1);
  uint32_t posted = 1;
  while (posted <= after && group.post(1, back)) ++posted;
  EXPECT_EQ(posted, after);
}

/// Rank 1 was promised nearly everything while it was alone. Then the others spend what they have
/// at a rank that takes no requests, and wait.
class NicCreditOfTheFirst : public testing::Test {
 protected:
  void SetUp() override {
    for (int i = 0; i < 3; ++i) {
      ASSERT_TRUE(group_.post(1, message()));
      poll_all(RecvFilter::kAll);
    }
    for (int round = 0; round < 4; ++round) post_all();
    ASSERT_EQ(post_all(), 0) << "nobody waits";
  }
  /// As many messages of each other rank as it may send.
  int post_all() {
    int posted = 0;
    for (Rank rank = 2; rank < kRanks; ++rank) {
      while (group_.post(rank, message())) ++posted;
    }
    poll_all(RecvFilter::kRepliesOnly);
    return posted;
  }
  void poll_all(RecvFilter filter) {
    for (int i = 0; i < 2; ++i) {
      for (Rank rank = 1; rank < kRanks; ++rank) group_.poll(rank);
      group_.poll(0, filter);
      group_.clock().advance(1'000);
    }
  }
  static Work message() { return send_work(0, kRequest, &kWord, sizeof kWord); }

  static constexpr Rank kRanks = 9;
  static constexpr int kFairShare = 128 / (kRanks - 1);
  NicGroup group_{{.ranks = kRanks,
                   .rx_buffers = 256,
                   .network_depth = 128,
                   .config = {.rto_min_ns = kNever, .rto_max_ns = kNever, .coalesce = false}}};
};

TEST_F(NicCreditOfTheFirst, IsTakenBackForThoseWhoWaitIfItIsSeldomUsed) {
  int posted = 0;
  for (int round = 0; round < 100; ++round) posted += post_all();
  EXPECT_GE(posted, 2 * kFairShare);
  // The next frame tells the first.
  ASSERT_TRUE(group_.post(0, send_work(1, kRequest, &kWord, sizeof kWord)));
  poll_all(RecvFilter::kRepliesOnly);
  int of_the_first = 0;
  for (int round = 0; round < 20; ++round) {
    while (group_.post(1, message())) ++of_the_first;
    poll_all(RecvFilter::kRepliesOnly);
  }
  EXPECT_GE(of_the_first, 1);
  EXPECT_LE(of_the_first, kFairShare);
  EXPECT_EQ(group_.stat(0, "rx_drop_refused"), 0u);
}

TEST_F(NicCreditOfTheFirst, IsNotTakenBackWhileItIsUsed) {
  for (int round = 0; round < 40; ++round) {
    ASSERT_TRUE(group_.post(1, message())) << round;
    post_all();
    group_.clock().advance(100'000);
  }
  EXPECT_EQ(group_.stat(0, "rx_drop_refused"), 0u);
}

}  // namespace
}  // namespace pinwire
