// The deadlock argument of nicfw (nicfw/lane.h, C1-154), explored: every order in which ranks post,
// accept, handle and answer, with pools as small as they can be. From every state that can be
// reached the ranks go on until all that must come has come; each point of the argument is also
// taken away, and then a state must be found from which they do not.
#include <gtest/gtest.h>

#include <cstdio>
#include <span>

#include "tests/models/lane_world.h"
#include "tests/models/search.h"

namespace pinwire::model {
namespace {

constexpr size_t kStatesMax = 1'000'000;

struct Case {
  const char* name;
  LanePlan plan;
};

/// Requests, puts and gets, with one slot, buffer and response to spare.
const Case kLegal[] = {
    {"two ranks, everything", {.ranks = 2, .work = {2, 1, 1}}},
    {"two ranks, requests", {.ranks = 2, .work = {4, 0, 0}}},
    {"three ranks in a ring, requests", {.ranks = 3, .work = {3, 0, 0}, .ring = true}},
    {"three ranks in a ring, requests and gets", {.ranks = 3, .work = {1, 0, 1}, .ring = true}},
    {"two ranks, two slots", {.ranks = 2, .slots = 2, .slots_idle = 1, .work = {2, 0, 2}}},
    {"two ranks, fenced requests",
     {.ranks = 2,
      .slots = 4,
      .buffers = 3,
      .request_hold_max = 2,
      .work = {1, 0, 0, 2},
      .posters = 1}},
};
/// Rank 1's client takes no requests for ever: one-sided work to it must be done all the same.
const Case kDeaf[] = {
    {"a deaf rank of two", {.ranks = 2, .slots = 5, .slots_idle = 2, .work = {3, 1, 1}, .deaf = 2}},
};
/// The last ranks compute for ever: the others must finish what they have with each other.
const Case kSilent[] = {
    {"one silent of three",
     {.ranks = 3, .slots = 9, .slots_idle = 6, .work = {4, 4, 0}, .posters = 1, .silent = 4}},
    {"two silent of four",
     {.ranks = 4, .slots = 12, .slots_idle = 9, .work = {4, 4, 0}, .posters = 1, .silent = 12}},
    {"one silent of three, that is owed a reply",
     {.ranks = 3,
      .slots = 8,
      .slots_idle = 6,
      .work = {1, 0, 1},
      .silent = 4,
      .sent_by_silent = {1, 0, 0}}},
    {"one silent of three, that is owed data",
     {.ranks = 3,
      .slots = 8,
      .slots_idle = 6,
      .responses_idle = 2,
      .work = {0, 0, 1},
      .silent = 4,
      .sent_by_silent = {0, 0, 3}}},
    {"one silent of three, many slots for replies",
     {.ranks = 3,
      .slots = 6,
      .slots_replies = 3,
      .slots_idle = 6,
      .work = {1, 1, 0},
      .silent = 4,
      .sent_by_silent = {1, 0, 0}}},
};

void expect_good(const Case& each) {
  const Found found = search(LaneWorld(each.plan), kStatesMax);
  std::printf("%s: %zu states, %zu ends\n", each.name, found.states, found.ends);
  EXPECT_EQ(found.failure, "") << each.name;
  EXPECT_GT(found.ends, 0u);
}

TEST(LaneModel, NobodyWaitsForEver) {
  for (const Case& each : kLegal) expect_good(each);
}
TEST(LaneModel, OneSidedWorkNeedsNoClient) {
  for (const Case& each : kDeaf) expect_good(each);
}
TEST(LaneModel, SilentRanksStopNobodyElse) {
  for (const Case& each : kSilent) expect_good(each);
}

TEST(LaneModel, WithoutAnyPointOfTheArgumentSomebodyWaitsForEver) {
  for (uint32_t m = 1; m < static_cast<uint32_t>(LaneMutant::kCount); ++m) {
    bool missed = false;
    for (const auto& cases : {std::span<const Case>(kLegal), std::span<const Case>(kDeaf),
                              std::span<const Case>(kSilent)}) {
      for (const Case& each : cases) {
        if (missed) break;
        LanePlan plan = each.plan;
        plan.mutant = static_cast<LaneMutant>(m);
        const Found found = search(LaneWorld(plan), kStatesMax);
        missed = !found.failure.empty() && found.states <= kStatesMax;
        if (missed) std::printf("mutant %u: %s\n", m, each.name);
      }
    }
    EXPECT_TRUE(missed) << "mutant " << m << " waits nowhere";
  }
}

}  // namespace
}  // namespace pinwire::model
