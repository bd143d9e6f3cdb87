// The explorer takes states for the same that differ only in what nobody can notice any more. On
// programs made at random, it then finds what it finds without that.
#include <gtest/gtest.h>

#include <array>
#include <random>

#include "tests/models/memory.h"

namespace pinwire::model {
namespace {

constexpr uint32_t kCells = 2, kOps = 4;

enum class Op {
  kLoad,
  kStore,
  kAdd,
  kExchange,
  kWaitFor,
  kBarrier,
  kReadWord,
  kWriteWord,
  kCount,
  kNothing
};
struct Line {
  Op op = Op::kNothing;
  uint32_t cell;
  uint64_t value;
  bool is_ordered;  ///< acquire, release
  bool is_forgotten;
};
using Text = std::array<std::array<Line, kOps>, kThreadsMax>;

Atomic<uint64_t> cells[kCells];
uint64_t plain;

Text write_text(std::mt19937& random, uint32_t threads) {
  const auto below = [&](uint32_t limit) { return static_cast<uint32_t>(random() % limit); };
  const bool has_plain = below(4) == 0;
  const bool has_barriers = below(2) == 0;
  Text text{};
  for (uint32_t t = 0; t < threads; ++t) {
    for (Line& line : text[t]) {
      if (threads == 3 && &line == &text[t].back()) break;  // else there is too much to explore
      do {
        line = {static_cast<Op>(below(static_cast<uint32_t>(Op::kCount))), below(kCells), below(3),
                below(2) == 0, below(2) == 0};
      } while ((line.op >= Op::kReadWord && !has_plain) ||
               (line.op == Op::kWaitFor && below(4) != 0) ||
               (line.op == Op::kBarrier && (!has_barriers || t != 0)));
    }
  }
  return text;
}

void run_text(const Text& text, uint32_t t) {
  uint64_t read = 0;
  for (uint32_t i = 0; i < kOps; ++i) {
    const Line& line = text[t][i];
    Atomic<uint64_t>& cell = cells[line.cell];
    const auto acquire = line.is_ordered ? std::memory_order_acquire : std::memory_order_relaxed;
    const auto release = line.is_ordered ? std::memory_order_release : std::memory_order_relaxed;
    const uint64_t past = remember();
    switch (line.op) {
      case Op::kLoad:
        read = 4 * read + cell.load(acquire);
        break;
      case Op::kStore:
        cell.store(line.value, release);
        break;
      case Op::kAdd:
        read = 4 * read + cell.fetch_add(1, acquire);
        break;
      case Op::kExchange:
        cell.exchange(line.value, release);
        break;
      case Op::kWaitFor:
        retry([&] { return cell.load(acquire) == line.value; });
        break;
      case Op::kBarrier:
        pass_barrier(&cells[0], 1);
        break;
      case Op::kReadWord:
        read = 4 * read + read_word(&plain);
        break;
      case Op::kWriteWord:
        write_word(&plain, line.value);
        break;
      default:
        break;
    }
    if (line.is_forgotten) {
      read = 0;
      settle(i);
    } else if (line.op == Op::kWaitFor) {
      recall(past);
    }
  }
  observe(t, read);
}

Report explore_text(const Text& text, uint32_t threads, bool merges_states) {
  const std::set<const void*> all = {&cells[0], &cells[1]};
  return explore({.threads = threads,
                  .prepare =
                      [] {
                        name_cell(&cells[0], "0");
                        name_cell(&cells[1], "1");
                        name_cell(&plain, "plain");
                      },
                  .run = [&](uint32_t t) { run_text(text, t); },
                  .mutation = {},
                  .barriers = {.cells = all, .loaded = all},
                  .merges_states = merges_states});
}

TEST(Merging, FindsTheSameOutcomesAndFailures) {
  std::mt19937 random(1);
  uint32_t failures = 0, outcomes = 0;
  uint64_t states = 0, states_apart = 0;
  constexpr uint32_t kPrograms = 1000;
  for (uint32_t i = 0; i < kPrograms; ++i) {
    const uint32_t threads = 2 + i % 2;
    const Text text = write_text(random, threads);
    const Report merged = explore_text(text, threads, true);
    const Report apart = explore_text(text, threads, false);
    ASSERT_EQ(merged.failure.empty(), apart.failure.empty())
        << i << ": " << merged.failure << apart.failure << merged.trace << apart.trace;
    failures += !apart.failure.empty();
    if (!apart.failure.empty()) continue;
    ASSERT_EQ(merged.outcomes, apart.outcomes) << i;
    outcomes += static_cast<uint32_t>(apart.outcomes.size());
    states += merged.states;
    states_apart += apart.states;
  }
  std::printf("%u failures, %u outcomes, %llu states of %llu\n", failures, outcomes,
              static_cast<unsigned long long>(states),
              static_cast<unsigned long long>(states_apart));
  EXPECT_GT(failures, kPrograms / 20);
  EXPECT_GT(kPrograms - failures, kPrograms / 20);
  EXPECT_LT(states, states_apart / 2) << "there was something to merge";
}

}  // namespace
}  // namespace pinwire::model
