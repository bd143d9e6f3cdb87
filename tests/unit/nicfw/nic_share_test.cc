// One silent peer takes nothing from the others: shares of the lane's pools (pool_share.h), and
// turns of flows. Cases are findings R4, R4b, R4d, R17, R18, R24 and R26.
#include <gtest/gtest.h>

#include "nicfw/pool_share.h"
#include "tests/support/nic_group.h"

namespace pinwire {
namespace {

constexpr auto kRequest = MessageClass::kRequest;
constexpr uint64_t kWord = 7;

TEST(PoolShare, OneHolderEndsWithHalfAndLeavesHalf) {
  uint32_t held = 0;
  while (share_allows(held, 1, 100 - held, {}, false)) ++held;
  EXPECT_EQ(held, 50u);
}

TEST(PoolShare, HoldersOfNothingReachTheReserveAndRepliesTheirOwn) {
  const PoolReserve reserve{.replies = 4, .idle = 8};
  EXPECT_FALSE(share_allows(1, 1, 12, reserve, false));
  EXPECT_TRUE(share_allows(0, 1, 12, reserve, false));
  EXPECT_TRUE(share_allows(0, 1, 5, reserve, false));
  EXPECT_FALSE(share_allows(0, 1, 4, reserve, false));
  EXPECT_FALSE(share_allows(0, 2, 12, reserve, false)) << "only its first item is kept for it";
  EXPECT_TRUE(share_allows(0, 1, 4, reserve, true));
  EXPECT_TRUE(share_allows(2, 1, 12, reserve, true));
  EXPECT_FALSE(share_allows(0, 1, 0, reserve, true));
}

class SilentPeers {
 public:
  /// Ranks 1 to `ranks` - 2 compute, the last one is attentive.
  explicit SilentPeers(uint32_t ranks, uint32_t silent)
      : silent_(silent),
        attentive_(ranks - 1),
        group_({.ranks = ranks, .rx_buffers = 1024}),
        region_(group_.pin(attentive_, &target_, sizeof target_)) {}

