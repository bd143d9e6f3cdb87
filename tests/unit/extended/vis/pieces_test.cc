#include "extended/vis/pieces.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "core/api_types.h"
#include "core/base/random.h"

namespace pinwire::vis {
namespace {

using Vector = VectorPieces<gex_Memvec_t, &gex_Memvec_t::gex_addr, &gex_Memvec_t::gex_len>;

template <typename Pieces>
std::vector<size_t> offsets(Pieces pieces, const std::byte* base) {
  std::vector<size_t> bytes;  // of each byte of the stream, where it lies
  for (Piece piece = pieces.next(); piece.bytes != 0; piece = pieces.next()) {
    for (size_t i = 0; i < piece.bytes; ++i) {
      bytes.push_back(static_cast<size_t>(piece.at + i - base));
    }
  }
  return bytes;
}

std::byte memory[4096];

TEST(VectorPieces, EmptyRegionsArePassedOver_VIS_014) {
  const gex_Memvec_t list[] = {{nullptr, 0}, {memory + 7, 2}, {nullptr, 0}, {memory + 1, 1}, {nullptr, 0}};
  EXPECT_EQ(offsets(Vector(list, 5), memory), (std::vector<size_t>{7, 8, 1}));
  EXPECT_TRUE(offsets(Vector(list, 1), memory).empty());
  EXPECT_TRUE(offsets(Vector(nullptr, 0), memory).empty());
}

TEST(IndexedPieces, ZeroLengthIsNothing_VIS_022) {
  void* const list[] = {memory + 4, memory};
  EXPECT_EQ(offsets(IndexedPieces(list, 2, 2), memory), (std::vector<size_t>{4, 5, 0, 1}));
  EXPECT_TRUE(offsets(IndexedPieces(list, 2, 0), memory).empty());
}

TEST(Lists, WhatIsLeftBeginsAfterWhatIsSkipped_VIS_007) {
  const gex_Memvec_t regions[] = {{memory, 3}, {nullptr, 0}, {memory + 9, 1}};
  Vector vector(regions, 3);
  EXPECT_EQ(vector.count(), 3u);
  EXPECT_EQ(vector[2].at, memory + 9);
  EXPECT_EQ(vector[2].bytes, 1u);
  vector.skip(1);
  EXPECT_EQ(vector.count(), 2u);
  EXPECT_EQ(vector[0].bytes, 0u);
  EXPECT_EQ(offsets(vector, memory), (std::vector<size_t>{9}));

  void* const addresses[] = {memory + 4, memory};
  IndexedPieces indexed(addresses, 2, 2);
  EXPECT_EQ(indexed.count(), 2u);
  EXPECT_EQ(indexed[0].at, memory + 4);
  indexed.skip(1);
  EXPECT_EQ(indexed.count(), 1u);
  EXPECT_EQ(offsets(indexed, memory), (std::vector<size_t>{0, 1}));
  EXPECT_EQ(IndexedPieces(addresses, 2, 0).count(), 0u);
}

TEST(Joined, NeighboursBecomeOne) {
  const gex_Memvec_t list[] = {{memory, 3}, {memory + 3, 5}, {memory + 9, 1}, {memory + 10, 1}};
  Joined<Vector> joined(Vector(list, 4));
  EXPECT_EQ(joined.next().bytes, 8u);
  EXPECT_EQ(joined.next().bytes, 2u);
  EXPECT_EQ(joined.next().bytes, 0u);
  EXPECT_EQ(joined.next().bytes, 0u);
}

/// Cuts `total` bytes somewhere, at places that do not overlap.
std::vector<gex_Memvec_t> random_list(Random& random, std::byte* base, size_t total) {
  std::vector<gex_Memvec_t> list;
  std::byte* at = base;
  while (total != 0) {
    at += random.next() % 3;
    const size_t bytes = std::min<size_t>(total, random.next() % 20);
    list.push_back({at, bytes});
    at += bytes;
    total -= bytes;
  }
  return list;
}

TEST(ForEachPair, StreamsRunInOrderHoweverTheyAreCut_VIS_007) {
  static std::byte from[4096], to[4096];
  for (uint64_t seed = 1; seed <= 500; ++seed) {
    Random random(seed);
    const size_t total = random.next() % 300;
    const auto sources = random_list(random, from, total), dests = random_list(random, to, total);
    std::vector<size_t> pairs[2];
    size_t last = 0;
    const size_t left = for_each_pair(Vector(sources.data(), sources.size()), Vector(dests.data(), dests.size()),
                                      [&](std::byte* here, std::byte* there, size_t bytes) {
                                        EXPECT_NE(bytes, 0u);
                                        last = bytes;
                                        for (size_t i = 0; i < bytes; ++i) {
                                          pairs[0].push_back(static_cast<size_t>(here + i - from));
                                          pairs[1].push_back(static_cast<size_t>(there + i - to));
                                        }
                                      });
    EXPECT_EQ(left, 0u) << "seed " << seed;
    EXPECT_EQ(pairs[0], offsets(Vector(sources.data(), sources.size()), from)) << "seed " << seed;
    EXPECT_EQ(pairs[1], offsets(Vector(dests.data(), dests.size()), to)) << "seed " << seed;
  }
}

TEST(ForEachPair, TellsHowMuchOneSideHasMore_VIS_008) {
  const gex_Memvec_t five[] = {{memory, 5}}, nine[] = {{memory + 100, 6}, {memory + 200, 3}};
  const auto ignore = [](std::byte*, std::byte*, size_t) {};
  EXPECT_EQ(for_each_pair(Vector(five, 1), Vector(nine, 2), ignore), 4u);
  EXPECT_EQ(for_each_pair(Vector(nine, 2), Vector(five, 1), ignore), 4u);
  EXPECT_EQ(for_each_pair(Vector(nine, 2), Vector(nullptr, 0), ignore), 9u);
}

}  // namespace
}  // namespace pinwire::vis
