// A path between ranks that are far from each other: each frame is under way for a millisecond.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <utility>

#include "tests/support/path_group.h"
#include "tests/unit/nicfw/nic_words.h"

namespace pinwire {
namespace {

constexpr uint64_t kTickNs = 50'000, kOneWayTicks = 20;

class NicFarPath : public PathGroup {
 protected:
  /// Time passes, and both ranks poll.
  void tick(uint64_t ticks = 1) {
    for (; ticks != 0; --ticks) {
      take_off_wire(1);  // what post() has sent
      group.clock().advance(kTickNs);
      ++now_;
      for (const Rank rank : {0u, 1u}) {
        deliver(rank);
        group.poll(rank);
        take_off_wire(1 - rank);
      }
    }
  }
  void lose_all_under_way() {
    group.port(1).lose_waiting();
    for (auto& frames : under_way_) frames.clear();
  }

  uint64_t now_ = 0;  ///< ticks

 private:
  struct UnderWay {
    uint64_t arrives_at;
    std::vector<std::byte> frame;
  };
  void take_off_wire(Rank to) {
    while (group.port(to).waiting() != 0)
      under_way_[to].push_back({now_ + kOneWayTicks, group.port(to).take_first()});
  }
  void deliver(Rank to) {
    for (auto& frames = under_way_[to]; !frames.empty() && frames.front().arrives_at <= now_;) {
      const auto& frame = frames.front().frame;
      EXPECT_TRUE(group.port(to).inject(frame.data(), static_cast<uint32_t>(frame.size())));
      frames.pop_front();
    }
  }

  std::deque<UnderWay> under_way_[2];
};

/// A short frame is lost while the first pair of probes is under way, so that pairs follow each
/// other without a verdict. Each has its answer before the next one leaves.
TEST_F(NicFarPath, PairsOfProbesBesideALossWaitForTheRoundTrip) {
  const uint64_t word = 5;
  const Work message = send_work(1, kRequest, &word, sizeof word);
  for (int i = 0; i < 40; ++i, tick(3 * kOneWayTicks)) ASSERT_TRUE(group.post(0, message));
  ASSERT_TRUE(group.post(0, message));
  lose_all_under_way();
  ASSERT_TRUE(group.post(0, message));
  tick(kOneWayTicks);
  narrow();
  const auto source = byte_pattern(20'000);
  std::vector<uint8_t> target(source.size());
  const Region region = group.pin(1, target.data(), target.size());
  ASSERT_TRUE(
      group.post(0, put_work(1, source.data(), source.size(), target.data(), region.remote_key)));
  uint64_t probes = group.stat(0, "path_probes"), sent_at = now_, pairs = 1;
  EXPECT_EQ(probes, 2u);
  while (group.stat(0, "path_holes") == 0 && now_ - sent_at < 20 * kOneWayTicks) {
    tick();
    if (std::exchange(probes, group.stat(0, "path_probes")) == probes) continue;
    EXPECT_GE(now_ - sent_at, 2 * kOneWayTicks) << "after " << pairs << " pairs";
    sent_at = now_;
    ++pairs;
  }
  EXPECT_EQ(group.stat(0, "retransmits"), 1u);
  EXPECT_EQ(group.stat(0, "path_holes"), 1u);
  EXPECT_EQ(source, target);
}

}  // namespace
}  // namespace pinwire
