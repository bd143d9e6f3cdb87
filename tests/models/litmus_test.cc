// The explorer on programs whose outcomes are known: it finds all of those, and no other.
#include <gtest/gtest.h>

#include "tests/models/memory.h"

namespace pinwire::model {
namespace {

using Order = std::memory_order;
constexpr Order kRelaxed = std::memory_order_relaxed, kAcquire = std::memory_order_acquire,
                kRelease = std::memory_order_release, kSc = std::memory_order_seq_cst;

struct Cells {
  Atomic<uint64_t> x, y;
  uint64_t data;
} at;

Report run(uint32_t threads, std::function<void(uint32_t)> body) {
  return explore({.threads = threads,
                  .prepare =
                      [] {
                        name_cell(&at.x, "x");
                        name_cell(&at.y, "y");
                        name_cell(&at.data, "data");
                      },
                  .run = std::move(body),
                  .mutation = {}});
}
/// Is there an execution that observes these values, from slot 0 on?
bool allows(const Report& report, Outcome wanted) {
  wanted.resize(kObservationsMax);
  return report.outcomes.contains(wanted);
}

Report message_passing(Order store, Order load) {
  return run(2, [=](uint32_t thread) {
    if (thread == 0) {
      at.x.store(1, kRelaxed);
      at.y.store(1, store);
    } else {
      observe(0, at.y.load(load));
      observe(1, at.x.load(kRelaxed));
    }
  });
}
TEST(Litmus, MessagePassingNeedsReleaseAndAcquire) {
  EXPECT_TRUE(allows(message_passing(kRelaxed, kAcquire), {1, 0}));
  EXPECT_TRUE(allows(message_passing(kRelease, kRelaxed), {1, 0}));
  const Report right = message_passing(kRelease, kAcquire);
  EXPECT_FALSE(allows(right, {1, 0}));
  EXPECT_EQ(right.outcomes.size(), 3u);
}

Report store_buffering(Order order_store, Order order_load) {
  return run(2, [=](uint32_t thread) {
    Atomic<uint64_t>& mine = thread == 0 ? at.x : at.y;
    Atomic<uint64_t>& other = thread == 0 ? at.y : at.x;
    mine.store(1, order_store);
    observe(thread, other.load(order_load));
  });
}
TEST(Litmus, OnlySequentialConsistencyForbidsStoreBuffering) {
  EXPECT_TRUE(allows(store_buffering(kRelease, kAcquire), {0, 0}));
  const Report right = store_buffering(kSc, kSc);
  EXPECT_FALSE(allows(right, {0, 0}));
  EXPECT_EQ(right.outcomes.size(), 3u);
}

Report with_barrier(std::function<void(uint32_t)> body) {
  return explore({.threads = 2,
                  .prepare =
                      [] {
                        name_cell(&at.x, "x");
                        name_cell(&at.y, "y");
                      },
                  .run = std::move(body),
                  .mutation = {},
                  .barriers = {.cells = {&at.x, &at.y}, .loaded = {&at.x, &at.y}}});
}
TEST(Litmus, ABarrierOfOneThreadForbidsStoreBufferingOfBoth) {
  const Report report = with_barrier([](uint32_t thread) {
    Atomic<uint64_t>& mine = thread == 0 ? at.x : at.y;
    Atomic<uint64_t>& other = thread == 0 ? at.y : at.x;
    mine.store(1, kRelaxed);
    if (thread == 1) expect(pass_barrier(&at.x, 0), "a barrier");
    observe(thread, other.load(kRelaxed));
  });
  EXPECT_EQ(report.failure, "");
  EXPECT_FALSE(allows(report, {0, 0}));
  EXPECT_EQ(report.outcomes.size(), 3u);
}
TEST(Litmus, ABarrierComesBetweenALoadAndAStoreToo) {
  const Report report = with_barrier([](uint32_t thread) {
    if (thread == 0) {
      observe(0, at.y.load(kRelaxed));
      at.x.store(1, kRelaxed);
    } else {
      at.y.store(1, kRelaxed);
      pass_barrier(&at.x, 0);
      observe(1, at.x.load(kRelaxed));
    }
  });
  EXPECT_TRUE(allows(report, {0, 0}));
  EXPECT_EQ(report.outcomes.size(), 4u);
}

TEST(Litmus, AThreadNeverReadsBackwards) {
  const Report report = run(2, [](uint32_t thread) {
    if (thread == 0) {
      at.x.store(1, kRelaxed);
      at.x.store(2, kRelaxed);
    } else {
      observe(0, at.x.load(kRelaxed));
      observe(1, at.x.load(kRelaxed));
    }
  });
  EXPECT_EQ(report.outcomes.size(), 6u);  // all pairs a <= b of 0, 1, 2
  EXPECT_FALSE(allows(report, {2, 1}));
}

TEST(Litmus, ReadersMayDisagreeOnTheOrderOfTwoWriters) {
  const auto independent = [](Order order) {
    return run(4, [=](uint32_t thread) {
      if (thread < 2) {
        (thread == 0 ? at.x : at.y).store(1, order);
      } else {
        observe(2 * thread - 4, (thread == 2 ? at.x : at.y).load(order));
        observe(2 * thread - 3, (thread == 2 ? at.y : at.x).load(order));
      }
    });
  };
  EXPECT_TRUE(allows(independent(kRelaxed), {1, 0, 1, 0}));
  EXPECT_FALSE(allows(independent(kSc), {1, 0, 1, 0}));
}

TEST(Litmus, ModificationsAreWholeAndLoadsAndStoresAreNot) {
  const auto count = [](bool whole) {
    return run(3, [=](uint32_t thread) {
      if (whole) {
        at.x.fetch_add(1, kRelaxed);
      } else {
        at.x.store(at.x.load(kRelaxed) + 1, kRelaxed);
      }
      at.y.fetch_add(1, kRelease);
      if (thread != 0) return;
      retry([] { return at.y.load(kAcquire) == 3; });
      observe(0, at.x.load(kRelaxed));
    });
  };
  EXPECT_EQ(count(true).outcomes, std::set<Outcome>{Outcome({3, 0, 0, 0, 0, 0, 0, 0})});
  EXPECT_TRUE(allows(count(false), {1}));
  EXPECT_TRUE(allows(count(false), {3}));
  const Report swap =
      run(2, [](uint32_t thread) { observe(thread, at.x.exchange(thread + 1, kRelaxed)); });
  EXPECT_EQ(swap.outcomes.size(), 2u) << "one of two exchanges is the first";
}

TEST(Litmus, AModificationPassesOnWhatItsStoreReleased) {
  const Report report = run(3, [](uint32_t thread) {
    if (thread == 0) {
      write_word(&at.data, 7);
      at.x.store(1, kRelease);
    } else if (thread == 1) {
      uint64_t one = 1;
      at.x.compare_exchange_strong(one, 2, kRelaxed);
    } else {
      if (at.x.load(kAcquire) == 2) expect(read_word(&at.data) == 7, "the data is there");
    }
  });
  EXPECT_EQ(report.failure, "");
}

TEST(Litmus, PlainMemoryWithoutOrderIsARace) {
  const auto hand_over = [](Order store, Order load) {
    return run(2, [=](uint32_t thread) {
      if (thread == 0) {
        write_word(&at.data, 7);
        at.x.store(1, store);
      } else {
        retry([=] { return at.x.load(load) == 1; });
        expect(read_word(&at.data) == 7, "the data is there");
      }
    });
  };
  EXPECT_EQ(hand_over(kRelease, kAcquire).failure, "");
  EXPECT_EQ(hand_over(kRelease, kAcquire).executions, 2u) << "seen at once, or after a wait";
  for (const auto& [store, load] : {std::pair{kRelaxed, kAcquire}, {kRelease, kRelaxed}}) {
    EXPECT_NE(hand_over(store, load).failure.find("data race"), std::string::npos);
  }
}

TEST(Litmus, WaitingForWhatNeverComesIsFound) {
  const Report report = run(2, [](uint32_t thread) {
    if (thread == 0) {
      at.x.store(1, kRelease);
    } else {
      retry([] { return at.x.load(kAcquire) == 2; });
    }
  });
  EXPECT_EQ(report.failure, "thread 1 waits for ever");
  EXPECT_NE(report.trace.find("x"), std::string::npos);
}

TEST(Litmus, ALockKeepsPlainMemoryWhole) {
  const auto locked = [](Order unlock) {
    return run(3, [=](uint32_t) {
      retry([] {
        uint64_t open = 0;
        return at.x.compare_exchange_strong(open, 1, kAcquire);
      });
      write_word(&at.data, read_word(&at.data) + 1);
      at.x.store(0, unlock);
    });
  };
  const Report right = locked(kRelease);
  EXPECT_EQ(right.failure, "");
  EXPECT_GE(right.executions, 6u) << "each order of three threads";
  EXPECT_NE(locked(kRelaxed).failure.find("data race"), std::string::npos);
}

}  // namespace
}  // namespace pinwire::model
