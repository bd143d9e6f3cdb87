// A small operation beside long ones of the same rank, or of others with the same target: it takes
// at most twice what it takes alone. Finding R17, R18.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>

#include "tests/sim/client/streams.h"
#include "tests/sim/fabric/nics.h"

namespace pinwire::sim {
namespace {

constexpr uint64_t kMsNs = 1'000'000;
constexpr uint32_t kRanks = 8;

/// A port of 100 Gb/s, and little else on the way: what is waited for is the other's bytes.
Scenario near_network(uint32_t frame_bytes) {
  Scenario scenario = congestion_network(kRanks, frame_bytes);
  scenario.faults.delay_ns = 1'000;
  return scenario;
}

struct Case {
  const char* name;
  Stream small;
  std::vector<Stream> longs;
};
void PrintTo(const Case& tested, std::ostream* out) { *out << tested.name; }

constexpr uint64_t kLong = 1 << 20, kOneFrame = 1'000, kMessage = 700;

std::vector<Case> cases() {
  const Stream put{.from = 0, .to = 1, .bytes = 8, .depth = 1};
  const Stream get{.from = 2, .to = 0, .bytes = 8, .depth = 1, .op = Op::kGet};
  const Stream long_puts{.from = 0, .to = 1, .bytes = kLong, .depth = 8};
  Stream from_others[5];
  for (Rank r = 0; r < 5; ++r)
    from_others[r] = {.from = 3 + r, .to = 0, .bytes = kLong, .depth = 8, .op = Op::kGet};
  const std::vector<Stream> gets_of_others(std::begin(from_others), std::end(from_others));
  Stream other_put = put;
  other_put.to = 2;
  Stream copied = long_puts;
  copied.bytes = 32 * 1024;
  copied.flags = kWorkCopied;
  std::vector<Stream> all = gets_of_others;
  all.push_back(long_puts);
  Stream frame_put = put, other_frame_put = other_put;
  frame_put.bytes = other_frame_put.bytes = kOneFrame;
  Stream own_gets = gets_of_others[0];
  own_gets.from = get.from;
  Stream frame_get = get;
  frame_get.bytes = kOneFrame;
  Stream message = put;
  message.op = Op::kSend;
  message.bytes = kMessage;
  Stream copied_message = message;
  copied_message.flags = kWorkCopied;
  Stream put_send = frame_put, long_put_sends = long_puts;
  put_send.op = long_put_sends.op = Op::kPutSend;
  return {
      {"PutBesidePutsToThePeer", put, {long_puts}},
      {"PutBesidePutsToAnother", other_put, {long_puts}},
      {"PutBesideCopiedPutsToThePeer", put, {copied}},
      {"PutBesideCopiedPutsToAnother", other_put, {copied}},
      {"PutBesideGetsByOthers", put, gets_of_others},
      {"GetBesideGetsByAnother", get, {gets_of_others[0]}},
      {"GetBesideGetsByOthers", get, gets_of_others},
      {"GetBesidePutsOfItsTarget", get, {long_puts}},
      {"PutBesideAll", other_put, all},
      {"PutOfAFrameBesidePutsToThePeer", frame_put, {long_puts}},
      {"PutOfAFrameBesidePutsToAnother", other_frame_put, {long_puts}},
      {"PutOfAFrameBesideAll", other_frame_put, all},
      {"PutSendOfAFrameBesidePutSends", put_send, {long_put_sends}},
      {"GetBesideOwnGets", get, {own_gets}},
      {"GetOfAFrameBesideOwnGets", frame_get, {own_gets}},
      {"MessageBesidePutsToThePeer", message, {long_puts}},
      {"MessageBesidePutSends", message, {long_put_sends}},
      {"MessageBesideGetsByOthers", message, gets_of_others},
      {"CopiedMessageBesideAll", copied_message, all},
  };
}

struct Times {
  double median_us, most_us;
};
Times times_of(std::vector<uint64_t> ns) {
  std::sort(ns.begin(), ns.end());
  return {static_cast<double>(ns[ns.size() / 2]) * 1e-3, static_cast<double>(ns.back()) * 1e-3};
}

class Fairness : public testing::TestWithParam<std::tuple<Case, uint32_t>> {};

TEST_P(Fairness, ASmallOperationTakesTwiceItsTimeAtMost) {
  const auto& [tested, frame_bytes] = GetParam();
  Streams alone(near_network(frame_bytes), {tested.small});
  alone.run(kMsNs);
  std::vector<Stream> streams = tested.longs;
  Stream small = tested.small;
  small.start_ns = 2 * kMsNs;
  streams.push_back(small);
  Streams beside(near_network(frame_bytes), streams);
  beside.run(2 * kMsNs);
  beside.mark();
  beside.run(10 * kMsNs);
  const Times before = times_of(alone.times_ns(0));
  const Times now = times_of(beside.times_ns(tested.longs.size()));
  std::printf(
      "%-31s %4u-byte frames: alone %.1f us, beside them %.1f (most %.1f); %.1f %% of the link\n",
      tested.name, frame_bytes, before.median_us, now.median_us, now.most_us,
      beside.link_share() * 100);
  EXPECT_LE(now.median_us, 2 * before.median_us);
  EXPECT_LE(now.most_us, 2 * before.most_us);
  EXPECT_GE(beside.link_share(), 0.9) << "the long ones must not pay for it";
}

/// Rank 0 sends long put-sends to many peers, and messages to one of them.
TEST(FairnessOfMany, AMessageDoesNotWaitForTheTurnsOfOthers) {
  constexpr uint32_t kPeers = 16;
  for (const auto& [frame_bytes, most_us] : {std::pair{1514u, 6.0}, std::pair{9014u, 20.0}}) {
    Scenario scenario = congestion_network(kPeers + 1, frame_bytes);
    scenario.faults.delay_ns = 1'000;
    scenario.link_bits_per_s = 25'000'000'000;
    std::vector<Stream> streams;
    for (Rank peer = 1; peer <= kPeers; ++peer) {
      streams.push_back({.from = 0, .to = peer, .bytes = kLong, .depth = 4, .op = Op::kPutSend});
    }
    streams.push_back({.from = 0, .to = 1, .bytes = kMessage, .depth = 1, .op = Op::kSend});
    Streams all(scenario, streams);
    all.run(10 * kMsNs);
    const Times times = times_of(all.times_ns(kPeers));
    std::printf("a message beside put-sends to %u peers, %4u-byte frames: %.1f us (most %.1f)\n",
                kPeers, frame_bytes, times.median_us, times.most_us);
    EXPECT_LE(times.median_us, most_us);
  }
}

/// The long puts of other ranks leave rank 1 one frame for each of its flows.
TEST(FairnessOfMany, ASmallPutFindsTheOneFrameOfItsFlow) {
  constexpr uint32_t kSenders = 4;
  Streams all(congestion_network(kSenders + 1, 1514), [] {
    std::vector<Stream> streams{{.from = 1, .to = 0, .bytes = 8, .depth = 1, .start_ns = 2 * kMsNs},
                                {.from = 1, .to = 0, .bytes = kLong, .depth = 8},
                                {.from = 0, .to = 1, .bytes = kLong, .depth = 8, .op = Op::kGet}};
    for (Rank rank = 2; rank <= kSenders; ++rank) {
      streams.push_back({.from = rank, .to = 0, .bytes = kLong, .depth = 4});
    }
    return streams;
  }());
  all.run(22 * kMsNs);
  ASSERT_FALSE(all.times_ns(0).empty());
  const Times times = times_of(all.times_ns(0));
  std::printf("an 8-byte put where its flow has one frame: %.1f us (most %.1f)\n", times.median_us,
              times.most_us);
  EXPECT_LE(times.median_us, 150);
}

/// Long puts make up for copied ones; the first small record after a poll does not wait for that.
TEST(FairnessOfMany, ASmallPutDoesNotWaitForTurnsOfLongAndCopiedOnes) {
  const Stream small{.from = 0, .to = 1, .bytes = 8, .depth = 1};
  const Stream puts{.from = 0, .to = 1, .bytes = kLong, .depth = 8};
  const Stream copied{.from = 0, .to = 1, .bytes = 64 * 1024, .depth = 4, .flags = kWorkCopied};
  Streams alone(near_network(1514), {small});
  alone.run(kMsNs);
  Streams all(near_network(1514), {copied, puts, small});
  all.run(10 * kMsNs);
  const double alone_us = times_of(alone.times_ns(0)).median_us;
  const Times times = times_of(all.times_ns(2));
  std::printf("an 8-byte put beside copied and long ones: %.1f us (most %.1f), alone %.1f\n",
              times.median_us, times.most_us, alone_us);
  EXPECT_LE(times.median_us, 2 * alone_us);
}

/// Ranks 2 to 4 were promised all that the receiver has for requests while there were no others,
/// and use little of it.
TEST(FairnessOfMany, WhoComesLaterIsPromisedItsShare) {
  constexpr uint32_t kSenders = 16;
  std::vector<Stream> streams{
      {.from = 1, .to = 0, .bytes = kMessage, .depth = 1, .start_ns = 2 * kMsNs, .op = Op::kSend}};
  for (Rank rank = 1; rank <= kSenders; ++rank) {
    const uint64_t start_ns = rank == 1 ? 2 * kMsNs : std::min(rank - 2, 5u) * kMsNs / 5;
    streams.push_back({.from = rank,
                       .to = 0,
                       .bytes = kLong,
                       .depth = 8,
                       .start_ns = start_ns,
                       .op = Op::kPutSend});
  }
  Streams all(congestion_network(kSenders + 1, 1514), streams);
  all.run(30 * kMsNs);
  const Times times = times_of(all.times_ns(0));
  std::printf("a message of the last of %u senders: %.1f us (most %.1f), %zu of them\n", kSenders,
              times.median_us, times.most_us, all.times_ns(0).size());
  EXPECT_LE(times.most_us, 100);
  EXPECT_GE(all.times_ns(0).size(), 500u);
}

/// Ranks 2 and 3 compute, with frames that hold what a copied put to rank 1 lacks.
TEST(FairnessOfMany, RecordsDoNotWaitForWhatComputingPeersHold) {
  constexpr uint64_t kAwayNs = 25 * kMsNs;
  Scenario scenario = congestion_network(4, 1514);
  scenario.faults.delay_ns = 1'000;
  scenario.nic.window_frames = 256;
  const Stream large{.from = 0, .to = 1, .bytes = 160'000, .depth = 1, .flags = kWorkCopied};
  Stream records = large, small = large, to_two = large, to_three = large;
  records.bytes = kOneFrame;
  records.depth = 64;
  small.bytes = 8;
  to_two.to = 2;
  to_three.to = 3;
  to_two.depth = to_three.depth = 64;
  Streams all(scenario, {large, records, small, to_two, to_three});
  all.set_poll(2, kAwayNs);
  all.set_poll(3, kAwayNs);
  all.run(kAwayNs + 3 * kMsNs);
  all.mark();
  all.run(10 * kMsNs);
  const auto shares = all.shares();
  std::printf("beside a copied put that finds no buffers: records %lu KB, 8-byte puts %lu\n",
              shares[1] / 1'000, shares[2] / 8);
  EXPECT_GE(shares[1], 1'000'000u);
  EXPECT_GE(shares[2] / 8, 1'000u);
}

/// The send window, not the network, keeps both from more.
TEST(FairnessOfMany, RepliesGoOnBesideTheAnswersOfLongGets) {
  Scenario scenario = near_network(1514);
  scenario.nic.window_frames = 16;
  const Stream replies{.from = 0,
                       .to = 1,
                       .bytes = kMessage,
                       .depth = 16,
                       .op = Op::kSend,
                       .flags = kWorkCopied,
                       .cls = MessageClass::kReply};
  const Stream gets{.from = 1, .to = 0, .bytes = kLong, .depth = 8, .op = Op::kGet};
  Streams both(scenario, {replies, gets});
  both.run(10 * kMsNs);
  std::printf("beside long gets: %lu replies; %lu gets\n", both.shares()[0] / kMessage,
              both.shares()[1] / kLong);
  EXPECT_GE(both.shares()[0] / kMessage, 1'000u);
  EXPECT_GE(both.shares()[1] / kLong, 10u);
}

/// The receiver takes so few messages that credit is short.
TEST(FairnessOfMany, ACopiedPutGetsItsCreditBesideSmallMessages) {
  const Stream messages{.from = 0, .to = 1, .bytes = 8, .depth = 2'000, .op = Op::kSend};
  const Stream copied{
      .from = 0, .to = 1, .bytes = 64 * 1024, .depth = 2, .op = Op::kPutSend, .flags = kWorkCopied};
  Streams both(near_network(1514), {messages, copied});
  both.set_poll(1, 3'000);
  both.run(20 * kMsNs);
  std::printf("short of credit: %lu messages, %lu copied puts\n", both.shares()[0] / 8,
              both.shares()[1] / copied.bytes);
  EXPECT_GE(both.shares()[0] / 8, 10'000u);
  EXPECT_GE(both.shares()[1] / copied.bytes, 50u);
}

TEST(FairnessOfMany, ACopiedPutFindsTheWindowThatIsEmptied) {
  Scenario scenario = near_network(1514);
  scenario.nic.window_frames = 8;
  scenario.rx_buffers = 128;
  const Stream copied{.from = 0, .to = 1, .bytes = 4'031, .depth = 8, .flags = kWorkCopied};
  const Stream puts{.from = 0, .to = 1, .bytes = kLong, .depth = 8};
  Streams both(scenario, {copied, puts});
  both.set_poll(1, 2'000);
  both.run(20 * kMsNs);
  std::printf("in a window of 8 frames: %lu copied puts, %lu long ones\n",
              both.shares()[0] / copied.bytes, both.shares()[1] / kLong);
  EXPECT_GE(both.shares()[0] / copied.bytes, 500u);
  EXPECT_GE(both.shares()[1] / kLong, 5u);
}

class LongOnes : public testing::TestWithParam<uint32_t> {};

/// Peers take turns at the room that the port has, and so do the flows of one peer.
TEST_P(LongOnes, ShareThePort) {
  std::vector<Stream> streams;
  for (Rank peer = 1; peer < 5; ++peer) {
    streams.push_back({.from = 0, .to = peer, .bytes = kLong, .depth = 8});
    streams.push_back({.from = peer, .to = 0, .bytes = kLong, .depth = 8, .op = Op::kGet});
  }
  Streams all(near_network(GetParam()), streams);
  all.run(5 * kMsNs);
  all.mark();
  all.run(40 * kMsNs);
  std::printf("4 peers, puts and gets, %u-byte frames: Jain %.3f, %.1f %% of the link\n",
              GetParam(), all.jain(), all.link_share() * 100);
  EXPECT_GE(all.jain(), 0.95);
  EXPECT_GE(all.link_share(), 0.9);
}

TEST_P(LongOnes, FillTheLinkHoweverRarelyTheirHostPolls) {
  for (const uint64_t poll_ns : {1'000, 3'000, 10'000}) {
    Streams one(near_network(GetParam()), {{.from = 0, .to = 1, .bytes = kLong, .depth = 8}});
    one.set_poll(0, poll_ns);
    one.run(5 * kMsNs);
    one.mark();
    one.run(10 * kMsNs);
    std::printf("a poll in %5lu ns, %u-byte frames: %.1f %% of the link\n", poll_ns, GetParam(),
                one.link_share() * 100);
    EXPECT_GE(one.link_share(), 0.9) << poll_ns;
  }
}

/// However fast others come, each stream goes on, and streams that are alike get alike.
struct Crowd {
  const char* name;
  std::vector<Stream> streams;
  uint64_t bytes_least;  ///< of each, in 20 ms
  double jain_least;     ///< of all but the last of three, which is what they are beside
};
void PrintTo(const Crowd& tested, std::ostream* out) { *out << tested.name; }

class NobodyStarves : public testing::TestWithParam<std::tuple<Crowd, uint32_t>> {};

TEST_P(NobodyStarves, BesideAFlood) {
  const auto& [crowd, gbit_per_s] = GetParam();
  Scenario scenario = near_network(1514);
  scenario.link_bits_per_s = uint64_t{gbit_per_s} * 1'000'000'000;
  Streams all(scenario, crowd.streams);
  all.run(5 * kMsNs);
  all.mark();
  all.run(20 * kMsNs);
  auto shares = all.shares();
  std::printf("%-24s %3u Gb/s, KB:", crowd.name, gbit_per_s);
  for (const uint64_t bytes : shares) std::printf(" %lu", bytes / 1'000);
  std::printf("\n");
  for (const uint64_t bytes : shares) EXPECT_GE(bytes, crowd.bytes_least);
  if (shares.size() > 2) shares.pop_back();
  EXPECT_GE(jain(shares), crowd.jain_least);
}

std::vector<Crowd> crowds() {
  const Stream small{.from = 0, .to = 1, .bytes = 8, .depth = 200};
  const Stream puts{.from = 0, .to = 1, .bytes = kLong, .depth = 8};
  Stream other_puts = puts;
  other_puts.to = 2;
  Stream one{.from = 0, .to = 1, .bytes = 1'000, .depth = 1, .flags = kWorkCopied};
  Stream flood = one, copied = one;
  flood.depth = 64;
  copied.bytes = 4'096;
  copied.depth = 4;
  Stream frame_puts = puts;
  frame_puts.bytes = kOneFrame;
  frame_puts.depth = 64;
  Stream gets{.from = 2, .to = 0, .bytes = kLong, .depth = 8, .op = Op::kGet};
  Stream other_gets = gets, frame_gets = frame_puts, small_gets = small;
  other_gets.from = 3;
  frame_gets.from = small_gets.from = gets.from;
  frame_gets.to = small_gets.to = gets.to;
  frame_gets.op = small_gets.op = Op::kGet;
  Stream records = flood, many_copied = copied;
  records.depth = 256;
  many_copied.bytes = 64 * 1024;
  Stream copied_replies = many_copied, gets_by_their_target = puts;
  copied_replies.depth = 16;
  copied_replies.op = Op::kPutSend;
  copied_replies.cls = MessageClass::kReply;
  gets_by_their_target.from = 1;
  gets_by_their_target.to = 0;
  gets_by_their_target.op = Op::kGet;
  Stream of_few_frames = many_copied, of_a_dozen = many_copied;
  of_few_frames.bytes = 4'096;
  of_few_frames.depth = 64;
  of_a_dozen.bytes = 16'000;
  Stream of_another = puts, of_a_third = puts;
  of_another.from = 2;
  of_a_third.from = 3;
  return {{"CopiedOfOneFrame", {one, flood}, 300'000, 0.5},
          {"CopiedOfManyFrames", {records, many_copied}, 1'000'000, 0},
          {"CopiedBeforeRecordsAndLong", {many_copied, records, puts}, 500'000, 0},
          {"RecordsBeforeCopiedAndLong", {records, many_copied, puts}, 500'000, 0},
          {"GetsBesideCopiedReplies", {copied_replies, gets_by_their_target}, 1'000'000, 0},
          {"CopiedBeforeAll", {many_copied, records, puts, of_another, of_a_third}, 200'000, 0},
          {"RecordsBeforeAll", {records, many_copied, puts, of_another, of_a_third}, 200'000, 0},
          {"CopiedOfTwoSizes", {of_few_frames, many_copied}, 5'000'000, 0.7},
          {"CopiedOfThreeSizes", {of_few_frames, many_copied, of_a_dozen}, 2'000'000, 0},
          {"SizesBesideRecords", {records, of_few_frames, of_a_dozen, many_copied}, 300'000, 0},
          {"CopiedOfSeveralFrames", {copied, flood}, 3'000'000, 0.5},
          {"LongBesideSmall", {puts, other_puts, small}, 500'000, 0.8},
          {"PutsOfAFrameBesideLong", {puts, frame_puts}, 3'000'000, 0.8},
          {"GetsOfAFrameBesideLong", {gets, frame_gets}, 3'000'000, 0.8},
          {"LongBesideSmallGets", {gets, other_gets, small_gets}, 300'000, 0.7}};
}
INSTANTIATE_TEST_SUITE_P(Each, NobodyStarves,
                         testing::Combine(testing::ValuesIn(crowds()),
                                          testing::Values(10u, 25u, 100u)),
                         [](const auto& tested) {
                           return std::get<0>(tested.param).name + std::string("Gbit") +
                                  std::to_string(std::get<1>(tested.param));
                         });

INSTANTIATE_TEST_SUITE_P(Each, LongOnes, testing::Values(1514u, 9014u), [](const auto& tested) {
  return "Frames" + std::to_string(tested.param);
});

INSTANTIATE_TEST_SUITE_P(Each, Fairness,
                         testing::Combine(testing::ValuesIn(cases()),
                                          testing::Values(1514u, 9014u)),
                         [](const auto& tested) {
                           return std::get<0>(tested.param).name + std::string("Frames") +
                                  std::to_string(std::get<1>(tested.param));
                         });

}  // namespace
}  // namespace pinwire::sim
