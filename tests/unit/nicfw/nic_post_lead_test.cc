// A long put goes on, however much its flow's other users post.
#include <gtest/gtest.h>

#include "tests/support/nic_group.h"

namespace pinwire {
namespace {

class NicPostLead : public testing::Test {
 protected:
  explicit NicPostLead(uint32_t window_frames = 16)
      : group_({.config = {.window_frames = window_frames, .coalesce = false},
                .memory_medium = {true, true}}) {}
  bool post(uint64_t bytes, uint8_t flags, uint64_t cookie) {
    Work work = put_work(1, source_.data(), bytes, target_.data(), region_.remote_key);
    work.flags = flags;
    work.cookie = cookie;
    return group_.post(0, work);
  }

  /// Threads post copied puts of `bytes` whenever the lane takes one, and the link carries
  /// `link_frames` frames from one poll to the next. Returns how many were accepted until the long
  /// put is done.
  int posted_until_done(uint64_t bytes, uint64_t link_frames = 1) {
    EXPECT_TRUE(post(kLongBytes, 0, kLong));
    int posted = 0;
    for (int round = 0; round < kRoundsMax && !is_long_done(); ++round) {
      while (post(bytes, kWorkCopied, kOther)) ++posted;
      group_.port(0).set_tx_room(link_frames);
      group_.poll(0);
      group_.poll(1);
    }
    EXPECT_TRUE(is_long_done());
    return posted;
  }
  void poll_both() {
    group_.poll(0);
    group_.poll(1);
    group_.dones(0);
  }
  bool post_reply(uint64_t bytes = kCopiedBytes) {
    Work work = put_work(1, source_.data(), bytes, target_.data(), region_.remote_key);
    work.op = Op::kPutSend;
    work.cls = MessageClass::kReply;
    work.flags = kWorkCopied | kWorkSilent;
    work.head = &kOther;
    work.head_bytes = sizeof kOther;
    return group_.post(0, work);
  }
  bool is_long_done() {
    for (const Done& done : group_.dones(0)) is_done_ |= done.cookie == kLong;
    return is_done_;
  }

