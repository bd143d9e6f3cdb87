// A job of more ranks than the lane keeps windows for: replies have windows of their own.
#include <gtest/gtest.h>

#include <memory>

#include "nicfw/pool/pool_share.h"
#include "nicfw/wire/wire.h"
#include "tests/support/nic_group.h"

namespace pinwire {
namespace {

constexpr uint32_t kRanks = (kFlows + 1) * kIdleHoldersMax;

/// One rank of many; all frames go to the same port, and nobody ever answers.
class LoneNic {
 public:
  LoneNic() {
    sink_.join(port_);
    nic_ = make_nic(port_, clock_, {.window_frames = 8, .coalesce = false});
    peer_ = make_nic(sink_, clock_, {.window_frames = 8});
    OpenInfo info;
    info.rank_count = kRanks;
    info.lanes = 1;
    info.job_key = NicGroup::kJobKey;
    info.network_depth = 64;
    EXPECT_TRUE(nic_->open(info).ok());
    info.rank = 1;
    EXPECT_TRUE(peer_->open(info).ok());
    for (Rank rank = 0; rank < kRanks; ++rank) {
      EXPECT_TRUE(nic_->connect(rank, rank == 0 ? nic_->address() : peer_->address()).ok());
    }
  }
  bool post(const Work& work) { return nic_->post(0, {&work, 1}) == 1; }

 private:
  ManualClock clock_;
  LoopPort port_{1, 1514, 64};
  LoopPort sink_{2, 1514, 64};
  std::unique_ptr<Driver> nic_, peer_;
};

TEST(NicWindows, RepliesGoWhereRequestsHaveTakenWhatTheyMay) {
  LoneNic nic;
  const uint64_t word = 5;
  uint32_t taken = 0;
  for (Rank peer = 1; peer < kRanks; ++peer) {
    taken += nic.post(send_work(peer, MessageClass::kRequest, &word, 8));
  }
  EXPECT_GT(taken, kRanks / 4);
  EXPECT_LT(taken, kRanks - 1) << "there was room for all of them";
  uint32_t replies = 0;
  for (Rank peer = 1; peer <= 64; ++peer) {
    replies += nic.post(send_work(peer, MessageClass::kReply, &word, 8));
  }
  EXPECT_EQ(replies, 64u);
}

}  // namespace
}  // namespace pinwire
