#include "core/launch/agent/launcher_connection.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/launch/process/process.h"

namespace pinwire::launch {
namespace {

/// The launcher's end is in this process, too.
class LauncherConnectionTest : public testing::Test {
 protected:
  void SetUp() override {
    auto to = make_pipe(), from = make_pipe();
    ASSERT_TRUE(to && from);
    launcher_.emplace(loop_, std::move(from->read), std::move(to->write), kAgentGreeting,
                      FrameStream::Events{.frame =
                                              [this](const FrameHeader& header, Bytes chunk) {
                                                kinds_.push_back(header.kind);
                                                bytes_ += chunk.size();
                                              },
                                          .heard = [] {},
                                          .ended = [](const std::string&) {}});
    connection_.emplace(
        loop_, std::move(to->read), std::move(from->write),
        LauncherConnection::Events{
            .order = [this](const FrameHeader& order) { notes_ += note("order", order.code); },
            .input = [this](Bytes bytes) { notes_ += note("input", bytes.size()); },
            .message =
                [this](const FrameHeader&, std::vector<std::byte> message) {
                  notes_ += note("message", message.size());
                },
            .taken = [this] { notes_ += note("taken", connection_->has_room()); },
            .failed = [this](const std::string& sentence) { notes_ += sentence + ";"; },
            .ended = [this] { notes_ += "ended;"; }});
  }
  template <typename Number>
  static std::string note(const char* what, Number number) {
    return std::string(what) + " " + std::to_string(number) + ";";
  }
  void turn() {
    for (int turns = 0; turns < 40; ++turns) loop_.run_once(now_ms() + 2);
  }
  void order(FrameKind kind, int code, Bytes bytes = {}) {
    launcher_->put(bootstrap::frame_header(kind, 0, 0, code), bytes);
  }

  Loop loop_;
  std::optional<FrameStream> launcher_;
  std::optional<LauncherConnection> connection_;
  std::vector<FrameKind> kinds_;  // that the launcher got
  size_t bytes_ = 0;              // of all of them
  std::string notes_;
};

TEST_F(LauncherConnectionTest, TheGreetingComesBeforeTheFirstFrame) {
  connection_->tell(FrameKind::kStarted, 1, 4711, "");
  turn();
  EXPECT_TRUE(launcher_->greeted());
  EXPECT_EQ(kinds_, std::vector{FrameKind::kStarted});
  EXPECT_TRUE(connection_->drained());
}

TEST_F(LauncherConnectionTest, OutputUsesTheWindowUpUntilTheLauncherTookIt) {
  const std::string text(kOutputWindowBytes - 1, 'x');
  connection_->say_output(0, 1, text);
  EXPECT_TRUE(connection_->has_room());
  connection_->say_output(0, 1, "xx");
  EXPECT_FALSE(connection_->has_room());
  turn();
  EXPECT_EQ(bytes_, kOutputWindowBytes + 1);
  order(FrameKind::kTaken, 2);
  turn();
  EXPECT_EQ(notes_, "taken 1;");
}

TEST_F(LauncherConnectionTest, OrdersInputAndMessagesAreToldApart) {
  const std::vector<std::byte> bytes(3 * kChunkBytesMax);
  order(FrameKind::kSignal, 15);
  order(FrameKind::kInput, 0, Bytes(bytes).first(5));
  order(FrameKind::kOutput, 2);
  order(FrameKind::kAlive, 0);
  order(FrameKind::kGathered, 0, bytes);
  turn();
  EXPECT_EQ(notes_, "order 15;input 5;order 2;message " + std::to_string(bytes.size()) + ";");
}

/// Its rest would be taken for the begin of the next.
TEST_F(LauncherConnectionTest, AMessageWithoutItsBeginIsRefused) {
  const std::vector<std::byte> bytes(8);
  const auto whole = bootstrap::frame_header(FrameKind::kGathered, 0);
  launcher_->put_chunk(bootstrap::chunk_header(whole, 8, 16), bytes);
  turn();
  EXPECT_EQ(notes_, "the launcher sent a malformed message;");
}

/// Otherwise an agent whose launcher reads nothing would keep a frame for each beat.
TEST_F(LauncherConnectionTest, ABeatIsSaidWhileNothingElseIsUnderWay) {
  turn();
  connection_->begin(1000, 0);
  turn();
  EXPECT_EQ(kinds_, std::vector{FrameKind::kAlive});
  connection_->say_output(0, 1, std::string(kOutputWindowBytes, 'x'));  // more than a pipe holds
  ASSERT_FALSE(connection_->drained());
  connection_->due(999);
  turn();
  EXPECT_EQ(std::count(kinds_.begin(), kinds_.end(), FrameKind::kAlive), 1);
}

TEST_F(LauncherConnectionTest, ALauncherThatSaysNothingIsLostAndOneThatSpeaksIsNot) {
  const int64_t began_ms = now_ms();
  connection_->begin(10'000, began_ms - 9'900);
  order(FrameKind::kAlive, 0);
  turn();
  for (int64_t at_ms = began_ms; at_ms < began_ms + 9'000; at_ms += kTickMs)
    connection_->due(at_ms);
  EXPECT_FALSE(connection_->has_lost_launcher()) << notes_;
  for (int64_t at_ms = began_ms + 9'000; at_ms < began_ms + 30'000; at_ms += kTickMs)
    connection_->due(at_ms);
  EXPECT_TRUE(connection_->has_lost_launcher());
  EXPECT_NE(notes_, "");
}

TEST_F(LauncherConnectionTest, TheEndOfTheLauncherIsToldOnce) {
  launcher_.reset();
  turn();
  EXPECT_EQ(notes_, "ended;");
}

}  // namespace
}  // namespace pinwire::launch
