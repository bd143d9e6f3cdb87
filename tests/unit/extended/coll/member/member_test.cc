// The seats of teams in a process: one team after another, while other threads may still be at what
// was deferred for the one before.
#include "extended/coll/member/member.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>
#include <thread>

#include "extended/coll/progress/seats.h"
#include "extended/state/objects.h"

namespace pinwire {
namespace {

/// Runs for a while, and tells whether a seat was opened meanwhile.
struct Witness : Deferred {
  std::atomic<bool> has_begun{false};
  std::atomic<bool> is_opened{false};
  bool has_seen_it = false;
};

uint32_t watch(Deferred& work) noexcept {
  constexpr uint32_t kLooks = 2000;
  auto& witness = static_cast<Witness&>(work);
  witness.has_begun.store(true);
  for (uint32_t i = 0; i < kLooks && !witness.has_seen_it; ++i) {
    sched_yield();
    witness.has_seen_it = witness.is_opened.load();
  }
  return 0;
}

TEST(Seat, OpensWhileNobodyIsAtWhatWasDeferred_EX_087) {
  pinwire_tm tm;
  tm.size = 1;
  Member& seat = take_seat();
  Witness witness;
  witness.run = watch;
  std::thread other([&witness] { run_or_defer(witness); });
  while (!witness.has_begun.load()) sched_yield();
  open_seat(seat, &tm, nullptr, 0);
  witness.is_opened.store(true);
  other.join();
  EXPECT_FALSE(witness.has_seen_it) << "a run of the seat might read what is set anew";
  close_seat(seat);
}

TEST(Seat, RunsOnceItIsOpen) {
  pinwire_tm tm;
  tm.size = 1;
  Member& seat = take_seat();
  open_seat(seat, &tm, nullptr, 0);
  Witness witness;
  witness.run = watch;
  witness.is_opened.store(true);
  run_or_defer(witness);
  EXPECT_TRUE(witness.has_seen_it) << "what is deferred waits for ever";
  close_seat(seat);
}

TEST(Member, KnowsTheWholeNumberOfAnOperation) {
  constexpr uint64_t kHalf = uint64_t{1} << 32;
  for (const uint64_t near : {uint64_t{0}, uint64_t{40}, kHalf - 1, kHalf, kHalf + 7, 9 * kHalf}) {
    for (uint64_t distance = 0; distance <= 2 * kWindowOps; ++distance) {
      const uint64_t later = near + distance;
      EXPECT_EQ(whole_number(static_cast<uint32_t>(later), near), later);
      if (distance > near) continue;
      const uint64_t earlier = near - distance;
      EXPECT_EQ(whole_number(static_cast<uint32_t>(earlier), near), earlier);
    }
  }
}

}  // namespace
}  // namespace pinwire
