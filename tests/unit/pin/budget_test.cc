#include "pin/budget.h"

#include <gtest/gtest.h>

namespace pinwire {
namespace {

constexpr uint64_t kMiB = 1u << 20;

PinLimits roomy() {
  PinLimits limits;
  limits.available_bytes = 1000 * kMiB;
  return limits;
}

TEST(PinBudget, TheHostsMemoryWhereNothingElseLimits) {
  const PinBudget budget = pin_budget(roomy(), 100 * kMiB);
  EXPECT_EQ(budget.bytes, 900 * kMiB);
  EXPECT_NE(budget.reason.find("1000.0 MiB"), std::string::npos) << budget.reason;
}

TEST(PinBudget, LockedMemoryLessWhatIsLockedAndReserved) {
  PinLimits limits = roomy();
  limits.locked_bytes_max = 64 * kMiB;
  limits.locked_bytes = 8 * kMiB;
  const PinBudget budget = pin_budget(limits, 16 * kMiB);
  EXPECT_EQ(budget.bytes, 40 * kMiB);
  EXPECT_NE(budget.reason.find("64.0 MiB"), std::string::npos) << budget.reason;
  EXPECT_NE(budget.reason.find("ulimit -l unlimited"), std::string::npos) << budget.reason;
}

TEST(PinBudget, NothingIsLeftRatherThanLessThanNothing) {
  PinLimits limits = roomy();
  limits.locked_bytes_max = 8 * kMiB;
  limits.locked_bytes = 9 * kMiB;
  EXPECT_EQ(pin_budget(limits, kMiB).bytes, 0u);
}

TEST(PinBudget, TheGroupWhereThatIsTighterThanTheHost) {
  PinLimits limits = roomy();
  limits.group_bytes = 300 * kMiB;
  const PinBudget budget = pin_budget(limits, 0);
  EXPECT_EQ(budget.bytes, 300 * kMiB);
  EXPECT_NE(budget.reason.find("memory.max"), std::string::npos) << budget.reason;
}

TEST(PinBudget, OfThisProcessIsNotNothing) {
  const PinLimits limits = read_pin_limits();
  EXPECT_GT(limits.available_bytes, kMiB);
  EXPECT_LT(limits.available_bytes, kUnlimited);
}

}  // namespace
}  // namespace pinwire
