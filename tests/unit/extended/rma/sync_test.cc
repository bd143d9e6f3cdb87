#include "extended/rma/sync.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <thread>
#include <vector>

namespace pinwire {
namespace {

// Handles of finished operations among invalid ones, at every distance: all are found.
TEST(Sync, WaitAllFindsEveryHandle_C1_238) {
  for (size_t count = 0; count <= 20; ++count) {
    for (size_t first = 0; first < count; ++first) {
      for (size_t step = 1; step <= count; ++step) {
        std::vector<pinwire_op*> handles(count, nullptr);
        for (size_t i = first; i < count; i += step) handles[i] = take_op();
        wait_all(handles.data(), count);
        EXPECT_EQ(handles, std::vector<pinwire_op*>(count, nullptr))
            << count << " handles, valid from " << first << " by " << step;
      }
    }
  }
}

// One that is found is freed: the next operation takes its place.
TEST(Sync, WaitAllFreesWhatItFinds) {
  std::vector<pinwire_op*> handles(9, nullptr);
  pinwire_op* const op = handles[8] = take_op();
  wait_all(handles.data(), handles.size());
  EXPECT_EQ(take_op(), op);
  wait_op(op);
}

pinwire_op* under_way() {
  pinwire_op* op = take_op();
  op->started = 1;
  return op;
}

// GX-031, GX-035: a leaf is complete with its root, and stays so whatever its Op does next.
TEST(Events, ALeafIsCompleteWithItsRoot_GX_031) {
  pinwire_op* root = under_way();
  pinwire_op* leaf = leaf_of(root);
  EXPECT_EQ(leaf, leaf_of(root));
  EXPECT_NE(leaf, root);
  EXPECT_FALSE(test_op(leaf));
  count_done(root->done);
  EXPECT_TRUE(test_op(leaf));
  EXPECT_TRUE(test_op(leaf)) << "a leaf is synchronised as often as wished";
  wait_op(root);
}

TEST(Events, ALeafStaysCompleteWhenItsOpIsUsedAgain_GX_035) {
  pinwire_op* root = under_way();
  pinwire_op* leaf = leaf_of(root);
  count_done(root->done);
  wait_op(root);
  pinwire_op* next = under_way();
  ASSERT_EQ(next, root);
  EXPECT_TRUE(test_op(leaf));
  EXPECT_FALSE(test_op(leaf_of(next)));
  count_done(next->done);
  wait_op(next);
}

TEST(Events, RootsAndLeavesInOneArrayInAnyOrder_GX_035) {
  for (int order = 0; order < 2; ++order) {
    pinwire_op* root = under_way();
    pinwire_op* events[3] = {root, nullptr, leaf_of(root)};
    if (order == 1) std::swap(events[0], events[2]);
    EXPECT_FALSE(test_some(events, 3));
    EXPECT_FALSE(test_all(events, 3));
    count_done(root->done);
    EXPECT_TRUE(test_all(events, 3));
    EXPECT_EQ(events[0], nullptr);
    EXPECT_EQ(events[2], nullptr);
    EXPECT_TRUE(test_all(events, 3)) << "nothing is left to wait for";
  }
}

// GX-040: any thread synchronises an event, and its owner gets the Op back.
TEST(Events, WhatOtherThreadsSynchroniseIsUsedAgain_GX_040) {
  events_move = true;
  std::set<pinwire_op*> before;
  std::vector<pinwire_op*> all;
  while (pinwire_op* op = take_op()) {
    all.push_back(op);
    before.insert(op);
  }
  const size_t half = all.size() / 2;
  std::thread first([&] { wait_all(all.data(), half); });
  std::thread second([&] { wait_all(&all[half], all.size() - half); });
  first.join();
  second.join();
  EXPECT_TRUE(std::all_of(all.begin(), all.end(), [](auto* op) { return op == nullptr; }));
  for (size_t i = 0; i < before.size(); ++i) {
    pinwire_op* op = take_op();
    ASSERT_NE(op, nullptr) << i;
    EXPECT_EQ(before.count(op), 1u);
    all[i] = op;
  }
  EXPECT_EQ(take_op(), nullptr);
  for (pinwire_op* op : all) handle_of(op);
  events_move = false;
}

}  // namespace
}  // namespace pinwire