  static constexpr int kRoundsMax = 8'000;
  static constexpr uint64_t kLong = 7, kOther = 8;
  static constexpr uint64_t kLongFrames = 64, kCopiedBytes = 6'000, kTwoFrames = 2'000;
  static constexpr uint64_t kLongBytes = kLongFrames * 1'400;
  NicGroup group_;
  std::vector<uint8_t> source_ = byte_pattern(kLongBytes);
  std::vector<uint8_t> target_ = std::vector<uint8_t>(kLongBytes);
  Region region_ = group_.pin(1, target_.data(), target_.size());
  bool is_done_ = false;
};

TEST_F(NicPostLead, ALongPutGoesOnBesideCopiedOnesWithoutEnd) {
  const auto frames = static_cast<uint64_t>(posted_until_done(kCopiedBytes)) * 5;
  EXPECT_GE(frames, kLongFrames / 2);
  EXPECT_LE(frames, kLongFrames * 2);
}

TEST_F(NicPostLead, ALongPutGoesOnBesideRecordsWithoutEnd) {
  const auto frames = static_cast<uint64_t>(posted_until_done(8));
  EXPECT_GE(frames, kLongFrames * 4);
  EXPECT_LE(frames, kLongFrames * 16);
}

/// In a window of more than 16 frames the first small record after a poll goes before those that
/// wait, and the others do not.
struct NicPostLeadInALargeWindow : NicPostLead {
  NicPostLeadInALargeWindow() : NicPostLead(64) {}
};
TEST_F(NicPostLeadInALargeWindow, ALongPutGoesOnBesideRecordsWithoutEnd) {
  while (post(8, kWorkCopied, kOther)) {
  }
  // The window gets back fewer frames at a time than long puts leave to records.
  const auto frames = static_cast<uint64_t>(posted_until_done(8, 3));
  EXPECT_GE(frames, kLongFrames * 4);
  EXPECT_LE(frames, kLongFrames * 24);
}

/// Each frame that the port takes could be the first small record after a poll.
TEST_F(NicPostLeadInALargeWindow, ALongPutGoesOnThoughThePortTakesOneFrameForEachPoll) {
  while (post(8, kWorkCopied, kOther)) {
  }
  const auto frames = static_cast<uint64_t>(posted_until_done(8));
  EXPECT_GE(frames, 4'096u) << "a long put waits for many small records";
  EXPECT_LE(frames, 4'096 + kLongFrames * 24);
}

/// The answer of a long get and replies that carry data share the flow of replies.
TEST_F(NicPostLead, ALongGetGoesOnBesideRepliesWithoutEndAndTheyBesideIt) {
  std::vector<uint8_t> fetched(kLongBytes);
  const Region source = group_.pin(0, source_.data(), source_.size());
  const Work get = get_work(0, fetched.data(), kLongBytes, source_.data(), source.remote_key);
  ASSERT_TRUE(group_.post(1, get));
  uint64_t replies = 0;
  for (int round = 0; round < kRoundsMax && group_.dones(1).empty(); ++round) {
    while (post_reply()) ++replies;
    group_.port(0).set_tx_room(1);
    group_.poll(0);
    group_.poll(1);
  }
  EXPECT_EQ(fetched, source_);
  EXPECT_GE(replies * 5, kLongFrames / 2);
  EXPECT_LE(replies * 5, kLongFrames * 2);
}

/// A long get takes what the window has left beside replies that are not refused.
TEST_F(NicPostLead, ALongGetMakesNoWayForRepliesThatAreTaken) {
  std::vector<uint8_t> fetched(kLongBytes);
  const Region source = group_.pin(0, source_.data(), source_.size());
  const Work get = get_work(0, fetched.data(), kLongBytes, source_.data(), source.remote_key);
  ASSERT_TRUE(group_.post(1, get));
  int rounds = 0;
  for (; rounds < 100 && group_.dones(1).empty(); ++rounds) {
    EXPECT_TRUE(post_reply(kTwoFrames));
    group_.poll(0);
    group_.poll(1);
  }
  EXPECT_EQ(fetched, source_);
  EXPECT_LE(rounds, 12);
}

/// Threads post records and copied puts whenever the lane takes one, records first. How many of
/// each were accepted.
struct Posted {
  int records = 0, copied = 0;
};
TEST_F(NicPostLead, ACopiedPutGoesOnBesideRecordsWithoutEnd) {
  for (const uint64_t record_bytes : {8, 1'000}) {
    Posted posted;
    for (int round = 0; round < 200; ++round) {
      while (post(record_bytes, kWorkCopied, kOther)) ++posted.records;
      while (post(kCopiedBytes, kWorkCopied, kOther)) ++posted.copied;
      poll_both();
    }
    EXPECT_GE(posted.copied, 20) << record_bytes;
    EXPECT_GE(posted.records, 5 * posted.copied) << record_bytes;
  }
}

TEST_F(NicPostLead, RecordsGoOnBesideCopiedPutsWithoutEnd) {
  Posted posted;
  for (int round = 0; round < 200; ++round) {
    while (post(kCopiedBytes, kWorkCopied, kOther)) ++posted.copied;
    while (post(1'000, kWorkCopied, kOther)) ++posted.records;
    poll_both();
  }
  EXPECT_GE(posted.copied, 20);
  EXPECT_GE(posted.records, 5 * posted.copied);
}

TEST_F(NicPostLead, RecordsCopiedPutsAndALongOneAllGoOn) {
  for (const bool are_records_first : {false, true}) {
    ASSERT_TRUE(post(kLongBytes, 0, kLong));
    Posted posted;
    is_done_ = false;
    for (int round = 0; round < kRoundsMax && !is_long_done(); ++round) {
      for (const bool is_record : {are_records_first, !are_records_first}) {
        int& count = is_record ? posted.records : posted.copied;
        while (post(is_record ? 1'000 : kCopiedBytes, kWorkCopied, kOther)) ++count;
      }
      group_.port(0).set_tx_room(1);
      group_.poll(0);
      group_.poll(1);
    }
    EXPECT_TRUE(is_long_done());
    EXPECT_GE(posted.records, 10) << are_records_first;
    EXPECT_GE(posted.copied, 4) << are_records_first;
  }
}

TEST_F(NicPostLead, ForACopiedPutThatIsGoneRecordsWaitAFewPolls) {
  const auto fill = [&] {
    int posted = 0;
    while (post(1'000, kWorkCopied, kOther)) ++posted;
    return posted;
  };
  fill();
  ASSERT_FALSE(post(kCopiedBytes, kWorkCopied, kOther));
  int idle_rounds = 0, idle_rounds_most = 0;
  for (int round = 0; round < 100; ++round) {
    poll_both();
    idle_rounds = fill() == 0 ? idle_rounds + 1 : 0;
    idle_rounds_most = std::max(idle_rounds_most, idle_rounds);
  }
  EXPECT_LE(idle_rounds_most, 8);
}

TEST_F(NicPostLead, WithoutALongPutNothingWaits) {
  ASSERT_TRUE(post(kLongBytes, 0, kLong));
  for (int round = 0; round < kRoundsMax && !is_long_done(); ++round) {
    group_.poll(0);
    group_.poll(1);
  }
  ASSERT_TRUE(is_long_done());
  int posted = 0;
  while (post(8, kWorkCopied, kOther)) ++posted;
  EXPECT_EQ(posted, 16);
}

}  // namespace
}  // namespace pinwire
