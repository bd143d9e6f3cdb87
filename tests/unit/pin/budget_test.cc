#include "pin/budget.h"

#include <gtest/gtest.h>
#include <linux/capability.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "core/base/check.h"

namespace pinwire {
namespace {

constexpr uint64_t kMiB = 1u << 20;

PinLimits roomy() {
  PinLimits limits;
  limits.available_bytes = 1000 * kMiB;
  return limits;
}

TEST(PinBudget, TheHostsMemoryWhereNothingElseLimits) {
  const PinBudget budget = pin_budget(roomy(), 100 * kMiB, 1);
  EXPECT_EQ(budget.bytes, 900 * kMiB);
  EXPECT_NE(budget.reason.find("1000.0 MiB"), std::string::npos) << budget.reason;
}

TEST(PinBudget, LockedMemoryLessWhatIsLockedAndReserved) {
  PinLimits limits = roomy();
  limits.locked_bytes_max = 64 * kMiB;
  limits.locked_bytes = 8 * kMiB;
  const PinBudget budget = pin_budget(limits, 16 * kMiB, 1);
  EXPECT_EQ(budget.bytes, 40 * kMiB);
  EXPECT_NE(budget.reason.find("64.0 MiB"), std::string::npos) << budget.reason;
  EXPECT_NE(budget.reason.find("ulimit -l unlimited"), std::string::npos) << budget.reason;
}

TEST(PinBudget, LockedMemoryIsCountedForEachPortAndMemoryIsThereOnce) {
  PinLimits limits = roomy();
  limits.locked_bytes_max = 64 * kMiB;
  const PinBudget budget = pin_budget(limits, 8 * kMiB, 2);
  EXPECT_EQ(budget.bytes, 24 * kMiB);
  EXPECT_NE(budget.reason.find("which each of 2 ports is counted for"), std::string::npos)
      << budget.reason;
  EXPECT_EQ(pin_budget(roomy(), 8 * kMiB, 2).bytes, 984 * kMiB);
}

TEST(PinBudget, ASegmentIsPinnedByEveryPortOrByNone) {
  const PinAllowance allowance{100 * kMiB, 150 * kMiB};
  EXPECT_TRUE(fits_whole(allowance, 100 * kMiB, 1));
  EXPECT_FALSE(fits_whole(allowance, 100 * kMiB, 2));
  EXPECT_TRUE(fits_whole(allowance, 75 * kMiB, 2));
  EXPECT_FALSE(fits_whole(allowance, 101 * kMiB, 1));
  EXPECT_TRUE(fits_whole({kUnlimited, kUnlimited}, kUnlimited, 1));
}

TEST(PinBudget, WhatEveryPortPinsWholeLeavesLessForPinsOnDemand) {
  EXPECT_EQ(left_for_demand({100 * kMiB, 150 * kMiB}, 60 * kMiB, 1), 40 * kMiB);
  EXPECT_EQ(left_for_demand({100 * kMiB, 150 * kMiB}, 60 * kMiB, 2), 30 * kMiB);
  EXPECT_EQ(left_for_demand({100 * kMiB, 150 * kMiB}, 80 * kMiB, 2), 0u);
  EXPECT_EQ(left_for_demand({100 * kMiB, kUnlimited}, 0, 3), 100 * kMiB);
}

TEST(PinBudget, APortHasItsPeersPartOfIt) {
  EXPECT_EQ(part_of_port(100, 0, 1), 0u);
  EXPECT_EQ(part_of_port(100, 1, 1), 100u);
  EXPECT_EQ(part_of_port(100, 1, 3) + part_of_port(100, 2, 3), 99u);
  EXPECT_EQ(part_of_port(kUnlimited, 3, 3), kUnlimited);
  EXPECT_EQ(part_of_port(100, 0, 0), 0u);
}

TEST(PinBudget, NothingIsLeftRatherThanLessThanNothing) {
  PinLimits limits = roomy();
  limits.locked_bytes_max = 8 * kMiB;
  limits.locked_bytes = 9 * kMiB;
  EXPECT_EQ(pin_budget(limits, kMiB, 1).bytes, 0u);
}

TEST(PinBudget, TheGroupWhereThatIsTighterThanTheHost) {
  PinLimits limits = roomy();
  limits.group_bytes = 300 * kMiB;
  const PinBudget budget = pin_budget(limits, 0, 1);
  EXPECT_EQ(budget.bytes, 300 * kMiB);
  EXPECT_NE(budget.reason.find("memory.max"), std::string::npos) << budget.reason;
}

TEST(PinBudget, OfThisProcessIsNotNothing) {
  const PinLimits limits = read_pin_limits();
  EXPECT_GT(limits.available_bytes, kMiB);
  EXPECT_LT(limits.available_bytes, kUnlimited);
}

/// CAP_IPC_LOCK, with which a process may lock all memory.
class LockCapability {
 public:
  LockCapability() { check(syscall(SYS_capget, &of_, words_) == 0, "capget", errno); }
  bool is_there() const { return (word() & CAP_TO_MASK(CAP_IPC_LOCK)) != 0; }
  void drop() {
    words_[CAP_TO_INDEX(CAP_IPC_LOCK)].effective &= ~CAP_TO_MASK(CAP_IPC_LOCK);
    check(syscall(SYS_capset, &of_, words_) == 0, "capset", errno);
  }

 private:
  uint32_t word() const { return words_[CAP_TO_INDEX(CAP_IPC_LOCK)].effective; }
  __user_cap_header_struct of_{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct words_[2] = {};
};
uint64_t locked_bytes_max_with(rlim_t soft) {
  rlimit locked{};
  check(getrlimit(RLIMIT_MEMLOCK, &locked) == 0, "getrlimit", errno);
  locked.rlim_cur = soft;
  check(setrlimit(RLIMIT_MEMLOCK, &locked) == 0, "setrlimit", errno);
  return read_pin_limits().locked_bytes_max;
}

TEST(PinBudgetDeathTest, OfThisProcessIsItsLimitForLockedMemory) {
  EXPECT_EXIT(
      {
        LockCapability().drop();
        _exit(locked_bytes_max_with(32 << 10) == 32 << 10 ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

TEST(PinBudgetDeathTest, AProcessThatMayLockAllMemoryHasNoLimit) {
  if (!LockCapability().is_there()) GTEST_SKIP() << "this process may not";
  EXPECT_EXIT(_exit(locked_bytes_max_with(32 << 10) == kUnlimited ? 0 : 1),
              testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace pinwire
