#include "nicfw/receive/held_messages.h"

#include <gtest/gtest.h>

#include <array>
#include <deque>
#include <vector>

namespace pinwire {
namespace {

/// A port that remembers what is given back to it, burst by burst.
class PortOfReleases final : public Port {
 public:
  PortFacts facts() const noexcept override { return {}; }
  uint32_t tx(uint32_t, std::span<const TxFrame>) noexcept override { return 0; }
  uint32_t rx(uint32_t, std::span<RxFrame>) noexcept override { return 0; }
  void release(uint32_t queue, std::span<const RxFrame> frames) noexcept override {
    EXPECT_EQ(queue, kQueue);
    bursts.push_back(static_cast<uint32_t>(frames.size()));
    for (const RxFrame& frame : frames) buffers.push_back(frame.buffer);
  }
  bool widen(uint32_t, RxFrame&, uint32_t) noexcept override { return false; }
  Result<uint32_t> attach(void*, uint64_t) override { return 0u; }
  void detach(uint32_t) override {}
  int event_fd(uint32_t) const noexcept override { return -1; }
  PortArmed arm(uint32_t) noexcept override { return PortArmed::kArmed; }

  static constexpr uint32_t kQueue = 3;
  std::vector<uint32_t> bursts;
  std::vector<void*> buffers;
};

/// The messages of a lane with 16 receive buffers, without the lane.
class MessagesOfPeers : public testing::Test {
 protected:
  static constexpr uint32_t kRanks = 2, kBuffers = 16;

  MessagesOfPeers() {
    ahead_.make(8);
    for (Peer& peer : peers_) {
      for (ReceiveFlow& flow : peer.receive) flow.start(0);
    }
    messages_.make(port_, PortOfReleases::kQueue, peers_.data(), ahead_, kBuffers);
  }

  struct Frame {
    alignas(16) std::array<std::byte, 512> bytes{};
    FrameHeader header;
    RxFrame rx{};
  };
  /// A frame with messages of those sizes.
  Frame& frame_of(Flow flow, Rank source, uint32_t sequence,
                  std::initializer_list<uint16_t> sizes) {
    Frame& frame = frames_.emplace_back();
    uint32_t at = kRecordsOffset;
    for (const uint16_t bytes : sizes) {
      Record record{};
      record.type = RecordType::kMessage;
      record.bytes = bytes;
      encode_record(&frame.bytes[at], record);
      at += record_stride(record_fields(RecordType::kMessage), bytes);
    }
    frame.header.source = source;
    frame.header.flags = static_cast<uint8_t>(flow);
    frame.header.sequence = sequence;
    frame.header.record_bytes = static_cast<uint16_t>(at - kRecordsOffset);
    frame.rx = {frame.bytes.data(), at, true, &frame};
    return frame;
  }
  Frame& hold(Flow flow, Rank source, uint32_t sequence, std::initializer_list<uint16_t> sizes,
              uint32_t before = 0) {
    Frame& frame = frame_of(flow, source, sequence, sizes);
    messages_.hold(peers_[source], frame.header, frame.rx, before);
    return frame;
  }
  void arrives(Flow flow, Rank source, uint32_t sequence) {
    peers_[source].receive[static_cast<size_t>(flow)].mark(ahead_, sequence);
  }
  std::vector<Recv> deliver(MessageClass cls, size_t most = 8) {
    Recv out[8];
    return {out, out + messages_.deliver(cls, {out, most})};
  }

