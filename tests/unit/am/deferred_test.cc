// Handlers leave work to polls. A poll runs each work once, however often it was asked for.
// Tests with threads are in tests/unit/extended/deferred_test.cc.
#include "am/deferred.h"

#include <gtest/gtest.h>

namespace pinwire {
namespace {

struct CountedWork : Deferred {
  CountedWork() { run = count_run; }
  uint32_t runs = 0;

 private:
  static uint32_t count_run(Deferred& deferred) noexcept {
    auto& work = static_cast<CountedWork&>(deferred);
    // A list that runs in a circle would never end: cut it here, and fail by the count.
    if (++work.runs > 1) work.next = nullptr;
    return 1;
  }
};

TEST(DeferredList, HoldsAWorkOnceThatIsAskedForTwice) {
  CountedWork first, second;
  defer(first);
  defer(second);
  defer(first);
  EXPECT_EQ(run_deferred(), 2u);
  EXPECT_EQ(first.runs, 1u);
  EXPECT_EQ(second.runs, 1u);
}

TEST(DeferredList, TakesAWorkAgainThatHasRun) {
  CountedWork work;
  defer(work);
  EXPECT_EQ(run_deferred(), 1u);
  EXPECT_EQ(run_deferred(), 0u);
  defer(work);
  EXPECT_EQ(run_deferred(), 1u);
}

}  // namespace
}  // namespace pinwire
