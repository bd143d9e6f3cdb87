// The pieces of large collectives: each byte in one of them, no element in two; and their places.
#include "extended/coll/messages/stream.h"

#include <gtest/gtest.h>

#include "extended/coll/algorithms/pipeline.h"

namespace pinwire {
namespace {

TEST(Pieces, CoverAllAndBreakNoElement) {
  for (const size_t element : {1ul, 4ul, 8ul, 24ul, 700ul, kPieceBytes - 1, kPieceBytes}) {
    for (size_t elements = 1; elements * element < 5 * kPieceBytes; elements += elements / 3 + 1) {
      const Pieces pieces = Pieces::of(element, elements);
      size_t at = 0;
      for (uint32_t k = 0; k < pieces.count(); ++k) {
        EXPECT_EQ(pieces.at(k), at);
        const size_t bytes = pieces.bytes_of(k);
        EXPECT_TRUE(bytes != 0 && bytes <= kPieceBytes && bytes % element == 0) << bytes;
        at += bytes;
      }
      EXPECT_EQ(at, element * elements);
    }
  }
}

TEST(Pieces, AreFewForTheLargest) {
  const Pieces pieces = Pieces::of(1, size_t{1} << 46);
  EXPECT_EQ(pieces.count(), 1u << 31);
  EXPECT_EQ(pieces.bytes_of(pieces.count() - 1), kPieceBytes);
}

TEST(PiecePlaces, AreInARowOrTakeTurns) {
  const Pieces pieces = Pieces::of(24, 10000);
  const PiecePlaces row{1000, 0};
  const PiecePlaces turns{4096, 4};
  EXPECT_EQ(row.of(pieces, 5), 1000 + pieces.at(5));
  EXPECT_EQ(turns.of(pieces, 3), 4096 + 3 * kPieceBytes);
  EXPECT_EQ(turns.of(pieces, 4), 4096u);
  EXPECT_EQ(turns.of(pieces, 6), 4096 + 2 * kPieceBytes);
}

TEST(Pipeline, IsForWhatIsLargerThanAPieceAndHasSmallerElements) {
  EXPECT_FALSE(goes_in_pieces(kPieceBytes));
  EXPECT_TRUE(goes_in_pieces(kPieceBytes + 1));
  const auto reduction_of = [](size_t element, size_t count) {
    return Reduction{element, count, nullptr, nullptr, nullptr, false};
  };
  EXPECT_FALSE(goes_in_pieces(reduction_of(8, kPieceBytes / 8)));
  EXPECT_TRUE(goes_in_pieces(reduction_of(8, kPieceBytes / 8 + 1)));
  EXPECT_TRUE(goes_in_pieces(reduction_of(kPieceBytes, 2)));
  EXPECT_FALSE(goes_in_pieces(reduction_of(kPieceBytes + 1, 2)));
}

TEST(Pipeline, NamesItsStreamsAsMessagesDo) {
  Pipeline p;
  EXPECT_EQ(p.out(0), nullptr);
  EXPECT_EQ(p.in(0), nullptr);
  p.send_up(3, 1);
  EXPECT_EQ(p.out(0), &p.up_out);
  EXPECT_EQ(p.out(1), nullptr);
  p.add_heirs(Neighbours(Tree(8, 0, 0), 8, false), 0);
  EXPECT_EQ(p.out(1), &p.down_out[0]);
  EXPECT_EQ(p.down_out[0].to, 4u);  // who has most below it
  EXPECT_EQ(p.out(3), &p.down_out[2]);
  EXPECT_EQ(p.out(4), nullptr);
  EXPECT_EQ(p.out(~0u), nullptr);
  std::byte data[1];
  p.receive_down(2, 3, data);
  EXPECT_EQ(p.in(3), &p.down_in);
  EXPECT_EQ(p.in(0), nullptr);
  std::byte* const places = data;  // not touched
  p.add_children(Neighbours(Tree(8, 0, 0), 8, false), places);
  EXPECT_EQ(p.in(2), &p.up_in[2]);
  EXPECT_EQ(p.up_in[1].places.base - p.up_in[0].places.base, up_window(3) * kPieceBytes);
  EXPECT_EQ(p.in(4), nullptr);
}

TEST(Pipeline, AsksForScratchOfAFewOperations) {
  EXPECT_EQ(up_bytes(0), 0u);
  EXPECT_LE(up_bytes(1), kScratchPartBytes);
  EXPECT_GE(kScratchBytesWanted, kScratchPartBytes);
  for (uint32_t children = 1; children <= kRoundsMax; ++children) {
    EXPECT_LE(up_window(children), kWindowPieces);
    EXPECT_EQ(up_bytes(children), children * up_window(children) * kPieceBytes);
  }
}

}  // namespace
}  // namespace pinwire
