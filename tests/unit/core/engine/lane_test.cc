// core/engine/lane.h: threads of this process, one of which owns the lane. The interleavings are
// tests/models/lane_lock_test.cc's.
#include "core/engine/lane.h"

#include <gtest/gtest.h>

#include <csignal>
#include <thread>
#include <vector>

#include "core/base/threads/membarrier.h"

namespace pinwire {
namespace {

constexpr uint64_t kTurns = 100'000;
DriverLane lane;
uint64_t uses;  // under the lock
volatile std::sig_atomic_t got_it_twice;

class Lane : public testing::Test {
 protected:
  void SetUp() override {
    if (!register_thread_barriers())
      GTEST_SKIP() << "the kernel has no membarrier(2): no lane has an owner";
    lane.owner.store(&this_thread);
    uses = 0;
  }
};

void use(uint64_t turns) {
  const std::atomic<uint32_t> spins{100};
  for (uint64_t i = 0; i < turns; ++i) {
    lane.lock(spins);
    ++uses;
    lane.unlock();
  }
}

TEST_F(Lane, OneAtATimeWhileItsOwnerAndOthersUseIt) {
  constexpr uint64_t kOthersTurns = kTurns / 50;  // each may have the owner pass a barrier
  std::vector<std::thread> others;
  for (int i = 0; i < 3; ++i) others.emplace_back(use, kOthersTurns);
  use(kTurns);
  for (auto& other : others) other.join();
  EXPECT_EQ(uses, kTurns + 3 * kOthersTurns);
}

TEST_F(Lane, ItsOwnerHasItBackAfterAnother) {
  ASSERT_TRUE(lane.try_lock());
  lane.unlock();
  EXPECT_TRUE(lane.word.is_owned());
  std::thread([] {
    ASSERT_TRUE(lane.try_lock());
    EXPECT_FALSE(lane.word.is_owned());
    lane.unlock();
  }).join();
  EXPECT_FALSE(lane.word.is_owned());
  ASSERT_TRUE(lane.try_lock());
  EXPECT_TRUE(lane.word.is_owned());
  std::thread([] { EXPECT_FALSE(lane.try_lock()) << "the owner is inside"; }).join();
  EXPECT_TRUE(lane.word.is_owned());
  lane.unlock();
}

TEST_F(Lane, ASignalHandlerOnTopOfItsOwnerDoesNotGetIt) {
  got_it_twice = -1;
  std::signal(SIGUSR1, [](int) { got_it_twice = lane.try_lock() ? 1 : 0; });
  ASSERT_TRUE(lane.try_lock());
  std::raise(SIGUSR1);
  EXPECT_EQ(got_it_twice, 0);
  lane.unlock();
  std::raise(SIGUSR1);
  EXPECT_EQ(got_it_twice, 1);
  lane.unlock();
  std::signal(SIGUSR1, SIG_DFL);
}

TEST_F(Lane, ItIsLeftToAnOwnerThatComes) {
  ASSERT_TRUE(lane.try_lock());
  lane.unlock();
  EXPECT_FALSE(lane.is_left_to_owner()) << "by itself";
  std::thread([] {
    EXPECT_TRUE(lane.is_left_to_owner());
    uint32_t looks = 0;
    while (lane.is_left_to_owner() && looks < 1000) ++looks;
    EXPECT_LT(looks, 1000u) << "one that does not come has it taken away";
  }).join();
  ASSERT_TRUE(lane.try_lock());
  lane.unlock();
  std::thread([] { EXPECT_TRUE(lane.is_left_to_owner()) << "it came"; }).join();
}

/// Others see that the owner came by the count of its turns alone, also as that wraps.
TEST_F(Lane, ItIsLeftToAnOwnerWhoseTurnsWrap) {
  lane.owner_turns = ~0u;
  std::thread([] {
    while (lane.is_left_to_owner()) {
    }
  }).join();
  ASSERT_TRUE(lane.try_lock());
  lane.unlock();
  ASSERT_EQ(lane.owner_turns, 0u);
  std::thread([] { EXPECT_TRUE(lane.is_left_to_owner()) << "it came"; }).join();
}

TEST_F(Lane, PollersLeaveItToWhoWaitsForAsLongAsTheirTurnTook) {
  ASSERT_TRUE(lane.try_lock());
  EXPECT_FALSE(lane.is_waited_for());
  std::thread waits(use, 1);
  while (!lane.is_waited_for()) std::this_thread::yield();
  lane.leave_to_waiting(50'000, 1'000'000);
  EXPECT_TRUE(lane.is_left_to_waiting(1'049'999));
  EXPECT_FALSE(lane.is_left_to_waiting(1'050'000)) << "who waits may have no core for long";
  lane.leave_to_waiting(1, 1'000'000);
  EXPECT_TRUE(lane.is_left_to_waiting(1'001'000)) << "long enough to be seen by another core";
  EXPECT_FALSE(lane.is_left_to_waiting(1'002'000)) << "not much longer than its turn";
  lane.leave_to_waiting(0, 1'000'000);
  EXPECT_TRUE(lane.is_left_to_waiting(1'019'999)) << "the wait began in the midst of the turn";
  lane.leave_to_waiting(10'000'000'000, 1'000'000);
  EXPECT_FALSE(lane.is_left_to_waiting(5'000'000)) << "messages wait for no client's long handler";
  EXPECT_TRUE(lane.is_left_to_waiting(1'000'001));
  lane.unlock();
  waits.join();
  EXPECT_FALSE(lane.is_waited_for());
  EXPECT_FALSE(lane.is_left_to_waiting(1'000'001));
}

}  // namespace
}  // namespace pinwire
