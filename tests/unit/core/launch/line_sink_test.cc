#include "core/launch/line_sink.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "core/launch/process.h"

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

TEST_F(LineSinkTest, WhatFollowsAPromptOfAnotherRankStartsALine) {
  LineSink sink(loop, pipe.write.get(), 2, false);
  sink.feed(0, "flood> ", 0);
  sink.due(1000);
  sink.feed(1, "hello\n", 0);
  EXPECT_EQ(shown(), "flood> \nhello\n");
  sink.feed(0, "done\n", 0);
  EXPECT_EQ(shown(), "done\n");
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
  size_t bytes = 0;
  for (int i = 0; i < 100000 && bytes < 3000 * line.size(); ++i) {
    bytes += shown().size();
    loop.run_once(0);
  }
  EXPECT_EQ(bytes, 3000 * line.size());
  EXPECT_FALSE(sink.full());
}

TEST_F(LineSinkTest, AReaderThatIsGoneIsNoTrouble) {
  ::signal(SIGPIPE, SIG_IGN);
  LineSink sink(loop, pipe.write.get(), 1, false);
  pipe.read.reset();
  sink.feed(0, "lost\n", 0);
  sink.drain();
}

}  // namespace
}  // namespace pinwire::launch
