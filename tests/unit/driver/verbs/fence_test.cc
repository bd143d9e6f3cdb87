// Put-then-send to a device that shows messages before the data written ahead of them.
#include <algorithm>

#include "tests/unit/driver/verbs/two_hosts.h"

namespace pinwire {
namespace {

class Fence : public testing::WithParamInterface<uint64_t>, public TwoHosts {
 protected:
  static constexpr uint64_t kRounds = 60;

  Fence() : TwoHosts(GetParam()) {
    fabric_.set_late_writes("right");
    fake_verbs::Timing timing;
    timing.ack_max = 30;  // as late
    fabric_.set_timing(timing);
  }

  /// Puts a number into a slot of its own and sends it, `kRounds` times; how many messages came
  /// before their data. Sizes go from inlined to larger than any buffer.
  uint64_t early_messages(bool fences) {
    VerbsOptions options = options_of(0);
    options.fences_puts = fences;
    open(options);
    EXPECT_EQ(at(0).caps().ordered_put_send, !fences);
    for (uint64_t i = 0; i < kMemoryBytes / 8; ++i) put_word(0, i, i);
    uint64_t posted = 0;
    for (uint32_t turns = 0; seen_ != kRounds || done_.size() != kRounds / 2; ++turns) {
      EXPECT_LT(turns, kTurnsMax) << seen_ << " seen, " << done_.size() << " done";
      if (turns == kTurnsMax) break;
      posted += posted < kRounds && post_one(posted);
      turn(0);
      see_arrived();
    }
    return early_;
  }
  bool post_one(uint64_t number) {
    static constexpr uint64_t kBytes[] = {8, 2000, 16'000};
    const uint64_t bytes = kBytes[number % 3];
    Work work = put(memory_[0].data() + number * 16'384, bytes, regions_[0].local_key);
    work.op = Op::kPutSend;
    work.cls = MessageClass::kRequest;
    work.flags = number % 2 != 0 ? kWorkSilent : 0;
    work.head = &number;
    work.head_bytes = sizeof number;
    work.remote += number * 16'384;
    return at(0).post(0, {&work, 1}) == 1;
  }
  void see_arrived() {
    Recv batch[4];
    const uint32_t count = at(1).recv(0, RecvFilter::kAll, batch);
    for (uint32_t i = 0; i < count; ++i) {
      uint64_t number = 0;
      std::memcpy(&number, batch[i].data, sizeof number);
      EXPECT_EQ(number, seen_) << "messages of a class stay in order";
      early_ += std::memcmp(memory_[0].data() + number * 16'384,
                            memory_[1].data() + number * 16'384, 8) != 0;
      ++seen_;
      at(1).give_back(0, {&batch[i], 1});
    }
  }
  void put_word(Rank rank, uint64_t at, uint64_t value) {
    value = ~value;  // no word of zeros, which is what the target has
    std::memcpy(memory_[rank].data() + at * 8, &value, sizeof value);
  }

  uint64_t seen_ = 0;
  uint64_t early_ = 0;
};

TEST_P(Fence, AMessageWaitsForTheDataAheadOfIt) { EXPECT_EQ(early_messages(true), 0u); }

TEST_P(Fence, WithoutItSomeMessagesComeTooEarly) {
  EXPECT_GT(early_messages(false), 0u) << "the device of this test keeps the order";
}

TEST_P(Fence, APeerThatDiesMeanwhileFailsAllThatWaited) {
  VerbsOptions options = options_of(0);
  options.fences_puts = true;
  open(options);
  turn_until([&] { return post_one(0); });
  turn_until([&] { return !done_.empty(); });
  fabric_.kill("right");
  ASSERT_TRUE(post_one(2));
  EXPECT_FALSE(post_one(4)) << "it would overtake the one that waits";
  for (uint32_t turns = 0; done_.size() < 2; ++turns) {
    ASSERT_LT(turns, kTurnsMax);
    turn(0);
  }
  EXPECT_NE(done_[1].status, WorkStatus::kOk);
  EXPECT_NE(at(0).failure(), nullptr);
}

INSTANTIATE_TEST_SUITE_P(Seeds, Fence, testing::Range<uint64_t>(1, 9));

}  // namespace
}  // namespace pinwire
