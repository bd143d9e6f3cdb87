#include "nicfw/receive/assemblies.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace pinwire {
namespace {

constexpr uint32_t kStep = 32, kTotal = 3 * kStep - 16;
constexpr uint64_t kIdleNs = 100'000'000;

/// The assemblies of a lane without the lane.
class AssembliesOfPieces : public testing::Test {
 protected:
  AssembliesOfPieces() { assemblies_.make(kTotal); }

  static FrameHeader frame(uint32_t sequence, uint32_t number = 1) {
    FrameHeader header;
    header.flags = static_cast<uint8_t>(Flow::kRequest);
    header.sequence = sequence;
    header.number = number;
    return header;
  }
  /// A piece arrives: the assembly that has taken it, or nullptr.
  Assembly* arrive(Rank rank, const FrameHeader& header, uint32_t index, uint64_t watch_ns = 0) {
    const Piece piece{index, kStep, kTotal};
    Assembly* const assembly = assemblies_.find(rank, header, piece, watch_ns);
    if (assembly == nullptr) return nullptr;
    std::array<std::byte, kStep> part;
    part.fill(static_cast<std::byte>(16 * (rank + 1) + index));
    assemblies_.add(*assembly, piece, part.data(), watch_ns);
    return assembly;
  }
  void fill(uint64_t watch_ns = 0) {
    for (uint32_t s = 0; s < Assemblies::kCount; ++s) {
      ASSERT_NE(arrive(0, frame(s), 0, watch_ns), nullptr) << s;
    }
  }

  Assemblies assemblies_;
};

TEST_F(AssembliesOfPieces, PiecesOfTwoRanksInAnyOrderMakeTwoFrames) {
  for (const uint32_t index : {2, 0}) {
    for (const Rank rank : {4, 5}) EXPECT_FALSE(arrive(rank, frame(7), index)->is_whole());
  }
  for (const Rank rank : {5, 4}) {
    Assembly* const whole = arrive(rank, frame(7), 1);
    ASSERT_TRUE(whole->is_whole());
    const std::byte* const records = assemblies_.records_of(*whole);
    for (uint32_t at = 0; at < kTotal; ++at) {
      ASSERT_EQ(records[at], static_cast<std::byte>(16 * (rank + 1) + at / kStep)) << at;
    }
  }
}

TEST_F(AssembliesOfPieces, APieceOfARepetitionCompletesTheFirstSending) {
  Assembly* const first = arrive(0, frame(7, 1), 0);
  EXPECT_EQ(arrive(0, frame(7, 9), 1), first);
  EXPECT_TRUE(arrive(0, frame(7, 9), 2)->is_whole());
}

TEST_F(AssembliesOfPieces, FramesOfOtherSequencesOrFlowsAreOthers) {
  Assembly* const first = arrive(0, frame(7), 0);
  EXPECT_NE(arrive(0, frame(8), 0), first);
  FrameHeader reply = frame(7);
  reply.flags = static_cast<uint8_t>(Flow::kReply);
  EXPECT_NE(arrive(0, reply, 0), first);
}

TEST_F(AssembliesOfPieces, WhereAllGrowAPieceOfAnotherFrameIsLost) {
  fill();
  EXPECT_EQ(arrive(1, frame(0), 0), nullptr);
  Assembly* const whole = arrive(0, frame(3), 1);
  ASSERT_NE(whole, nullptr) << "its own frame's assembly stands";
  EXPECT_EQ(arrive(1, frame(0), 0, kIdleNs - 1), nullptr);
  ASSERT_TRUE(arrive(0, frame(3), 2)->is_whole());
  Assemblies::end(*whole);
  EXPECT_EQ(arrive(1, frame(0), 0), whole);
}

TEST_F(AssembliesOfPieces, OneWithoutANewPieceForLongMakesRoom) {
  fill();
  Assembly* const grows = arrive(0, frame(3), 1, 1);
  for (uint32_t s = 0; s < Assemblies::kCount; ++s) {
    arrive(0, frame(s), 0, 2);  // a repeated piece is no progress
  }
  for (uint32_t s = 0; s + 1 < Assemblies::kCount; ++s) {
    Assembly* const room = arrive(1, frame(s), 0, kIdleNs);
    ASSERT_NE(room, nullptr) << s;
    EXPECT_NE(room, grows) << s;
  }
  EXPECT_EQ(arrive(1, frame(99), 0, kIdleNs), nullptr);
  EXPECT_EQ(arrive(1, frame(99), 0, kIdleNs + 1), grows);
}

TEST_F(AssembliesOfPieces, AnUnusedOneIsTakenBeforeOneThatIsIdle) {
  Assembly* const idle = arrive(0, frame(0), 0);
  EXPECT_NE(arrive(1, frame(0), 0, kIdleNs), idle);
  EXPECT_EQ(arrive(0, frame(0), 1, kIdleNs), idle);
}

TEST_F(AssembliesOfPieces, OneThatItsPeerBeganAMillionFramesAgoIsForgotten) {
  constexpr uint32_t kFrames = 1 << 20;
  arrive(0, frame(7, 1), 0);
  arrive(0, frame(7, 1), 1);
  EXPECT_TRUE(arrive(0, frame(7, 1 + kFrames), 2)->is_whole()) << "not one frame more";
  arrive(1, frame(7, 1), 0);
  arrive(1, frame(7, 1), 1);
  EXPECT_FALSE(arrive(1, frame(7, 2 + kFrames), 2)->is_whole()) << "a frame with its sequence";
}

}  // namespace
}  // namespace pinwire
