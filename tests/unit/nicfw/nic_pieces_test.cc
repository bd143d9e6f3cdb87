// Frames that go in pieces: which pieces make a frame, and what a full port does to them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <numeric>

#include "nicfw/receive/assemblies.h"
#include "nicfw/wire/piece.h"
#include "tests/support/frame_forger.h"
#include "tests/support/nic_group.h"
#include "tests/unit/nicfw/nic_words.h"

namespace pinwire {
namespace {

constexpr uint32_t kPortBytes = 9014;
constexpr uint32_t kPathBytes = 1514;

/// The port takes neither the pieces of a frame nor the short frame before it: as if both had never
/// been sent.
TEST(NicPieces, WhatAFullPortRefusesIsSentOnceItHasRoom) {
  NicGroup group({.frame_bytes_max = kPortBytes, .config = {.coalesce = false}});
  group.port(1).set_path_bytes(kPathBytes);
  const uint64_t word = 7;
  const auto payload = byte_pattern(8'000);
  Work works[] = {send_work(1, kRequest, &word, sizeof word), send_work(1, kRequest, nullptr, 0)};
  works[1].local = const_cast<uint8_t*>(payload.data());
  works[1].bytes = payload.size();
  works[1].flags |= kWorkCopied;
  group.port(0).set_tx_room(0);
  ASSERT_EQ(group.nic(0).post(0, works), 2u);
  ASSERT_EQ(group.port(1).waiting(), 0u);
  group.port(0).set_tx_room(~uint64_t{0});
  EXPECT_EQ(group.run(100, 1, 1'000).size(), 2u);
  EXPECT_EQ(group.stat(0, "retransmits"), 0u);
  EXPECT_EQ(group.stat(1, "rx_drop_duplicate"), 0u);
}

/// It takes the first pieces of each burst, and has no buffers for the others.
TEST(NicPieces, AReceiverWithFewerBuffersThanPiecesGetsAllOfThemInTheEnd) {
  NicGroup group({.frame_bytes_max = kPortBytes, .rx_buffers = 4, .config = {.coalesce = false}});
  group.port(1).set_path_bytes(kPathBytes);
  const uint64_t word = 7;
  const auto payload = byte_pattern(8'000);
  Work work = send_work(1, kRequest, &word, sizeof word);
  work.local = const_cast<uint8_t*>(payload.data());
  work.bytes = payload.size();
  work.flags |= kWorkCopied;
  ASSERT_EQ(group.nic(0).post(0, {&work, 1}), 1u);
  EXPECT_EQ(group.run(1'000, 1, 1'000'000).size(), 1u);
}

Work with_payload(Work message, const std::vector<uint8_t>& payload) {
  message.local = const_cast<uint8_t*>(payload.data());
  message.bytes = payload.size();
  message.flags |= kWorkCopied;
  return message;
}

/// The probes of the path leave in the poll that asks what has arrived.
TEST(NicPieces, WhatIsLostBesideProbesIsAskedForOnce) {
  NicGroup group({.frame_bytes_max = kPortBytes, .config = {.coalesce = false}});
  const uint64_t word = 7;
  const Work small = send_work(1, kRequest, &word, sizeof word);
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(group.post(0, small));
    ASSERT_EQ(group.run(4, 1, 1'000).size(), 1u);
  }
  const auto payload = byte_pattern(8'000);
  const Work large = with_payload(small, payload);
  ASSERT_TRUE(group.post(0, large));
  group.poll(0);
  group.port(1).lose_waiting();
  EXPECT_EQ(group.run(5'000, 1, 1'000).size(), 1u);
  EXPECT_EQ(group.stat(0, "late_asks"), 1u);
}

/// All frames under way are lost. The oldest one goes in pieces, and is repeated at once: the
/// acknowledgement that others would wait for can come for no other frame.
TEST(NicPieces, TheOldestFrameIsRepeatedHoweverManyBehindItWereLost) {
  NicGroup group({.frame_bytes_max = kPortBytes, .config = {.coalesce = false}});
  group.port(1).set_path_bytes(kPathBytes);
  const uint64_t word = 7;
  const Work small = send_work(1, kRequest, &word, sizeof word);
  const auto payload = byte_pattern(8'000);
  const Work large = with_payload(small, payload);
  ASSERT_TRUE(group.post(0, large));
  for (int i = 0; i < 1'000 && group.stat(0, "path_holes") == 0; ++i) group.run(100, 1, 1'000);
  ASSERT_EQ(group.stat(0, "path_holes"), 1u) << "no more probes";
  constexpr size_t kSmall = 8;
  for (size_t window = 0; window < 1 + kSmall;) {  // congestion control allows more each time
    window = 0;
    while (group.post(0, small)) ++window;
    ASSERT_LE(window, 2 * kSmall);
    group.run(4, 1, 1'000);
  }
  ASSERT_TRUE(group.post(0, large));
  for (size_t i = 0; i < kSmall; ++i) ASSERT_TRUE(group.post(0, small)) << i;
  group.poll(0);
  group.port(1).lose_waiting();
  EXPECT_EQ(group.run(2'000, 1, 1'000).size(), 1 + kSmall);
  EXPECT_EQ(group.stat(0, "timeouts"), 1u) << "one for all that was lost";
}

/// A message of 24 bytes in two pieces, of which the first carries 8 bytes of it.
class ForgedPieces {
 public:
  explicit ForgedPieces(NicGroup& group) : group_(group) {}

  /// The piece of a message whose words are all `word`, in frame `number`.
  void inject(uint32_t index, uint64_t word, uint32_t number, uint32_t sequence = 0) {
    constexpr uint32_t kStep = 16;
    alignas(16) std::byte records[2 * kStep];
    Record message{};
    message.type = RecordType::kMessage;
    message.bytes = sizeof records - kMessageHeaderBytes;
    encode_record(records, message);
    for (size_t at = kMessageHeaderBytes; at < sizeof records; at += sizeof word)
      std::memcpy(records + at, &word, sizeof word);
    FrameForger forger(group_);
    forger.header.kind = FrameKind::kPiece;
    forger.header.sequence = sequence;
    forger.number = number;
    const Piece piece{index, kStep, sizeof records};
    encode_piece(forger.records(), piece);
    std::memcpy(forger.records() + kPieceFieldsBytes, records + piece.offset(), piece.bytes());
    forger.raw(kPieceFieldsBytes + piece.bytes());
    forger.inject();
  }

 private:
  NicGroup& group_;
};

/// Sequences come again after 2^32 frames. A piece that its sender gave up long ago must not become
/// a part of another frame with the same sequence.
TEST(NicPieces, APieceOfLongAgoIsNoPartOfALaterFrame) {
  NicGroup group({.frame_bytes_max = kPortBytes});
  ForgedPieces pieces(group);
  constexpr uint32_t kLongAgo = 200, kNow = kLongAgo + (1 << 20) + 1;
  constexpr uint64_t kOld = 1, kNew = 2;
  pieces.inject(0, kOld, kLongAgo);
  EXPECT_TRUE(group.poll(1).empty());
  pieces.inject(1, kNew, kNow);
  EXPECT_TRUE(group.poll(1).empty()) << "a frame of two halves that do not belong together";
  pieces.inject(0, kNew, kNow + 1);
  EXPECT_EQ(group.poll(1), std::vector<uint64_t>{kNew});
}

/// A receiver without a buffer for a complete frame needs one piece again when it has a buffer, not
/// all pieces.
TEST(NicPieces, AFrameForWhichThereWasNoBufferIsStillWhole) {
  NicGroup group({.frame_bytes_max = kPortBytes});
  ForgedPieces pieces(group);
  group.port(1).set_wide_buffers(false);
  pieces.inject(0, 1, 200);
  pieces.inject(1, 1, 201);
  EXPECT_TRUE(group.poll(1).empty());
  EXPECT_EQ(group.stat(1, "rx_drop_refused"), 1u);
  group.port(1).set_wide_buffers(true);
  pieces.inject(1, 1, 202);
  EXPECT_EQ(group.poll(1), std::vector<uint64_t>{1});
}

TEST(NicPieces, APieceWaitsForTheOthersWhileAMillionFramesPass) {
  NicGroup group({.frame_bytes_max = kPortBytes});
  ForgedPieces pieces(group);
  pieces.inject(1, 1, 200);
  EXPECT_TRUE(group.poll(1).empty());
  pieces.inject(0, 1, 200 + (1 << 20));
  EXPECT_EQ(group.poll(1), std::vector<uint64_t>{1});
}

/// A receiver has memory for sixteen frames that are incomplete.
TEST(NicPieces, APieceWaitsForTheOthersWhileOtherFramesAreComplete) {
  NicGroup group({.frame_bytes_max = kPortBytes});
  ForgedPieces pieces(group);
  uint32_t number = 200;
  pieces.inject(0, 100, number++, 0);
  for (uint32_t other = 1; other <= 20; ++other) {
    for (const uint32_t index : {0u, 1u}) pieces.inject(index, other, number++, other);
    EXPECT_EQ(group.poll(1), std::vector<uint64_t>{other});
  }
  pieces.inject(1, 100, number++, 0);
  EXPECT_EQ(group.poll(1), std::vector<uint64_t>{100});
}

constexpr uint32_t kAssemblies = Assemblies::kCount;

/// The first pieces of all frames arrive before the second ones, again and again.
TEST(NicPieces, FramesInStepDoNotEvictEachOther) {
  NicGroup group({.frame_bytes_max = kPortBytes});
  ForgedPieces pieces(group);
  group.run(300, 1, 1'000'000);  // longer than an assembly may be idle
  uint32_t number = 200;
  std::vector<uint64_t> got;
  for (int sending = 0; sending < 4; ++sending) {
    for (const uint32_t index : {0u, 1u}) {
      for (uint32_t frame = 0; frame <= 2 * kAssemblies; ++frame)
        pieces.inject(index, frame, number++, frame);
      for (const uint64_t word : group.run(3, 1, 1'000)) got.push_back(word);
    }
  }
  std::sort(got.begin(), got.end());
  std::vector<uint64_t> all(2 * kAssemblies + 1);
  std::iota(all.begin(), all.end(), 0);
  EXPECT_EQ(got, all);
  EXPECT_GT(group.stat(1, "rx_drop_refused"), 0u);
}

TEST(NicPieces, APieceWaitsForTheOthersForLongWhereThereIsRoom) {
  NicGroup group({.frame_bytes_max = kPortBytes});
  ForgedPieces pieces(group);
  uint32_t number = 200;
  pieces.inject(0, 100, number++, 0);
  EXPECT_TRUE(group.run(1'000, 1, 1'000'000).empty());
  pieces.inject(0, 101, number++, 1);
  pieces.inject(1, 100, number++, 0);
  pieces.inject(1, 101, number++, 1);
  EXPECT_EQ(group.run(2, 1), (std::vector<uint64_t>{100, 101}));
}

/// All memory is full of frames whose rest does not come. A piece that comes again is no progress.
TEST(NicPieces, AFrameThatDoesNotGrowMakesRoomAfterAWhile) {
  NicGroup group({.frame_bytes_max = kPortBytes});
  ForgedPieces pieces(group);
  uint32_t number = 200;
  const auto look_for_ms = [&](uint32_t ms) {
    for (uint32_t i = 0; i < 10 * ms; ++i) {
      group.clock().advance(100'000);
      EXPECT_TRUE(group.poll(1).empty());
    }
  };
  for (uint32_t frame = 0; frame < kAssemblies; ++frame) pieces.inject(0, frame, number++, frame);
  look_for_ms(95);
  for (uint32_t frame = 0; frame < kAssemblies; ++frame) pieces.inject(0, frame, number++, frame);
  look_for_ms(3);
  for (const uint32_t index : {0u, 1u}) pieces.inject(index, 99, number++, 99);
  EXPECT_TRUE(group.poll(1).empty());
  EXPECT_EQ(group.stat(1, "rx_drop_refused"), 2u);
  look_for_ms(5);
  for (const uint32_t index : {0u, 1u}) pieces.inject(index, 99, number++, 99);
  EXPECT_EQ(group.poll(1), std::vector<uint64_t>{99});
}

/// The receiver computes meanwhile, so that the rest waits in its ring.
TEST(NicPieces, AFrameIsNotIdleWhileItsReceiverComputes) {
  NicGroup group({.frame_bytes_max = kPortBytes});
  ForgedPieces pieces(group);
  uint32_t number = 200;
  for (uint32_t frame = 0; frame < kAssemblies; ++frame) pieces.inject(0, frame, number++, frame);
  EXPECT_TRUE(group.poll(1).empty());
  group.clock().advance(1'000'000'000);
  pieces.inject(0, 99, number++, 99);
  for (uint32_t frame = 0; frame < kAssemblies; ++frame) pieces.inject(1, frame, number++, frame);
  EXPECT_EQ(group.run(2, 1).size(), kAssemblies);
}

/// Rank 0 sends replies to rank 1 over a narrow path.
class NicPiecesInAWindow : public testing::Test {
 protected:
  NicPiecesInAWindow() { group_.port(1).set_path_bytes(kPathBytes); }
  /// Frames or pieces that arrive at rank 1, which does not poll, of as many messages as rank 0 may
  /// send.
  uint32_t arrived(uint64_t bytes) {
    Work work = send_work(1, MessageClass::kReply, nullptr, 0);
    work.flags |= kWorkCopied;
    work.local = payload_.data();
    work.bytes = bytes;
    while (group_.post(0, work)) {
    }
    for (int i = 0; i < 10; ++i) group_.poll(0);
    const uint32_t arrived = group_.port(1).waiting();
    group_.run(200, 1, 1'000);
    return arrived;
  }

  NicGroup group_{
      {.frame_bytes_max = kPortBytes, .rx_buffers = 1024, .config = {.coalesce = false}}};
  std::vector<uint8_t> payload_ = byte_pattern(2'776);
};

/// The window is full of pieces, as it is of frames.
TEST_F(NicPiecesInAWindow, FillIt) {
  uint32_t frames = 0;
  for (int i = 0; i < 20; ++i) frames = arrived(8);
  ASSERT_GE(frames, 64u);
  arrived(payload_.size());
  const uint32_t pieces = arrived(payload_.size());
  EXPECT_LE(pieces, frames + 2);
  EXPECT_GE(pieces, frames - 2);
}

}  // namespace
}  // namespace pinwire
