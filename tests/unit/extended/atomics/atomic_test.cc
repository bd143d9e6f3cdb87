// GX-150 to GX-153: what each operation does to memory and returns, against a plain serial oracle;
// and that a driver's atomic in its place does the same.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <thread>
#include <type_traits>
#include <vector>

#include "driver/atomics.h"
#include "extended/atomics/call.h"
#include "extended/atomics/domain.h"
#include "extended/state/objects.h"

namespace pinwire {
namespace {

constexpr gex_OP_t kEachBase[] = {GEX_OP_ADD, GEX_OP_SUB, GEX_OP_MULT, GEX_OP_MIN,
                                  GEX_OP_MAX, GEX_OP_INC, GEX_OP_DEC,  GEX_OP_AND,
                                  GEX_OP_OR,  GEX_OP_XOR, GEX_OP_SET,  GEX_OP_CAS};

template <typename T>
constexpr gex_DT_t kTypeOf = 0;
template <>
constexpr gex_DT_t kTypeOf<int32_t> = GEX_DT_I32;
template <>
constexpr gex_DT_t kTypeOf<uint32_t> = GEX_DT_U32;
template <>
constexpr gex_DT_t kTypeOf<int64_t> = GEX_DT_I64;
template <>
constexpr gex_DT_t kTypeOf<uint64_t> = GEX_DT_U64;
template <>
constexpr gex_DT_t kTypeOf<float> = GEX_DT_FLT;
template <>
constexpr gex_DT_t kTypeOf<double> = GEX_DT_DBL;

template <typename T>
uint64_t bits_of(T value) {
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  return bits;
}

/// Integers by way of 128 bits, of which the lower ones are kept.
template <typename T>
T wrapped(unsigned __int128 value) {
  return static_cast<T>(static_cast<std::make_unsigned_t<T>>(value));
}

template <typename T>
T oracle(gex_OP_t base, T old, T a, T b) {
  using Wide = std::conditional_t<std::is_integral_v<T>, unsigned __int128, T>;
  const auto narrow = [](Wide value) {
    if constexpr (std::is_integral_v<T>)
      return wrapped<T>(value);
    else
      return value;
  };
  const auto x = static_cast<Wide>(old), y = static_cast<Wide>(a);
  switch (base) {
    case GEX_OP_ADD:
      return narrow(x + y);
    case GEX_OP_SUB:
      return narrow(x - y);
    case GEX_OP_MULT:
      return narrow(x * y);
    case GEX_OP_MIN:
      return old < a ? old : a;
    case GEX_OP_MAX:
      return old > a ? old : a;
    case GEX_OP_INC:
      return narrow(x + 1);
    case GEX_OP_DEC:
      return narrow(x - 1);
    case GEX_OP_SET:
      return a;
    case GEX_OP_CAS:
      return bits_of(old) == bits_of(a) ? b : old;
    default:
      break;
  }
  if constexpr (std::is_integral_v<T>) {
    if (base == GEX_OP_AND) return old & a;
    if (base == GEX_OP_OR) return old | a;
    if (base == GEX_OP_XOR) return old ^ a;
  }
  ADD_FAILURE() << "no such operation: " << base;
  return old;
}

template <typename T>
std::vector<T> edges() {
  using Limits = std::numeric_limits<T>;
  std::vector<T> values = {T{0},
                           T{1},
                           T{2},
                           T{3},
                           T{77},
                           Limits::max(),
                           Limits::lowest(),
                           static_cast<T>(Limits::max() / 2),
                           static_cast<T>(Limits::max() / 3)};
  if constexpr (std::is_signed_v<T>) {
    for (size_t i = 0, count = values.size(); i < count; ++i)
      if (values[i] != Limits::lowest()) values.push_back(static_cast<T>(-values[i]));
  }
  if constexpr (std::is_floating_point_v<T>) {
    values.insert(values.end(), {Limits::min(), Limits::denorm_min(), Limits::epsilon(),
                                 Limits::infinity(), -Limits::infinity(), T(1) / 3});
  }
  return values;
}

template <typename T>
class Atomics : public testing::Test {};
using Types = testing::Types<int32_t, uint32_t, int64_t, uint64_t, float, double>;
TYPED_TEST_SUITE(Atomics, Types);

/// Runs one operation on a word among others, which it leaves alone.
template <typename T>
void expect_one(gex_OP_t code, gex_OP_t base, T old, T a, T b) {
  const T due = oracle(base, old, a, b);
  if (due != due) return;  // infinities less themselves; NaNs are the client's risk
  T memory[3] = {T{5}, old, T{6}};
  const uint64_t got = apply({kTypeOf<T>, code, bits_of(a), bits_of(b)}, &memory[1]);
  EXPECT_EQ(bits_of(memory[1]), bits_of(due))
      << std::hex << code << " of " << old << ", " << a << ", " << b;
  EXPECT_TRUE(memory[0] == T{5} && memory[2] == T{6});
  if (atomic_fetches(code)) {
    EXPECT_EQ(got, bits_of(old)) << std::hex << code << " of " << old << ", " << a << ", " << b;
  }
}

TYPED_TEST(Atomics, EachOperationIsThatOfTheOracle_GX_150_GX_151) {
  using T = TypeParam;
  size_t operations = 0;
  for (const gex_OP_t base : kEachBase) {
    if ((base & atomic_codes(kTypeOf<T>)) == 0) continue;
    ++operations;
    for (const T old : edges<T>())
      for (const T a : edges<T>())
        for (const T b : {T{9}, a, old}) {
          expect_one(base, base, old, a, b);
          expect_one(GEX_OP_TO_FETCHING(base), base, old, a, b);
        }
  }
  EXPECT_EQ(operations, std::is_integral_v<T> ? 12u : 9u);
}

TYPED_TEST(Atomics, GetReturnsAndLeavesTheValue_GX_151) {
  using T = TypeParam;
  for (const T old : edges<T>()) {
    T memory = old;
    EXPECT_EQ(apply({kTypeOf<T>, GEX_OP_GET, 1, 2}, &memory), bits_of(old));
    EXPECT_EQ(bits_of(memory), bits_of(old));
  }
}

// CAS succeeds with equal bits, where nobody else works on the word: never spuriously.
TYPED_TEST(Atomics, CompareAndSwapNeverFailsSpuriously_GX_151) {
  using T = TypeParam;
  T memory = 0;
  for (int i = 0; i < 100'000; ++i) {
    const T next = static_cast<T>(i % 1000 + 1);
    ASSERT_EQ(apply({kTypeOf<T>, GEX_OP_FCAS, bits_of(memory), bits_of(next)}, &memory),
              bits_of(static_cast<T>(i == 0 ? 0 : (i - 1) % 1000 + 1)));
    ASSERT_EQ(memory, next);
  }
}

// An operation that no processor does in one instruction is atomic all the same.
TYPED_TEST(Atomics, LoopsOfTwoThreadsLoseNothing_GX_157) {
  using T = TypeParam;
  constexpr int kRounds = 20'000;
  T sum = 0, product = 1, highest = 0;
  const auto work = [&](int thread) {
    for (int i = 0; i < kRounds; ++i) {
      apply({kTypeOf<T>, GEX_OP_ADD, bits_of(T{3}), 0}, &sum);
      apply({kTypeOf<T>, GEX_OP_FDEC, 0, 0}, &sum);
      if (i % 4096 == 0) apply({kTypeOf<T>, GEX_OP_MULT, bits_of(T{2}), 0}, &product);
      apply({kTypeOf<T>, GEX_OP_FMAX, bits_of(static_cast<T>(2 * i + thread)), 0}, &highest);
    }
  };
  std::thread other(work, 1);
  work(0);
  other.join();
  EXPECT_EQ(sum, static_cast<T>(4 * kRounds));
  EXPECT_EQ(product, static_cast<T>(1 << 10));
  EXPECT_EQ(highest, static_cast<T>(2 * kRounds - 1));
}

// GX-163: whichever way an operation goes, it does the same.
TYPED_TEST(Atomics, ADriverInItsPlaceDoesTheSame_GX_163) {
  using T = TypeParam;
  size_t forms = 0;
  for (gex_OP_t code = 1; code <= GEX_OP_GET; code <<= 1) {
    if ((code & atomic_codes(kTypeOf<T>)) == 0) continue;
    AtomicOperands operands;
    if (!as_driver_atomic({kTypeOf<T>, code, 0, 0}, operands)) continue;
    ++forms;
    for (const T old : edges<T>())
      for (const T a : edges<T>())
        for (const T b : {T{9}, a, old}) {
          uint64_t here = bits_of(old), there = here;
          const AtomicCall call{kTypeOf<T>, code, bits_of(a), bits_of(b)};
          ASSERT_TRUE(as_driver_atomic(call, operands));
          const uint64_t got = apply(call, &here), driver_got = apply_atomic(&there, operands);
          EXPECT_EQ(here, there) << std::hex << code << " of " << old << ", " << a << ", " << b;
          if (atomic_fetches(code)) {
            EXPECT_EQ(got, driver_got) << std::hex << code << " of " << old << ", " << a;
          }
        }
  }
  const bool is_word = std::is_integral_v<T> && sizeof(T) == 8;
  EXPECT_EQ(forms, is_word ? (std::is_signed_v<T> ? 19u : 23u) : sizeof(T) == 8 ? 5u : 0u);
}

TEST(AtomicCodes, WhatIsNoTypeHasNone_GX_149) {
  for (const gex_DT_t none :
       std::initializer_list<gex_DT_t>{0, GEX_DT_I32 | GEX_DT_U32, GEX_DT_USER, ~0u})
    EXPECT_EQ(atomic_codes(none), 0u) << none;
  EXPECT_EQ(atomic_codes(GEX_DT_DBL) & (GEX_OP_AND | GEX_OP_FXOR | GEX_OP_USER), 0u);
}

// GX-149, GX-150, GX-154, GX-046: what no domain can be made of.
TEST(Domain, ArgumentsThatMakeNoneAreFatal_GX_155) {
  pinwire_tm team;
  gex_AD_t ad = GEX_AD_INVALID;
  EXPECT_DEATH(gex_AD_Create(&ad, GEX_TM_INVALID, GEX_DT_I32, GEX_OP_ADD, 0), "GX-154");
  EXPECT_DEATH(gex_AD_Create(&ad, &team, GEX_DT_I32 | GEX_DT_U32, GEX_OP_ADD, 0), "GX-149");
  EXPECT_DEATH(gex_AD_Create(&ad, &team, GEX_DT_I32, 0, 0), "GX-150");
  EXPECT_DEATH(gex_AD_Create(&ad, &team, GEX_DT_FLT, GEX_OP_ADD | GEX_OP_XOR, 0), "none on bits");
  EXPECT_DEATH(gex_AD_Create(&ad, &team, GEX_DT_I32, GEX_OP_USER, 0), "GX-150");
  EXPECT_DEATH(gex_AD_Create(&ad, &team, GEX_DT_I32, GEX_OP_ADD,
                             GEX_FLAG_AD_FAVOR_REMOTE | GEX_FLAG_AD_FAVOR_MY_RANK),
               "GX-046");
  EXPECT_DEATH(gex_AD_Create(&ad, &team, GEX_DT_I32, GEX_OP_ADD, GEX_FLAG_AD_MY_RANK), "GX-046");
  EXPECT_DEATH(gex_AD_Destroy(GEX_AD_INVALID), "GX-156");
  gex_AD_Create(&ad, &team, GEX_DT_I32, GEX_OP_ADD, GEX_FLAG_AD_FAVOR_REMOTE);
  EXPECT_EQ(gex_AD_QueryTM(ad), &team);
  gex_AD_Destroy(ad);
}

}  // namespace
}  // namespace pinwire
