// Every interleaving and every stale read of the shared-memory ring's production code, in small
// shapes that wrap, fill up, pad and hold back. Nothing is lost, doubled, torn or reordered, no
// slot is overwritten before it was given back, and no wait is for ever.
#include <gtest/gtest.h>

#include <cstdio>

#include "tests/models/ring_program.h"

namespace pinwire::model {
namespace {

struct Case {
  const char* name;
  RingShape shape;
};
void PrintTo(const Case& at, std::ostream* out) { *out << at.name; }

// 0: a message of one word; 6: one that fills its slot; 8: one that takes two lines of the room.
const Case kCases[] = {
    {"OneWriter", {.slots = 2, .senders = {{0, 0, 0, 0, 0, 0, 0}}, .is_shared = false}},
    {"OneWriterSkips", {.slots = 4, .senders = {{0, 8, 0, 8, 8, 0, 8}}, .is_shared = false}},
    {"TwoSendersWrap", {.slots = 2, .senders = {{0, 0, 0}, {0, 6}}}},
    {"TwoSendersRoom", {.slots = 4, .senders = {{0, 0, 0, 0}, {0, 0, 0}}}},
    {"TwoSendersLong", {.slots = 4, .senders = {{8, 8}, {0, 8}}}},
    {"TwoSendersSkip", {.slots = 4, .senders = {{0, 8, 0}, {8, 0}}, .held_max = 2}},
    {"ThreeSenders", {.slots = 2, .senders = {{0, 0}, {0, 0}, {0}}}},
    {"ThreeSendersLong", {.slots = 4, .senders = {{8}, {8}, {0, 0}}}},
    {"TwoThreadsOfOneProcess", {.slots = 2, .senders = {{0, 0}, {0}}, .one_producer = true}},
    {"HeldMessages", {.slots = 4, .senders = {{0, 0, 0, 0}, {0, 0}}, .held_max = 3}},
    {"OneWriterWakes", {.slots = 2, .senders = {{0, 0, 0, 0}}, .is_shared = false, .sleeps = true}},
    {"TwoSendersWake", {.slots = 2, .senders = {{0, 0}, {0}}, .sleeps = true}},
    {"TwoSendersWakeForLong", {.slots = 4, .senders = {{8, 0}, {8}}, .sleeps = true}},
    {"HeldMessagesAndSleep",
     {.slots = 2, .senders = {{0, 0, 0, 0}}, .is_shared = false, .held_max = 2, .sleeps = true}},
    {"OneWriterIsToldLate",
     {.slots = 2, .senders = {{0, 0, 0}}, .is_shared = false, .sleeps = true, .tells_late = true}},
    {"TwoSendersAreToldLate",
     {.slots = 2, .senders = {{0, 0}, {0}}, .sleeps = true, .tells_late = true}},
    {"NextWithoutAsking", {.slots = 2, .senders = {{0, 0}, {0, 0}}, .asks_first = false}},
};

class Ring : public testing::TestWithParam<Case> {};

TEST_P(Ring, KeepsItsPromisesInEveryExecution) {
  const Report report = RingProgram(GetParam().shape).explore();
  std::printf("%s: %llu executions, %llu states, %llu steps\n", GetParam().name,
              static_cast<unsigned long long>(report.executions),
              static_cast<unsigned long long>(report.states),
              static_cast<unsigned long long>(report.steps));
  EXPECT_EQ(report.failure, "") << report.trace;
  EXPECT_GT(report.executions, 0u);
}
INSTANTIATE_TEST_SUITE_P(Shapes, Ring, testing::ValuesIn(kCases),
                         [](const auto& at) { return std::string(at.param.name); });

// The mutants: each takes away one thing that the protocol needs, and must be caught.

constexpr auto kRelaxed = std::memory_order_relaxed;
bool is_word(const std::string& cell) { return cell.starts_with("word"); }
/// head_seen_ of a producer, the only atomic of it.
bool is_head_seen(const std::string& cell) { return cell == "?"; }

struct Mutant {
  const char* name;
  const char* caught_by;  ///< part of the failure
  RingShape shape;
  Mutation mutation;
};
void PrintTo(const Mutant& at, std::ostream* out) { *out << at.name; }

const RingShape kWrap{.slots = 2, .senders = {{0, 0}, {0, 0}}};
const RingShape kLong{.slots = 4, .senders = {{8, 0, 0}, {0, 8}}};
const RingShape kRoom{.slots = 4, .senders = {{8, 8}, {8}}};
const RingShape kOwnRoom{.slots = 4, .senders = {{0, 8, 8, 8}}, .is_shared = false};
const RingShape kThreads{.slots = 2, .senders = {{0, 0}, {0}}, .one_producer = true};
const RingShape kSleeps{.slots = 2, .senders = {{0, 0, 0}}, .is_shared = false, .sleeps = true};
const RingShape kTold{
    .slots = 2, .senders = {{0, 0, 0}}, .is_shared = false, .sleeps = true, .tells_late = true};
const RingShape kEarly{.slots = 2, .senders = {{0, 0}, {0, 0}}, .frees_early = true};
const RingShape kEarlyLong{.slots = 4, .senders = {{8, 8}, {8}}, .frees_early = true};
/// The amount that a lie about head adds to it.
constexpr uint64_t kTwoSlots = shm::Extent{2, 0}.packed(), kTwoLines = shm::Extent{0, 2}.packed();

const Mutant kMutants[] = {
    {"PublishRelaxed", "data race", kWrap, {[](Access& a, const std::string& cell) {
       if (is_word(cell) && a.action == Action::kStore && a.operand != 0) a.order = kRelaxed;
     }}},
    {"ConsumeWithoutAcquire", "data race", kWrap, {[](Access& a, const std::string& cell) {
       if (is_word(cell) && a.action == Action::kLoad) a.order = kRelaxed;
     }}},
    {"FreeWithoutRelease", "data race", kWrap, {[](Access& a, const std::string& cell) {
       if (cell == "head" && a.action == Action::kStore) a.order = kRelaxed;
     }}},
    {"RoomWithoutAcquire", "data race", kWrap, {[](Access& a, const std::string& cell) {
       if (cell == "head" && a.action == Action::kLoad) a.order = kRelaxed;
     }}},
    {"SharedRoomWithoutAcquire", "data race", kThreads, {[](Access& a, const std::string& cell) {
       if (is_head_seen(cell) && a.action == Action::kLoad) a.order = kRelaxed;
     }}},
    {"SharedRoomWithoutRelease", "data race", kThreads, {[](Access& a, const std::string& cell) {
       if (is_head_seen(cell) && a.action == Action::kStore) a.order = kRelaxed;
     }}},
    {"ReserveInTwoHalves", "", kWrap, {[](Access& a, const std::string& cell) {
       a.is_torn = cell == "tail";
     }}},
    {"NoLookForSlots", "", kWrap, {[](Access& a, const std::string& cell) {
       if (cell == "head" && a.action == Action::kLoad) a.lie = kTwoSlots;
     }}},
    {"NoLookForLines", "data race", kOwnRoom, {[](Access& a, const std::string& cell) {
       if (cell == "head" && a.action == Action::kLoad) a.lie = kTwoLines;
     }}},
    {"NoLookForLinesOfOthers", "data race", kRoom, {[](Access& a, const std::string& cell) {
       if (cell == "head" && a.action == Action::kLoad) a.lie = kTwoLines;
     }}},
    {"ReserveLinesInTwoHalves", "", kLong, {[](Access& a, const std::string& cell) {
       a.is_torn = cell == "tail";
     }}},
    {"FreeLinesWithoutRelease", "data race", kOwnRoom, {[](Access& a, const std::string& cell) {
       if (cell == "head" && a.action == Action::kStore) a.order = kRelaxed;
     }}},
    {"LinesWithoutAcquire", "data race", kOwnRoom, {[](Access& a, const std::string& cell) {
       if (cell == "head" && a.action == Action::kLoad) a.order = kRelaxed;
     }}},
    {"MessageNotPublished", "waits for ever", kWrap, {[](Access& a, const std::string& cell) {
       a.is_dropped = is_word(cell) && a.action == Action::kStore && a.operand != 0;
     }}},
    {"HeadNeverTold", "waits for ever", kWrap, {[](Access& a, const std::string& cell) {
       a.is_dropped = cell == "head" && a.action == Action::kStore;
     }}},
    {"SleepsWithoutALook", "waits for ever", kSleeps, {[](Access& a, const std::string& cell) {
       a.is_dropped = is_word(cell) && a.action == Action::kCompareExchange;
     }}},
    {"TellsWithoutABarrier", "waits for ever", kTold, {[](Access& a, const std::string&) {
       a.is_dropped = a.action == Action::kPassBarrier;
     }}},
    {"TellsNobody", "waits for ever", kTold, {[](Access& a, const std::string& cell) {
       a.is_dropped = cell == "sleeps" && a.action == Action::kStore;
     }}},
    {"MarkedInTwoHalves", "", kSleeps, {[](Access& a, const std::string& cell) {
       a.is_torn = is_word(cell) && a.action == Action::kCompareExchange;
     }}},
    {"PublishedInTwoHalves", "", kSleeps, {[](Access& a, const std::string& cell) {
       a.is_torn = is_word(cell) && a.action == Action::kModify;
     }}},
    {"ExchangedRelaxed", "data race", kSleeps, {[](Access& a, const std::string& cell) {
       if (is_word(cell) && a.action == Action::kModify) a.order = kRelaxed;
     }}},
    {"LapForgotten", "waits for ever", kWrap, {[](Access& a, const std::string& cell) {
       if (is_word(cell) && a.action == Action::kStore && a.operand != 0) {
         a.operand = (a.operand & ~uint64_t{0xfff}) | 1;
       }
     }}},
    {"PublishedBeforeItsBytes", "data race", kWrap, {.change = {}, .copies_after_store = true}},
    {"LinesFilledAfterTheirWord", "data race", kLong, {.change = {}, .copies_after_store = true}},
    {"GivenBackBeforeItIsRead", "data race", kEarly, {}},
    {"LinesGivenBackBeforeTheyAreRead", "data race", kEarlyLong, {}},
};

class RingMutant : public testing::TestWithParam<Mutant> {};

TEST_P(RingMutant, IsCaught) {
  const Report report = RingProgram(GetParam().shape).explore(GetParam().mutation);
  std::printf("%s: %s, in state %llu\n", GetParam().name, report.failure.c_str(),
              static_cast<unsigned long long>(report.states));
  EXPECT_NE(report.failure, "");
  EXPECT_NE(report.failure.find(GetParam().caught_by), std::string::npos) << report.failure;
}
INSTANTIATE_TEST_SUITE_P(All, RingMutant, testing::ValuesIn(kMutants),
                         [](const auto& at) { return std::string(at.param.name); });

TEST(RingMutants, TheirShapesAreFineWithoutThem) {
  for (const RingShape& shape : {kWrap, kLong, kRoom, kOwnRoom, kThreads, kSleeps}) {
    EXPECT_EQ(RingProgram(shape).explore().failure, "");
  }
}

}  // namespace
}  // namespace pinwire::model
