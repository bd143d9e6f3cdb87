#include "core/launch/streams/line_sink.h"

#include <errno.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>

#include "core/launch/process/process.h"
#include "tests/unit/core/launch/full_counter.h"

namespace pinwire::launch {
namespace {

class LineSinkTest : public testing::Test {
 protected:
  std::string shown() {
    char text[4096];
    const auto got = ::read(pipe.read.get(), text, sizeof text);
    return got > 0 ? std::string(text, static_cast<size_t>(got)) : "";
  }
  void SetUp() override {
    pipe = std::move(*make_pipe());
    ::fcntl(pipe.read.get(), F_SETFL, O_NONBLOCK);
  }
  Pipe pipe;
  Loop loop;
};

TEST_F(LineSinkTest, HoldsBackUnfinishedLines) {
  LineSink sink(loop, pipe.write.get(), 2, false);
  sink.feed(1, "hal", 0);
  EXPECT_EQ(shown(), "");
  sink.feed(0, "whole\n", 0);
  EXPECT_EQ(shown(), "whole\n");
  sink.feed(1, "f\nrest", 0);
  EXPECT_EQ(shown(), "half\n");
  sink.finish(1);
  EXPECT_EQ(shown(), "rest");
}

TEST_F(LineSinkTest, APromptOfRank0WaitsOnlyAMoment) {
  LineSink sink(loop, pipe.write.get(), 2, false);
  sink.feed(0, "flood> ", 100);
  EXPECT_LT(sink.deadline_ms(), 1000);
  sink.due(sink.deadline_ms());
  EXPECT_EQ(shown(), "flood> ");
  EXPECT_EQ(sink.deadline_ms(), kNever);
  sink.feed(1, "unfinished", 100);
  EXPECT_EQ(sink.deadline_ms(), kNever) << "others have no user to ask";
}

/// Another rank's line would tear it.
TEST_F(LineSinkTest, ALineThatABlockCutsIsNoPrompt) {
  constexpr int64_t kMuchLaterMs = 500;
  LineSink sink(loop, pipe.write.get(), 2, false);
  sink.feed(0, std::string(1000, 'a') + "\n" + std::string(3095, 'b'), 0);
  sink.due(kMuchLaterMs);
  EXPECT_EQ(shown(), std::string(1000, 'a') + "\n");
  sink.feed(0, "end\nflood> ", kMuchLaterMs);
  EXPECT_EQ(shown(), std::string(3095, 'b') + "end\n");
  sink.due(2 * kMuchLaterMs);
  EXPECT_EQ(shown(), "flood> ");
}

TEST_F(LineSinkTest, WhatFollowsAPromptOfAnotherRankStartsALine) {
  LineSink sink(loop, pipe.write.get(), 2, false);
  sink.feed(0, "flood> ", 0);
  sink.due(1000);
  sink.feed(1, "hello\n", 0);
  EXPECT_EQ(shown(), "flood> \nhello\n");
  sink.feed(0, "done\n", 0);
  EXPECT_EQ(shown(), "done\n");
}

TEST_F(LineSinkTest, ASentenceOfTheLauncherIsALineOfItsOwn) {
  LineSink sink(loop, pipe.write.get(), 2, true);
  sink.feed(0, "prompt> ", 0);
  sink.due(1000);
  sink.say("pinwire: words\n");
  sink.feed(0, "on\n", 0);
  EXPECT_EQ(shown(), "[0] prompt> \npinwire: words\n[0] on\n");
}

TEST_F(LineSinkTest, TagsEveryLineOnce) {
  LineSink sink(loop, pipe.write.get(), 12, true);
  sink.feed(11, "one\n\ntwo", 0);
  sink.finish(11);
  EXPECT_EQ(shown(), "[11] one\n[11] \n[11] two");
  sink.feed(11, " more\n", 0);
  EXPECT_EQ(shown(), " more\n");
}

TEST_F(LineSinkTest, ASlowReaderNeverBlocksIt) {
  LineSink sink(loop, pipe.write.get(), 1, false);
  const std::string line = std::string(1023, 'x') + "\n";
  for (int i = 0; i < 3000; ++i) sink.feed(0, line, 0);
  EXPECT_TRUE(sink.full());
  EXPECT_FALSE(sink.idle());
  size_t bytes = 0;
  for (int i = 0; i < 100000 && bytes < 3000 * line.size(); ++i) {
    bytes += shown().size();
    loop.run_once(0);
  }
  EXPECT_EQ(bytes, 3000 * line.size());
  EXPECT_FALSE(sink.full());
  EXPECT_TRUE(sink.idle());
}

TEST_F(LineSinkTest, AReaderThatIsGoneIsNoTrouble) {
  ::signal(SIGPIPE, SIG_IGN);
  LineSink sink(loop, pipe.write.get(), 1, false);
  EXPECT_EQ(sink.write_error(), 0);
  pipe.read.reset();
  sink.feed(0, "lost\n", 0);
  EXPECT_EQ(sink.write_error(), EPIPE);
  EXPECT_TRUE(sink.idle());
}

TEST_F(LineSinkTest, AFullDiskIsTold) {
  const Fd full(::open("/dev/full", O_WRONLY | O_CLOEXEC));
  if (!full) GTEST_SKIP() << "there is no /dev/full";
  LineSink sink(loop, full.get(), 1, false);
  sink.feed(0, "lost\n", 0);
  EXPECT_EQ(sink.write_error(), ENOSPC);
  EXPECT_TRUE(sink.idle());
}

TEST_F(LineSinkTest, ATerminalThatDoesNotBlockGetsAllLines) {
  const Fd screen(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
  if (!screen || ::grantpt(screen.get()) != 0 || ::unlockpt(screen.get()) != 0)
    GTEST_SKIP() << "no pseudo-terminals here";
  const Fd terminal(::open(::ptsname(screen.get()), O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK));
  ASSERT_TRUE(static_cast<bool>(terminal));
  ::fcntl(screen.get(), F_SETFL, O_NONBLOCK);
  constexpr int kLines = 5000;
  LineSink sink(loop, terminal.get(), 1, false);
  for (int i = 0; i < kLines; ++i) sink.feed(0, "a line of some length, as programs write it\n", 0);
  std::ptrdiff_t lines = 0;
  char text[777];
  for (int round = 0; round < 1'000'000 && lines < kLines && sink.write_error() == 0; ++round) {
    const auto got = ::read(screen.get(), text, sizeof text);
    if (got > 0) lines += std::count(text, text + got, '\n');
    loop.run_once(0);
  }
  EXPECT_EQ(sink.write_error(), 0);
  EXPECT_EQ(lines, kLines);
}

/// Signals wait as long as it writes. The device takes all, and some microseconds for a block of
/// it.
TEST_F(LineSinkTest, ASlowFileHoldsTheLoopForAMomentOnly) {
  const Fd slow(::open("/dev/urandom", O_WRONLY | O_CLOEXEC));
  if (!slow) GTEST_SKIP() << "nobody may write to /dev/urandom here";
  const std::string block(PIPE_BUF, 'x');
  const int64_t began_ms = now_ms();
  for (int i = 0; i < 16 << 10; ++i) EXPECT_GT(::write(slow.get(), block.data(), block.size()), 0);
  if (now_ms() - began_ms < 40) GTEST_SKIP() << "/dev/urandom drops what is written to it here";
  LineSink sink(loop, slow.get(), 1, false);
  sink.feed(0, std::string(size_t{64} << 20, 'x') + "\n", 0);
  EXPECT_GT(sink.pending_bytes(), 0U);
  EXPECT_EQ(sink.write_error(), 0);
}

/// It polls as writable nevertheless: nobody asks again and again.
TEST_F(LineSinkTest, AReaderThatTakesNothingCostsNoTime) {
  const FullCounter counter;
  LineSink sink(loop, {counter.fd(), SharedFile::Way::kPolled}, 1, false);
  sink.say("8 bytes\n");
  int turns = 0;
  for (const int64_t until_ms = now_ms() + 500; now_ms() < until_ms; ++turns)
    loop.run_once(until_ms);
  EXPECT_LT(turns, 100);
  EXPECT_FALSE(sink.idle());
  counter.empty();
  while (!sink.idle()) loop.run_once(kNever);
  EXPECT_EQ(sink.write_error(), 0);
}

}  // namespace
}  // namespace pinwire::launch
