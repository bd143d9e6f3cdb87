// Counters that wrap while traffic runs: the sequences of the flows, the lower half of the frames'
// numbers (of which the upper half is only under the tag), and the 16 bits of credit.
#include <gtest/gtest.h>

#include "tests/support/nic_group.h"
#include "tests/unit/nicfw/nic_words.h"

namespace pinwire {
namespace {

constexpr uint64_t kWrappedMessages = 4'000;

/// Rank 0 sends requests, rank 1 replies; each is numbered, and arrives once.
class Dialogue {
 public:
  explicit Dialogue(NicGroup& group, uint64_t messages)
      : group_(group), seen_(messages), answered_(messages) {}

  void run(uint64_t rounds_max) {
    for (uint64_t round = 0; round < rounds_max && replies_ < seen_.size(); ++round) {
      while (sent_ < seen_.size() && group_.post(0, send_work(1, kRequest, &sent_, 8))) ++sent_;
      for (const uint64_t word : group_.poll(1)) {
        ++seen_[word];
        waiting_.push_back(word);
      }
      while (!waiting_.empty() && group_.post(1, send_work(0, kReply, &waiting_.back(), 8))) {
        waiting_.pop_back();
      }
      for (const uint64_t word : group_.poll(0)) {
        ++answered_[word];
        ++replies_;
      }
      group_.clock().advance(2'000);
    }
  }

  void check_each_came_once() const {
    EXPECT_EQ(seen_, std::vector<int>(seen_.size(), 1));
    EXPECT_EQ(answered_, std::vector<int>(seen_.size(), 1));
    for (Rank rank = 0; rank < 2; ++rank) EXPECT_EQ(group_.nic(rank).failure(), nullptr);
  }

 private:
  NicGroup& group_;
  uint64_t sent_ = 0, replies_ = 0;
  std::vector<int> seen_, answered_;
  std::vector<uint64_t> waiting_;
};

/// How many frames before each wrap the traffic begins.
struct Start {
  const char* name;
  uint32_t first_sequence;
  uint64_t first_number;
};

class NicWraps : public testing::TestWithParam<Start> {};

TEST_P(NicWraps, EachMessageComesOnceWhateverTheWireDoes) {
  for (const LoopFaults& faults :
       {LoopFaults{}, LoopFaults{.loss = 0.05}, LoopFaults{.duplicate = 0.3, .reorder = 0.3},
        LoopFaults{.loss = 0.2, .duplicate = 0.1, .reorder = 0.2, .corrupt = 0.01}}) {
    NicGroup group({.config = {.coalesce = false,
                               .first_sequence = GetParam().first_sequence,
                               .first_number = GetParam().first_number}});
    group.set_faults(faults);
    Dialogue dialogue(group, kWrappedMessages);
    dialogue.run(4'000'000);
    dialogue.check_each_came_once();
    EXPECT_EQ(group.stat(1, "rx_drop_tag") + group.stat(0, "rx_drop_tag") != 0, faults.corrupt != 0)
        << "a frame whose number wrapped is not a forged one";
  }
}

constexpr uint64_t kEpoch = uint64_t{1} << 32;
INSTANTIATE_TEST_SUITE_P(Of, NicWraps,
                         testing::Values(Start{"Numbers", 1, kEpoch - 300},
                                         Start{"NumbersAtOnce", 1, kEpoch - 1},
                                         Start{"NumbersAgain", 1, 7 * kEpoch - 300},
                                         Start{"SignOfNumbers", 1, kEpoch / 2 - 300},
                                         Start{"SignOfSequences", 0x7fffff00, 1},
                                         Start{"Both", 0xffffff00, kEpoch - 300}),
                         [](const auto& tested) { return std::string(tested.param.name); });

/// Credit has 16 bits on the wire. Few buffers keep it scarce, and the wire loses some of it.
TEST(NicWrapsOfCredit, ScarceCreditOutlivesItsWrap) {
  constexpr uint64_t kBeyondTheWrap = 70'000;
  NicGroup group({.rx_buffers = 32, .config = {.coalesce = false}});
  group.set_faults({.loss = 0.01});
  Dialogue dialogue(group, kBeyondTheWrap);
  dialogue.run(4'000'000);
  dialogue.check_each_came_once();
  EXPECT_GT(group.stat(0, "credit_stalls"), 0u);
}

}  // namespace
}  // namespace pinwire
