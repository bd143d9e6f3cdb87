// A client polls rarely, on a path so long that a round trip takes several of its polls: these
// tests are of the frames that it takes for lost.
#include <gtest/gtest.h>

#include <vector>

#include "tests/support/nic_group.h"

namespace pinwire {
namespace {

using Frame = std::vector<std::byte>;

/// Rank 0 has learned that a round trip takes a millisecond.
class NicLongPath : public testing::Test {
 protected:
  void SetUp() override {
    for (int i = 0; i < 60; ++i) {
      put();
      wait(kRoundTripNs);
      for (const Rank rank : {1u, 1u, 0u}) group_.poll(rank);
      ASSERT_EQ(group_.dones(0).size(), 1u);
    }
  }
  void put() {
    ASSERT_TRUE(group_.post(0, put_work(1, &word_, 8, &memory_, region_.remote_key)));
    group_.poll(0);
  }
  /// Rank 0 polls as often as one that is there.
  void wait(uint64_t ns) {
    constexpr uint64_t kStepNs = 100'000;
    for (uint64_t waited_ns = 0; waited_ns < ns; waited_ns += kStepNs) {
      group_.clock().advance(kStepNs);
      group_.poll(0);
    }
  }
  Frame take(Rank rank) { return group_.port(rank).take_first(); }
  void give(Rank rank, const Frame& frame) {
    ASSERT_TRUE(group_.port(rank).inject(frame.data(), static_cast<uint32_t>(frame.size())));
  }
  /// Rank 1 gets a frame; its acknowledgement, which is under way for now.
  Frame acknowledgement_of(const Frame& frame) {
    give(1, frame);
    for (int i = 0; i < 2; ++i) group_.poll(1);
    EXPECT_EQ(group_.port(0).waiting(), 1u);
    return take(0);
  }

  static constexpr uint64_t kRoundTripNs = 1'000'000;
  static constexpr uint64_t kAbsenceNs = 300'000;
  NicGroup group_{{.config = {.coalesce = false}}};
  uint64_t word_ = 5, memory_ = 0;
  Region region_ = group_.pin(1, &memory_, 8);
};

/// After an absence two acknowledgements wait, of which the second is of an older frame. The first
/// tells that what left long before its frame is lost.
TEST_F(NicLongPath, AnOlderAcknowledgementDoesNotHideWhatTheNewerOneTells) {
  for (int i = 0; i < 2; ++i) put();
  (void)take(1);
  const Frame early = take(1);
  wait(600'000);
  put();
  const Frame of_late = acknowledgement_of(take(1));
  const Frame of_early = acknowledgement_of(early);
  group_.clock().advance(kAbsenceNs);
  give(0, of_late);
  give(0, of_early);
  group_.poll(0);
  ASSERT_EQ(group_.dones(0).size(), 2u);
  EXPECT_EQ(group_.stat(0, "retransmits"), 1u);
}

/// A decision that an absence had put off for a flow ends with the flow: the next frames of the
/// flow wait for their own time. Here an acknowledgement of another flow comes after an absence.
TEST_F(NicLongPath, WhatAnAbsencePutOffEndsWithItsFlow) {
  for (int i = 0; i < 2; ++i) put();
  Frame overtaken = take(1);
  Frame answers[2] = {acknowledgement_of(take(1)), acknowledgement_of(overtaken)};
  group_.clock().advance(kAbsenceNs);
  for (const Frame& answer : answers) give(0, answer);
  group_.poll(0);
  ASSERT_EQ(group_.dones(0).size(), 2u);
  for (int i = 0; i < 2; ++i) put();
  overtaken = take(1);
  give(0, acknowledgement_of(take(1)));
  group_.poll(0);  // from now on the frame before it may be lost
  const Work message = send_work(1, MessageClass::kRequest, &word_, sizeof word_);
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(group_.post(0, message));
  group_.poll(0);
  const Frame of_message = acknowledgement_of(take(1));
  const Frame of_overtaken = acknowledgement_of(overtaken);
  group_.clock().advance(2 * kRoundTripNs);
  give(0, of_message);
  group_.poll(0);
  give(0, of_overtaken);
  group_.poll(0);
  EXPECT_EQ(group_.dones(0).size(), 2u);
  EXPECT_EQ(group_.stat(0, "retransmits"), 0u);
}

}  // namespace
}  // namespace pinwire
