// core/engine/lane_lock.h: the owner of a lane and others take it, in every interleaving.
#include "core/engine/lane_lock.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <string>

#include "tests/models/memory.h"
#include "tests/models/mutations.h"

namespace pinwire::model {
namespace {

bool passes_barriers = true;

struct LockMemory {
  template <typename T>
  using Atomic = model::Atomic<T>;
  static bool pass_barrier(const void* inside) {
    constexpr uint32_t kOwner = 0;
    return !passes_barriers || model::pass_barrier(inside, kOwner);
  }
};

BasicLaneLock<LockMemory> lane;
const auto* const words = reinterpret_cast<const model::Atomic<uint32_t>*>(&lane);

/// The work under the lock: `count` by plain accesses, and `truth`, which reads what is newest.
model::Atomic<uint32_t> count;
model::Atomic<uint32_t> truth;

void use_lane() {
  const uint32_t before = truth.fetch_add(1, std::memory_order_relaxed);
  expect(count.load(std::memory_order_relaxed) == before, "one at a time, who sees what was done");
  count.store(before + 1, std::memory_order_relaxed);
}

/// Tries of each thread; the first is the owner.
struct Shape {
  uint32_t threads, owner_tries, other_tries;
};

void run(const Shape& shape, uint32_t thread) {
  const bool is_owner = thread == 0;
  for (uint32_t i = 0; i < (is_owner ? shape.owner_tries : shape.other_tries); ++i) {
    if (is_owner ? lane.try_lock_as_owner() : lane.try_lock()) {
      use_lane();
      if (is_owner) {
        lane.unlock_as_owner();
      } else {
        lane.unlock();
      }
    }
    settle(i + 1);
  }
}

Report explore(const Shape& shape, const Mutation& mutation = {}) {
  Barriers barriers;
  if (passes_barriers) barriers = {.cells = {&words[0], &words[1]}, .loaded = {&words[1]}};
  return model::explore({.threads = shape.threads,
                         .prepare =
                             [] {
                               name_cell(&words[0], "inside");
                               name_cell(&words[1], "owned");
                               name_cell(&words[2], "taken");
                               name_cell(&count, "count");
                               name_cell(&truth, "truth");
                             },
                         .run = [&](uint32_t thread) { run(shape, thread); },
                         .mutation = mutation,
                         .barriers = barriers});
}

void expect_exclusive(const Shape& shape) {
  const Report report = explore(shape);
  std::printf("%u threads, %u and %u tries: %llu executions, %llu states\n", shape.threads,
              shape.owner_tries, shape.other_tries,
              static_cast<unsigned long long>(report.executions),
              static_cast<unsigned long long>(report.states));
  EXPECT_EQ(report.failure, "") << report.trace;
  EXPECT_GT(report.executions, 0u);
}

TEST(LaneLock, OneAtATime) {
  expect_exclusive({2, 3, 3});
  expect_exclusive({3, 3, 1});
  expect_exclusive({3, 3, 2});
}

bool is_caught(const Shape& shape, const Mutation& mutation) {
  return !explore(shape, mutation).failure.empty();
}

TEST(LaneLock, ItsMutantsAreCaught) {
  const Shape two{2, 3, 3}, three{3, 2, 2};
  EXPECT_TRUE(is_caught(two, change("inside", Action::kLoad, relax)));     // acquire
  EXPECT_TRUE(is_caught(two, change("inside", Action::kStore, relax)));    // release
  EXPECT_TRUE(is_caught(two, change("inside", Action::kStore, drop)));     // the owner says nothing
  EXPECT_TRUE(is_caught(two, change("taken", Action::kStore, relax)));     // release
  EXPECT_TRUE(is_caught(three, change("taken", Action::kModify, relax)));  // acquire
  EXPECT_TRUE(is_caught(three, change("taken", Action::kModify, tear)));
}
TEST(LaneLock, WithoutBarriersTwoAreInside) {
  passes_barriers = false;
  EXPECT_TRUE(is_caught({2, 3, 3}, {}));
  passes_barriers = true;
}

}  // namespace
}  // namespace pinwire::model
