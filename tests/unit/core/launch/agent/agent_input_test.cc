#include "core/launch/agent/agent_input.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <optional>

#include "core/launch/process/process.h"
#include "core/launch/remote/input_window.h"

namespace pinwire::launch {
namespace {

class AgentInputTest : public testing::Test {
 protected:
  void SetUp() override {
    ::signal(SIGPIPE, SIG_IGN);
    auto pipe = make_pipe();
    ASSERT_TRUE(pipe);
    rank_ = std::move(pipe->read);
    input_.emplace(loop_, std::move(pipe->write), [this](int bytes) {
      if (bytes < 0)
        ++ends_;
      else
        taken_ += static_cast<size_t>(bytes);
    });
  }
  size_t read_of_rank(size_t bytes) {
    std::vector<std::byte> part(bytes);
    const ssize_t got = ::read(rank_.get(), part.data(), bytes);
    return got < 0 ? 0 : static_cast<size_t>(got);
  }
  Loop loop_;
  Fd rank_;
  std::optional<AgentInput> input_;
  size_t taken_ = 0;
  int ends_ = 0;
};

const std::vector<std::byte> kChunk(kChunkBytesMax, std::byte{7});

TEST_F(AgentInputTest, WhatTheRankTakesIsTold) {
  size_t fed = 0;
  for (; fed < kInputWindowBytes; fed += kChunk.size()) ASSERT_TRUE(input_->feed(kChunk));
  EXPECT_LT(taken_, fed);  // the rank's pipe is full
  EXPECT_TRUE(input_->feed({}));
  size_t read = 0;
  while (read < fed) {
    read += read_of_rank(kChunk.size());
    loop_.run_once(0);
  }
  EXPECT_EQ(read, fed);
  EXPECT_EQ(taken_, fed);
  EXPECT_EQ(read_of_rank(1), 0U) << "its end";
  EXPECT_EQ(ends_, 0);
}

TEST_F(AgentInputTest, MoreThanTheWindowIsRefused) {
  size_t accepted = 0;
  while (input_->feed(kChunk)) {
    accepted += kChunk.size();
    ASSERT_LE(accepted - taken_, kInputWindowBytes + kChunkBytesMax);
  }
  EXPECT_GE(accepted - taken_, kInputWindowBytes);
}

TEST_F(AgentInputTest, ARankThatReadsNoMoreIsToldOnce) {
  ASSERT_TRUE(input_->feed(kChunk));
  rank_.reset();
  EXPECT_EQ(ends_, 0);
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(input_->feed(kChunk)) << "what was under way";
  EXPECT_EQ(ends_, 1);
}

TEST_F(AgentInputTest, ARankThatClosesItWhileMuchWaitsIsTold) {
  for (int i = 0; i < 8; ++i) ASSERT_TRUE(input_->feed(kChunk));
  rank_.reset();
  loop_.run_once(0);
  EXPECT_EQ(ends_, 1);
}

}  // namespace
}  // namespace pinwire::launch
