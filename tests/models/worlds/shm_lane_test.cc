// The deadlock argument of the shared-memory driver (driver/shm/shm.h, C1-154) and of the replies
// that lanes owe (am/poll/owed.h), explored: every order in which ranks post, handle, reply and
// owe, with rings as small as they can be. Each point of the argument is also taken away, and then
// somebody waits for ever, or a reply overtakes another.
#include <gtest/gtest.h>

#include "driver/shm/ring.h"
#include "tests/models/worlds/lane_cases.h"
#include "tests/models/worlds/shm_world.h"

namespace pinwire::model {
namespace {

constexpr size_t kStatesMax = 2'000'000;
constexpr uint32_t kTwoLines = 72, kThreeLines = 136, kLargest = shm::message_bytes_max(8);
static_assert(shm::lines_for(kTwoLines) == 2 && shm::lines_for(kThreeLines) == 3);

struct Case {
  const char* name;
  ShmPlan plan;
};

/// Where a lane may owe nothing, the rings alone must do: with one lane they do.
const Case kCases[] = {
    {"two ranks, requests", {.ranks = 2, .requests = 4, .puts = 1}},
    {"two ranks, replies of several messages", {.ranks = 2, .pieces = 3, .requests = 3}},
    {"two ranks, a debt of one", {.ranks = 2, .owed_max = 1, .pieces = 3, .requests = 3}},
    {"three ranks", {.ranks = 3, .requests = 1}},
    {"three ranks, debts", {.ranks = 3, .owed_max = 1, .pieces = 2, .requests = 1, .posters = 6}},
    {"messages of half of the room",
     {.ranks = 2, .slots = 8, .reply_bytes = {kTwoLines, kTwoLines, kLargest}, .requests = 4}},
    {"messages of half of the room, and head is published rarely",
     {.ranks = 2,
      .slots = 8,
      .rarely = 3,
      .reply_bytes = {kThreeLines, kTwoLines, kLargest},
      .requests = 4}},
    {"head is published rarely", {.ranks = 2, .rarely = 2, .requests = 4}},
    {"lent payloads", {.ranks = 2, .slots = 2, .lent = 1, .requests = 4}},
    {"two lanes", {.ranks = 2, .lanes = 2, .owed_max = 4, .requests = 2}},
    {"two lanes, each of which one rank sends on",
     {.ranks = 2, .lanes = 2, .owed_max = 8, .pieces = 2, .requests = 4, .crossed = true}},
    {"one silent of three, that is owed replies",
     {.ranks = 3,
      .owed_max = 4,
      .pieces = 3,
      .requests = 2,
      .posters = 3,
      .silent = 4,
      .sent_by_silent = 1}},
    {"puts to a deaf one of two", {.ranks = 2, .requests = 3, .puts = 2, .deaf = 2}},
    {"three ranks in a ring", {.ranks = 3, .requests = 3, .ring = true}},
    {"four ranks in a ring", {.ranks = 4, .requests = 2, .ring = true}},
};

TEST(ShmLaneModel, NobodyWaitsForEver) {
  for (const Case& each : kCases) expect_nobody_waits<ShmWorld>(each, kStatesMax);
}

TEST(ShmLaneModel, WithoutAnyPointOfTheArgumentSomebodyWaitsForEver) {
  for (uint32_t m = 1; m < static_cast<uint32_t>(ShmMutant::kCount); ++m) {
    EXPECT_TRUE(somebody_waits<ShmWorld>(kCases, static_cast<ShmMutant>(m), kStatesMax))
        << "mutant " << m << " waits nowhere";
  }
}

}  // namespace
}  // namespace pinwire::model
