// A rank that computes excuses the operations that need it, for as long as it computes and until
// they have recovered from that. Nothing excuses what other ranks owe each other.
#include "tests/sim/oracle/deadlines.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace pinwire::sim {
namespace {

constexpr uint64_t kStepNs = 5'000'000;  ///< often enough for a rank that polls
constexpr uint64_t kSecondNs = 1'000'000'000;

class DeadlinesOfThree : public testing::Test, public EventTarget {
 protected:
  DeadlinesOfThree() {
    scenario_.ranks = 3;
    deadlines_ = std::make_unique<Deadlines>(scenario_, schedule_, verdict_);
  }
  void fire(uint64_t) override {}

  /// Time passes; ranks 0 and 1 poll, and rank 2 does if it does not compute.
  void pass(uint64_t ns, bool last_computes) {
    const uint64_t end_ns = schedule_.now() + ns;
    while (schedule_.now() < end_ns) {
      schedule_.at(schedule_.now() + kStepNs, *this, 0);
      schedule_.step();
      for (Rank rank = 0; rank < (last_computes ? 2u : 3u); ++rank) deadlines_->polled(rank);
    }
    deadlines_->check();
  }
  bool names(const char* ranks) const {
    return verdict_.sentence().find(ranks) != std::string::npos;
  }

  Scenario scenario_;
  Schedule schedule_;
  Verdict verdict_{schedule_};
  std::unique_ptr<Deadlines> deadlines_;
};

TEST_F(DeadlinesOfThree, ARankThatComputesExcusesNothingBetweenOthers) {
  deadlines_->begin(0, 2, "a message");
  pass(kStepNs, true);
  deadlines_->begin(0, 1, "a message");
  pass(deadline_of(scenario_) - 2 * kStepNs, true);
  EXPECT_FALSE(verdict_.failed()) << verdict_.sentence();
  pass(4 * kStepNs, true);
  EXPECT_TRUE(names("of rank 0 to rank 1 took")) << verdict_.sentence();
}

TEST_F(DeadlinesOfThree, ARankThatComputesExcusesWhatNeedsIt) {
  deadlines_->begin(0, 2, "a message");
  pass(30 * kSecondNs, true);
  EXPECT_FALSE(verdict_.failed()) << verdict_.sentence();
}

TEST_F(DeadlinesOfThree, WhatNeededItIsDueOnceItIsBack) {
  deadlines_->begin(2, 0, "a message");
  pass(30 * kSecondNs, true);
  pass(kSecondNs, false);
  EXPECT_FALSE(verdict_.failed()) << verdict_.sentence();
  pass(2 * kSecondNs + deadline_of(scenario_), false);
  EXPECT_TRUE(names("of rank 2 to rank 0 took")) << verdict_.sentence();
}

TEST_F(DeadlinesOfThree, WhatHasEndedIsNotDue) {
  deadlines_->end(deadlines_->begin(0, 1, "a message"));
  pass(kSecondNs, false);
  EXPECT_FALSE(verdict_.failed()) << verdict_.sentence();
}

}  // namespace
}  // namespace pinwire::sim
