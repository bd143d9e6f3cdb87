// Every interleaving of the production code of pin/kernel/watch_board.h with the kernel's side of
// an unmapping: whoever uses memory that was mapped where other memory was never takes a pin of the
// old, and nobody waits for ever.
//
// The kernel's side, as of fs/userfaultfd.c: what the address space's lock orders is one cell that
// is read and modified; a sleeper's count goes down under no lock, but after it was woken under
// one, so that whoever sees it sees what was before.
#include "pin/kernel/watch_board.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <optional>
#include <string>

#include "tests/models/memory.h"

namespace pinwire::model {
namespace {

constexpr auto kRelaxed = std::memory_order_relaxed;
constexpr auto kAcquire = std::memory_order_acquire;
constexpr auto kRelease = std::memory_order_release;
constexpr auto kBoth = std::memory_order_acq_rel;

struct Shape {
  uint32_t rounds = 2;
  uint32_t unmappers = 1;  ///< each of a page of its own; the user's is the first
  // Mutants.
  bool asks = true;           ///< C1
  bool looks_at_turn = true;  ///< C2
  bool looks_first = false;   ///< C3 before C1
  bool marks_late = false;    ///< R3 after R4
};

class WatchProgram {
 public:
  explicit WatchProgram(const Shape& shape) : shape_(shape) {}

  Report explore(const Mutation& mutation = {}) {
    return model::explore({.threads = shape_.unmappers + 2,
                           .prepare = [this] { prepare(); },
                           .run = [this](uint32_t thread) { run(thread); },
                           .mutation = mutation});
  }

 private:
  using Board = BasicWatchBoard<ModelMemory>;
  static constexpr uint32_t kPages = 2;
  enum Event : uint32_t { kNoEvent, kQueued, kRead };

  /// The state of a page at one address. `memory`: 0 is none, else it grows with each that is
  /// mapped there.
  struct Kernel {
    Atomic<uint64_t> memory[kPages];
    Atomic<uint32_t> event[kPages];
    Atomic<uint32_t> changing;
    Atomic<uint32_t> transfers;  ///< how far the user is, who lets the next unmapping begin
  };

  void prepare() {
    slots_.emplace();
    board_.emplace();
    board_->open(slots_->at, kPages);
    name_cell(&kernel_.changing, "changing");
    name_cell(&kernel_.transfers, "transfers");
    kernel_.changing.store(0, kRelaxed);
    kernel_.transfers.store(0, kRelaxed);
    for (uint32_t page = 0; page < kPages; ++page) {
      const std::string number = std::to_string(page);
      name_cell(&kernel_.memory[page], "memory " + number);
      name_cell(&kernel_.event[page], "event " + number);
      name_cell(&slots_->at[page].from, "from " + number);
      name_cell(&slots_->at[page].to, "to " + number);
      name_cell(&slots_->at[page].is_stale, "stale " + number);
      kernel_.memory[page].store(1, kRelaxed);
      kernel_.event[page].store(kNoEvent, kRelaxed);
    }
  }

  void run(uint32_t thread) {
    if (thread < shape_.unmappers) {
      unmap(thread);
    } else if (thread == shape_.unmappers) {
      read();
    } else {
      use();
    }
  }

  /// munmap(): U1 to U4.
  void unmap(uint32_t page) {
    for (uint32_t round = 0; round < shape_.rounds; ++round) {
      retry([&] { return kernel_.transfers.load(kAcquire) > round; });
      kernel_.changing.fetch_add(1, kRelaxed);
      kernel_.memory[page].exchange(0, kBoth);
      kernel_.event[page].store(kQueued, kRelease);
      retry([&] { return kernel_.event[page].load(kAcquire) == kRead; });
      kernel_.changing.fetch_add(~0u, kBoth);
      settle(round + 1);
    }
  }

  void read() {
    const uint32_t events = shape_.rounds * shape_.unmappers;
    for (uint32_t taken = 0; taken < events; ++taken) {
      uint32_t page = kPages;
      retry([&] {
        for (page = 0; page < shape_.unmappers; ++page) {
          if (kernel_.event[page].load(kAcquire) == kQueued) return true;
        }
        return false;
      });
      const auto tell = [&](auto mark) { mark(from_of(page), from_of(page + 1)); };
      board_->read([&](auto mark) {
        kernel_.event[page].store(kRead, kRelease);
        if (!shape_.marks_late) tell(mark);
      });
      if (shape_.marks_late) board_->read(tell);
      settle(taken + 1);
    }
  }

