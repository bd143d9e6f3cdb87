#include "nicfw/wire/piece.h"

#include <gtest/gtest.h>

namespace pinwire {
namespace {

Reject parse(const Piece& piece, uint32_t bytes, uint32_t total_max = 8'918) {
  std::byte at[kPieceFieldsBytes];
  encode_piece(at, piece);
  Piece out;
  return parse_piece(at, bytes, total_max, out);
}

TEST(PieceTest, EveryPieceOfAFrameIsReadAsItWasWritten) {
  const uint32_t step = piece_step(1514);
  EXPECT_EQ(step % 16, 0u);
  EXPECT_LE(kRecordsOffset + kPieceFieldsBytes + step, 1514u);
  for (const uint32_t total : {step + 1, 2 * step, 8'918u}) {
    Piece piece{0, step, total};
    uint32_t bytes = 0;
    for (; piece.index < piece.count(); ++piece.index) {
      std::byte at[kPieceFieldsBytes];
      encode_piece(at, piece);
      Piece out;
      ASSERT_EQ(parse_piece(at, kPieceFieldsBytes + piece.bytes(), 8'918, out), Reject::kNone);
      EXPECT_EQ(out.offset(), bytes);
      bytes += out.bytes();
    }
    EXPECT_EQ(bytes, total);
  }
}

TEST(PieceTest, WhatMakesNoSenseIsRejected) {
  EXPECT_EQ(parse({1, 1024, 3'000}, 1024 + 16), Reject::kNone);
  EXPECT_EQ(parse({1, 1024, 3'000}, 1024 + 15), Reject::kRecord);  // shorter than its part
  EXPECT_EQ(parse({2, 1024, 3'000}, 1024 + 16), Reject::kRecord);  // longer than its part
  EXPECT_EQ(parse({3, 1024, 3'000}, 16 + 1), Reject::kRecord);     // behind the last
  EXPECT_EQ(parse({0, 1000, 3'000}, 1000 + 16), Reject::kRecord);  // unaligned
  EXPECT_EQ(parse({0, 0, 3'000}, 17), Reject::kRecord);            // without bytes
  EXPECT_EQ(parse({0, 16, 3'000}, 32), Reject::kRecord);           // too many
  EXPECT_EQ(parse({0, 16, 16 * kPiecesMax}, 32), Reject::kNone);   // as many as may be
  EXPECT_EQ(parse({0, 16, 16 * kPiecesMax + 1}, 32), Reject::kRecord);
  EXPECT_EQ(parse({0, 16, 0}, 16), Reject::kRecord);                  // of nothing
  EXPECT_EQ(parse({0, 1024, 9'000}, 1024 + 16), Reject::kRecord);     // longer than a frame
  EXPECT_EQ(parse({0, 1024, 3'000}, 1024 + 16, 0), Reject::kRecord);  // no memory for pieces
  std::byte at[kPieceFieldsBytes];
  encode_piece(at, {1, 1024, 3'000});
  Piece out;
  for (uint32_t i = 6; i < kPieceFieldsBytes; ++i) {
    at[i] = std::byte{1};
    EXPECT_EQ(parse_piece(at, 1024 + 16, 8'918, out), Reject::kRecord) << i;
    at[i] = std::byte{0};
  }
}

TEST(PieceTest, AFrameThatIsSentOftenBeginsWithEachOfItsPiecesAndInTheOtherHalfEachTime) {
  for (uint32_t count = 1; count <= kPiecesMax; ++count) {
    uint64_t begun = 0;
    uint32_t first = 0;
    for (uint32_t sending = 0; sending < count; ++sending) {
      ASSERT_LT(first, count);
      begun |= uint64_t{1} << first;
      const uint32_t next = next_first_piece(first, count);
      if (count >= 4 && next != 0) {
        EXPECT_NE(first < (count + 1) / 2, next < (count + 1) / 2) << count << ", " << first;
      }
      first = next;
    }
    EXPECT_EQ(begun, ~uint64_t{0} >> (kPiecesMax - count));
    EXPECT_EQ(first, 0u) << "and then all over again: " << count;
  }
}

TEST(PieceTest, AnAssemblyIsWholeWithItsLastPiece) {
  for (const uint32_t count : {2u, 7u, 63u, 64u}) {
    Assembly assembly{.step = 16, .total = count * 16 - 3};
    for (uint32_t i = 0; i < count; ++i) {
      EXPECT_FALSE(assembly.is_whole());
      assembly.arrived |= uint64_t{1} << i;
    }
    EXPECT_TRUE(assembly.is_whole());
  }
}

}  // namespace
}  // namespace pinwire
