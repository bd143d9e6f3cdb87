#include "nicfw/operation/operations.h"

#include <gtest/gtest.h>

#include <vector>

namespace pinwire {
namespace {

constexpr uint32_t kWindow = 4;
constexpr uint32_t kRanks = 3;
/// Operations that no flow has for itself, and those of them that replies alone may take.
constexpr uint32_t kShared = 16 * kWindow, kForReplies = kWindow;

/// The operations of a lane without the lane.
class OperationsOfPeers : public testing::Test {
 protected:
  OperationsOfPeers() { operations_.make(peers_.data(), kRanks, kWindow, 0); }

  static Work work_of(Op op, Rank peer, uint64_t cookie = 0) {
    Work work{};
    work.op = op;
    work.peer = peer;
    work.cookie = cookie;
    return work;
  }
  SendFlow& one_sided(Rank peer) { return peers_[peer].send[static_cast<size_t>(Flow::kOneSided)]; }
  uint32_t take_all(const Work& work) {
    uint32_t count = 0;
    while (operations_.take(work) != kNoIndex) ++count;
    return count;
  }
  std::vector<Done> done() {
    Done out[8];
    return {out, out + operations_.done(out)};
  }

  std::vector<Peer> peers_ = std::vector<Peer>(kRanks);
  Operations operations_;
};

TEST_F(OperationsOfPeers, FinishedOnesAreHandedOutOnceInTheirOrder) {
  const Index first = operations_.take(work_of(Op::kPut, 1, 11));
  const Index second = operations_.take(work_of(Op::kGet, 1, 12));
  EXPECT_FALSE(operations_.has_done());
  operations_.finish(second, WorkStatus::kOk);
  operations_.finish(first, WorkStatus::kUnreachable);
  EXPECT_TRUE(operations_.has_done());
  const std::vector<Done> out = done();
  ASSERT_EQ(out.size(), 2u);
  EXPECT_EQ(out[0].cookie, 12u);
  EXPECT_EQ(out[0].status, WorkStatus::kOk);
  EXPECT_EQ(out[1].cookie, 11u);
  EXPECT_EQ(out[1].status, WorkStatus::kUnreachable);
  EXPECT_FALSE(operations_.has_done());
  EXPECT_EQ(one_sided(1).operations, 0u);
}

TEST_F(OperationsOfPeers, NoMoreAreHandedOutThanTheCallerHasSpaceFor) {
  for (uint64_t cookie : {1, 2, 3}) {
    operations_.finish(operations_.take(work_of(Op::kPut, 0, cookie)), WorkStatus::kOk);
  }
  Done out[2];
  EXPECT_EQ(operations_.done(out), 2u);
  EXPECT_EQ(out[1].cookie, 2u);
  EXPECT_EQ(operations_.done(out), 1u);
  EXPECT_EQ(out[0].cookie, 3u);
}

TEST_F(OperationsOfPeers, ASilentOneEndsWithoutADone) {
  Work work = work_of(Op::kPut, 2);
  work.flags = kWorkSilent;
  operations_.finish(operations_.take(work), WorkStatus::kOk);
  EXPECT_FALSE(operations_.has_done());
  EXPECT_EQ(one_sided(2).operations, 0u);
}

TEST_F(OperationsOfPeers, OnePeerTakesHalfOfThemAndTheOthersFindTheirOwn) {
  EXPECT_EQ(take_all(work_of(Op::kPut, 0)), 1 + (kShared - kForReplies) / 2);
  EXPECT_NE(operations_.take(work_of(Op::kPut, 1)), kNoIndex);
  EXPECT_NE(operations_.take(work_of(Op::kSend, 1)), kNoIndex) << "a flow of its own";
}

TEST_F(OperationsOfPeers, ADroppedOneIsFreeAgain) {
  const Work work = work_of(Op::kPut, 0);
  const uint32_t all = take_all(work);
  operations_.drop(0);
  EXPECT_EQ(one_sided(0).operations, all - 1);
  EXPECT_EQ(take_all(work), 1u);
  EXPECT_EQ(operations_.used_high_water(), all);
}

TEST_F(OperationsOfPeers, OnesThatWaitLeaveAQuarterOfWhatIsSharedFree) {
  const Work work = work_of(Op::kGet, 0);
  uint32_t waiting = 0;
  while (operations_.take(work) != kNoIndex && operations_.may_wait(one_sided(0))) ++waiting;
  // One is its own: of those that are shared the others leave as many as they are, and a quarter.
  EXPECT_EQ(waiting, 1 + (kShared - kShared / 4 - 1) / 2);
  EXPECT_NE(operations_.take(work_of(Op::kGet, 1)), kNoIndex);
  EXPECT_TRUE(operations_.may_wait(one_sided(1))) << "its own may always";
}

TEST_F(OperationsOfPeers, AResponseFindsTheActiveOperationOfItsNameAndPeerAlone) {
  const Index index = operations_.take(work_of(Op::kGet, 1));
  const uint64_t name = operations_.name(index);
  EXPECT_EQ(operations_.find(name, 1), index);
  EXPECT_EQ(operations_.find(name, 2), kNoIndex) << "another peer's word";
  EXPECT_EQ(operations_.find(name + (uint64_t{1} << 16), 1), kNoIndex) << "a later one";
  EXPECT_EQ(operations_.find(name | uint64_t{1} << 63, 1), kNoIndex);
  EXPECT_EQ(operations_.find(0xffff, 1), kNoIndex) << "beyond the pool";
  operations_.finish(index, WorkStatus::kOk);
  EXPECT_EQ(operations_.find(name, 1), kNoIndex) << "it is done";
  done();
  ASSERT_EQ(operations_.take(work_of(Op::kGet, 1)), index);
  EXPECT_EQ(operations_.find(name, 1), kNoIndex) << "its successor has another name";
}

TEST_F(OperationsOfPeers, NamesGoOnWhereTheirCountGoesRound) {
  Operations late;
  late.make(peers_.data(), kRanks, kWindow, ~uint32_t{0});
  const Index index = late.take(work_of(Op::kGet, 0));
  EXPECT_EQ(late.name(index), index | uint64_t{~uint32_t{0}} << 16);
  late.drop(index);
  ASSERT_EQ(late.take(work_of(Op::kGet, 0)), index);
  EXPECT_EQ(late.name(index), index) << "generation 0";
  EXPECT_EQ(late.find(late.name(index), 0), index);
}

TEST_F(OperationsOfPeers, APutEndsWithTheLastOfItsFramesOnceAllAreBuilt) {
  const Index index = operations_.take(work_of(Op::kPut, 0));
  operations_[index].frames = 2;
  operations_.frame_acked(index);
  EXPECT_FALSE(operations_.has_done());
  operations_.frame_acked(index);
  EXPECT_FALSE(operations_.has_done()) << "more frames will be built";
  operations_[index].frames = 1;
  operations_[index].all_built = true;
  operations_.frame_acked(index);
  EXPECT_TRUE(operations_.has_done());
}

TEST_F(OperationsOfPeers, ThoseOfOnePeerEndTogetherAndTheOthersGoOn) {
  operations_.take(work_of(Op::kPut, 0, 1));
  const Index other = operations_.take(work_of(Op::kPut, 1, 2));
  operations_.take(work_of(Op::kSend, 0, 3));
  operations_.finish_all(0, WorkStatus::kUnreachable);
  const std::vector<Done> out = done();
  ASSERT_EQ(out.size(), 2u);
  EXPECT_EQ(out[0].cookie + out[1].cookie, 1 + 3u);
  EXPECT_EQ(out[0].status, WorkStatus::kUnreachable);
  EXPECT_EQ(operations_.find(operations_.name(other), 1), other);
  operations_.finish_all(Operations::kEveryPeer, WorkStatus::kFlushed);
  ASSERT_EQ(done().size(), 1u);
}

TEST_F(OperationsOfPeers, TheFirstThatAwaitsAResponseSaysSoAndTheLastEndsTheWatch) {
  const Index first = operations_.take(work_of(Op::kGet, 1));
  const Index second = operations_.take(work_of(Op::kGet, 2));
  operations_.take(work_of(Op::kPut, 0));
  EXPECT_FALSE(operations_.has_awaited());
  EXPECT_TRUE(operations_.await_response(operations_[first]));
  EXPECT_FALSE(operations_.await_response(operations_[second]));
  std::vector<Rank> watched;
  operations_.for_each_awaited([&](Rank rank) { watched.push_back(rank); });
  EXPECT_EQ(watched, (std::vector<Rank>{1, 2}));
  operations_.finish(first, WorkStatus::kOk);
  EXPECT_TRUE(operations_.has_awaited()) << "until its Done is handed out";
  watched.clear();
  operations_.for_each_awaited([&](Rank rank) { watched.push_back(rank); });
  EXPECT_EQ(watched, std::vector<Rank>{2}) << "what is done waits for no response";
  done();
  operations_.drop(second);
  EXPECT_FALSE(operations_.has_awaited());
}

}  // namespace
}  // namespace pinwire
