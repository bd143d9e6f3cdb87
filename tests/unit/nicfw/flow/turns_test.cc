// The order in which short and long items build the frames of one flow.
#include "nicfw/flow/turns.h"

#include <gtest/gtest.h>

#include <string>

namespace pinwire {
namespace {

struct Item {
  uint32_t frames_left = 0;
  Index link = kNoIndex;
};

class Turns : public testing::Test {
 protected:
  Turns() {
    pool_.make(64);
    EXPECT_TRUE(queues_.empty());
  }

  void add(uint32_t frames) {
    const Index index = pool_.take();
    pool_[index].frames_left = frames;
    queues_.of(frames <= 1).push(pool_, index);
  }
  /// A letter for each item that built: s, l; r: a short one that filled a frame that was open.
  std::string build(uint32_t frames) {
    std::string order;
    lead_ = build_in_turns(queues_, lead_, flow_, [&](IndexRing& queue) {
      const bool is_short = &queue == &queues_.shorts;
      if (!(is_short ? short_has_room_ : long_has_room_)) return Built::kNoRoom;
      if (order.size() == frames) return Built::kNoFrame;
      const bool fills = is_short && flow_.open && fills_left_-- > 0;
      flow_.next += fills ? 0 : 1;
      flow_.open = is_short && collects_;
      if (flow_.open && !fills) fills_left_ = 2;
      order += fills ? 'r' : is_short ? 's' : 'l';
      const Index index = queue.first(pool_);
      if (is_short || --pool_[index].frames_left == 0) pool_.give(queue.pop(pool_));
      return Built::kSome;
    });
    return order;
  }

  struct {
    uint32_t next = 0;
    bool open = false;
  } flow_;
  IndexPool<Item> pool_;
  TwoQueues queues_;
  uint32_t lead_ = 0;
  bool short_has_room_ = true, long_has_room_ = true, collects_ = false;
  int fills_left_ = 0;
};

TEST_F(Turns, AreWantedWhileEitherQueueHasItems) {
  add(1);
  EXPECT_FALSE(queues_.empty());
  queues_.shorts.pop(pool_);
  EXPECT_TRUE(queues_.empty());
  add(5);
  EXPECT_FALSE(queues_.empty());
}

TEST_F(Turns, AShortOneGoesBeforeALongOne) {
  add(3);
  add(1);
  EXPECT_EQ(build(9), "slll");
  EXPECT_TRUE(queues_.empty());
}

TEST_F(Turns, TheyAlternate) {
  add(4);
  for (int i = 0; i < 3; ++i) add(1);
  EXPECT_EQ(build(9), "slslsll");
}

TEST_F(Turns, AWindowOfOneFrameServesBoth) {
  add(3);
  for (int i = 0; i < 3; ++i) add(1);
  std::string order;
  for (int i = 0; i < 6; ++i) order += build(1);
  EXPECT_EQ(order, "slslsl");
}

TEST_F(Turns, ShortOnesFillTheFrameThatTheyOpenedAndPayForTheNext) {
  collects_ = true;
  add(9);
  for (int i = 0; i < 7; ++i) add(1);
  EXPECT_EQ(build(12), "srrsllsrrlll");
}

TEST_F(Turns, EachGoesOnWhereThePortHasNoRoomForTheOther) {
  add(5);
  for (int i = 0; i < 5; ++i) add(1);
  long_has_room_ = false;
  EXPECT_EQ(build(3), "sss");
  std::swap(long_has_room_, short_has_room_);
  EXPECT_EQ(build(2), "ll");
}

TEST_F(Turns, ShortOnesWaitAtLastForALongOneThatFoundNoRoom) {
  add(9);
  for (uint32_t i = 0; i < kLeadMax + 6; ++i) add(1);
  long_has_room_ = false;
  EXPECT_EQ(build(99), std::string(kLeadMax, 's'));
  EXPECT_EQ(build(99), "");
  long_has_room_ = true;
  EXPECT_EQ(build(6), "llslsl") << "nor has a long one the next thirty frames";
}

TEST_F(Turns, ShortOnesOweNothingForTheTimeWithoutLongOnes) {
  for (int i = 0; i < 9; ++i) add(1);
  EXPECT_EQ(build(7), "sssssss");
  add(3);
  EXPECT_EQ(build(3), "sls");
}

TEST(IndexRing, IsFirstInFirstOut) {
  IndexPool<Item> pool;
  pool.make(5);
  IndexRing ring;
  EXPECT_TRUE(ring.empty());
  for (Index i = 0; i < 5; ++i) ring.push(pool, i);
  for (Index i = 0; i < 5; ++i) {
    EXPECT_EQ(ring.first(pool), i);
    EXPECT_EQ(ring.pop(pool), i);
  }
  EXPECT_TRUE(ring.empty());
  ring.push(pool, 3);
  EXPECT_EQ(ring.pop(pool), 3);
  EXPECT_TRUE(ring.empty());
}

}  // namespace
}  // namespace pinwire
