// Which reductions there are (GX-150), and what they do to the values at the ends (GX-151).
#include "extended/coll/reduction.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

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
  T out[2] = {b, b};
  const T in[2] = {a, a};
  built_in_function(type, op)(in, out, 2, nullptr);
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

}  // namespace
}  // namespace pinwire
