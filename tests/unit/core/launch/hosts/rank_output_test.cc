#include "core/launch/hosts/rank_output.h"

#include <errno.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <functional>
#include <optional>
#include <string>

#include "core/launch/process/process.h"

namespace pinwire::launch {
namespace {

class RankOutputTest : public testing::Test {
 protected:
  void SetUp() override {
    auto out = make_pipe(), err = make_pipe();
    ASSERT_TRUE(out && err);
    ends_[0] = std::move(out->write);
    ends_[1] = std::move(err->write);
    output_.emplace(loop_, std::move(out->read), std::move(err->read),
                    [this](int stream, std::string_view text) {
                      said_ += std::to_string(stream) + ":" + std::string(text) + ";";
                      if (then_) then_(text);
                    });
  }
  /// As the rank does. Returns errno, or 0.
  int say(int stream, std::string_view text) {
    return ::write(ends_[stream - 1].get(), text.data(), text.size()) < 0 ? errno : 0;
  }
  void turn() { loop_.run_once(now_ms() + 50); }

  Loop loop_;
  Fd ends_[2];
  std::string said_;
  std::function<void(std::string_view)> then_;  // after each text
  std::optional<RankOutput> output_;
};

TEST_F(RankOutputTest, TurnsOfTheLoopReadBothStreams) {
  say(1, "a");
  say(2, "b");
  turn();
  EXPECT_TRUE(said_ == "1:a;2:b;" || said_ == "2:b;1:a;") << said_;
}

TEST_F(RankOutputTest, APausedStreamIsReadLater) {
  output_->pause(true);
  say(1, "a");
  turn();
  EXPECT_EQ(said_, "");
  output_->pause(false);
  turn();
  EXPECT_EQ(said_, "1:a;");
}

/// Otherwise a window would take one part more from each pipe that is ready.
TEST_F(RankOutputTest, APauseHoldsForTheOtherStreamInTheSameTurn) {
  then_ = [this](std::string_view) { output_->pause(true); };
  say(1, "x");
  say(2, "x");
  turn();
  EXPECT_EQ(said_.size(), 4U) << said_;
}

TEST_F(RankOutputTest, APausedStreamIsDrained) {
  output_->pause(true);
  say(1, "a");
  say(2, "b");
  output_->drain();
  EXPECT_EQ(said_, "1:a;2:b;");
}

/// A process that outlives its rank may write as fast as this reads.
TEST_F(RankOutputTest, ADrainReadsNoMoreThanWasThere) {
  int parts = 0;
  then_ = [&](std::string_view text) {
    if (++parts < 100) say(1, text);
  };
  say(1, "a");
  output_->drain();
  EXPECT_EQ(said_, "1:a;");
}

TEST_F(RankOutputTest, AStoppedStreamRefusesWords) {
  ::signal(SIGPIPE, SIG_IGN);
  output_->stop(1);
  EXPECT_EQ(say(1, "a"), EPIPE);
  EXPECT_EQ(say(2, "b"), 0);
  output_->drain();
  EXPECT_EQ(said_, "2:b;");
  ::signal(SIGPIPE, SIG_DFL);
}

TEST_F(RankOutputTest, TheEndOfOneStreamLeavesTheOther) {
  ends_[0].reset();
  turn();
  say(2, "b");
  turn();
  EXPECT_EQ(said_, "2:b;");
}

}  // namespace
}  // namespace pinwire::launch
