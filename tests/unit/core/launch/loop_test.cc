#include "core/launch/loop.h"

#include <gtest/gtest.h>
#include <poll.h>

#include "core/launch/process.h"

namespace pinwire::launch {
namespace {

TEST(Loop, OneThatRestsIsNotAskedForAndWakesTheLoop) {
  auto pipe = make_pipe();
  const int fd = pipe->write.get();
  Loop loop;
  int calls = 0;
  loop.watch(fd, POLLOUT, [&calls](short) { ++calls; });
  constexpr int64_t kVeryLongMs = 1'000'000;
  loop.rest(fd, now_ms() + kVeryLongMs);
  loop.run_once(now_ms() + 10);
  EXPECT_EQ(calls, 0);
  loop.rest(fd, now_ms() + 20);
  while (calls == 0) loop.run_once(kNever);
}

}  // namespace
}  // namespace pinwire::launch