  uint64_t pin(uint32_t page) {
    board_->publish(page, from_of(page), from_of(page + 1));
    return kernel_.memory[page].fetch_add(0, kBoth);
  }
  /// Maps memory as soon as the address is free, and transfers with the pin that is kept, or anew.
  void use() {
    for (uint32_t page = 1; page < shape_.unmappers; ++page) pin(page);
    uint64_t pinned = pin(0);
    kernel_.transfers.store(1, kRelease);
    for (uint32_t round = 0; round < shape_.rounds; ++round) {
      const uint64_t fresh = round + 2;
      retry([&] {
        uint64_t none = 0;
        return kernel_.memory[0].compare_exchange_strong(none, fresh, kBoth);
      });
      const bool was_stale = shape_.looks_first && board_->is_stale(0);
      retry([&] { return is_settled(); });
      if (shape_.looks_first ? was_stale : board_->is_stale(0)) pinned = pin(0);
      expect(pinned == fresh, "a pin holds the memory that is there");
      kernel_.transfers.store(round + 2, kRelease);
      settle(fresh);
    }
  }
  bool is_settled() {
    if (shape_.asks && kernel_.changing.load(kAcquire) != 0) return false;
    return !shape_.looks_at_turn || board_->is_marked();
  }

  static uint64_t from_of(uint64_t page) { return (page + 1) << 12; }

  struct Slots {
    Board::Slot at[kPages];
  };
  const Shape shape_;
  Kernel kernel_;
  std::optional<Slots> slots_;
  std::optional<Board> board_;
};

TEST(WatchBoard, KeepsItsPromisesInEveryExecution) {
  for (const Shape& shape : {Shape{.rounds = 3}, Shape{.rounds = 1, .unmappers = 2}}) {
    const Report report = WatchProgram(shape).explore();
    std::printf("%u unmappers, %u rounds: %llu executions, %llu states, %llu steps\n",
                shape.unmappers, shape.rounds, static_cast<unsigned long long>(report.executions),
                static_cast<unsigned long long>(report.states),
                static_cast<unsigned long long>(report.steps));
    EXPECT_EQ(report.failure, "") << report.trace;
    EXPECT_GT(report.executions, 0u);
  }
}

/// Each takes away one thing that it needs.
struct Mutant {
  const char* name;
  Shape shape;
  Mutation mutation;
};
void PrintTo(const Mutant& at, std::ostream* out) { *out << at.name; }

bool is_turn(const std::string& cell) { return cell == "?"; }  // the only one without a name

const Mutant kMutants[] = {
    {"DoesNotAskTheKernel", {.asks = false}, {}},
    {"DoesNotLookAtTheTurn", {.looks_at_turn = false}, {}},
    {"LooksAtTheMarkFirst", {.looks_first = true}, {}},
    {"MarksAfterItSaidSo", {.marks_late = true}, {}},
    {"DoesNotSayThatItReads", {}, {[](Access& a, const std::string& cell) {
       a.is_dropped = is_turn(cell) && a.action == Action::kStore && a.operand % 2 == 1;
     }}},
    {"SaysThatItHasMarkedWithoutRelease", {}, {[](Access& a, const std::string& cell) {
       if (is_turn(cell) && a.action == Action::kStore) a.order = kRelaxed;
     }}},
    {"LooksAtTheTurnWithoutAcquire", {}, {[](Access& a, const std::string& cell) {
       if (is_turn(cell) && a.action == Action::kModify) a.order = kRelaxed;
     }}},
    {"DoesNotMark", {}, {[](Access& a, const std::string& cell) {
       a.is_dropped = cell.starts_with("stale") && a.operand == 1;
     }}},
    {"DoesNotPublish", {}, {[](Access& a, const std::string& cell) {
       a.is_dropped = cell.starts_with("to") && a.action == Action::kStore;
     }}},
};

class WatchBoardMutants : public testing::TestWithParam<Mutant> {};

TEST_P(WatchBoardMutants, AreCaught) {
  const Report report = WatchProgram(GetParam().shape).explore(GetParam().mutation);
  EXPECT_EQ(report.failure.find("a pin holds the memory that is there") != std::string::npos, true)
      << report.failure;
}
INSTANTIATE_TEST_SUITE_P(All, WatchBoardMutants, testing::ValuesIn(kMutants),
                         [](const auto& at) { return std::string(at.param.name); });

}  // namespace
}  // namespace pinwire::model
