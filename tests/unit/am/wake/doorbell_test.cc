// Effects of one turn of a wait on the others that sleep; tests/models tries its interleavings.
#include "am/wake/doorbell.h"

#include <gtest/gtest.h>

namespace pinwire {
namespace {

struct PlainMemory {
  template <typename T>
  using Atomic = std::atomic<T>;
};
using Doorbell = BasicDoorbell<PlainMemory>;

/// Lanes on which something waits already, or nothing.
struct Lanes {
  bool is_busy;
  uint32_t rung = 0;
  uint32_t polls = 0;
  uint32_t sleeps = 0;

  bool arm() noexcept { return !is_busy; }
  void sleep() noexcept { ++sleeps; }
  void poll() noexcept { ++polls; }
  void ring(uint32_t seats) noexcept { rung |= seats; }
};

/// A lane wakes one thread. The one that found it busy may have taken that from another, and its
/// own poll may find nothing yet.
TEST(DoorbellTurn, AThreadThatFindsALaneBusyRingsTheOthers) {
  Doorbell bell;
  const uint32_t other = bell.take_seat();
  const uint32_t own = bell.take_seat();
  ASSERT_TRUE(bell.prepare_to_park(other, 0));
  Lanes lanes{.is_busy = true};
  park(bell, own, 0, lanes);
  EXPECT_EQ(lanes.rung, 1u << other);
  EXPECT_EQ(lanes.polls, 1u);
  EXPECT_EQ(lanes.sleeps, 0u);
}

TEST(DoorbellTurn, AThreadThatIsAwakeIsRungNoMore) {
  for (const bool is_busy : {false, true}) {
    Doorbell bell;
    Lanes lanes{.is_busy = is_busy};
    park(bell, bell.take_seat(), 0, lanes);
    EXPECT_EQ(lanes.sleeps, is_busy ? 0u : 1u);
    EXPECT_EQ(lanes.rung, 0u);
    EXPECT_EQ(bell.happened(), 0u);
  }
}

/// One that has counted 2^32 events less one.
struct LateMemory {
  template <typename T>
  struct Atomic : std::atomic<T> {
    Atomic() noexcept : std::atomic<T>(sizeof(T) == 8 ? static_cast<T>(~uint64_t{0} << 32) : T{}) {}
  };
};

TEST(DoorbellTurn, NobodySleepsOverTheEventAtWhichTheCountWraps) {
  BasicDoorbell<LateMemory> bell;
  uint32_t seen = 0;
  ASSERT_FALSE(bell.look(seen));
  ASSERT_EQ(seen, ~0u);
  const uint32_t seat = bell.take_seat();
  ASSERT_TRUE(bell.prepare_to_park(seat, seen));
  EXPECT_EQ(bell.happened(), 1u << seat) << "that sleeper is rung";
  EXPECT_FALSE(bell.prepare_to_park(seat, seen)) << "it happened since that look";
  EXPECT_FALSE(bell.look(seen));
  EXPECT_EQ(seen, 0u);
  EXPECT_TRUE(bell.look(seen));
  EXPECT_TRUE(bell.prepare_to_park(seat, seen));
}

TEST(DoorbellSeats, AreOneForEachThreadUntilNoneIsLeft) {
  Doorbell bell;
  uint32_t taken = 0;
  for (uint32_t seat = 0; (seat = bell.take_seat()) != Doorbell::kNoSeat; taken |= 1u << seat) {
    ASSERT_LT(seat, 32u) << "each has a bit in the word";
    ASSERT_EQ(taken & 1u << seat, 0u) << seat;
  }
  EXPECT_EQ(taken, ~0u);
  bell.leave_seat(7);
  EXPECT_EQ(bell.take_seat(), 7u);
}

TEST(DoorbellTurn, NobodySleepsOverWhatHasHappened) {
  Doorbell bell;
  bell.happened();
  Lanes lanes{.is_busy = false};
  park(bell, bell.take_seat(), 0, lanes);
  EXPECT_EQ(lanes.sleeps, 0u);
}

}  // namespace
}  // namespace pinwire
