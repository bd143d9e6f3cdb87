#include "core/base/threads/cpus.h"

#include <gtest/gtest.h>
#include <sched.h>

namespace pinwire {
namespace {

using Cpus = std::vector<uint32_t>;

TEST(Cpus, ListsAreWrittenAndReadAsTheKernelWritesThem) {
  for (const auto& [list, cpus] : {std::pair<std::string, Cpus>{"", {}},
                                   {"0", {0}},
                                   {"0-3,8", {0, 1, 2, 3, 8}},
                                   {"1,3,5-6", {1, 3, 5, 6}},
                                   {"127-128", {127, 128}}}) {
    EXPECT_EQ(cpu_list(cpus), list);
    EXPECT_EQ(parse_cpu_list(list), cpus) << list;
  }
}

TEST(Cpus, AListIsReadAsFarAsItMakesSense) {
  EXPECT_EQ(parse_cpu_list("1,2,x"), (Cpus{1, 2}));
  EXPECT_EQ(parse_cpu_list("1,4-2"), (Cpus{1}));
  EXPECT_EQ(parse_cpu_list("0-99999999999"), Cpus{});
  EXPECT_EQ(parse_cpu_list("-1"), Cpus{});
  EXPECT_EQ(parse_cpu_list("3-"), Cpus{});
}

TEST(Cpus, ThoseOfTheMaskAreUsable) {
  cpu_set_t before, one;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  const Cpus all = usable_cpus();
  ASSERT_FALSE(all.empty());
  EXPECT_EQ(all.size(), static_cast<size_t>(CPU_COUNT(&before)));
  CPU_ZERO(&one);
  CPU_SET(all.back(), &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  EXPECT_EQ(usable_cpus(), Cpus{all.back()});
  sched_setaffinity(0, sizeof before, &before);
}

}  // namespace
}  // namespace pinwire
