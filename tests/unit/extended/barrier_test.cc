#include "extended/barrier.h"

#include <gtest/gtest.h>

#include <climits>

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
