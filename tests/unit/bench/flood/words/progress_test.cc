#include "bench/flood/words/progress.h"

#include <gtest/gtest.h>

namespace pinwire::flood {
namespace {

TEST(Progress, ALineEveryFewSecondsInALog) {
  Progress progress(false, 10, 100);
  EXPECT_EQ(progress.step(1, "put", 104), "");
  EXPECT_EQ(progress.step(5, "put", 106), "flood: 5 of 10, 6 s, about 6 s left: put\n");
  EXPECT_EQ(progress.step(6, "put", 107), "");
  EXPECT_EQ(progress.end(), "");
}

TEST(Progress, OneChangingLineOnATerminal) {
  Progress progress(true, 10, 100);
  EXPECT_EQ(progress.step(0, "put", 100.01), "");
  EXPECT_EQ(progress.step(0, "put", 100.2), "\r\x1b[Kflood: 0 of 10, 0 s: put");
  EXPECT_EQ(progress.end(), "\r\x1b[K");
}

}  // namespace
}  // namespace pinwire::flood
