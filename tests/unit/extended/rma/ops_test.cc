#include "extended/rma/ops.h"

#include <gtest/gtest.h>

#include <set>
#include <thread>
#include <vector>

#include "extended/rma/sync.h"

namespace pinwire {
namespace {

TEST(Ops, SixtyFiveThousandAtOnceAndAllDistinct_C1_224) {
  std::set<pinwire_op*> all;
  for (uint32_t i = 0; i < 65'535; ++i) {
    pinwire_op* op = take_op();
    ASSERT_NE(op, nullptr) << i;
    op->started = 1;
    all.insert(op);
  }
  EXPECT_EQ(all.size(), 65'535u);
  for (pinwire_op* op : all) {
    count_done(op->done);
    EXPECT_EQ(handle_of(op), nullptr);
  }
}

TEST(Ops, AnExhaustedPoolSaysSoAndRecovers) {
  std::vector<pinwire_op*> all;
  while (pinwire_op* op = take_op()) all.push_back(op);
  EXPECT_GE(all.size(), 65'535u);
  EXPECT_EQ(handle_of(all.back()), nullptr);
  all.pop_back();
  pinwire_op* again = take_op();
  EXPECT_NE(again, nullptr);
  all.push_back(again);
  for (pinwire_op* op : all) handle_of(op);
}

TEST(Ops, FinishedWhenAllThatStartedIsDone) {
  pinwire_op op{};
  EXPECT_TRUE(op.finished());
  op.started = 2;
  count_done(op.done);
  EXPECT_FALSE(op.finished());
  count_done(op.done);
  EXPECT_TRUE(op.finished());
}

// Implicit operations and regions count on and on, in 32 bits: what is under way is the difference.
TEST(Ops, ImplicitOnesCountPastTheWrap) {
  constexpr uint32_t kBefore = 3, kOps = 10;
  pinwire_op& puts = implicit_puts();
  puts.started = ~uint32_t{0} - kBefore;
  puts.done.store(puts.started);
  for (uint32_t i = 0; i < kOps; ++i) {
    EXPECT_TRUE(test_implicit(kPuts));
    puts.started += 2;
    EXPECT_FALSE(test_implicit(kPuts));
    count_done(puts.done);
    EXPECT_FALSE(test_implicit(kPuts));
    count_done(puts.done);
  }
  EXPECT_LT(puts.started, 2 * kOps) << "it has wrapped";
  EXPECT_TRUE(test_implicit(kPuts));
}

template <typename Run>
void in_a_thread(Run&& run) {
  std::thread(std::forward<Run>(run)).join();
}

// A peer or a device completes what a thread started that has ended; nothing of that reaches the
// threads after it.
TEST(Ops, ImplicitOnesOutliveTheirThread_C1_244) {
  constexpr uint32_t kStarted = 3;
  DoneCount* under_way = nullptr;
  in_a_thread([&] {
    implicit_puts().started += kStarted;
    under_way = &implicit_puts().done;
  });
  in_a_thread([&] {
    EXPECT_TRUE(test_implicit(kPuts | kGets)) << "this thread has started nothing";
    for (uint32_t i = 0; i < kStarted; ++i) count_done(*under_way);
    EXPECT_TRUE(test_implicit(kPuts | kGets)) << "another thread's completions are counted here";
    EXPECT_NE(&implicit_puts().done, under_way);
  });
}

TEST(Ops, NoneOfTheImplicitSetsIsAnotherThreadsBeforeItHasFinished_C1_244) {
  for (const auto set : {&ThreadOps::puts, &ThreadOps::gets, &ThreadOps::locals, &ThreadOps::ams,
                         &ThreadOps::rmws}) {
    ThreadOps* left = nullptr;
    in_a_thread([&] {
      left = &thread_ops();
      ++(left->*set).started;
    });
    in_a_thread([&] { EXPECT_NE(&thread_ops(), left); });
    count_done((left->*set).done);
  }
}

TEST(Ops, AnOpenRegionOutlivesItsThread) {
  DoneCount* under_way = nullptr;
  in_a_thread([&] {
    begin_region();
    ++implicit_gets().started;
    under_way = &implicit_gets().done;
  });
  in_a_thread([&] {
    EXPECT_NE(&implicit_gets().done, under_way);
    pinwire_op* const op = take_op();
    count_done(*under_way);
    EXPECT_TRUE(op->finished());
    handle_of(op);
    EXPECT_TRUE(test_implicit(kGets));
  });
  in_a_thread([] {
    begin_region();
    EXPECT_EQ(end_region(), nullptr);
  });
}

TEST(Ops, ThreadsTakeOverTheMemoryOfThoseThatHaveEnded) {
  constexpr int kThreads = 50, kUnused = 3;
  std::set<void*> arenas;
  for (int i = 0; i < kThreads; ++i) {
    in_a_thread([&] {
      pinwire_op* const op = take_op();
      arenas.insert(&arena_of(op));
      begin_region();
      handle_of(op);
      end_region();
      free_value_op(thread_ops().value_ops.take());
    });
  }
  EXPECT_LE(arenas.size(), kUnused) << "each thread reserves memory of its own";
}

// GX-040: any thread synchronises an event, also when its thread has ended and its memory is
// another's.
TEST(Ops, AHandleOutlivesItsThread_GX_040) {
  constexpr int kHandles = 100;
  std::set<pinwire_op*> handles;
  in_a_thread([&] {
    for (int i = 0; i < kHandles; ++i) handles.insert(take_op());
  });
  EXPECT_EQ(handles.size(), size_t{kHandles});
  in_a_thread([&] {
    std::vector<pinwire_op*> own;
    for (int i = 0; i < kHandles; ++i) {
      own.push_back(take_op());
      EXPECT_FALSE(handles.contains(own.back())) << "a handle that is not synchronised";
    }
    for (pinwire_op* op : handles) EXPECT_TRUE(test_op(op));
    for (pinwire_op* op : own) EXPECT_TRUE(test_op(op));
  });
}

TEST(Ops, WhatOtherThreadsSynchronisedIsThereAgain_GX_040) {
  constexpr size_t kReturned = 10;
  in_a_thread([] {
    std::vector<pinwire_op*> all;
    while (pinwire_op* op = take_op()) all.push_back(op);
    EXPECT_EQ(all.size(), size_t{kOpsPerThread});
    in_a_thread([&] {
      for (size_t i = 0; i < kReturned; ++i) EXPECT_EQ(handle_of(all[i]), nullptr);
    });
    for (size_t i = 0; i < kReturned; ++i) EXPECT_NE(take_op(), nullptr) << i;
    EXPECT_EQ(take_op(), nullptr);
    for (pinwire_op* op : all) handle_of(op);
  });
}

TEST(Ops, ThreadsTakeOverMemoryWhoseHandlesOthersHaveSynchronised) {
  constexpr int kThreads = 10, kHandles = 1000;
  std::set<void*> arenas;
  for (int i = 0; i < kThreads; ++i) {
    std::vector<pinwire_op*> handles;
    in_a_thread([&] {
      for (int handle = 0; handle < kHandles; ++handle) handles.push_back(take_op());
    });
    arenas.insert(&arena_of(handles.front()));
    for (pinwire_op* op : handles) EXPECT_EQ(handle_of(op), nullptr);
  }
  EXPECT_EQ(arenas.size(), 1u);
}

/// Each thread takes all that it is promised, and loses some, however many those before have lost.
template <typename Take, typename GiveBack>
void expect_as_many_as_promised(int threads, Take&& take, GiveBack&& give_back) {
  constexpr size_t kLost = 1000;
  for (int i = 0; i < threads; ++i) {
    in_a_thread([&] {
      std::vector<decltype(take())> all;
      for (uint32_t taken = 0; taken < 65'535; ++taken) {
        all.push_back(take());
        ASSERT_NE(all.back(), nullptr) << taken;
      }
      for (size_t one = kLost; one < all.size(); ++one) give_back(all[one]);
    });
  }
}

TEST(Ops, AnyThreadHasAsManyValuesAsIsPromised_C1_224) {
  expect_as_many_as_promised(
      2, [] { return thread_ops().value_ops.take(); }, free_value_op);
}

TEST(Ops, AnyThreadHasAsManyAsIsPromised_C1_224) {
  expect_as_many_as_promised(
      3,
      [] {
        pinwire_op* op = take_op();
        if (op != nullptr) op->started = 1;
        return op;
      },
      [](pinwire_op* op) {
        count_done(op->done);
        EXPECT_EQ(handle_of(op), nullptr);
      });
}

}  // namespace
}  // namespace pinwire
