// Address space that is not there: the sentence names both limits that it may be for.
#include "core/base/memory/reserve.h"

#include <gtest/gtest.h>
#include <signal.h>

namespace pinwire {
namespace {

TEST(ReserveDeathTest, SaysWhatToRaise) {
  constexpr size_t kMoreThanThereIs = size_t{1} << 62;
  EXPECT_EXIT(reserve_memory(kMoreThanThereIs, "a table"), testing::KilledBySignal(SIGABRT),
              "no address space for a table .*ulimit -v.*vm.max_map_count");
}

TEST(Reserve, IsZeroed) {
  const auto* words = reserve_table<uint64_t>(1000, "a table");
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(words[i], 0u);
}

}  // namespace
}  // namespace pinwire
