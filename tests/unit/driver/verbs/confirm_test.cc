// Puts to a device that says they are done before their data is there.
#include <algorithm>

#include "tests/unit/driver/verbs/two_hosts.h"

namespace pinwire {
namespace {

class Confirm : public testing::WithParamInterface<uint64_t>, public TwoHosts {
 protected:
  static constexpr uint64_t kRounds = 60;
  static constexpr uint64_t kSlotBytes = 16'384;

  Confirm() : TwoHosts(GetParam()) { fabric_.set_early_completions("right"); }

  void connect_with(bool confirms) {
    VerbsOptions options = options_of(0);
    options.confirms_puts = confirms;
    connect(options);
  }
  /// Puts one after the other, each into a slot of its own: how many were done before their data
  /// was there. Sizes go from inlined to larger than a small buffer, to the page's last bytes, too.
  uint64_t early_ends() {
    uint64_t early = 0;
    for (uint64_t i = 0; i < kRounds; ++i) {
      constexpr uint64_t kBytes[] = {1, 8, 2000, 16'000};
      const uint64_t bytes = kBytes[i % 4];
      const uint64_t at_byte = i * kSlotBytes + (i % 8 < 4 ? 0 : kSlotBytes - bytes);
      std::byte* from = memory_[0].data() + at_byte;
      std::fill_n(from, bytes, static_cast<std::byte>(i + 1));
      // Also through a buffer of the lane's.
      Work work = put(from, bytes, i % 3 == 0 ? kNoRegion : regions_[0].local_key,
                      static_cast<uint8_t>(i % 3 == 0 ? kWorkCopied : 0));
      work.remote += at_byte;
      const size_t ends = done_.size();
      turn_until([&] { return this->at(0).post(0, {&work, 1}) == 1; });
      turn_until([&] { return done_.size() == ends + 1; });
      EXPECT_EQ(done_.back().cookie, work.cookie);
      EXPECT_EQ(done_.back().status, WorkStatus::kOk);
      early += std::memcmp(memory_[1].data() + at_byte, from, bytes) != 0;
    }
    return early;
  }
};

TEST_P(Confirm, APutIsDoneWhenItsDataIsThere) {
  connect_with(true);
  EXPECT_EQ(early_ends(), 0u);
  EXPECT_EQ(stat(0, "puts_confirmed"), kRounds);
}

TEST_P(Confirm, WithoutItSomePutsAreDoneTooEarly) {
  connect_with(false);
  EXPECT_GT(early_ends(), 0u) << "the device of this test has all data there in time";
  EXPECT_EQ(stat(0, "puts_confirmed"), 0u);
}

TEST_P(Confirm, MorePutsThanThereAreBuffersAllEnd) {
  constexpr uint64_t kPuts = 2000;
  connect_with(true);
  uint64_t posted = 0;
  turn_until([&] {
    const Work work = put(memory_[0].data() + posted % 64 * 8, 8, regions_[0].local_key);
    posted += posted < kPuts && at(0).post(0, {&work, 1}) == 1;
    return done_.size() == kPuts;
  });
  EXPECT_EQ(stat(0, "puts_confirmed"), kPuts);
}

TEST_P(Confirm, APutThatTheTargetRefusesFailsOnce) {
  connect_with(true);
  Work work = put(memory_[0].data(), 8, regions_[0].local_key);
  work.remote += kMemoryBytes + (1 << 20);
  turn_until([&] { return at(0).post(0, {&work, 1}) == 1; });
  for (uint32_t turns = 0; done_.empty(); ++turns) {
    ASSERT_LT(turns, kTurnsMax);
    turn(0);
  }
  EXPECT_NE(done_[0].status, WorkStatus::kOk);
  EXPECT_NE(at(0).failure(), nullptr);
  turn(0);
  EXPECT_EQ(done_.size(), 1u);
}

INSTANTIATE_TEST_SUITE_P(Seeds, Confirm, testing::Range<uint64_t>(1, 9));

}  // namespace
}  // namespace pinwire
