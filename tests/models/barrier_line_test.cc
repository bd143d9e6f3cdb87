// The barrier line of driver/shm/lines.h: each rank notifies its phase and reads those of the
// others, for several phases in a row.
#include <gtest/gtest.h>

#include <cstdio>

#include "driver/shm/lines.h"
#include "tests/models/memory.h"
#include "tests/models/mutations.h"

namespace pinwire::model {
namespace {

constexpr uint64_t kPhases = 3, kSleepyPhases = 2;
shm::BasicBarrierLine<ModelMemory> lines[kThreadsMax];
uint64_t before_barrier[kThreadsMax];  // plain memory that each rank writes before it notifies

uint64_t value_of(uint64_t rank, uint64_t phase) { return rank << 8 | phase; }

void notify_turn(shm::BasicBarrierLine<ModelMemory>& line, uint64_t phase, uint64_t turn,
                 uint64_t value) {
  line.say(turn, value);
  line.notify(phase);
}

void expect_value(uint32_t rank, uint64_t turn) {
  expect(lines[rank].value(turn) == value_of(rank, turn), "the value is that of the turn");
}

/// Each phase is a turn.
void run_rank(uint32_t rank, uint32_t ranks) {
  for (uint64_t phase = 1; phase <= kPhases; ++phase) {
    // After the last barrier all have read, or not begun: this rank's turn to write is every
    // second.
    if (phase % 2 == 1) write_word(&before_barrier[rank], phase);
    notify_turn(lines[rank], phase, phase, value_of(rank, phase));
    for (uint32_t other = 0; other < ranks; ++other) {
      if (other == rank) continue;
      retry([&] { return lines[other].shows(phase); });
      expect_value(other, phase);
      if (phase % 2 == 1) {
        expect(read_word(&before_barrier[other]) == phase, "a barrier orders memory");
      }
    }
    settle(phase);
  }
}

/// Every second phase is a turn, and the next phase begins before this rank reads its values.
void run_rank_by_turns(uint32_t rank, uint32_t ranks) {
  for (uint64_t turn = 1; turn <= kPhases; ++turn) {
    const uint64_t phase = 2 * turn - 1;
    notify_turn(lines[rank], phase, turn, value_of(rank, turn));
    lines[rank].notify(phase + 1);
    for (uint32_t other = 0; other < ranks; ++other) {
      if (other == rank) continue;
      retry([&] { return lines[other].shows(phase); });
      expect_value(other, turn);
    }
    settle(turn);
  }
}

Atomic<uint64_t> messages[kThreadsMax];  // that woke each rank
bool reads_once_more = true;             // after await()

void sleep_until_notified(uint32_t rank, shm::BasicBarrierLine<ModelMemory>& line, uint64_t phase) {
  for (;;) {
    const uint64_t seen = messages[rank].load(std::memory_order_acquire);
    if (line.shows(phase)) return;
    // Each time: the message may have been for a bit of the phase before.
    line.await(uint64_t{1} << rank);
    if (reads_once_more && line.shows(phase)) return;
    retry([&] { return messages[rank].load(std::memory_order_acquire) != seen; });
  }
}

/// As extended/barrier/team_barrier.cc, but a reader sleeps at once. The owner sends it a message.
void run_sleepy_rank(uint32_t rank, uint32_t ranks) {
  for (uint64_t phase = 1; phase <= kSleepyPhases; ++phase) {
    lines[rank].say(phase, value_of(rank, phase));
    const uint64_t asleep = lines[rank].notify(phase);
    for (uint32_t other = 0; other < ranks; ++other) {
      if ((asleep >> other & 1) != 0) messages[other].fetch_add(1, std::memory_order_release);
    }
    settle(2 * phase);
    for (uint32_t other = 0; other < ranks; ++other) {
      if (other == rank) continue;
      sleep_until_notified(rank, lines[other], phase);
      expect_value(other, phase);
    }
    settle(2 * phase + 1);
  }
}

shm::BasicBarrierLine<ModelMemory> over_line;  // of the leader

/// As extended/barrier/led_barrier.cc: rank 0 leads the others, who read its line alone.
void run_led_rank(uint32_t rank, uint32_t ranks) {
  for (uint64_t phase = 1; phase <= kPhases; ++phase) {
    if (phase % 2 == 1) write_word(&before_barrier[rank], phase);
    if (rank != 0) {
      notify_turn(lines[rank], phase, phase, value_of(rank, phase));
      retry([&] { return over_line.shows(phase); });
      expect(over_line.value(phase) == value_of(ranks, phase), "the leader's value of this phase");
    } else {
      for (uint32_t other = 1; other < ranks; ++other) {
        retry([&] { return lines[other].shows(phase); });
        expect_value(other, phase);
      }
      notify_turn(over_line, phase, phase, value_of(ranks, phase));
    }
    for (uint32_t other = 0; other < ranks && phase % 2 == 1; ++other) {
      expect(read_word(&before_barrier[other]) == phase, "a barrier orders memory");
    }
    settle(phase);
  }
}

enum class Kind { kBusy, kByTurns, kSleepy, kLed };
void run_of_kind(Kind kind, uint32_t rank, uint32_t ranks) {
  if (kind == Kind::kLed) return run_led_rank(rank, ranks);
  if (kind == Kind::kByTurns) return run_rank_by_turns(rank, ranks);
  kind == Kind::kSleepy ? run_sleepy_rank(rank, ranks) : run_rank(rank, ranks);
}

Report explore_ranks(uint32_t ranks, const Mutation& mutation = {}, Kind kind = Kind::kBusy) {
  const auto prepare = [kind] {
    name_cell(&over_line.phase, "over");
    name_cell(&over_line.values[0], "over_value");
    name_cell(&over_line.values[1], "over_value");
    name_cell(&over_line.sleeps, "sleeps");
    for (uint32_t i = 0; i < kThreadsMax; ++i) {
      name_cell(&lines[i].phase, "phase");
      name_cell(&lines[i].values[0], "value");
      name_cell(&lines[i].values[1], "value");
      name_cell(&lines[i].sleepers, "sleepers");
      name_cell(&lines[i].sleeps, "sleeps");
      name_cell(&messages[i], "messages");
      if (kind == Kind::kSleepy) lines[i].sleeps.store(1, std::memory_order_relaxed);
    }
  };
  return explore({.threads = ranks,
                  .prepare = prepare,
                  .run = [ranks, kind](uint32_t rank) { run_of_kind(kind, rank, ranks); },
                  .mutation = mutation});
}

void expect_kept(uint32_t ranks, Kind kind, const char* name) {
  const Report report = explore_ranks(ranks, {}, kind);
  std::printf("%u %s: %llu executions, %llu states, %llu steps\n", ranks, name,
              static_cast<unsigned long long>(report.executions),
              static_cast<unsigned long long>(report.states),
              static_cast<unsigned long long>(report.steps));
  EXPECT_EQ(report.failure, "") << report.trace;
  EXPECT_GT(report.executions, 0u);
}

TEST(BarrierLine, KeepsItsPromisesInEveryExecution) {
  for (const uint32_t ranks : {2u, 3u}) expect_kept(ranks, Kind::kBusy, "ranks");
}

TEST(BarrierLine, AValueStaysWhileOtherPhasesBegin) {
  expect_kept(2, Kind::kByTurns, "ranks, by turns");
}

TEST(BarrierLine, ItsMutantsAreCaught) {
  EXPECT_NE(explore_ranks(2, change("phase", Action::kStore, relax)).failure, "");
  EXPECT_NE(explore_ranks(2, change("phase", Action::kLoad, relax)).failure, "");
  EXPECT_NE(explore_ranks(2, change("value", Action::kStore, drop)).failure, "");
}

TEST(BarrierLine, OneLeadsTheOthers) { expect_kept(3, Kind::kLed, "ranks, led"); }

TEST(BarrierLine, MutantsThatAreLedAreCaught) {
  for (const Mutation& mutant :
       {change("over", Action::kStore, relax), change("over", Action::kLoad, relax),
        change("phase", Action::kStore, relax)}) {
    EXPECT_NE(explore_ranks(2, mutant, Kind::kLed).failure, "");
  }
}

TEST(BarrierLine, WhoSleepsIsWoken) { expect_kept(2, Kind::kSleepy, "sleepy ranks"); }

TEST(BarrierLine, MutantsThatSleepAreCaught) {
  EXPECT_NE(explore_ranks(2, change("sleepers", Action::kModify, relax), Kind::kSleepy).failure,
            "");
  EXPECT_NE(explore_ranks(2, change("sleepers", Action::kModify, tear), Kind::kSleepy).failure, "");
  reads_once_more = false;
  EXPECT_NE(explore_ranks(2, {}, Kind::kSleepy).failure, "");
  reads_once_more = true;
}

}  // namespace
}  // namespace pinwire::model
