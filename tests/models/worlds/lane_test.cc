// The deadlock argument of nicfw (nicfw/lane/lane.h, C1-154), explored: every order in which ranks
// post, accept, handle and answer, with pools as small as they can be. From every state that can be
// reached the ranks go on until all that must come has come; each point of the argument is also
// taken away, and then a state must be found from which they do not.
#include <gtest/gtest.h>

#include "tests/models/worlds/lane_cases.h"
#include "tests/models/worlds/lane_world.h"

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

TEST(LaneModel, NobodyWaitsForEver) {
  for (const Case& each : kLegal) expect_nobody_waits<LaneWorld>(each, kStatesMax);
}
TEST(LaneModel, OneSidedWorkNeedsNoClient) {
  for (const Case& each : kDeaf) expect_nobody_waits<LaneWorld>(each, kStatesMax);
}
TEST(LaneModel, SilentRanksStopNobodyElse) {
  for (const Case& each : kSilent) expect_nobody_waits<LaneWorld>(each, kStatesMax);
}

TEST(LaneModel, WithoutAnyPointOfTheArgumentSomebodyWaitsForEver) {
  for (uint32_t m = 1; m < static_cast<uint32_t>(LaneMutant::kCount); ++m) {
    const auto mutant = static_cast<LaneMutant>(m);
    EXPECT_TRUE(somebody_waits<LaneWorld>(kLegal, mutant, kStatesMax) ||
                somebody_waits<LaneWorld>(kDeaf, mutant, kStatesMax) ||
                somebody_waits<LaneWorld>(kSilent, mutant, kStatesMax))
        << "mutant " << m << " waits nowhere";
  }
}

}  // namespace
}  // namespace pinwire::model
