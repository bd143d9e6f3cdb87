// The barrier line of driver/shm/inbox.h: each rank notifies its phase and reads those of the
// others, for several phases in a row.
#include <gtest/gtest.h>

#include <cstdio>

#include "driver/shm/inbox.h"
#include "tests/models/memory.h"

namespace pinwire::model {
namespace {

constexpr uint64_t kPhases = 3, kSleepyPhases = 2;
shm::BasicBarrierLine<ModelMemory> lines[kThreadsMax];
uint64_t before_barrier[kThreadsMax];  // plain memory that each rank writes before it notifies

uint64_t value_of(uint64_t rank, uint64_t phase) { return rank << 8 | phase; }

void run_rank(uint32_t rank, uint32_t ranks) {
  for (uint64_t phase = 1; phase <= kPhases; ++phase) {
    // After the last barrier all have read, or not begun: this rank's turn to write is every
    // second.
    if (phase % 2 == 1) write_word(&before_barrier[rank], phase);
    lines[rank].notify(phase, value_of(rank, phase));
    for (uint32_t other = 0; other < ranks; ++other) {
      if (other == rank) continue;
      uint64_t value = 0;
      retry([&] { return lines[other].read(phase, value); });
      expect(value == value_of(other, phase), "the value is that of the phase");
      if (phase % 2 == 1) {
        expect(read_word(&before_barrier[other]) == phase, "a barrier orders memory");
      }
    }
    settle(phase);
  }
}

Atomic<uint64_t> messages[kThreadsMax];  // that woke each rank
bool reads_once_more = true;             // after await()

void sleep_until_notified(uint32_t rank, shm::BasicBarrierLine<ModelMemory>& line, uint64_t phase,
                          uint64_t& value) {
  for (;;) {
    const uint64_t seen = messages[rank].load(std::memory_order_acquire);
    if (line.read(phase, value)) return;
    // Each time: the message may have been for a bit of the phase before.
    line.await(uint64_t{1} << rank);
    if (reads_once_more && line.read(phase, value)) return;
    retry([&] { return messages[rank].load(std::memory_order_acquire) != seen; });
  }
}

/// As extended/barrier.cc: who waits sleeps at once, and who notifies sends it a message.
void run_sleepy_rank(uint32_t rank, uint32_t ranks) {
  for (uint64_t phase = 1; phase <= kSleepyPhases; ++phase) {
    const uint64_t asleep = lines[rank].notify(phase, value_of(rank, phase));
    for (uint32_t other = 0; other < ranks; ++other) {
      if ((asleep >> other & 1) != 0) messages[other].fetch_add(1, std::memory_order_release);
    }
    settle(2 * phase);
    for (uint32_t other = 0; other < ranks; ++other) {
      if (other == rank) continue;
      uint64_t value = 0;
      sleep_until_notified(rank, lines[other], phase, value);
      expect(value == value_of(other, phase), "the value is that of the phase");
    }
    settle(2 * phase + 1);
  }
}

Report explore_ranks(uint32_t ranks, const Mutation& mutation = {}, bool sleep = false) {
  const auto prepare = [sleep] {
    for (uint32_t i = 0; i < kThreadsMax; ++i) {
      name_cell(&lines[i].phase, "phase");
      name_cell(&lines[i].values[0], "value");
      name_cell(&lines[i].values[1], "value");
      name_cell(&lines[i].sleepers, "sleepers");
      name_cell(&lines[i].sleeps, "sleeps");
      name_cell(&messages[i], "messages");
      if (sleep) lines[i].sleeps.store(1, std::memory_order_relaxed);
    }
  };
  return explore(
      {.threads = ranks,
       .prepare = prepare,
       .run = [ranks, sleep](
                  uint32_t rank) { sleep ? run_sleepy_rank(rank, ranks) : run_rank(rank, ranks); },
       .mutation = mutation});
}

TEST(BarrierLine, KeepsItsPromisesInEveryExecution) {
  for (const uint32_t ranks : {2u, 3u}) {
    const Report report = explore_ranks(ranks);
    std::printf("%u ranks: %llu executions, %llu states, %llu steps\n", ranks,
                static_cast<unsigned long long>(report.executions),
                static_cast<unsigned long long>(report.states),
                static_cast<unsigned long long>(report.steps));
    EXPECT_EQ(report.failure, "") << report.trace;
    EXPECT_GT(report.executions, 0u);
  }
}

TEST(BarrierLine, ItsMutantsAreCaught) {
  const auto relax = [](Action action) {
    return Mutation{[action](Access& access, const std::string& cell) {
      if (cell == "phase" && access.action == action) access.order = std::memory_order_relaxed;
    }};
  };
  EXPECT_NE(explore_ranks(2, relax(Action::kStore)).failure, "");
  EXPECT_NE(explore_ranks(2, relax(Action::kLoad)).failure, "");
  const Mutation one_value{[](Access& access, const std::string& cell) {
    access.is_dropped = cell == "value" && access.action == Action::kStore;
  }};
  EXPECT_NE(explore_ranks(2, one_value).failure, "");
}

TEST(BarrierLine, WhoSleepsIsWoken) {
  const Report report = explore_ranks(2, {}, true);
  std::printf("2 sleepy ranks: %llu executions, %llu states, %llu steps\n",
              static_cast<unsigned long long>(report.executions),
              static_cast<unsigned long long>(report.states),
              static_cast<unsigned long long>(report.steps));
  EXPECT_EQ(report.failure, "") << report.trace;
  EXPECT_GT(report.executions, 0u);
}

TEST(BarrierLine, MutantsThatSleepAreCaught) {
  const auto change_sleepers = [](void (*change)(Access&)) {
    return Mutation{[change](Access& access, const std::string& cell) {
      if (cell == "sleepers" && access.action == Action::kModify) change(access);
    }};
  };
  const auto relax = [](Access& access) { access.order = std::memory_order_relaxed; };
  const auto tear = [](Access& access) { access.is_torn = true; };
  EXPECT_NE(explore_ranks(2, change_sleepers(relax), true).failure, "");
  EXPECT_NE(explore_ranks(2, change_sleepers(tear), true).failure, "");
  reads_once_more = false;
  EXPECT_NE(explore_ranks(2, {}, true).failure, "");
  reads_once_more = true;
}

}  // namespace
}  // namespace pinwire::model
