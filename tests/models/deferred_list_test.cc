// am/poll/deferred_list.h: threads record what is to be done and add the work; whichever thread
// works the list off sees what they recorded, and no work is lost.
#include "am/poll/deferred_list.h"

#include <gtest/gtest.h>

#include <cstdio>

#include "tests/models/memory.h"
#include "tests/models/mutations.h"

namespace pinwire::model {
namespace {

constexpr uint32_t kAddersMax = 2;

using List = BasicDeferredList<ModelMemory>;

List list;
List::Item works[kAddersMax];
model::Atomic<uint32_t> recorded[kAddersMax];  ///< by each thread that adds
model::Atomic<uint32_t> served[kAddersMax];    ///< of that, as runs have seen it
uint64_t changed[kAddersMax];                  ///< plain memory, which each run of a work changes

/// The deeds of the threads: those that add come first.
struct Shape {
  uint32_t adders;
  uint32_t works;
  uint32_t rounds = 1;  ///< in each of which a thread records something and adds its work
  uint32_t runners = 1;
};

void run_adder(const Shape& shape, uint32_t adder) {
  for (uint32_t round = 1; round <= shape.rounds; ++round) {
    recorded[adder].store(round, std::memory_order_relaxed);
    list.add(works[adder % shape.works]);
    settle(round);
  }
}

void run_work(const Shape& shape, const List::Item& item) {
  const auto work = static_cast<uint32_t>(&item - works);
  write_word(&changed[work], read_word(&changed[work]) | 1);
  for (uint32_t adder = work; adder < shape.adders; adder += shape.works) {
    served[adder].store(recorded[adder].load(std::memory_order_relaxed), std::memory_order_relaxed);
  }
}

bool is_all_served(const Shape& shape) {
  for (uint32_t adder = 0; adder < shape.adders; ++adder) {
    if (served[adder].load(std::memory_order_relaxed) != shape.rounds) return false;
  }
  return true;
}

/// A work that is lost, or does not see what was recorded, makes it wait for ever.
void run_runner(const Shape& shape) {
  retry([&shape] {
    if (!list.is_empty() && list.begin()) {
      list.run_all([&shape](List::Item& item) { run_work(shape, item); });
      list.end();
    }
    return is_all_served(shape);
  });
}

Report explore(const Shape& shape, const Mutation& mutation = {}) {
  const auto prepare = [] {
    // The cells of the list are named in the order in which they lie in it.
    auto* cells = reinterpret_cast<const std::byte*>(&list);
    name_cell(cells, "first");
    name_cell(cells + sizeof(uint64_t), "is_running");
    for (auto& work : works) name_cell(&work.is_listed, "is_listed");
  };
  const auto run = [&shape](uint32_t thread) {
    thread < shape.adders ? run_adder(shape, thread) : run_runner(shape);
  };
  return model::explore({.threads = shape.adders + shape.runners,
                         .prepare = prepare,
                         .run = run,
                         .mutation = mutation});
}

constexpr Shape kTwice = {.adders = 1, .works = 1, .rounds = 2};
constexpr Shape kTogether = {.adders = 2, .works = 1};
constexpr Shape kBeside = {.adders = 2, .works = 2};
constexpr Shape kTwoRunners = {.adders = 1, .works = 1, .rounds = 2, .runners = 2};

TEST(DeferredList, LosesNothingAndSeesWhatWasRecorded) {
  for (const Shape& shape : {kTwice, kTogether, kBeside, kTwoRunners}) {
    const Report report = explore(shape);
    std::printf("%u add %u works, %u run them: %llu executions, %llu states\n", shape.adders,
                shape.works, shape.runners, static_cast<unsigned long long>(report.executions),
                static_cast<unsigned long long>(report.states));
    EXPECT_EQ(report.failure, "") << report.trace;
    EXPECT_GT(report.executions, 0u);
  }
}

void acquire_only(Access& access) {
  if (access.order == std::memory_order_acq_rel) access.order = std::memory_order_acquire;
}
void release_only(Access& access) {
  if (access.order == std::memory_order_acq_rel) access.order = std::memory_order_release;
}

bool is_caught(const Mutation& mutation) {
  for (const Shape& shape : {kTwice, kTogether, kBeside, kTwoRunners}) {
    if (!explore(shape, mutation).failure.empty()) return true;
  }
  return false;
}

TEST(DeferredList, ItsMutantsAreCaught) {
  EXPECT_TRUE(is_caught(change("is_listed", Action::kModify, acquire_only)));
  EXPECT_TRUE(is_caught(change("is_listed", Action::kModify, release_only)));
  EXPECT_TRUE(is_caught(change("is_listed", Action::kModify, tear)));
  EXPECT_TRUE(is_caught(change("first", Action::kModify, relax)));
  EXPECT_TRUE(is_caught(change("first", Action::kModify, tear)));
  EXPECT_TRUE(is_caught(change("first", Action::kCompareExchange, relax)));
  EXPECT_TRUE(is_caught(change("first", Action::kCompareExchange, tear)));
  EXPECT_TRUE(is_caught(change("is_running", Action::kModify, relax)));
  EXPECT_TRUE(is_caught(change("is_running", Action::kModify, tear)));
  EXPECT_TRUE(is_caught(change("is_running", Action::kStore, relax)));
}

}  // namespace
}  // namespace pinwire::model
