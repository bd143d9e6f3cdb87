#include "extended/vis/box.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "core/base/random.h"
#include "tests/unit/extended/vis/random_box.h"

namespace pinwire::vis {
namespace {

TEST(Box, WhatIsContiguousAtBothEndsIsOneElement_VIS_033) {
  const ptrdiff_t strides[] = {8, 32, 320};
  const size_t count[] = {4, 10, 5};
  const Box box(8, strides, strides, count, 3);
  EXPECT_EQ(box.levels(), 0u);
  EXPECT_EQ(box.element_bytes(), 1600u);
}

TEST(Box, LevelsThatGoOnAtBothEndsAreOne_VIS_033) {
  const ptrdiff_t here[] = {16, 160}, there[] = {24, 240};
  const size_t count[] = {10, 3};
  const Box box(8, here, there, count, 2);
  ASSERT_EQ(box.levels(), 1u);
  EXPECT_EQ(box.element_bytes(), 8u);
  EXPECT_EQ(box.level(0).count, 30u);
  EXPECT_EQ(box.level(0).here, 16);
  EXPECT_EQ(box.level(0).there, 24);
}

TEST(Box, LevelsThatGoOnAtOneEndStayTwo_VIS_033) {
  const ptrdiff_t on[] = {16, 160}, off[] = {24, 241};
  const size_t count[] = {10, 3};
  EXPECT_EQ(Box(8, on, off, count, 2).levels(), 2u);
  EXPECT_EQ(Box(8, off, on, count, 2).levels(), 2u);
  EXPECT_EQ(Box(16, on, off, count, 1).levels(), 1u);
  EXPECT_EQ(Box(16, off, on, count, 1).levels(), 1u);
}

TEST(Box, ALevelOfOneElementIsNone) {
  const ptrdiff_t here[] = {7, 8, -1}, there[] = {9, 8, -2};
  const size_t count[] = {1, 4, 1};
  const Box box(8, here, there, count, 3);
  EXPECT_EQ(box.levels(), 0u);
  EXPECT_EQ(box.element_bytes(), 32u);
}

TEST(Box, SpansReachToTheOutermostElements_GX_136) {
  const ptrdiff_t here[] = {-10, 100}, there[] = {4, -50};
  const size_t count[] = {3, 5};
  const Box box(4, here, there, count, 2);
  EXPECT_EQ(box.span_here().lowest, -20);
  EXPECT_EQ(box.span_here().end, 404);
  EXPECT_EQ(box.span_there().lowest, -200);
  EXPECT_EQ(box.span_there().end, 12);
  EXPECT_EQ(box.span_there().bytes(), 212u);
}

std::vector<ptrdiff_t> elements_there(const Box& box) {
  std::vector<ptrdiff_t> places;
  for_each_element(box, [&](ptrdiff_t, ptrdiff_t there) { places.push_back(there); });
  return places;
}

TEST(Box, TheFirstLevelRunsFastest_GX_136) {
  const ptrdiff_t strides[] = {10, 100}, back[] = {-10, 3};
  const size_t count[] = {2, 3}, few[] = {3, 2};
  EXPECT_EQ(elements_there(Box(1, strides, strides, count, 2)),
            (std::vector<ptrdiff_t>{0, 10, 100, 110, 200, 210}));
  EXPECT_EQ(elements_there(Box(1, back, back, few, 2)),
            (std::vector<ptrdiff_t>{0, -10, -20, 3, -7, -17}));
  EXPECT_EQ(elements_there(Box(3, nullptr, nullptr, nullptr, 0)), (std::vector<ptrdiff_t>{0}));
}

// VIS-034: 2 x 3 x 4 doubles of A[11][12][13] at (5,6,7) to B[14][15][16] at (8,9,10).
TEST(Box, TheWorkedExample_VIS_034) {
  const ptrdiff_t in_a[] = {13 * 8, 12 * 13 * 8}, in_b[] = {16 * 8, 15 * 16 * 8};
  const size_t count[] = {3, 2};
  std::vector<std::pair<ptrdiff_t, ptrdiff_t>> expected, seen;
  for (ptrdiff_t i = 0; i < 2; ++i) {
    for (ptrdiff_t j = 0; j < 3; ++j)
      expected.emplace_back((i * 12 + j) * 13 * 8, (i * 15 + j) * 16 * 8);
  }
  const Box box(4 * 8, in_a, in_b, count, 2);
  for_each_element(box, [&](ptrdiff_t a, ptrdiff_t b) { seen.emplace_back(a, b); });
  EXPECT_EQ(seen, expected);
  EXPECT_EQ(box.element_bytes(), 32u);
}

// Every other element of 2^20, along twenty levels.
TEST(Section, HasAnyNumberOfLevels_VIS_032) {
  constexpr size_t kLevels = 20;
  ptrdiff_t here[kLevels], there[kLevels];
  size_t count[kLevels];
  for (size_t i = 0; i < kLevels; ++i) {
    here[i] = ptrdiff_t{3} << i;
    there[i] = i % 2 != 0 ? ptrdiff_t{5} << i : -(ptrdiff_t{7} << i);
    count[i] = 2;
  }
  size_t boxes = 0, elements = 0;
  ptrdiff_t sum_here = 0, sum_there = 0;
  for_each_box({1, here, there, count, kLevels},
               [&](const Box& box, ptrdiff_t at_here, ptrdiff_t at_there) {
                 ++boxes;
                 for_each_element(box, [&](ptrdiff_t a, ptrdiff_t b) {
                   ++elements;
                   sum_here += at_here + a;
                   sum_there += at_there + b;
                 });
               });
  EXPECT_EQ(boxes, size_t{1} << (kLevels - Box::kLevelsMax));
  EXPECT_EQ(elements, size_t{1} << kLevels);
  // Each level is at its second element in half of all.
  ptrdiff_t all_here = 0, all_there = 0;
  for (size_t i = 0; i < kLevels; ++i) all_here += here[i], all_there += there[i];
  EXPECT_EQ(sum_here, all_here << (kLevels - 1));
  EXPECT_EQ(sum_there, all_there * (ptrdiff_t{1} << (kLevels - 1)));
}

using Pairs = std::vector<std::pair<ptrdiff_t, ptrdiff_t>>;

Pairs bytes_of(const Box& box) {
  Pairs bytes;
  for_each_element(box, [&](ptrdiff_t here, ptrdiff_t there) {
    for (size_t i = 0; i < box.element_bytes(); ++i) {
      bytes.emplace_back(here + static_cast<ptrdiff_t>(i), there + static_cast<ptrdiff_t>(i));
    }
  });
  std::sort(bytes.begin(), bytes.end());
  return bytes;
}

/// Each level a loop of its own, from the outermost.
void walk(const RandomBox& box, size_t levels, ptrdiff_t here, ptrdiff_t there, Pairs& bytes) {
  if (levels == 0) {
    for (size_t i = 0; i < box.element_bytes; ++i) {
      bytes.emplace_back(here + static_cast<ptrdiff_t>(i), there + static_cast<ptrdiff_t>(i));
    }
    return;
  }
  for (size_t i = 0; i < box.count[levels - 1]; ++i) {
    const auto n = static_cast<ptrdiff_t>(i);
    walk(box, levels - 1, here + n * box.here[levels - 1], there + n * box.there[levels - 1],
         bytes);
  }
}

TEST(Box, EachByteGoesWhereItWentBeforeFolding_VIS_026_VIS_033) {
  Random random(1);
  size_t folded = 0;
  for (int i = 0; i < 3000; ++i) {
    const RandomBox drawn = draw_box(random);
    const Box box = drawn.folded();
    folded += box.levels() < drawn.levels;
    Pairs expected;
    walk(drawn, drawn.levels, 0, 0, expected);
    std::sort(expected.begin(), expected.end());
    ASSERT_EQ(bytes_of(box), expected) << "box " << i;
    EXPECT_EQ(box.span_here().lowest, expected.front().first);
    const auto by_there = [](auto a, auto b) { return a.second < b.second; };
    const auto last = std::max_element(expected.begin(), expected.end(), by_there);
    EXPECT_EQ(box.span_there().end, last->second + 1);
  }
  EXPECT_GT(folded, 300u);
}

}  // namespace
}  // namespace pinwire::vis
