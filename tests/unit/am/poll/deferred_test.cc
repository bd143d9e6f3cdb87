// Handlers leave work to polls. A poll runs each work once, however often it was asked for.
// Tests with the polls of several threads are in tests/unit/am/poll/deferred_par_test.cc.
#include "am/poll/deferred.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>

namespace pinwire {
namespace {

struct CountedWork : Deferred {
  CountedWork() { run = count_run; }
  uint32_t runs = 0;

 private:
  static uint32_t count_run(Deferred& deferred) noexcept {
    auto& work = static_cast<CountedWork&>(deferred);
    // A list that runs in a circle would never end: cut it here, and fail by the count.
    if (++work.runs > 1) work.next = 0;
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

/// Its run asks for another work at once, which waits for the next poll.
struct WorkThatAsks : Deferred {
  explicit WorkThatAsks(CountedWork& work) : asked_for(work) {
    run = [](Deferred& self) noexcept {
      return run_or_defer(static_cast<WorkThatAsks&>(self).asked_for);
    };
  }
  CountedWork& asked_for;
};

TEST(DeferredList, TakesAWorkThatMayNotRunInsideAnother) {
  CountedWork inner;
  WorkThatAsks outer(inner);
  EXPECT_EQ(run_or_defer(outer), 0u);
  EXPECT_EQ(inner.runs, 0u);
  EXPECT_EQ(run_deferred(), 1u);
  EXPECT_EQ(inner.runs, 1u);
}

TEST(DeferredList, HasEveryWorkThatTwoThreadsAskForAtOnce) {
  constexpr uint32_t kWorks = 20'000, kRounds = 5;
  for (uint32_t round = 0; round < kRounds; ++round) {
    const auto works = std::make_unique<CountedWork[]>(2 * kWorks);
    std::atomic<uint32_t> ready{0};
    const auto ask_for = [&](CountedWork* first) {
      ready.fetch_add(1);
      while (ready.load() != 2) {
      }
      for (uint32_t i = 0; i < kWorks; ++i) defer(first[i]);
    };
    std::thread other(ask_for, works.get() + kWorks);
    ask_for(works.get());
    other.join();
    EXPECT_EQ(run_deferred(), 2 * kWorks);
  }
}

}  // namespace
}  // namespace pinwire
