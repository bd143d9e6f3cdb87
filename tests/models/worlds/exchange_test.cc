// How ranks lend each other pinned parts of their segments (pin/, am/on_demand/exchange.cc): every
// order in which transfers begin, go on and end and messages arrive, for two ranks and three. In
// every state what a rank takes for registered is; in every one it can go on until all transfers
// are done, as each step does something for good and those from which there is no further one are
// checked to be ends; and at the end nothing has leaked.
#include <gtest/gtest.h>

#include <cstdio>
#include <unordered_set>

#include "tests/models/worlds/exchange_world.h"

namespace pinwire::model {
namespace {

struct Found {
  uint64_t states = 0;
  uint64_t steps = 0;
  uint64_t ends = 0;
  std::string failure;  ///< with the steps that led to it
};

class Search {
 public:
  explicit Search(uint64_t states_max) : states_max_(states_max) {}
  Found run(const Plan& plan) {
    visit(World(plan), 0);
    return found_;
  }

 private:
  void visit(const World& here, uint32_t depth) {
    if (!seen_.insert(here.hash()).second) return;
    if (++found_.states > states_max_) return fail("more states than are allowed");
    for (uint32_t which = 0;; ++which) {
      World there(here);
      if (!there.step(which)) {
        if (which != 0) return;
        ++found_.ends;
        return here.is_over() ? void() : fail("nothing can be done, and transfers are left");
      }
      ++found_.steps;
      path_.resize(depth);
      path_.push_back(there.last_step());
      if (std::string broken = there.broken(); !broken.empty()) return fail(broken);
      visit(there, depth + 1);
      if (!found_.failure.empty()) return;
    }
  }
  void fail(const std::string& what) {
    found_.failure = what;
    for (const std::string& step : path_) found_.failure += "\n  " + step;
  }

  const uint64_t states_max_;
  Found found_;
  std::vector<std::string> path_;
  std::unordered_set<uint64_t> seen_;
};

constexpr uint64_t kStatesMax = 20'000'000;

void expect_good(const char* name, const Plan& plan) {
  const Found found = Search(kStatesMax).run(plan);
  std::printf("%s: %llu states, %llu steps, %llu ends\n", name,
              static_cast<unsigned long long>(found.states),
              static_cast<unsigned long long>(found.steps),
              static_cast<unsigned long long>(found.ends));
  EXPECT_EQ(found.failure, "") << name;
  EXPECT_GT(found.ends, 0u);
}

TEST(Exchange, TwoRanksThatHaveOnePartEach) {
  expect_good("share 1", {.buckets = 3, .share = 1, .transfers = 3});
}

TEST(Exchange, TwoRanksThatHaveTwoPartsEach) {
  expect_good("share 2", {.buckets = 3, .share = 2, .transfers = 3});
}

TEST(Exchange, OwnTransfersBesideThoseOfPeers) {
  expect_good("own", {.buckets = 2, .share = 1, .transfers = 3, .has_own = true});
}

TEST(Exchange, ADeviceThatHasLessThanTheBudget) {
  expect_good("one key",
              {.buckets = 2, .share = 1, .transfers = 3, .has_own = true, .keys_max = 1});
  expect_good("no key", {.buckets = 2, .share = 1, .transfers = 2, .has_own = true, .keys_max = 0});
}

TEST(Exchange, ThreeRanks) {
  expect_good("three", {.ranks = 3, .buckets = 2, .share = 1, .transfers = 1, .at_once = 1});
}

TEST(Exchange, ItsMutantsAreCaught) {
  for (int number = 1; number < static_cast<int>(Mutant::kCount); ++number) {
    Plan plan{.buckets = 2, .share = 1, .transfers = 3, .has_own = true, .keys_max = 1};
    plan.mutant = static_cast<Mutant>(number);
    Found found = Search(kStatesMax).run(plan);
    if (found.failure.empty()) {  // some need that the device has enough
      plan.keys_max = ~0u;
      found = Search(kStatesMax).run(plan);
    }
    EXPECT_NE(found.failure, "") << "mutant " << number;
    std::printf("mutant %d: %s\n", number,
                found.failure.substr(0, found.failure.find('\n')).c_str());
  }
}

}  // namespace
}  // namespace pinwire::model
