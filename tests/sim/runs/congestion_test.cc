// Congestion control over the simulated fabric: shares of a bottleneck, incast, a receiver that
// polls rarely.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>

#include "tests/sim/client/streams.h"
#include "tests/sim/fabric/nics.h"

namespace pinwire::sim {
namespace {

constexpr uint64_t kMsNs = 1'000'000;

void print(const char* what, uint32_t senders, uint32_t frame_bytes, const Streams& streams) {
  const FabricCounts& counts = streams.counts();
  std::printf(
      "%-8s %3u:1, %4u-byte frames: %5.1f %% of the link, Jain %.3f; %lu frames, %lu dropped (%.2f "
      "%%), %lu without a "
      "buffer, %lu repeats, %lu timeouts, %lu duplicates\n",
      what, senders, frame_bytes, streams.link_share() * 100, streams.jain(), counts.sent,
      counts.overrun, static_cast<double>(counts.overrun) * 100 / static_cast<double>(counts.sent),
      counts.unbuffered, streams.sum("retransmits"), streams.sum("timeouts"),
      streams.sum("rx_drop_duplicate"));
}

/// Ranks 1 to `senders` put to rank 0, each from `apart_ns` after the one before.
std::vector<Stream> into_one(uint32_t senders, uint64_t apart_ns) {
  std::vector<Stream> streams;
  for (Rank rank = 1; rank <= senders; ++rank) {
    streams.push_back({.from = rank, .to = 0, .start_ns = (rank - 1) * apart_ns});
  }
  return streams;
}

struct Case {
  uint32_t senders;
  uint32_t frame_bytes;
};

class Congestion : public testing::TestWithParam<Case> {};

TEST_P(Congestion, FlowsGetEqualSharesWhenevertheyStart) {
  const auto [senders, frame_bytes] = GetParam();
  for (const uint64_t spread_ns : {uint64_t{0}, 5 * kMsNs}) {
    Streams streams(congestion_network(senders + 1, frame_bytes),
                    into_one(senders, spread_ns / senders));
    streams.run(spread_ns + 20 * kMsNs);
    streams.mark();
    streams.run(10 * kMsNs);
    print(spread_ns == 0 ? "together" : "apart", senders, frame_bytes, streams);
    EXPECT_GE(streams.jain(), 0.95);
    EXPECT_GE(streams.link_share(), 0.9);
  }
}

TEST_P(Congestion, IncastFillsTheLinkAndLosesNextToNothing) {
  const auto [senders, frame_bytes] = GetParam();
  Streams streams(congestion_network(senders + 1, frame_bytes), into_one(senders, 0));
  streams.run(2 * kMsNs);
  streams.mark();
  streams.run(8 * kMsNs);
  print("incast", senders, frame_bytes, streams);
  EXPECT_GE(streams.link_share(), 0.9);
  EXPECT_LT(streams.counts().overrun * 100, streams.counts().sent);
}

INSTANTIATE_TEST_SUITE_P(Each, Congestion,
                         testing::Values(Case{2, 1514}, Case{2, 9014}, Case{4, 1514}, Case{4, 9014},
                                         Case{16, 1514}, Case{16, 9014}, Case{64, 1514},
                                         Case{64, 9014}),
                         [](const auto& tested) {
                           return "of" + std::to_string(tested.param.senders) + "frames" +
                                  std::to_string(tested.param.frame_bytes);
                         });

/// It drops long probes far more often than short ones.
TEST(CongestionOfShallowSwitches, AFullOutputIsNotTakenForANarrowPath) {
  constexpr uint32_t kSenders = 16;
  Scenario scenario = congestion_network(kSenders + 1, 9014);
  scenario.switch_buffer_bytes = 100'000;
  std::vector<Stream> puts = into_one(kSenders, 0);
  for (Stream& put : puts) put.bytes = 256 * 1024, put.depth = 16;
  Streams streams(scenario, puts);
  streams.run(60 * kMsNs);
  print("shallow", kSenders, 9014, streams);
  EXPECT_GT(streams.counts().overrun * 100, streams.counts().sent) << "it is full";
  EXPECT_EQ(streams.sum("path_holes"), 0u);
}

/// The buffer of a shallow switch is full before any delay shows, so only loss tells of it. Its
/// receiver answers each question at once, so no sender waits longer after each loss of a frame.
TEST(CongestionOfShallowSwitches, NobodyStarves) {
  constexpr uint32_t kSenders = 64, kFrameBytes = 1514;
  Scenario scenario = congestion_network(kSenders + 1, kFrameBytes);
  scenario.switch_buffer_bytes = 150'000;
  std::vector<Stream> puts = into_one(kSenders, 0);
  for (Stream& put : puts) put.depth = 1;
  Streams streams(scenario, puts);
  streams.run(5 * kMsNs);
  streams.mark();
  streams.run(50 * kMsNs);
  uint64_t most_ns = 0;
  for (size_t i = 0; i < puts.size(); ++i) {
    const auto& times_ns = streams.times_ns(i);
    ASSERT_FALSE(times_ns.empty()) << i;
    most_ns = std::max(most_ns, *std::max_element(times_ns.begin(), times_ns.end()));
  }
  print("shallow", kSenders, kFrameBytes, streams);
  std::printf("64 KiB take %lu us at most\n", most_ns / 1'000);
  EXPECT_LE(most_ns, 8 * kMsNs);
  EXPECT_GE(streams.jain(), 0.9);
  EXPECT_LT(streams.counts().overrun * 4, streams.counts().sent);
}

/// A long line that loses frames: its delay is no queue.
TEST(CongestionOfOne, ALongPathThatLosesFramesIsUsed) {
  Scenario scenario = congestion_network(2, 9014);
  scenario.faults.delay_ns = 50'000;
  scenario.faults.loss = 0.02;
  Streams streams(scenario, into_one(1, 0));
  streams.run(5 * kMsNs);
  streams.mark();
  streams.run(40 * kMsNs);
  print("long", 1, 9014, streams);
  EXPECT_GE(streams.gbit_per_s(), 20) << "it was 0.8";
}

/// Round trips from 20 to 60 us, as between racks or virtual machines: shorter than what a window
/// of one frame is patient with, longer than a queue may be.
constexpr uint64_t kLinesNs[] = {8'000, 13'000, 17'000, 20'000, 24'000, 28'000};

/// Before they put, they send a few words, as at a barrier: so each knows its path when it starts
/// behind the queue of the others.
std::vector<Stream> into_one_after_words(uint32_t senders, uint64_t apart_ns) {
  constexpr uint64_t kWordsNs = kMsNs;
  std::vector<Stream> streams = into_one(senders, apart_ns);
  for (uint32_t i = 0; i < senders; ++i) {
    Stream words = streams[i];
    words.bytes = 8;
    words.depth = 1;
    words.start_ns = 0;
    words.end_ns = kWordsNs;
    streams[i].start_ns += kWordsNs;
    streams.push_back(words);
  }
  return streams;
}

TEST(CongestionOfOne, APathThatIsLongWhenIdleIsFilled) {
  for (const uint32_t frame_bytes : {1514u, 9014u}) {
    for (const uint64_t line_ns : kLinesNs) {
      Scenario scenario = congestion_network(2, frame_bytes);
      scenario.faults.delay_ns = line_ns;
      Streams streams(scenario, into_one_after_words(1, 0));
      streams.run(20 * kMsNs);
      streams.mark();
      streams.run(20 * kMsNs);
      print("idle", 1, frame_bytes, streams);
      EXPECT_GE(streams.link_share(), 0.9) << line_ns;
    }
  }
}

uint64_t median(std::vector<uint64_t> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// A slow port is quiet by its bytes; its own flow makes the queue.
TEST(CongestionOfOne, ASlowPortsQueueIsNotTakenForThePath) {
  constexpr uint64_t kQueueUsMax = 400;
  Scenario scenario = congestion_network(2, 1514);
  scenario.link_bits_per_s = 1'000'000'000;
  std::vector<Stream> puts = into_one_after_words(1, 0);
  puts.push_back(
      {.from = 1, .to = 0, .bytes = 8, .depth = 1, .start_ns = 20 * kMsNs, .op = Op::kGet});
  Streams streams(scenario, puts);
  streams.run(60 * kMsNs);
  const auto& times_ns = streams.times_ns(2);
  ASSERT_FALSE(times_ns.empty());
  const uint64_t median_us = median(times_ns) / 1'000;
  print("slow", 1, 1514, streams);
  std::printf("a get of 8 bytes beside it takes %lu us (median)\n", median_us);
  EXPECT_LE(median_us, kQueueUsMax);
}

TEST(CongestionOfMany, ALongPathIsShared) {
  constexpr uint32_t kSenders = 8;
  for (const uint32_t frame_bytes : {1514u, 9014u}) {
    for (const uint64_t line_ns : {uint64_t{13'000}, uint64_t{24'000}}) {
      for (const uint64_t spread_ns : {uint64_t{0}, 5 * kMsNs}) {
        Scenario scenario = congestion_network(kSenders + 1, frame_bytes);
        scenario.faults.delay_ns = line_ns;
        Streams streams(scenario, into_one_after_words(kSenders, spread_ns / kSenders));
        streams.run(spread_ns + 40 * kMsNs);
        streams.mark();
        streams.run(10 * kMsNs);
        print(spread_ns == 0 ? "together" : "apart", kSenders, frame_bytes, streams);
        std::vector<uint64_t> shares = streams.shares();
        shares.resize(kSenders);
        EXPECT_GE(sim::jain(shares), 0.95) << line_ns;
        EXPECT_GE(streams.link_share(), 0.9) << line_ns;
      }
    }
  }
}

/// A rank that runs a handler accepts no requests for a while, and its answers to questions say so.
TEST(CongestionOfMany, NothingIsRepeatedForARankThatRefusesIt) {
  constexpr uint32_t kSenders = 32;
  Scenario scenario = congestion_network(kSenders + 1, 1514);
  scenario.rx_buffers = 64;
  std::vector<Stream> messages = into_one(kSenders, 0);
  for (Stream& message : messages) {
    message.bytes = 700;
    message.depth = 16;
    message.op = Op::kSend;
    message.flags = kWorkCopied;
  }
  Streams streams(scenario, messages);
  streams.run(kMsNs);
  streams.set_filter(0, RecvFilter::kRepliesOnly);
  streams.run(kMsNs);
  const uint64_t sent = streams.counts().sent;
  const uint64_t repeats = streams.sum("retransmits");
  streams.run(20 * kMsNs);
  EXPECT_EQ(streams.sum("retransmits"), repeats);
  EXPECT_LE(streams.counts().sent - sent, kSenders * 40);
  streams.set_filter(0, RecvFilter::kAll);
  streams.mark();
  streams.run(5 * kMsNs);
  for (const uint64_t bytes : streams.shares()) EXPECT_GT(bytes, 0u);
}

/// A sender that polls rarely sees the delay of the fabric in steps of its poll gap, or not at all.
TEST(CongestionOfMany, SendersThatPollRarelyGetEqualShares) {
  struct Polls {
    Case of;
    uint64_t each_ns;
  };
  for (const auto& [of, each_ns] :
       {Polls{{4, 1514}, 10'000}, Polls{{3, 1514}, 20'000}, Polls{{6, 1514}, 20'000},
        Polls{{4, 9014}, 30'000}, Polls{{16, 1514}, 30'000}, Polls{{16, 9014}, 30'000},
        Polls{{64, 1514}, 30'000}, Polls{{12, 1514}, 40'000}}) {
    for (const uint64_t after_poll_ns : {uint64_t{0}, each_ns - 1'000}) {
      std::vector<Stream> puts = into_one(of.senders, 0);
      for (Stream& stream : puts) stream.after_poll_ns = after_poll_ns;
      Streams streams(congestion_network(of.senders + 1, of.frame_bytes), puts);
      for (Rank rank = 1; rank <= of.senders; ++rank) streams.set_poll(rank, each_ns + rank * 37);
      streams.run(20 * kMsNs);
      streams.mark();
      streams.run(20 * kMsNs);
      print(after_poll_ns == 0 ? "rare" : "rare, late", of.senders, of.frame_bytes, streams);
      EXPECT_GE(streams.jain(), 0.94);
      EXPECT_GE(streams.link_share(), 0.9);
      EXPECT_LT(streams.counts().overrun * 100, streams.counts().sent);
    }
  }
}

/// A small put right after each poll, and many others just before the next one: what is measured of
/// one is not taken for the others'.
TEST(CongestionOfOne, AnEarlyPostDoesNotAgeLaterOnes) {
  constexpr uint64_t kPollNs = 100'000, kRunNs = 20 * kMsNs, kBytes = 1000;
  for (const uint32_t frame_bytes : {1514u, 9014u}) {
    Streams streams(congestion_network(2, frame_bytes),
                    {{.from = 1, .to = 0, .bytes = 8, .depth = 1},
                     {.from = 1, .to = 0, .bytes = kBytes, .depth = 64, .after_poll_ns = 99'000}});
    streams.set_poll(1, kPollNs);
    streams.run(kRunNs);
    streams.mark();
    streams.run(kRunNs);
    const uint64_t puts = streams.shares()[1] / kBytes;
    EXPECT_GE(puts, 30 * kRunNs / kPollNs) << "of 64 for each poll";
  }
}

TEST(CongestionOfOne, AReceiverThatPollsRarelyGetsWhatItsBuffersHold) {
  Streams streams(congestion_network(2, 9014), into_one(1, 0));
  streams.run(2 * kMsNs);
  streams.set_poll(0, kMsNs);
  streams.run(30 * kMsNs);
  streams.mark();
  streams.run(100 * kMsNs);
  print("rare", 1, 9014, streams);
  EXPECT_GE(streams.gbit_per_s(), 20);
}

}  // namespace
}  // namespace pinwire::sim
