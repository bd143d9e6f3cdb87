#include "nicfw/operation/responses.h"

#include <gtest/gtest.h>

#include <vector>

namespace pinwire {
namespace {

/// The responses that a rank owes three peers, without a lane.
class ResponsesToPeers : public testing::Test {
 protected:
  static constexpr uint32_t kRanks = 3, kWindow = 16, kShared = 8 * kWindow;

  ResponsesToPeers() { responses_.make(kRanks, kWindow); }
  void owe(Rank rank, uint64_t name, bool is_short = true) {
    Record record{};
    record.op = name;
    responses_.owe(peers_[rank], record, is_short);
  }
  uint32_t owe_all(Rank rank) {
    uint32_t count = 0;
    for (; responses_.may_owe(peers_[rank], 1); ++count) owe(rank, count);
    return count;
  }
  uint64_t first_of(const IndexRing& owed) { return responses_[owed.first(responses_)].record.op; }

  std::vector<Peer> peers_ = std::vector<Peer>(kRanks);
  Responses responses_;
};

TEST_F(ResponsesToPeers, ShortAndLongOnesWaitInTheirOrder) {
  owe(0, 1);
  owe(0, 2, false);
  owe(0, 3);
  EXPECT_EQ(peers_[0].responses_owed, 3u);
  EXPECT_EQ(first_of(peers_[0].responses.shorts), 1u);
  responses_.disown(peers_[0], peers_[0].responses.shorts);
  EXPECT_EQ(first_of(peers_[0].responses.shorts), 3u);
  EXPECT_EQ(first_of(peers_[0].responses.longs), 2u);
  responses_.disown(peers_[0], peers_[0].responses.shorts);
  EXPECT_TRUE(peers_[0].responses.shorts.empty());
  EXPECT_EQ(peers_[0].responses_owed, 1u);
}

TEST_F(ResponsesToPeers, EachBeginsWithNothingBuilt) {
  owe(0, 1);
  responses_[peers_[0].responses.shorts.last].built = 7;
  responses_.disown(peers_[0], peers_[0].responses.shorts);
  owe(0, 2);
  EXPECT_EQ(responses_[peers_[0].responses.shorts.last].built, 0u);
}

TEST_F(ResponsesToPeers, OnePeerIsOwedHalfAndTheOthersFindThoseOfAFrame) {
  EXPECT_EQ(owe_all(0), kAsksPerFrameMax + kShared / 2);
  owe_all(1);
  EXPECT_TRUE(responses_.may_owe(peers_[2], kAsksPerFrameMax)) << "its own";
  EXPECT_TRUE(responses_.may_owe(peers_[0], 0)) << "a frame that asks for nothing";
}

TEST_F(ResponsesToPeers, APeerThatIsGoneIsOwedNothingAndOthersFindAllAgain) {
  const uint32_t all = owe_all(0);
  owe(1, 1);
  owe(0, 0, false);  // beyond its share, for which the pool has room
  responses_.disown_all(peers_[0]);
  EXPECT_EQ(peers_[0].responses_owed, 0u);
  EXPECT_TRUE(peers_[0].responses.empty());
  EXPECT_EQ(peers_[1].responses_owed, 1u);
  EXPECT_EQ(owe_all(2), all);
}

}  // namespace
}  // namespace pinwire