  /// A long put to each silent peer, as much of it on its way as they take.
  void fill() {
    for (Rank r = 1; r <= silent_; ++r) {
      const Region region = group_.pin(r, large_target_.data(), large_target_.size());
      for (int i = 0; i < 3; ++i) {
        group_.post(
            0, put_work(r, large_.data(), large_.size(), large_target_.data(), region.remote_key));
      }
    }
    for (int i = 0; i < 200; ++i) step();
  }
  void step() {
    group_.poll(0);
    group_.poll(attentive_);
    group_.clock().advance(1'000);
  }
  /// Virtual time from the post of 8 bytes to the attentive rank to their Done.
  uint64_t small_put_ns() {
    const uint64_t source = 9;
    uint64_t steps = 0;
    const auto put = put_work(attentive_, &source, sizeof source, &target_, region_.remote_key);
    for (bool posted = false; steps < 100'000; ++steps) {
      posted = posted || group_.post(0, put);
      step();
      if (!group_.dones(0).empty()) break;
    }
    return steps * 1'000;
  }
  NicGroup& group() { return group_; }
  Rank attentive() const { return attentive_; }

 private:
  std::vector<uint8_t> large_ = byte_pattern(1 << 20);
  std::vector<uint8_t> large_target_ = std::vector<uint8_t>(1 << 20);
  uint64_t target_ = 0;
  uint32_t silent_;
  Rank attentive_;
  NicGroup group_;
  Region region_;
};

TEST(NicShare, R4bAnEightBytePutTakesAtMostTwiceItsTimeBesideAnyNumberOfSilentPeers) {
  for (const uint32_t ranks : {5u, 32u, 256u}) {
    SilentPeers alone(ranks, 0);
    alone.small_put_ns();
    const uint64_t alone_ns = alone.small_put_ns();
    SilentPeers beside(ranks, ranks - 2);
    beside.fill();
    for (int i = 0; i < 20; ++i) {
      EXPECT_LE(beside.small_put_ns(), 2 * alone_ns) << ranks << " ranks, put " << i;
    }
  }
}

TEST(NicShare, R4dRepliesAndRequestsGoWhileAllOthersCompute) {
  for (const uint32_t ranks : {5u, 32u, 256u}) {
    SilentPeers beside(ranks, ranks - 2);
    beside.fill();
    for (const auto cls : {MessageClass::kReply, kRequest}) {
      uint32_t accepted = 0;
      for (int i = 0; i < 50; ++i) {
        accepted += beside.group().post(0, send_work(beside.attentive(), cls, &kWord, 8)) ? 1 : 0;
        for (int k = 0; k < 4; ++k) beside.step();
      }
      EXPECT_EQ(accepted, 50u) << ranks << " ranks";
    }
  }
}

/// A Medium whose payload is copied at once: it takes a large buffer.
Work medium(Rank to, const std::vector<uint8_t>& payload) {
  Work work = send_work(to, kRequest, &kWord, sizeof kWord);
  work.flags = kWorkSilent | kWorkCopied;
  work.local = const_cast<uint8_t*>(payload.data());
  work.bytes = payload.size();
  return work;
}

TEST(NicShare, R4MediumsToASilentPeerLeaveBuffersToOthers) {
  NicGroup group({.ranks = 3, .rx_buffers = 1024, .network_depth = 256});
  const std::vector<uint8_t> payload(1'000, 7);
  for (int i = 0; i < 2'000; ++i) {
    group.post(0, medium(1, payload));
    group.poll(0);
    group.clock().advance(1'000);
  }
  uint32_t accepted = 0;
  uint32_t delivered = 0;
  for (int i = 0; i < 1'000; ++i) {
    accepted += group.post(0, medium(2, payload)) ? 1 : 0;
    group.poll(0);
    delivered += static_cast<uint32_t>(group.poll(2).size());
    group.clock().advance(5'000);
  }
  EXPECT_EQ(accepted, 1'000u);
  EXPECT_GE(delivered, 990u);
}

/// R24: what a refused post (GEX_FLAG_IMMEDIATE) leaves behind.
TEST(NicShare, R24ARefusedPostLeavesNothingBehind) {
  NicGroup group({.ranks = 200, .rx_buffers = 1024, .network_depth = 256});
  const std::vector<uint8_t> payload(1'000, 7);
  std::vector<Rank> refused;
  for (int round = 0; round < 4; ++round) {
    for (Rank r = 1; r < 199; ++r) {
      while (group.post(0, medium(r, payload))) {
      }
      refused.push_back(r);
    }
  }
  ASSERT_FALSE(refused.empty());
  for (int i = 0; i < 300; ++i) group.run(1, 0, 50'000);
  for (Rank r = 0; r < 200; ++r) EXPECT_TRUE(group.nic(r).drained(0)) << "rank " << r;
  uint32_t accepted = 0;  // R26
  for (int i = 0; i < 100; ++i) {
    accepted += group.post(0, send_work(199, kRequest, &kWord, 8)) ? 1 : 0;
    group.poll(0);
    group.poll(199);
    group.clock().advance(1'000);
  }
  EXPECT_GE(accepted, 95u);  // all but those that waited for the first credit
}

TEST(NicTurns, R17LargeGetsOfOnePeerDoNotHoldUpAnother) {
  NicGroup group({.ranks = 3, .rx_buffers = 1024});
  std::vector<uint8_t> source(1 << 20);
  std::vector<uint8_t> fetched(1 << 20);
  const Region region = group.pin(0, source.data(), source.size());
  uint32_t outstanding = 0;
  const auto round = [&] {
    const Work get = get_work(0, fetched.data(), fetched.size(), source.data(), region.remote_key);
    while (outstanding < 600 && group.post(1, get)) ++outstanding;
    group.poll(0);
    for (Rank r = 1; r < 3; ++r) group.poll(r);
    outstanding -= static_cast<uint32_t>(group.dones(1).size());
    group.clock().advance(1'000);
  };
  for (int i = 0; i < 200; ++i) round();
  for (int small = 0; small < 10; ++small) {
    uint64_t word = 0;
    ASSERT_TRUE(group.post(2, get_work(0, &word, 8, source.data(), region.remote_key)));
    uint32_t rounds = 0;
    for (; rounds < 10'000 && group.dones(2).empty(); ++rounds) round();
    EXPECT_LE(rounds, 40u) << "the 8 bytes waited for the other peer's megabytes";
  }
}

TEST(NicShare, R17GetsOfAPeerThatThenComputesLeaveResponsesToOthers) {
  NicGroup group(
      {.ranks = 3, .rx_buffers = 1024, .network_depth = 256, .config = {.coalesce = false}});
  std::vector<uint8_t> source(1 << 20);
  std::vector<uint8_t> fetched(1 << 20);
  const Region region = group.pin(0, source.data(), source.size());
  for (int i = 0; i < 5'000; ++i) {  // rank 1 asks for ever more; nothing of it arrives
    group.post(1, get_work(0, fetched.data(), fetched.size(), source.data(), region.remote_key));
    for (uint32_t k = 0; k < group.port(1).waiting(); ++k) {
      const auto frame = group.port(1).peek(k);
      if (frame.size() > 256) frame[100] ^= std::byte{1};
    }
    group.poll(1);
    group.poll(0);
    group.clock().advance(20'000);
  }
  for (int small = 0; small < 10; ++small) {
    uint64_t word = 0;
    ASSERT_TRUE(group.post(2, get_work(0, &word, 8, source.data(), region.remote_key)));
    uint32_t rounds = 0;
    for (; rounds < 100 && group.dones(2).empty(); ++rounds) {
      group.poll(0);
      group.poll(2);
      group.clock().advance(1'000);
    }
    EXPECT_LE(rounds, 4u);
  }
}

TEST(NicTurns, R18LongPutsLeaveFramesToASmallOneOfAnotherThread) {
  for (const uint32_t window : {4u, 256u}) {
    NicGroup group({.rx_buffers = 1024, .config = {.window_frames = window}});
    const auto source = byte_pattern(1 << 20);
    std::vector<uint8_t> target(source.size());
    const Region region = group.pin(1, target.data(), target.size());
    const auto put = [&](uint64_t bytes) {
      return put_work(1, source.data(), bytes, target.data(), region.remote_key);
    };
    uint64_t longs = 0;
    uint32_t outstanding = 0;
    for (int small = 0; small < 20; ++small) {
      int rounds = 0;
      for (bool taken = false; rounds < 1'000 && !taken; ++rounds) {
        while (outstanding < 8 && group.post(0, put(source.size()))) ++outstanding;
        taken = group.post(0, put(8));
        outstanding += taken ? 1 : 0;
        group.poll(1);
        group.poll(0);
        outstanding -= static_cast<uint32_t>(group.dones(0).size());
        group.clock().advance(1'000);
      }
      EXPECT_LE(rounds, 8) << "window " << window << ", small put " << small;
    }
    for (int i = 0; i < 2'000; ++i) {
      group.poll(1);
      group.poll(0);
      longs += group.dones(0).size();
      group.clock().advance(1'000);
    }
    EXPECT_GT(longs, 0u) << "the small ones must not stop the long ones";
  }
}

}  // namespace
}  // namespace pinwire
