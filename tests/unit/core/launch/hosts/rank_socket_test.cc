#include "core/launch/hosts/rank_socket.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <memory>
#include <optional>
#include <vector>

#include "core/launch/process/process.h"

namespace pinwire::launch {
namespace {

constexpr Rank kRank = 3;

class RankSocketTest : public testing::Test {
 protected:
  void SetUp() override {
    auto pair = make_socket_pair("a rank");
    ASSERT_TRUE(pair);
    rank_end_ = std::move(pair->second);
    socket_.emplace(loop_, kRank, std::move(pair->first),
                    [this](const FrameHeader& header, Bytes) { heard_.push_back(header.kind); });
  }
  /// As the rank does.
  void say(const FrameHeader& header) {
    ASSERT_EQ(::write(rank_end_.get(), &header, sizeof header), ssize_t{sizeof header});
  }
  void say(FrameKind kind) { say(bootstrap::frame_header(kind, kRank)); }
  /// The bytes of one frame to the rank; 0: none is there.
  size_t hear() {
    std::byte record[sizeof(FrameHeader) + kChunkBytesMax];
    const ssize_t got = ::recv(rank_end_.get(), record, sizeof record, MSG_DONTWAIT);
    return got < 0 ? 0 : static_cast<size_t>(got) - sizeof(FrameHeader);
  }
  void send(size_t bytes) {
    socket_->send(bootstrap::frame_header(FrameKind::kGathered, kRank),
                  std::make_shared<const std::vector<std::byte>>(bytes));
  }
  void turn() { loop_.run_once(now_ms() + 20); }

  Loop loop_;
  Fd rank_end_;
  std::vector<FrameKind> heard_;
  std::optional<RankSocket> socket_;
};

TEST_F(RankSocketTest, FramesAreHeardUntilTheRankHangsUpOnce) {
  say(FrameKind::kHello);
  say(FrameKind::kGather);
  rank_end_.reset();
  for (int turns = 0; turns < 3; ++turns) turn();
  EXPECT_EQ(heard_, (std::vector{FrameKind::kHello, FrameKind::kGather, FrameKind::kHungUp}));
}

TEST_F(RankSocketTest, AFrameOfAnotherLengthBreaksTheRank) {
  auto header = bootstrap::frame_header(FrameKind::kGather, kRank);
  header.bytes = 8;  // that do not follow
  header.total = 8;
  say(header);
  say(FrameKind::kGather);
  socket_->read();
  EXPECT_EQ(heard_, std::vector{FrameKind::kBroken});
}

/// The answer that tells the rank why it is refused must reach it.
TEST_F(RankSocketTest, ABrokenRankIsNotHeardButStillWrittenTo) {
  say(FrameKind::kEnded);
  turn();
  say(FrameKind::kHello);
  send(100);
  for (int turns = 0; turns < 3; ++turns) turn();
  socket_->read();  // as at the rank's end
  EXPECT_EQ(heard_, std::vector{FrameKind::kBroken});
  EXPECT_EQ(hear(), 100U);
}

/// Each other frame is answered, and the answers are kept until the rank reads them.
TEST_F(RankSocketTest, ARankMayGatherOftenButJoinOnlyAFewTimes) {
  for (int frames = 0; frames < 40; ++frames) say(FrameKind::kGather);
  socket_->read();
  EXPECT_EQ(heard_, std::vector(40, FrameKind::kGather));
  heard_.clear();
  for (int frames = 0; frames < 20; ++frames) say(FrameKind::kHello);
  socket_->read();
  EXPECT_EQ(heard_.size(), 17U);
  EXPECT_EQ(heard_.back(), FrameKind::kBroken);
}

/// A rank that computes reads nothing: turns of the loop write on when it does.
TEST_F(RankSocketTest, AMessageLargerThanTheSocketArrivesPieceByPiece) {
  constexpr size_t kBytes = 4 << 20;
  send(kBytes);
  size_t got = 0;
  for (int turns = 0; turns < 1000 && got < kBytes; ++turns) {
    for (size_t one = hear(); one > 0; one = hear()) got += one;
    turn();
  }
  EXPECT_EQ(got, kBytes);
}

TEST_F(RankSocketTest, ARankThatHungUpIsNotWrittenTo) {
  rank_end_.reset();
  socket_->read();
  send(1);
  EXPECT_EQ(heard_, std::vector{FrameKind::kHungUp});
}

}  // namespace
}  // namespace pinwire::launch