  PortOfReleases port_;
  std::vector<Peer> peers_ = std::vector<Peer>(kRanks);
  ArrivedAheadPool ahead_;
  std::deque<Frame> frames_;
  HeldMessages messages_;
};

TEST_F(MessagesOfPeers, AFrameGoesBackToThePortWithTheLastOfItsMessages) {
  const Frame& frame = hold(Flow::kRequest, 1, 0, {8, 24});
  EXPECT_TRUE(messages_.has_arrivals());
  EXPECT_EQ(messages_.request_buffers().held, 1u);
  EXPECT_EQ(peers_[1].requests_held, 1u);
  std::vector<Recv> out = deliver(MessageClass::kRequest);
  ASSERT_EQ(out.size(), 2u);
  EXPECT_EQ(out[0].bytes, 8u);
  EXPECT_EQ(out[1].bytes, 24u);
  EXPECT_EQ(out[1].peer, 1u);
  EXPECT_FALSE(messages_.has_arrivals());
  messages_.give_back({&out[1], 1});
  EXPECT_TRUE(port_.buffers.empty()) << "one of its messages is still out";
  messages_.give_back({&out[0], 1});
  ASSERT_EQ(port_.buffers.size(), 1u);
  EXPECT_EQ(port_.buffers[0], &frame);
  EXPECT_EQ(messages_.request_buffers().held, 0u);
  EXPECT_EQ(peers_[1].requests_held, 0u);
}

TEST_F(MessagesOfPeers, AFrameOfWhichPartWasHandedOutGoesOnWhereItStopped) {
  hold(Flow::kReply, 0, 0, {8, 16, 24});
  hold(Flow::kReply, 0, 1, {32});
  EXPECT_EQ(deliver(MessageClass::kReply, 2).size(), 2u);
  const std::vector<Recv> rest = deliver(MessageClass::kReply);
  ASSERT_EQ(rest.size(), 2u);
  EXPECT_EQ(rest[0].bytes, 24u);
  EXPECT_EQ(rest[1].bytes, 32u);
}

TEST_F(MessagesOfPeers, RepliesAndRequestsAreHandedOutByThemselves) {
  hold(Flow::kRequest, 0, 0, {8});
  EXPECT_TRUE(deliver(MessageClass::kReply).empty());
  hold(Flow::kReply, 0, 0, {16});
  const std::vector<Recv> replies = deliver(MessageClass::kReply);
  ASSERT_EQ(replies.size(), 1u);
  EXPECT_EQ(replies[0].cls, MessageClass::kReply);
  EXPECT_EQ(messages_.request_buffers().held, 1u) << "a reply is no request";
  EXPECT_EQ(deliver(MessageClass::kRequest).size(), 1u);
}

TEST_F(MessagesOfPeers, RequestsTakeHalfOfTheBuffersAndTheLastOnesAreForPuts) {
  uint32_t sequence = 0;
  for (; messages_.may_hold(Flow::kRequest); ++sequence) hold(Flow::kRequest, 0, sequence, {8});
  EXPECT_EQ(sequence, kBuffers / 2);
  uint32_t replies = 0;
  for (; messages_.may_hold(Flow::kReply); ++replies) hold(Flow::kReply, 0, replies, {8});
  EXPECT_EQ(sequence + replies, kBuffers - kBuffers / 8);
}

TEST_F(MessagesOfPeers, HalfOfTheBuffersOfAFlowNeverWaitForFrames) {
  uint32_t parked = 0;
  for (; messages_.may_park(Flow::kRequest); ++parked) {
    hold(Flow::kRequest, 0, parked + 1, {8}, parked + 1);
  }
  EXPECT_EQ(parked, kBuffers / 4);
  EXPECT_TRUE(messages_.may_hold(Flow::kRequest));
  EXPECT_TRUE(messages_.may_park(Flow::kReply)) << "each flow has its own";
}

TEST_F(MessagesOfPeers, ThoseThatWaitForOneFrameComeInTheOrderOfTheirSequences) {
  arrives(Flow::kRequest, 0, 2);
  hold(Flow::kRequest, 0, 2, {16}, 2);
  arrives(Flow::kRequest, 0, 1);
  hold(Flow::kRequest, 0, 1, {8}, 1);
  arrives(Flow::kRequest, 1, 1);
  hold(Flow::kRequest, 1, 1, {24}, 1);
  EXPECT_FALSE(messages_.has_arrivals());
  messages_.unpark(0);
  EXPECT_FALSE(messages_.has_arrivals()) << "the frame is missing still";
  arrives(Flow::kRequest, 0, 0);
  messages_.unpark(0);
  const std::vector<Recv> out = deliver(MessageClass::kRequest);
  ASSERT_EQ(out.size(), 2u) << "the other rank's message waits for its own frame";
  EXPECT_EQ(out[0].bytes, 8u);
  EXPECT_EQ(out[1].bytes, 16u);
  messages_.unpark(1);
  EXPECT_TRUE(messages_.has_parked()) << "another rank's frames are not its own";
  arrives(Flow::kRequest, 1, 0);
  messages_.unpark(1);
  EXPECT_FALSE(messages_.has_parked());
}

TEST_F(MessagesOfPeers, AnEarlyMessageWhoseFramesAreThereDoesNotWait) {
  arrives(Flow::kReply, 0, 0);
  arrives(Flow::kReply, 0, 1);
  hold(Flow::kReply, 0, 1, {8}, 1);
  EXPECT_FALSE(messages_.has_parked());
  EXPECT_TRUE(messages_.has_arrivals());
}

TEST_F(MessagesOfPeers, ThoseThatWaitForAPeerThatIsGoneGoBackAndTheOthersStay) {
  const Frame& gone = hold(Flow::kRequest, 0, 1, {8}, 1);
  hold(Flow::kRequest, 1, 1, {8}, 1);
  hold(Flow::kRequest, 0, 5, {8});
  messages_.drop_parked(0);
  ASSERT_EQ(port_.buffers.size(), 1u);
  EXPECT_EQ(port_.buffers[0], &gone);
  EXPECT_TRUE(messages_.has_parked());
  EXPECT_TRUE(messages_.has_arrivals()) << "what waits for nothing is the client's";
  for (uint32_t i = 2; i < 1 + kBuffers / 4; ++i) {
    EXPECT_TRUE(messages_.may_park(Flow::kRequest)) << i;
    hold(Flow::kRequest, 1, i, {8}, i);
  }
  EXPECT_FALSE(messages_.may_park(Flow::kRequest)) << "as many as before";
}

TEST_F(MessagesOfPeers, FramesThatAreNotHeldGoBackInBursts) {
  const Frame& frame = frame_of(Flow::kOneSided, 0, 0, {});
  for (uint32_t i = 0; i < HeldMessages::kReleasesMax; ++i) messages_.release(frame.rx);
  EXPECT_EQ(port_.bursts, std::vector<uint32_t>{HeldMessages::kReleasesMax});
  EXPECT_FALSE(messages_.has_releases());
  messages_.release(frame.rx);
  EXPECT_TRUE(messages_.has_releases());
  messages_.flush_releases();
  messages_.flush_releases();
  EXPECT_EQ(port_.bursts, (std::vector<uint32_t>{HeldMessages::kReleasesMax, 1}));
}

using MessagesOfPeersDeathTest = MessagesOfPeers;

TEST_F(MessagesOfPeersDeathTest, AMessageThatIsGivenBackTwiceEndsTheProcess) {
  hold(Flow::kRequest, 0, 0, {8});
  const std::vector<Recv> out = deliver(MessageClass::kRequest);
  messages_.give_back(out);
  EXPECT_DEATH(messages_.give_back(out), "given back twice");
}

}  // namespace
}  // namespace pinwire
