// The agreement of two ranks to close an idle connection (driver/verbs/peer/disconnect.h),
// explored: every order in which they meet, send, reply, ask to close and are heard, over datagrams
// that are lost, late, doubled and crossed. No message may be lost, and from every state there is a
// way to the end.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <vector>

#include "tests/models/worlds/disconnect_world.h"

namespace pinwire::model {
namespace {

constexpr size_t kStatesMax = 1'000'000;

struct Explored {
  size_t states = 0;
  size_t stuck = 0;  ///< states from which no end can be reached
  uint64_t epochs = 0;
  bool has_crossed = false;  ///< both ends had asked
  std::string failure;
};

/// Worlds go in circles here, so tests/models/worlds/search.h does not find who waits for ever.
class Exploration {
 public:
  Explored run(const DisconnectWorld& first) {
    found_ = {};
    number_of(first);
    for (size_t here = 0; here < worlds_.size() && found_.failure.empty(); ++here) visit(here);
    found_.states = worlds_.size();
    if (found_.failure.empty()) found_.stuck = worlds_.size() - count_saved();
    return found_;
  }

 private:
  using Numbers = std::map<DisconnectWorld, size_t>;

  size_t number_of(const DisconnectWorld& world) {
    const auto [at, is_new] = numbers_.try_emplace(world, worlds_.size());
    if (is_new) {
      worlds_.push_back(&at->first);
      before_.emplace_back();
    }
    return at->second;
  }
  void visit(size_t here) {
    const DisconnectWorld& world = *worlds_[here];
    found_.epochs = std::max(found_.epochs, world.epoch());
    found_.has_crossed |= world.both_ask();
    found_.failure = world.failure();
    if (worlds_.size() > kStatesMax) found_.failure = "more states than are allowed";
    for (const DisconnectWorld& there : world.next()) before_[number_of(there)].push_back(here);
  }
  size_t count_saved() const {
    std::vector<bool> is_saved(worlds_.size());
    std::vector<size_t> open;
    const auto save = [&](size_t world) {
      if (!is_saved[world]) open.push_back(world);
      is_saved[world] = true;
    };
    for (size_t i = 0; i < worlds_.size(); ++i) {
      if (worlds_[i]->is_over()) save(i);
    }
    size_t count = 0;
    for (; !open.empty(); ++count) {
      const size_t world = open.back();
      open.pop_back();
      for (const size_t earlier : before_[world]) save(earlier);
    }
    return count;
  }

  Numbers numbers_;
  std::vector<const DisconnectWorld*> worlds_;
  std::vector<std::vector<size_t>> before_;
  Explored found_;
};

void explore(const DisconnectPlan& plan, uint64_t epochs, bool crosses) {
  const Explored found = Exploration().run(DisconnectWorld(plan));
  std::printf("%zu states, %llu closings\n", found.states,
              static_cast<unsigned long long>(found.epochs));
  EXPECT_EQ(found.failure, "");
  EXPECT_EQ(found.stuck, 0u) << "states without a way to the end";
  EXPECT_EQ(found.epochs, epochs);
  EXPECT_EQ(found.has_crossed, crosses);
}

TEST(VerbsDisconnect, OneEndAsksWhileBothSend) {
  explore({.requests = {1, 1}, .asks = {1, 0}}, 1, false);
}
TEST(VerbsDisconnect, AsksCross) { explore({.requests = {1, 1}, .asks = {1, 1}}, 2, true); }
TEST(VerbsDisconnect, OneEndAsksAgainAfterARefusal) {
  explore({.requests = {2, 0}, .asks = {2, 0}}, 2, false);
}
TEST(VerbsDisconnect, RepliesArriveWhileTheAskTravels) {
  explore({.requests = {1, 0}, .asks = {2, 0}, .replies = true}, 2, false);
}
TEST(VerbsDisconnect, TheEndThatRepliesAsks) {
  explore({.requests = {1, 0}, .asks = {0, 2}, .replies = true}, 2, false);
}
TEST(VerbsDisconnect, AnEndWithAPutUnderWayIsAsked) {
  explore({.puts = {1, 1}, .asks = {1, 0}}, 1, false);
}
TEST(VerbsDisconnect, AnyDatagramIsLost) {
  explore({.puts = {1, 0}, .asks = {1, 0}, .loses = true}, 1, false);
}
TEST(VerbsDisconnect, AnEndThatComputesHoldsUpNoSender) {
  explore({.puts = {1, 0}, .asks = {1, 0}, .loses = true, .computes = true}, 0, false);
}

}  // namespace
}  // namespace pinwire::model
