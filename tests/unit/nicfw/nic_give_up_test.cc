// Peers that are gone take nothing with them.
#include <gtest/gtest.h>

#include "tests/support/nic_group.h"
#include "tests/unit/nicfw/nic_words.h"

namespace pinwire {
namespace {

/// Messages and copied puts that rank 0 may post to `peer` before it must poll.
uint32_t posts_to(NicGroup& group, Rank peer, const Region& region) {
  static const auto payload = byte_pattern(1'000);
  uint32_t posted = 0;
  for (bool more = true; more && posted < 10'000;) {
    Work put = put_work(peer, payload.data(), payload.size(), reinterpret_cast<void*>(region.base),
                        region.remote_key);
    put.flags = kWorkCopied;
    more = group.post(0, put);
    posted += more;
  }
  return posted;
}

TEST(NicGiveUp, DeadPeersGiveBackEverythingThatTheyHeld) {
  constexpr uint32_t kRanks = 40;
  std::vector<uint8_t> target(1'000);
  const auto open = [] {
    return std::make_unique<NicGroup>(NicGroup::Options{
        .ranks = kRanks,
        .config = {.window_frames = 8, .peer_timeout_ns = 5'000'000, .coalesce = false}});
  };
  const auto fresh = open();
  const uint32_t possible =
      posts_to(*fresh, kRanks - 1, fresh->pin(kRanks - 1, target.data(), target.size()));
  ASSERT_GT(possible, 0u);
  const auto group = open();
  for (Rank peer = 1; peer + 1 < kRanks; ++peer) {
    posts_to(*group, peer, group->pin(peer, target.data(), target.size()));
    group->post(0, send_work(peer, MessageClass::kRequest, &kWord, 8));
  }
  const Region region = group->pin(kRanks - 1, target.data(), target.size());
  for (int polls = 0; polls < 5'000; ++polls) {
    group->poll(0);
    group->dones(0);
    group->clock().advance(1'000'000);
  }
  ASSERT_TRUE(group->nic(0).drained(0)) << "not all of them are given up";
  EXPECT_EQ(posts_to(*group, kRanks - 1, region), possible);
}

/// A frame of the dead peer still waited to be repeated. The peer that uses its window next has
/// lost nothing.
TEST(NicGiveUp, WhatADeadPeerHadLostIsNotTheNextOnes) {
  NicGroup group({.ranks = 3, .config = {.peer_timeout_ns = 5'000'000, .coalesce = false}});
  const auto send = [&](Rank to) {
    ASSERT_TRUE(group.post(0, send_work(to, MessageClass::kRequest, &kWord, 8)));
  };
  for (const Rank to : {1u, 2u}) {
    send(to);
    ASSERT_EQ(group.run(4, to, 1'000).size(), 1u);
  }
  send(1);
  group.port(1).lose_waiting();
  send(1);
  group.poll(1);
  group.poll(1);
  group.port(0).set_tx_room(0);  // the frame that was lost finds no room
  for (int polls = 0; polls < 1'000 && group.nic(0).failure() == nullptr; ++polls) {
    group.poll(0);
    group.clock().advance(1'000'000);
  }
  ASSERT_NE(group.nic(0).failure(), nullptr);
  ASSERT_GT(group.stat(0, "port_busy"), 0u);
  group.port(0).set_tx_room(~uint64_t{0});
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 3; ++i) send(2);
    EXPECT_EQ(group.run(10, 2, 1'000).size(), 3u);
  }
  EXPECT_EQ(group.stat(0, "retransmits"), 0u);
  EXPECT_TRUE(group.nic(0).drained(0));
}

/// Others get the credit that a dead sender was promised, and no more than that.
TEST(NicGiveUp, TheCreditOfADeadSenderIsTakenBackOnce) {
  NicGroup group({.ranks = 3, .config = {.peer_timeout_ns = 5'000'000, .coalesce = false}});
  const auto send = [&](Rank from, Rank to) {
    return group.post(from, send_work(to, MessageClass::kRequest, &kWord, 8));
  };
  ASSERT_TRUE(send(1, 0));
  Recv kept[1];  // so that the sender does not count as one that has stopped
  ASSERT_EQ(group.nic(0).recv(0, RecvFilter::kAll, kept), 1u);
  group.run(4, 0, 1'000);
  ASSERT_TRUE(send(0, 1));
  for (int polls = 0; polls < 1'000 && group.nic(0).failure() == nullptr; ++polls) {
    group.poll(0);
    group.clock().advance(1'000'000);
  }
  ASSERT_NE(group.nic(0).failure(), nullptr);
  group.nic(0).give_back(0, kept);
  size_t got = 0;
  for (int round = 0; round < 1'000; ++round) {
    send(2, 0);
    group.poll(2);
    got += group.poll(0).size();
    group.clock().advance(1'000);
  }
  EXPECT_GE(got, 990u);
}

/// Rank 0 has something under way to rank 1, which is gone.
void wait_until_gone(NicGroup& group) {
  ASSERT_TRUE(group.post(0, send_work(1, MessageClass::kRequest, &kWord, 8)));
  for (int polls = 0; polls < 1'000 && group.nic(0).failure() == nullptr; ++polls) {
    EXPECT_TRUE(group.poll(0).empty());
    group.clock().advance(1'000'000);
  }
  ASSERT_NE(group.nic(0).failure(), nullptr);
}

/// Fenced messages of both classes wait for frames that their sender cannot repeat any more. Those
/// of another sender wait on.
TEST(NicGiveUp, MessagesThatWaitForFramesOfADeadPeerAreReleased) {
  NicGroup group({.ranks = 3, .config = {.peer_timeout_ns = 5'000'000, .coalesce = false}});
  const size_t free = group.port(0).free_buffers();
  for (const Rank from : {1u, 2u}) {
    for (const auto cls : {MessageClass::kRequest, MessageClass::kReply}) {
      Work work = send_work(0, cls, &kWord, 8);
      ASSERT_TRUE(group.post(from, work));
      group.port(0).lose_waiting();
      work.flags |= kWorkFenced;
      ASSERT_TRUE(group.post(from, work));
      EXPECT_TRUE(group.poll(0).empty());
    }
  }
  ASSERT_EQ(group.port(0).free_buffers(), free - 4) << "no message waits";
  group.port(1).lose_waiting();
  wait_until_gone(group);
  EXPECT_EQ(group.port(0).free_buffers(), free - 2);
  size_t got = 0;
  for (int round = 0; round < 1'000; ++round) {
    group.poll(2);
    got += group.poll(0).size();
    group.clock().advance(100'000);
  }
  EXPECT_EQ(got, 4u);
  EXPECT_EQ(group.port(0).free_buffers(), free);
}

TEST(NicGiveUp, AsManyMessagesMayWaitAsBeforeThePeerWasGone) {
  NicGroup group(
      {.ranks = 3, .rx_buffers = 32, .config = {.peer_timeout_ns = 5'000'000, .coalesce = false}});
  const size_t free = group.port(0).free_buffers();
  const auto wait_from = [&](Rank from) {
    Work work = send_work(0, MessageClass::kReply, &kWord, 8);
    EXPECT_TRUE(group.post(from, work));
    group.port(0).lose_waiting();
    work.flags |= kWorkFenced;
    while (group.post(from, work)) {
    }
    group.poll(from);
    EXPECT_TRUE(group.poll(0).empty());
    return free - group.port(0).free_buffers();
  };
  const size_t held = wait_from(1);
  ASSERT_GE(held, 2u);
  group.port(1).lose_waiting();
  wait_until_gone(group);
  EXPECT_EQ(group.port(0).free_buffers(), free);
  EXPECT_EQ(wait_from(2), held);
}

TEST(NicGiveUp, AnIdleWhileIsNoSilence) {
  constexpr uint64_t kSecond = 1'000'000'000;
  NicGroup group({.config = {.peer_timeout_ns = kSecond}});
  const auto send = [&] { return group.post(0, send_work(1, MessageClass::kRequest, &kWord, 8)); };
  ASSERT_TRUE(send());
  ASSERT_EQ(group.run(4, 1, 1'000).size(), 1u);
  group.run(1'000, 0, 10'000'000);  // ten times that long nobody has anything to say
  ASSERT_TRUE(send());
  for (int polls = 0; polls < 500; ++polls) {  // half of it the peer computes
    group.poll(0);
    group.clock().advance(1'000'000);
  }
  EXPECT_GE(group.stat(0, "late_asks"), 5u);
  EXPECT_EQ(group.nic(0).failure(), nullptr);
  EXPECT_EQ(group.run(100, 1, 1'000'000).size(), 1u);
}

/// With no setting, a client may stay in a No-Interrupt Section of the order of 10 s.
TEST(NicGiveUp, APeerThatComputesForTwelveSecondsIsWaitedFor_C1_186) {
  NicGroup group({});
  ASSERT_TRUE(group.post(0, send_work(1, MessageClass::kRequest, &kWord, 8)));
  for (int polls = 0; polls < 12'000; ++polls) {
    group.poll(0);
    group.clock().advance(1'000'000);
  }
  EXPECT_EQ(group.nic(0).failure(), nullptr);
  EXPECT_EQ(group.run(2'000, 1, 1'000'000), std::vector{kWord});
}

}  // namespace
}  // namespace pinwire
