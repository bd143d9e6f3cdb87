#include "extended/barrier/value.h"

#include <gtest/gtest.h>

#include <climits>

#include "core/api_types.h"

namespace pinwire {
namespace {

BarrierValue merged(std::initializer_list<BarrierValue> values) {
  BarrierValue all = BarrierValue::of(0, 1);
  for (const BarrierValue& value : values) all = BarrierValue::merge(all, value);
  return all;
}

TEST(BarrierValue, AnonymousMatchesEverything_C1_270) {
  const auto five = BarrierValue::of(5, 0), six = BarrierValue::of(6, 0);
  const auto any = BarrierValue::of(0, 1);
  EXPECT_EQ(merged({five, any, five}).kind, BarrierValue::kNamed);
  EXPECT_EQ(merged({five, any, six}).kind, BarrierValue::kMismatch);
  EXPECT_EQ(merged({any, any}).kind, BarrierValue::kAnonymous);
  EXPECT_EQ(merged({five, BarrierValue::of(5, 2)}).kind, BarrierValue::kMismatch);
}

constexpr int kNone = 0, kAnonymous = GASNET_BARRIERFLAG_ANONYMOUS,
              kMismatch = GASNET_BARRIERFLAG_MISMATCH;

TEST(BarrierWait, OfGasnet1RepeatsItsNotify_C1_268) {
  EXPECT_TRUE(repeats_notify({5, kNone}, {5, kNone}));
  EXPECT_FALSE(repeats_notify({5, kNone}, {6, kNone}));
  EXPECT_TRUE(repeats_notify({5, kAnonymous}, {6, kAnonymous}));
  EXPECT_FALSE(repeats_notify({5, kAnonymous}, {5, kNone}));
  EXPECT_FALSE(repeats_notify({5, kNone}, {5, kAnonymous}));
}

TEST(BarrierWait, OfGasnetExNamesWhatIsAgreed) {
  const auto any = BarrierValue::of(0, kAnonymous), five = BarrierValue::of(5, kNone);
  EXPECT_TRUE(names_what_is_agreed({5, kNone}, {5, kNone}, five));
  EXPECT_FALSE(names_what_is_agreed({5, kNone}, {6, kNone}, five));
  EXPECT_TRUE(names_what_is_agreed({7, kAnonymous}, {5, kNone}, five));
  EXPECT_FALSE(names_what_is_agreed({7, kAnonymous}, {7, kNone}, five));
  EXPECT_TRUE(names_what_is_agreed({5, kNone}, {7, kAnonymous}, five));
  EXPECT_TRUE(names_what_is_agreed({7, kAnonymous}, {8, kNone}, any));
  EXPECT_TRUE(
      names_what_is_agreed({7, GASNET_BARRIERFLAG_UNNAMED}, {8, GASNET_BARRIERFLAG_UNNAMED}, any));
  EXPECT_FALSE(names_what_is_agreed({5, kNone}, {5, kMismatch}, five));
}

TEST(BarrierValue, EveryIdIsValid_C1_273) {
  for (const int id : {0, -1, 1, 2, INT_MIN, INT_MAX}) {
    const auto value = BarrierValue::of(id, 0);
    const auto back = BarrierValue::unpack(value.packed());
    EXPECT_EQ(back.kind, BarrierValue::kNamed);
    EXPECT_EQ(back.id, id);
    EXPECT_EQ(merged({value, value}).kind, BarrierValue::kNamed);
  }
}

// Dissemination merges in any order and may see a value twice.
TEST(BarrierValue, MergeIsCommutativeAssociativeIdempotent) {
  const BarrierValue all[] = {BarrierValue::of(0, 1), BarrierValue::of(0, 0),
                              BarrierValue::of(7, 0), BarrierValue::of(0, 2)};
  const auto same = [](BarrierValue a, BarrierValue b) { return a.packed() == b.packed(); };
  for (const auto& a : all) {
    EXPECT_TRUE(same(BarrierValue::merge(a, a), a));
    for (const auto& b : all) {
      EXPECT_TRUE(same(BarrierValue::merge(a, b), BarrierValue::merge(b, a)));
      for (const auto& c : all) {
        EXPECT_TRUE(same(BarrierValue::merge(a, BarrierValue::merge(b, c)),
                         BarrierValue::merge(BarrierValue::merge(a, b), c)));
      }
    }
  }
}

}  // namespace
}  // namespace pinwire
