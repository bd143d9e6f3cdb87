// extended/barrier/in_progress.h: a thread completes operations of a team, and the client
// destroys the team as soon as it has synchronised them.
#include "extended/barrier/in_progress.h"

#include <gtest/gtest.h>

#include <cstdio>

#include "tests/models/memory.h"
#include "tests/models/mutations.h"

namespace pinwire::model {
namespace {

constexpr uint32_t kOpsMax = 3;

BasicInProgress<ModelMemory> in_progress;
model::Atomic<uint32_t> started;        ///< operations that the completing thread can find
model::Atomic<uint32_t> done[kOpsMax];  ///< as the client sees them
uint64_t team;                          ///< plain memory, which the client writes at the end

/// The steps of the client and of the completing thread.
struct Shape {
  uint32_t ops;
  bool waits_between = false;  ///< each operation is synchronised before the next begins
  bool tells_first = false;    ///< wrong: the count falls after the client was told
  bool looks_after = false;    ///< wrong: looks for another operation after the last
};

void wait_for(uint32_t op) {
  retry([op] { return done[op].load(std::memory_order_acquire) != 0; });
}

void run_client(const Shape& shape) {
  for (uint32_t op = 0; op < shape.ops; ++op) {
    in_progress.begin();
    started.store(op + 1, std::memory_order_release);
    if (shape.waits_between) wait_for(op);
  }
  for (uint32_t op = 0; op < shape.ops && !shape.waits_between; ++op) wait_for(op);
  expect(in_progress.is_none(), "all that was synchronised is over (EX-090)");
  write_word(&team, 1);
}

void complete_all(const Shape& shape) {
  for (uint32_t op = 0; op < shape.ops; ++op) {
    retry([op] { return started.load(std::memory_order_acquire) > op; });
    read_word(&team);  // is it over?
    const auto tell = [op] { done[op].store(1, std::memory_order_release); };
    if (shape.tells_first) tell();
    const bool is_last = in_progress.end([&] {
      if (!shape.tells_first) tell();
    });
    if (!is_last || shape.looks_after) read_word(&team);
    settle(op + 1);
  }
}

Report explore(const Shape& shape, const Mutation& mutation = {}) {
  const auto prepare = [] {
    name_cell(&in_progress, "count");
    name_cell(&started, "started");
    for (auto& cell : done) name_cell(&cell, "done");
  };
  const auto run = [&shape](uint32_t thread) {
    thread == 0 ? run_client(shape) : complete_all(shape);
  };
  return model::explore({.threads = 2, .prepare = prepare, .run = run, .mutation = mutation});
}

TEST(InProgress, ATeamMayEndOnceAllIsSynchronised) {
  for (const bool waits_between : {false, true}) {
    for (uint32_t ops = 1; ops <= kOpsMax; ++ops) {
      const Report report = explore({ops, waits_between});
      std::printf("%u operations: %llu executions, %llu states\n", ops,
                  static_cast<unsigned long long>(report.executions),
                  static_cast<unsigned long long>(report.states));
      EXPECT_EQ(report.failure, "") << report.trace;
      EXPECT_GT(report.executions, 0u);
    }
  }
}

TEST(InProgress, WrongUsesAreCaught) {
  EXPECT_NE(explore({.ops = 1, .tells_first = true}).failure, "");
  EXPECT_NE(explore({.ops = 2, .tells_first = true}).failure, "");
  EXPECT_NE(explore({.ops = 1, .looks_after = true}).failure, "");
}

TEST(InProgress, ItsMutantsAreCaught) {
  EXPECT_NE(explore({.ops = 1}, change("done", Action::kStore, relax)).failure, "");
  EXPECT_NE(explore({.ops = 2}, change("count", Action::kModify, tear)).failure, "");
}

}  // namespace
}  // namespace pinwire::model
