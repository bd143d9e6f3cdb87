// The deadlock argument of the verbs driver (driver/verbs/lane/claim.h, C1-154), explored: every
// order in which ranks post, devices deliver, and handlers reply, with pools as small as they can
// be. Each point of the argument is also taken away, and then somebody waits for ever.
#include <gtest/gtest.h>

#include "tests/models/worlds/lane_cases.h"
#include "tests/models/worlds/verbs_world.h"

namespace pinwire::model {
namespace {

constexpr size_t kStatesMax = 2'000'000;

struct Case {
  const char* name;
  VerbsPlan plan;
};

/// `window` requests of each peer have receive buffers, as the driver divides them; or there are
/// more peers than buffers.
const Case kCases[] = {
    {"two ranks, requests and puts", {.ranks = 2, .requests = 2, .puts = 2}},
    {"two ranks, fewer buffers than requests",
     {.ranks = 2, .receives = 3, .reply_receives = 1, .window = 6, .requests = 6}},
    {"two ranks, fewer buffers than requests, and puts",
     {.ranks = 2, .receives = 1, .window = 3, .requests = 3, .puts = 1}},
    {"three ranks, requests", {.ranks = 3, .receives = 2, .window = 1, .requests = 1}},
    {"three ranks in a ring", {.ranks = 3, .receives = 1, .requests = 2, .puts = 1, .ring = true}},
    {"three ranks, more than buffers", {.ranks = 3, .receives = 1, .window = 1, .requests = 1}},
    {"four ranks in a ring", {.ranks = 4, .receives = 1, .requests = 2, .ring = true}},
    {"one silent of three, that is owed replies",
     {.ranks = 3, .window = 1, .requests = 1, .posters = 3, .silent = 4, .sent_by_silent = 1}},
    {"replies and puts to a deaf one of two",
     {.ranks = 2, .receives = 1, .window = 3, .requests = 3, .puts = 1, .deaf = 2}},
    {"puts to a silent one that has no buffer left",
     {.ranks = 2, .receives = 1, .requests = 2, .puts = 2, .silent = 2}},
};

TEST(VerbsLaneModel, NobodyWaitsForEver) {
  for (const Case& each : kCases) expect_nobody_waits<VerbsWorld>(each, kStatesMax);
}

TEST(VerbsLaneModel, WithoutAnyPointOfTheArgumentSomebodyWaitsForEver) {
  for (uint32_t m = 1; m < static_cast<uint32_t>(VerbsMutant::kCount); ++m) {
    EXPECT_TRUE(somebody_waits<VerbsWorld>(kCases, static_cast<VerbsMutant>(m), kStatesMax))
        << "mutant " << m << " waits nowhere";
  }
}

}  // namespace
}  // namespace pinwire::model
