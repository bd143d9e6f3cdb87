// A window of one frame, or less: its frames leave one by one, and the flows and records that want
// them take turns. Others load the receiver; their queue, whose delay steers the window, is not
// taken for the path.
#include <gtest/gtest.h>

#include <deque>
#include <vector>

#include "nicfw/wire/wire.h"
#include "tests/support/frame_look.h"
#include "tests/support/nic_group.h"
#include "tests/unit/nicfw/nic_words.h"

namespace pinwire {
namespace {

constexpr uint64_t kNsPerUs = 1'000;
constexpr uint32_t kJumboBytes = 9014;
constexpr size_t kWindowPutBytes = 1 << 20;
constexpr uint64_t kStrangerUs = 25;

/// Rank 0 sends to rank 1, and a stranger a large frame each kStrangerUs. Frames of rank 1 arrive
/// at rank 0 after a delay.
class NarrowWindow : public testing::Test {
 protected:
  /// A frame with records that rank 0 has sent.
  struct Departure {
    uint64_t at_us;
    Flow flow;
  };

  void SetUp() override {
    group_.clock().set_step(0);
    step(1'000);  // until the receiver says that it is busy
  }
  /// Both ranks poll each microsecond.
  void step(uint64_t times) {
    for (uint64_t i = 0; i < times; ++i) {
      group_.poll(0);
      take_departures();
      if (now_us_ % kStrangerUs == 0) inject(1, std::vector<std::byte>(kJumboBytes));
      replies_ += group_.poll(1, takes_).size();
      delay_answers();
      group_.clock().advance(kNsPerUs);
      ++now_us_;
      dones_ += group_.dones(0).size();
    }
  }
  bool reply() { return group_.post(0, send_work(1, MessageClass::kReply, &kWord, sizeof kWord)); }
  bool put(uint64_t bytes) {
    return group_.post(0, put_work(1, source_.data(), bytes, target_.data(), region_.remote_key));
  }
  bool send() { return group_.post(0, send_work(1, MessageClass::kRequest, &kWord, sizeof kWord)); }
  /// Puts of eight bytes, one after the other, each of which is acknowledged.
  void exchange(int puts) {
    for (int i = 0; i < puts; ++i) {
      const size_t before = dones_;
      ASSERT_TRUE(put(8));
      for (int k = 0; k < 10'000 && dones_ == before; ++k) step(1);
      ASSERT_EQ(dones_, before + 1);
    }
  }
  /// The next frames with records vanish.
  void lose(uint32_t frames) { to_lose_ = frames; }
  /// Until so many frames have left since `departures` was empty.
  void wait_for(size_t count) {
    for (int i = 0; i < 100'000 && departures_.size() < count; ++i) step(1);
    ASSERT_GE(departures_.size(), count);
  }

  uint64_t delay_us_ = 30;
  RecvFilter takes_ = RecvFilter::kAll;  // of rank 1
  size_t replies_ = 0;                   // messages that rank 1 took
  std::vector<Departure> departures_;
  size_t dones_ = 0;
  NicGroup group_{{.frame_bytes_max = kJumboBytes,
                   .rx_buffers = 512,
                   .config = {.coalesce = false, .path_bytes = kJumboBytes}}};

 private:
  struct Answer {
    uint64_t due_us;
    std::vector<std::byte> bytes;
  };

  void take_departures() {
    LoopPort& port = group_.port(1);
    std::vector<std::vector<std::byte>> kept;
    while (port.waiting() != 0) {
      const bool has_records = header_at(port, 0).kind == FrameKind::kRecords;
      if (has_records) departures_.push_back({now_us_, header_at(port, 0).flow()});
      auto frame = port.take_first();
      if (has_records && to_lose_ != 0) {
        --to_lose_;
      } else {
        kept.push_back(std::move(frame));
      }
    }
    for (const auto& frame : kept) inject(1, frame);
  }
  void delay_answers() {
    LoopPort& port = group_.port(0);
    while (port.waiting() != 0) answers_.push_back({now_us_ + delay_us_, port.take_first()});
    for (; !answers_.empty() && answers_.front().due_us <= now_us_; answers_.pop_front())
      inject(0, answers_.front().bytes);
  }
  void inject(Rank rank, const std::vector<std::byte>& frame) {
    ASSERT_TRUE(group_.port(rank).inject(frame.data(), static_cast<uint32_t>(frame.size())));
  }

  uint64_t now_us_ = 0;
  uint32_t to_lose_ = 0;
  std::deque<Answer> answers_;
  const std::vector<uint8_t> source_ = byte_pattern(kWindowPutBytes);
  std::vector<uint8_t> target_ = std::vector<uint8_t>(kWindowPutBytes);
  const Region region_ = group_.pin(1, target_.data(), target_.size());
};

/// Each loss halves the window, which is below one frame after a few.
class WindowBelowOneFrame : public NarrowWindow {
 protected:
  void SetUp() override {
    NarrowWindow::SetUp();
    exchange(60);
    for (int i = 0; i < 4; ++i) {
      lose(1);
      exchange(1);
    }
    departures_.clear();
  }
  /// The microseconds between two departures.
  uint64_t gap_us(size_t before, size_t after) const {
    return departures_[after].at_us - departures_[before].at_us;
  }
};

/// The timeout asks while the lost frame waits for its pace; the answer comes after the repetition.
TEST_F(NarrowWindow, IsHalvedOnceForALossWhoseAnswerComesLate) {
  exchange(60);
  delay_us_ = 50;
  exchange(30);
  for (int i = 0; i < 8; ++i) {
    const uint64_t timeouts = group_.stat(0, "timeouts");
    lose(1);
    exchange(1);
    EXPECT_EQ(group_.stat(0, "timeouts"), timeouts + 1) << i;
    step(300);
  }
}

TEST_F(WindowBelowOneFrame, LetsTheFlowsSendInTurn) {
  ASSERT_TRUE(put(kWindowPutBytes));
  constexpr size_t kFrames = 8;
  for (int i = 0; i < 100'000 && departures_.size() < kFrames; ++i) {
    while (send()) {
    }
    step(1);
  }
  ASSERT_GE(departures_.size(), kFrames);
  for (size_t i = 0; i + 1 < kFrames; ++i)
    EXPECT_NE(departures_[i].flow, departures_[i + 1].flow) << i;
}

/// A frame that the receiver has refused is on no wire, and comes again when there is room: until
/// then it takes the window from nobody, or two ranks whose handlers reply to each other would wait
/// for ever.
TEST_F(WindowBelowOneFrame, IsNotTakenByARefusedRequest_C1_154) {
  takes_ = RecvFilter::kRepliesOnly;
  size_t puts = dones_;
  for (int i = 0; i < 2'000'000 && group_.stat(1, "rx_drop_refused") == 0; ++i) {
    send();
    if (i % 1200 == 0) lose(1);  // so that the window stays below one
    if (i % 300 == 0) puts += put(8);
    step(1);
  }
  ASSERT_GT(group_.stat(1, "rx_drop_refused"), 0u);
  lose(0);
  for (int i = 0; i < 200'000 && dones_ < puts; ++i) step(1);
  EXPECT_EQ(dones_, puts);
  ASSERT_TRUE(reply());
  replies_ = 0;
  for (int i = 0; i < 200'000 && replies_ == 0; ++i) step(1);
  EXPECT_GT(replies_, 0u);
}

/// While the frame waits for its time, its peer is asked for it again, and says once more that it
/// has not come.
TEST_F(WindowBelowOneFrame, IsHalvedOnceByALostFrameThatWaitsForItsTurn) {
  const uint64_t timeouts = group_.stat(0, "timeouts"), asks = group_.stat(0, "late_asks");
  lose(1);
  ASSERT_TRUE(send());
  ASSERT_TRUE(put(kWindowPutBytes));
  wait_for(3);
  ASSERT_EQ(departures_[1].flow, Flow::kOneSided);
  ASSERT_EQ(departures_[2].flow, Flow::kRequest) << "the repetition";
  EXPECT_GE(group_.stat(0, "late_asks"), asks + 2);
  EXPECT_EQ(group_.stat(0, "timeouts"), timeouts + 1);
  wait_for(4);
  EXPECT_LE(gap_us(2, 3), gap_us(1, 2)) << "the window was halved before the second frame left";
}

/// A long delay shrinks the window to one frame; after a few round trips more it would be taken for
/// the path's own.
class WindowOfOneFrame : public NarrowWindow {
 protected:
  void SetUp() override {
    NarrowWindow::SetUp();
    delay_us_ = 100;
    exchange(8);
    departures_.clear();
    ASSERT_TRUE(put(kWindowPutBytes));
    step(4 * delay_us_);
    ASSERT_LE(departures_.size(), 4u) << "one in each round trip";
  }
};

TEST_F(WindowOfOneFrame, GivesItToARecordBesideALongPut) {
  constexpr int kRecords = 4;
  for (int i = 0; i < kRecords; ++i) {
    uint64_t waited_us = 0;
    for (; !put(8) && waited_us < 100 * delay_us_; ++waited_us) step(1);
    EXPECT_LE(waited_us, 2 * delay_us_) << i;
  }
  departures_.clear();
  step(10 * delay_us_);
  EXPECT_GE(departures_.size(), 5u) << "the long put goes on";
}

}  // namespace
}  // namespace pinwire
