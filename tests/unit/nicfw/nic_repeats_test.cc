// A frame is repeated because a frame was lost, and for nothing else: what arrives twice, or is
// refused and comes again, is at most one frame in a hundred.
#include <gtest/gtest.h>

#include <cstring>

#include "nicfw/wire/wire.h"
#include "tests/support/nic_group.h"
#include "tests/unit/nicfw/nic_words.h"

namespace pinwire {
namespace {

/// Frames that rank `to` did not need, because it had accepted them before or could not take them.
uint64_t needless(NicGroup& group, uint32_t to) {
  return group.stat(to, "rx_drop_duplicate") + group.stat(to, "rx_drop_refused");
}

class NicFencedRepeats : public testing::TestWithParam<MessageClass> {};

TEST_P(NicFencedRepeats, R11AFencedMessageThatComesEarlyIsHeldAndNotRepeated) {
  NicGroup group({.rx_buffers = 1024, .network_depth = 256, .config = {.coalesce = false}});
  group.set_faults({.loss = 0.01});
  constexpr uint64_t kMessages = 20'000;
  uint64_t posted = 0;
  uint64_t got = 0;
  for (int round = 0; round < 200'000 && got < kMessages; ++round) {
    for (int k = 0; k < 16 && posted < kMessages; ++k, ++posted) {
      Work work = send_work(1, GetParam(), &posted, 8);
      if (posted % 16 == 15) work.flags |= kWorkFenced;
      if (!group.post(0, work)) break;
    }
    got += group.poll(1).size();
    group.poll(0);
    group.clock().advance(1'000);
  }
  EXPECT_EQ(got, kMessages);
  EXPECT_GT(group.stat(0, "retransmits"), 0u);
  EXPECT_LE(needless(group, 1) * 10 * kPercent, group.stat(0, "frames_sent"));
}

INSTANTIATE_TEST_SUITE_P(Each, NicFencedRepeats,
                         testing::Values(MessageClass::kRequest, MessageClass::kReply));

/// The path took 2 us, and takes a millisecond now. A frame is overtaken by the next one, by a
/// microsecond: when the acknowledgement of that one arrives, its own has not had the time to.
TEST(NicRepeats, AFrameThatIsOvertakenOnAPathThatBecameSlowIsWaitedFor) {
  constexpr uint64_t kWord = 5;
  constexpr uint64_t kSlowUs = 1'000;
  NicGroup group({.config = {.coalesce = false}});
  const auto send = [&] {
    ASSERT_TRUE(group.post(0, send_work(1, MessageClass::kRequest, &kWord, 8)));
  };
  const auto pass = [&](uint64_t us) {
    for (uint64_t i = 0; i < us; ++i) {
      group.clock().advance(1'000);
      group.poll(0);
    }
  };
  const auto answer = [&] {
    const size_t got = group.poll(1).size();
    group.poll(1);
    group.poll(0);
    return got;
  };
  for (const uint64_t us : {uint64_t{2}, kSlowUs}) {
    for (int i = 0; i < 30; ++i) {
      send();
      pass(us);
      ASSERT_EQ(answer(), 1u);
    }
  }
  ASSERT_EQ(group.stat(0, "retransmits"), 0u);
  send();
  send();
  pass(kSlowUs);
  ASSERT_EQ(group.port(1).waiting(), 2u);
  const auto overtaken = group.port(1).take_first();
  ASSERT_EQ(answer(), 1u);
  group.port(1).inject(overtaken.data(), static_cast<uint32_t>(overtaken.size()));
  pass(1);
  ASSERT_EQ(answer(), 1u);
  EXPECT_EQ(group.stat(0, "retransmits"), 0u);
}

TEST(NicRepeats, R19RefusedRequestsDoNotRepeatPuts) {
  NicGroup group({.rx_buffers = 64, .network_depth = 256, .config = {.coalesce = false}});
  const auto source = byte_pattern(1 << 20);
  std::vector<uint8_t> target(source.size());
  const Region region = group.pin(1, target.data(), target.size());
  const Work put = put_work(1, source.data(), source.size(), target.data(), region.remote_key);
  const uint64_t word = 1;
  uint64_t outstanding = 0;
  uint64_t posted = 0;
  uint64_t got = 0;
  for (int round = 0; round < 20'000; ++round) {
    while (outstanding < 4 && group.post(0, put)) ++outstanding;
    for (int k = 0; k < 2; ++k) posted += group.post(0, send_work(1, kRequest, &word, 8));
    got += group.poll(1, round % 8 == 7 ? RecvFilter::kAll : RecvFilter::kRepliesOnly).size();
    group.poll(0);
    outstanding -= group.dones(0).size();
    group.clock().advance(3'000);
  }
  EXPECT_EQ(source, target);
  EXPECT_GT(got, 10'000u);
  EXPECT_LE(posted - got, 64u);
  EXPECT_LE(needless(group, 1) * kPercent, group.stat(0, "frames_sent"));
}

TEST(NicRepeats, ABusyPortCountsNoRepetitionThatItDidNotTake) {
  NicGroup group({});
  const uint64_t word = 5;
  ASSERT_TRUE(group.post(0, send_work(1, kRequest, &word, 8)));
  group.port(1).lose_waiting();
  group.port(0).set_tx_room(0);
  for (int i = 0; i < 100; ++i) {
    group.poll(0);
    group.clock().advance(200'000);
  }
  EXPECT_EQ(group.stat(0, "retransmits"), 0u);
  EXPECT_GT(group.stat(0, "port_busy"), 0u);
  group.port(0).set_tx_room(~uint64_t{0});
  EXPECT_EQ(group.run(10, 1, 1'000).size(), 1u);
  EXPECT_EQ(group.stat(0, "retransmits"), 1u);
}

TEST(NicRepeats, ABodyThatChangesLateIsSealedAsItIsThenHoweverOftenItWasSent) {
  NicGroup group({.config = {.peer_timeout_ns = 0}});
  std::vector<uint64_t> source(125, 1);
  std::vector<uint64_t> target(source.size());
  const Region region = group.pin(1, target.data(), 1000);
  ASSERT_TRUE(group.post(0, put_work(1, source.data(), 1000, target.data(), region.remote_key)));
  for (int turns = 0; group.stat(0, "retransmits") < 300; ++turns) {
    ASSERT_LT(turns, 10'000);
    group.port(1).lose_waiting();
    group.clock().advance(2'000'000'000);
    group.poll(0);  // looks what came meanwhile
    group.poll(0);
    LoopPort& port = group.port(1);
    if (port.waiting() != 1 || port.peek().size() != kRecordsOffset) continue;
    group.poll(1);  // answers the question, so that the frame is repeated
    group.poll(0);
  }
  group.port(1).lose_waiting();
  source.back() = 2;
  group.run(100, 0, 50'000'000);
  EXPECT_EQ(group.dones(0).size(), 1u);
  EXPECT_EQ(target, source);
  EXPECT_EQ(group.stat(1, "rx_drop_tag"), 0u);
}

TEST(NicRepeats, ABusyPortSealsAFrameOnce) {
  NicGroup group({.rx_buffers = 1024, .memory_medium = {true, true}});
  const auto source = byte_pattern(100'000);
  std::vector<uint8_t> target(source.size());
  const Region own = group.pin(0, const_cast<uint8_t*>(source.data()), source.size());
  const Region region = group.pin(1, target.data(), target.size());
  Work work = put_work(1, source.data(), source.size(), target.data(), region.remote_key);
  work.local_key = own.local_key;
  group.port(0).set_tx_room(0);
  ASSERT_TRUE(group.post(0, work));
  for (int i = 0; i < 50; ++i) group.poll(0);
  EXPECT_GT(group.stat(0, "port_busy"), 0u);
  group.port(0).set_tx_room(~uint64_t{0});
  group.run(10, 1, 1'000);
  EXPECT_EQ(source, target);
  const uint64_t sealed = group.stat(0, "tx_zero_copy_bytes") + group.stat(0, "tx_copied_bytes");
  EXPECT_EQ(sealed, source.size()) << "each byte is read for its checksum once";
  EXPECT_EQ(group.stat(0, "retransmits"), 0u);
}

TEST(NicRepeats, RoomForRequestsRepeatsRequestsAlone) {
  constexpr uint64_t kNever = 50'000'000'000;
  // As many senders as fill the buffers for requests, and no timeout that would repeat anything.
  constexpr uint32_t kSenders = 20;
  NicGroup group({.ranks = kSenders + 1,
                  .rx_buffers = 32,
                  .config = {.rto_min_ns = kNever, .rto_max_ns = kNever, .coalesce = false}});
  uint64_t memory[kSenders + 1] = {};
  const Region region = group.pin(0, memory, sizeof memory);
  const uint64_t word = 1;
  const auto put = [&](Rank rank) {
    return group.post(rank, put_work(0, &word, 8, &memory[rank], region.remote_key));
  };
  for (Rank rank = 1; rank <= kSenders; ++rank) ASSERT_TRUE(put(rank));
  group.run(4, 0, 1'000);  // each learns its round trip
  for (Rank rank = 1; rank <= kSenders; ++rank) {
    ASSERT_TRUE(group.post(rank, send_work(0, kRequest, &word, 8)));
    group.poll(0, RecvFilter::kRepliesOnly);
  }
  const uint64_t refused = group.stat(0, "rx_drop_refused");
  ASSERT_GT(refused, 0u);
  for (Rank rank = 1; rank <= kSenders; ++rank) group.poll(rank);
  for (Rank rank = 1; rank <= kSenders; ++rank) ASSERT_TRUE(put(rank));
  group.port(0).lose_waiting();
  group.clock().advance(50'000);  // longer than a round trip
  EXPECT_GT(group.run(20, 0, 1'000).size(), kSenders / 2);
  uint64_t repeats = 0;
  for (Rank rank = 1; rank <= kSenders; ++rank) {
    repeats += group.stat(rank, "retransmits");
    EXPECT_EQ(group.dones(rank).size(), 1u) << "the second put was lost, and no timeout repeats it";
  }
  EXPECT_GT(repeats, 0u);
  EXPECT_LE(repeats, refused);
}

/// The frame had not arrived when rank 1 said that it has room again: it was not refused.
TEST(NicRepeats, RoomDoesNotRepeatWhatWasSentJustNow) {
  constexpr uint64_t kNever = 50'000'000'000;
  NicGroup group({.rx_buffers = 32,
                  .config = {.rto_min_ns = kNever, .rto_max_ns = kNever, .coalesce = false}});
  const uint64_t word = 1;
  const auto send = [&] {
    return group.post(0, send_work(1, MessageClass::kReply, &word, sizeof word));
  };
  std::vector<Recv> held;
  for (int i = 0; i < 100 && group.stat(1, "rx_drop_refused") == 0; ++i) {
    ASSERT_TRUE(send());
    Recv out[4];
    const uint32_t count = group.nic(1).recv(0, RecvFilter::kAll, out);
    held.insert(held.end(), out, out + count);
    group.clock().advance(1'000);
    group.poll(0);
  }
  ASSERT_EQ(group.stat(1, "rx_drop_refused"), 1u);
  group.poll(0);
  group.nic(1).give_back(0, held);
  group.poll(1);  // it says that there is room
  group.clock().advance(5'000);
  ASSERT_TRUE(send());
  group.poll(0);
  EXPECT_EQ(group.stat(0, "retransmits"), 1u) << "the frame that was refused";
  EXPECT_EQ(group.run(10, 1, 1'000).size(), 2u);
  EXPECT_EQ(group.stat(1, "rx_drop_duplicate"), 0u);
}

/// Rank 1 runs a handler that holds all buffers. Rank 0 asks for the frame that is late, and the
/// answer says that rank 1 has no room for it.
TEST(NicRepeats, WhatIsRefusedIsNotRepeatedBeforeThereIsRoom) {
  NicGroup group({.rx_buffers = 32, .config = {.coalesce = false}});
  const uint64_t word = 1;
  std::vector<Recv> held;
  for (int i = 0; i < 100 && group.stat(1, "rx_drop_refused") == 0; ++i) {
    ASSERT_TRUE(group.post(0, send_work(1, MessageClass::kReply, &word, sizeof word)));
    Recv out[4];
    const uint32_t count = group.nic(1).recv(0, RecvFilter::kAll, out);
    held.insert(held.end(), out, out + count);
    group.clock().advance(1'000);
    group.poll(0);
  }
  ASSERT_EQ(group.stat(1, "rx_drop_refused"), 1u);
  group.run(10'000, 1, 10'000);
  EXPECT_GT(group.stat(0, "late_asks"), 1u);
  EXPECT_EQ(group.stat(0, "retransmits"), 0u);
  EXPECT_EQ(group.stat(1, "rx_drop_refused"), 1u);
  group.nic(1).give_back(0, held);
  EXPECT_EQ(group.run(4, 1, 1'000).size(), 1u) << "rank 1 tells at once that it has room";
  EXPECT_EQ(group.stat(0, "retransmits"), 1u);
}

/// The port of rank 1 is full, takes this many frames in one poll, and is free from then on.
class NicFullPort : public testing::TestWithParam<uint32_t> {};

TEST_P(NicFullPort, DoesNotForgetThatThereIsRoomAgain) {
  // More gets than rank 1 can owe at once: it refuses some, and says so when it has answered.
  NicGroup group({.config = {.window_frames = 8}});
  uint64_t memory = 5;
  const Region region = group.pin(1, &memory, sizeof memory);
  std::vector<uint64_t> local(400);
  size_t posted = 0;
  const auto post = [&] {
    return posted < local.size() &&
           group.post(0, get_work(1, &local[posted], 8, &memory, region.remote_key));
  };
  group.port(1).set_tx_room(0);
  for (int round = 0; round < 20; ++round) {
    while (post()) ++posted;
    group.run(1);
  }
  EXPECT_GT(group.stat(1, "rx_drop_refused"), 0u);
  group.port(1).set_tx_room(GetParam());
  group.poll(1);
  group.port(1).set_tx_room(~uint64_t{0});
  size_t done = 0;
  for (int round = 0; round < 50; ++round) {
    group.run(1);
    done += group.dones(0).size();
  }
  EXPECT_EQ(done, posted);
  EXPECT_EQ(group.stat(0, "timeouts"), 0u);
}

INSTANTIATE_TEST_SUITE_P(Rooms, NicFullPort, testing::Range(0u, 8u));

}  // namespace
}  // namespace pinwire
