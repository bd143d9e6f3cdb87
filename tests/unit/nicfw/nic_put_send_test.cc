// Puts with a message behind the data (Op::kPutSend): every length, and what they wait for.
#include <gtest/gtest.h>

#include <cstring>

#include "tests/support/nic_group.h"

namespace pinwire {
namespace {

class NicPutSend : public testing::Test {
 protected:
  Work put_send(uint64_t bytes, uint8_t flags, const uint64_t& head, uint8_t head_bytes = 8) {
    Work work = put_work(1, source_.data(), bytes, target_.data(), region_.remote_key);
    work.op = Op::kPutSend;
    work.cls = MessageClass::kRequest;
    work.flags = flags;
    work.head = &head;
    work.head_bytes = head_bytes;
    return work;
  }
  bool has_come(uint64_t bytes) const {
    return std::memcmp(source_.data(), target_.data(), bytes) == 0;
  }

  static constexpr uint64_t kBytesMax = 8'000;
  NicGroup group_{{.config = {.coalesce = false}}};
  std::vector<uint8_t> source_ = byte_pattern(kBytesMax);
  std::vector<uint8_t> target_ = std::vector<uint8_t>(kBytesMax);
  Region region_ = group_.pin(1, target_.data(), target_.size());
};

TEST_F(NicPutSend, PlacesDataOfEveryLengthAndDeliversTheHeadAlone) {
  uint64_t head = 0;
  for (const uint8_t flags : {uint8_t{0}, uint8_t{kWorkCopied}}) {
    for (const uint64_t bytes : {0u, 1u, 2u, 256u, 257u, 1'400u}) {
      target_.assign(kBytesMax, 0);
      ++head;
      ASSERT_TRUE(group_.post(0, put_send(bytes, flags, head)));
      group_.poll(0);
      Recv out[2];
      ASSERT_EQ(group_.nic(1).recv(0, RecvFilter::kAll, out), 1u) << bytes;
      EXPECT_EQ(out[0].bytes, sizeof head) << bytes;
      EXPECT_EQ(std::memcmp(out[0].data, &head, sizeof head), 0) << bytes;
      EXPECT_TRUE(has_come(bytes)) << bytes;
      EXPECT_EQ(target_[bytes], 0) << bytes;
      group_.nic(1).give_back(0, std::span(out, 1));
      group_.run(3);
      EXPECT_EQ(group_.dones(0).size(), 1u) << bytes;
    }
  }
}

TEST_F(NicPutSend, ACopiedOneOfOneFrameGoesAtOnce) {
  const uint64_t head = 5;
  ASSERT_TRUE(group_.post(0, put_send(100, kWorkCopied, head)));
  EXPECT_EQ(group_.port(1).waiting(), 1u);
  EXPECT_EQ(group_.poll(1), std::vector<uint64_t>{5});
}

/// A put-send's message names the frames of its own data, whatever became of frames before them.
TEST_F(NicPutSend, WaitsForItsOwnDataOnly) {
  const uint64_t heads[] = {5, 6, 7};
  ASSERT_TRUE(group_.post(0, put_send(kBytesMax, 0, heads[0])));
  ASSERT_EQ(group_.run(3, 1), std::vector<uint64_t>{5});
  ASSERT_EQ(group_.dones(0).size(), 1u);
  ASSERT_TRUE(group_.post(0, send_work(1, MessageClass::kRequest, &heads[1], 8)));
  group_.port(1).lose_waiting();
  target_.assign(kBytesMax, 0);
  ASSERT_TRUE(group_.post(0, put_send(kBytesMax, 0, heads[2])));
  EXPECT_EQ(group_.poll(1), std::vector<uint64_t>{7});
  EXPECT_TRUE(has_come(kBytesMax));
}

/// The window has two frames left: one for the data, and one for the message, which does not fit
/// beside it.
TEST(NicPutSends, ACopiedOneMayTakeTheLastFramesOfTheWindow) {
  NicGroup group({.config = {.window_frames = 4, .coalesce = false}});
  const uint64_t bytes = group.nic(0).caps().copied_bytes_max, word = 5, head = 6;
  const auto source = byte_pattern(bytes);
  std::vector<uint8_t> target(bytes);
  const Region region = group.pin(1, target.data(), bytes);
  for (int i = 0; i < 2; ++i)
    ASSERT_TRUE(group.post(0, send_work(1, MessageClass::kRequest, &word, 8)));
  Work work = put_work(1, source.data(), bytes, target.data(), region.remote_key);
  work.op = Op::kPutSend;
  work.cls = MessageClass::kRequest;
  work.flags = kWorkCopied;
  work.head = &head;
  work.head_bytes = sizeof head;
  ASSERT_TRUE(group.post(0, work));
  EXPECT_EQ(group.port(1).waiting(), 4u);
  EXPECT_EQ(group.run(3, 1), (std::vector<uint64_t>{5, 5, 6}));
  EXPECT_EQ(target, source);
}

}  // namespace
}  // namespace pinwire
