// Answers to operations: only the rank that was asked may give one, once, and no more than was
// asked for. The liar knows the job key, so that its frames are well-formed.
#include <gtest/gtest.h>

#include "tests/support/frame_forger.h"

namespace pinwire {
namespace {

constexpr uint64_t kTrue = 5;
constexpr uint64_t kLies[4] = {90, 91, 92, 93};

/// Rank 1 asks rank 0, which answers only when it is polled.
class NicAnswers : public testing::Test {
 protected:
  NicAnswers() { region_ = group_.pin(0, remote_, sizeof remote_); }

  /// Posts a get of so many bytes; returns its record as it went over the wire.
  Record get(uint64_t bytes) {
    const Work work = get_work(0, local_, bytes, remote_, region_.remote_key);
    EXPECT_EQ(group_.nic(1).post(0, {&work, 1}), 1u);
    return sent_record();
  }
  Record add_one(uint64_t* old) {
    static constexpr AtomicOperands kAddOne{AtomicCode::kAdd, 1, 0};
    const Work work = atomic_work(0, &kAddOne, old, remote_, region_.remote_key);
    EXPECT_EQ(group_.nic(1).post(0, {&work, 1}), 1u);
    return sent_record();
  }
  /// An answer to that record from rank `source`, in a frame of the reply flow.
  FrameForger liar(Rank source, uint32_t sequence) {
    FrameForger forger(group_);
    forger.header.source = source;
    forger.header.flags = static_cast<uint8_t>(Flow::kReply);
    forger.header.sequence = sequence;
    return forger;
  }
  static Record data_for(const Record& asked, uint16_t bytes, uint64_t offset) {
    Record record{};
    record.type = RecordType::kGetData;
    record.op = asked.op;
    record.bytes = bytes;
    record.offset = offset;
    return record;
  }
  void expect_true_answer() {
    group_.run(20, 0, 1'000);
    EXPECT_EQ(group_.dones(1).size(), 1u);
    EXPECT_EQ(group_.nic(1).failure(), nullptr);
  }

  NicGroup group_{{.ranks = 3}};
  uint64_t remote_[4] = {kTrue, kTrue, kTrue, kTrue};
  uint64_t local_[4] = {};
  Region region_{};

 private:
  Record sent_record() {
    Record record{};
    EXPECT_GT(group_.port(0).waiting(), 0u);
    const auto frame = group_.port(0).peek();
    const auto bytes = static_cast<uint32_t>(frame.size() - kRecordsOffset);
    EXPECT_EQ(parse_record(frame.data() + kRecordsOffset, bytes, record), Reject::kNone);
    return record;
  }
};

TEST_F(NicAnswers, DataFromARankThatWasNotAskedIsRefused) {
  FrameForger forger = liar(2, 0);
  forger.add(data_for(get(8), 8, 0), kLies);
  forger.inject();
  group_.poll(1);
  EXPECT_EQ(group_.stat(1, "rx_drop_operation"), 1u);
  EXPECT_EQ(local_[0], 0u);
  EXPECT_TRUE(group_.dones(1).empty());
  expect_true_answer();
  EXPECT_EQ(local_[0], kTrue);
}

TEST_F(NicAnswers, AResultFromARankThatWasNotAskedIsRefused) {
  uint64_t old = 0;
  Record result{};
  result.type = RecordType::kAtomicResult;
  result.op = add_one(&old).op;
  result.operand = kLies[0];
  FrameForger forger = liar(2, 0);
  forger.add(result);
  forger.inject();
  group_.poll(1);
  EXPECT_EQ(group_.stat(1, "rx_drop_operation"), 1u);
  EXPECT_TRUE(group_.dones(1).empty());
  expect_true_answer();
  EXPECT_EQ(old, kTrue);
}

TEST_F(NicAnswers, AnAnswerThatComesLateFinishesNoOtherOperation) {
  const Record first = get(8);
  expect_true_answer();
  local_[0] = 0;
  get(8);  // takes the place of the first one
  FrameForger forger = liar(0, 1);
  forger.add(data_for(first, 8, 0), kLies);
  forger.inject();
  group_.poll(1);
  EXPECT_EQ(group_.stat(1, "rx_drop_operation"), 1u);
  EXPECT_EQ(local_[0], 0u);
  EXPECT_TRUE(group_.dones(1).empty());
  expect_true_answer();
  EXPECT_EQ(local_[0], kTrue);
}

TEST_F(NicAnswers, RecordsOfOneFrameDoNotTogetherBringMoreThanWasAskedFor) {
  const Record asked = get(24);
  FrameForger forger = liar(0, 0);
  forger.add(data_for(asked, 16, 0), kLies);
  forger.add(data_for(asked, 16, 8), kLies);
  forger.inject();
  group_.poll(1);
  EXPECT_EQ(local_[0], kLies[0]);
  EXPECT_EQ(local_[1], kLies[1]);
  EXPECT_EQ(local_[2], 0u) << "32 bytes came for a get of 24";
  EXPECT_EQ(local_[3], 0u);
}

TEST_F(NicAnswers, AResultThatComesTwiceInOneFrameEndsTheOperationOnce) {
  uint64_t old = 0;
  Record result{};
  result.type = RecordType::kAtomicResult;
  result.op = add_one(&old).op;
  FrameForger forger = liar(0, 0);
  for (const uint64_t lie : {kLies[0], kLies[1]}) {
    result.operand = lie;
    forger.add(result);
  }
  forger.inject();
  group_.poll(1);
  EXPECT_EQ(group_.dones(1).size(), 1u);
  EXPECT_EQ(old, kLies[0]);
}

}  // namespace
}  // namespace pinwire
