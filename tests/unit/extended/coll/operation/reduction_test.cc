// Which reductions there are (GX-150), and what they do to the values at the ends (GX-151).
#include "extended/coll/operation/reduction.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <vector>

#include "tests/support/cancel_state.h"

namespace pinwire {
namespace {

constexpr gex_OP_t kOfAll[] = {GEX_OP_ADD, GEX_OP_MULT, GEX_OP_MIN, GEX_OP_MAX};
constexpr gex_OP_t kOfIntegers[] = {GEX_OP_AND, GEX_OP_OR, GEX_OP_XOR};
constexpr gex_OP_t kOfNone[] = {GEX_OP_SUB,  GEX_OP_INC, GEX_OP_SET,  GEX_OP_CAS,
                                GEX_OP_FADD, GEX_OP_GET, GEX_OP_SWAP, GEX_OP_USER};

TEST(Reduction, KnowsTheOperationsOfEachType_GX150) {
  for (const gex_DT_t type :
       {GEX_DT_I32, GEX_DT_U32, GEX_DT_I64, GEX_DT_U64, GEX_DT_FLT, GEX_DT_DBL}) {
    const bool is_integer = type != GEX_DT_FLT && type != GEX_DT_DBL;
    for (const gex_OP_t op : kOfAll) EXPECT_NE(built_in_function(type, op), nullptr) << op;
    for (const gex_OP_t op : kOfIntegers) {
      EXPECT_EQ(built_in_function(type, op) != nullptr, is_integer) << op;
    }
    for (const gex_OP_t op : kOfNone) EXPECT_EQ(built_in_function(type, op), nullptr) << op;
  }
  EXPECT_EQ(built_in_function(GEX_DT_USER, GEX_OP_ADD), nullptr);
  EXPECT_EQ(built_in_bytes(GEX_DT_USER), 0u);
  EXPECT_EQ(built_in_bytes(GEX_DT_DBL), sizeof(double));
  EXPECT_EQ(built_in_bytes(GEX_DT_I32), sizeof(int32_t));
}

template <typename T>
T reduce(gex_DT_t type, gex_OP_t op, T a, T b) {
  T out[2];
  const T left[2] = {a, a}, right[2] = {b, b};
  built_in_function(type, op)(left, right, out, 2);
  EXPECT_EQ(out[0], out[1]);
  return out[0];
}

TEST(Reduction, IntegersWrapAround) {
  constexpr int32_t kMax = std::numeric_limits<int32_t>::max();
  EXPECT_EQ(reduce<int32_t>(GEX_DT_I32, GEX_OP_ADD, kMax, 1), std::numeric_limits<int32_t>::min());
  EXPECT_EQ(reduce<int32_t>(GEX_DT_I32, GEX_OP_MULT, kMax, 2), -2);
  EXPECT_EQ(reduce<int64_t>(GEX_DT_I64, GEX_OP_MULT, std::numeric_limits<int64_t>::max(), 2), -2);
  EXPECT_EQ(reduce<uint32_t>(GEX_DT_U32, GEX_OP_ADD, ~0u, 2), 1u);
  EXPECT_EQ(reduce<uint64_t>(GEX_DT_U64, GEX_OP_XOR, ~0ull, 1), ~0ull - 1);
}

TEST(Reduction, SignsCount) {
  EXPECT_EQ(reduce<int32_t>(GEX_DT_I32, GEX_OP_MIN, -1, 1), -1);
  EXPECT_EQ(reduce<uint32_t>(GEX_DT_U32, GEX_OP_MIN, ~0u, 1), 1u);
  EXPECT_EQ(reduce<int64_t>(GEX_DT_I64, GEX_OP_MAX, -1, 1), 1);
  EXPECT_EQ(reduce<uint64_t>(GEX_DT_U64, GEX_OP_MAX, ~0ull, 1), ~0ull);
  EXPECT_EQ(reduce<double>(GEX_DT_DBL, GEX_OP_MIN, -0.5, 0.25), -0.5);
  EXPECT_EQ(reduce<float>(GEX_DT_FLT, GEX_OP_MULT, 1.5f, -2.0f), -3.0f);
}

/// Elements are combined some at a time: of every number of them, at every alignment that they may
/// have, all are, and nothing else.
TEST(Reduction, TakesAnyNumberOfElementsAndLeavesTheOthers) {
  constexpr size_t kMost = 70;
  for (size_t count = 0; count <= kMost; ++count) {
    for (size_t first = 0; first < 4; ++first) {
      uint32_t a[kMost + 5], b[kMost + 5], out[kMost + 5];
      for (uint32_t i = 0; i < kMost + 5; ++i) a[i] = 1000 * i, b[i] = i * i, out[i] = 7;
      built_in_function(GEX_DT_U32, GEX_OP_ADD)(a + first, b + first, out + first, count);
      for (uint32_t i = 0; i < kMost + 5; ++i) {
        const bool is_one = i >= first && i < first + count;
        ASSERT_EQ(out[i], is_one ? 1000 * i + i * i : 7) << i << " of " << count << " at " << first;
      }
    }
  }
}

/// The result may take the place of either operand.
TEST(Reduction, ItsResultMayTakeThePlaceOfAnOperand) {
  for (const size_t count : {1u, 8u, 21u}) {
    std::vector<int64_t> a(count), b(count);
    for (size_t i = 0; i < count; ++i) a[i] = -5, b[i] = static_cast<int64_t>(i);
    const BuiltInFunction least = built_in_function(GEX_DT_I64, GEX_OP_MIN);
    least(a.data(), b.data(), b.data(), count);
    EXPECT_EQ(b, std::vector<int64_t>(count, -5));
    const BuiltInFunction sum = built_in_function(GEX_DT_I64, GEX_OP_ADD);
    sum(a.data(), b.data(), a.data(), count);
    EXPECT_EQ(a, std::vector<int64_t>(count, -10));
  }
}

void halve_and_subtract(const void* a, void* b_and_out, size_t count, const void* calls) {
  ++*static_cast<int*>(const_cast<void*>(calls));
  for (size_t i = 0; i < count; ++i) {
    auto* to = static_cast<int32_t*>(b_and_out) + i;
    *to = static_cast<const int32_t*>(a)[i] / 2 - *to;
  }
}

/// A function of the client's writes to its second operand alone.
/// The collective is half done.
TEST(Reduction, OfTheClientIsNotCancelled) {
  static bool may_be_cancelled;
  may_be_cancelled = true;
  Reduction reduction{.element_bytes = 1, .count = 1};
  reduction.user = [](const void*, void*, size_t, const void*) {
    may_be_cancelled = test::may_be_cancelled();
  };
  char a = 0, b = 0;
  reduction.combine(&a, &b, &b, 1);
  EXPECT_FALSE(may_be_cancelled);
  EXPECT_TRUE(test::may_be_cancelled());
}

TEST(Reduction, OfTheClientEndsWhereItIsWanted) {
  int calls = 0;
  const Reduction r{4, 3, nullptr, halve_and_subtract, &calls, true};
  const int32_t a[] = {10, 20, 30};
  int32_t b[] = {1, 2, 3}, out[] = {0, 0, 0};
  r.combine(a, b, out, 2);
  EXPECT_EQ((std::vector<int32_t>{out[0], out[1], out[2]}), (std::vector<int32_t>{4, 8, 0}));
  r.combine(a, b + 2, b + 2, 1);
  EXPECT_EQ(b[2], 2);
  EXPECT_EQ(calls, 2);
}

}  // namespace
}  // namespace pinwire
