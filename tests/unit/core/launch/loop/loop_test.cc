#include "core/launch/loop/loop.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <utility>

#include "core/launch/process/process.h"

namespace pinwire::launch {
namespace {

TEST(Loop, OneThatRestsIsNotAskedForAndWakesTheLoop) {
  auto pipe = make_pipe();
  const int fd = pipe->write.get();
  Loop loop;
  int calls = 0;
  auto watch = loop.watch(fd, POLLOUT, [&calls](short) { ++calls; });
  constexpr int64_t kVeryLongMs = 1'000'000;
  watch.rest(now_ms() + kVeryLongMs);
  loop.run_once(now_ms() + 10);
  EXPECT_EQ(calls, 0);
  watch.rest(now_ms() + 20);
  while (calls == 0) loop.run_once(kNever);
}

/// The callee is gone with the watch.
TEST(Loop, AWatchThatEndsCallsNobody) {
  auto pipe = make_pipe();
  Loop loop;
  int calls = 0;
  {
    const auto watch = loop.watch(pipe->write.get(), POLLOUT, [&calls](short) { ++calls; });
  }
  loop.run_once(now_ms());
  EXPECT_EQ(calls, 0);
  const auto again = loop.watch(pipe->write.get(), POLLOUT, [&calls](short) { ++calls; });
  loop.run_once(kNever);
  EXPECT_EQ(calls, 1);
}

TEST(Loop, AWatchThatMovesStays) {
  auto pipe = make_pipe(), other = make_pipe();
  Loop loop;
  int calls = 0, other_calls = 0;
  auto first = loop.watch(pipe->write.get(), POLLOUT, [&calls](short) { ++calls; });
  auto second = loop.watch(other->write.get(), POLLOUT, [&](short) { ++other_calls; });
  second = std::move(first);
  EXPECT_TRUE(second);
  EXPECT_FALSE(first);
  first.set_events(0);
  first.reset();
  loop.run_once(now_ms() + 1000);
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(other_calls, 0) << "its watch ended when another one took its place";
}

/// Both are ready in the same turn.
TEST(Loop, AWatchThatAnotherOnesCallEndsIsNotCalled) {
  auto pipe = make_pipe(), other = make_pipe();
  Loop loop;
  int calls = 0;
  Loop::Watch watches[2];
  for (auto* one : {&*pipe, &*other}) {
    watches[calls++] = loop.watch(one->write.get(), POLLOUT, [&](short) {
      ++calls;
      for (auto& each : watches) each.reset();
    });
  }
  calls = 0;
  loop.run_once(kNever);
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace pinwire::launch
