#include "am/send/post.h"

#include <gtest/gtest.h>

#include "tests/unit/am/held_lane.h"
#include "tests/unit/am/polling.h"

namespace pinwire {
namespace {

using Post = test::Polling;
using test::breaths;
using test::yields;

/// A client that only sends serves its peers, too (C1-159); sends that may not wait leave that to
/// the next one that may.
TEST_F(Post, PollsAtEachThirtySecondSend) {
  poll();
  driver.polls = 0;
  for (int i = 0; i < 40; ++i) EXPECT_TRUE(post_at_once(routes[1], put()));
  EXPECT_EQ(driver.polls, 0u);
  post_waiting(routes[1], put());
  EXPECT_EQ(driver.polls, 1u);
  for (int i = 0; i < 31; ++i) post_waiting(routes[1], put());
  EXPECT_EQ(driver.polls, 1u);
  post_waiting(routes[1], put());
  EXPECT_EQ(driver.polls, 2u);
}

TEST_F(Post, BesideACrowdThoseThatWaitForRoomGiveTheirCoreAway) {
  crowd();
  driver.takes_at = 10;
  offer_until_taken(engine.thread(), routes[1], put());
  EXPECT_EQ(driver.polls, 10u);
  EXPECT_EQ(yields + breaths, 10u);
  crowd();
  driver.polls = 0;
  test::begin_handler();
  post_in_handler(0, routes[1], put());
  test::end_handler();
  EXPECT_EQ(driver.polls, 10u);
  EXPECT_EQ(yields + breaths, 10u);
}

}  // namespace
}  // namespace pinwire
