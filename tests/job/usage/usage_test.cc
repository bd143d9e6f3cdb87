// Debug builds: every breach of a convention ends the program at once, whoever runs handlers, with
// a sentence for its author: rank, rule, thread, and where that began which forbids the call.
#include <gtest/gtest.h>
#include <signal.h>

#include <cstdlib>
#include <regex>
#include <tuple>

#include "tests/job/launch/run.h"

namespace pinwire_test {
namespace {

Outcome misuse(const std::string& breach, const std::string& dispatch = "poll") {
  return run({std::getenv("MISUSE"), breach},
             {"GASNET_DRIVER=shm", "GASNET_DISPATCH=" + dispatch, "GASNET_HOLD_LIMIT=0.05"});
}

/// The line of `err` that has `part`, or nothing.
std::string line_with(const std::string& err, const std::string& part) {
  const size_t at = err.find(part);
  if (at == std::string::npos) return "";
  const size_t begin = err.rfind('\n', at) + 1;  // npos + 1: the first line
  return err.substr(begin, err.find('\n', at) - begin);
}

/// "pinwire: rank 0/1 on HOST: LEVEL: SENTENCE ... [RULE, thread NUMBER "NAME"]"
bool has_shape(const std::string& line, const std::string& rank, const std::string& level,
               const std::string& rule, const std::string& thread) {
  return std::regex_match(
      line, std::regex("pinwire: rank " + rank + " on [^ ]+: " + level + ": .* \\[" + rule +
                       ", thread [1-9][0-9]* \"" + thread + "\"\\]"));
}

struct Case {
  const char* breach;
  const char* rule;
  const char* sentence;
  bool tells_where = false;  ///< what was opened last
};

class Breach : public testing::TestWithParam<std::tuple<Case, const char*>> {};

TEST_P(Breach, IsFatal) {
  const auto& [breach, dispatch] = GetParam();
  const Outcome outcome = misuse(breach.breach, dispatch);
  EXPECT_EQ(outcome.code, 128 + SIGABRT) << outcome.out << outcome.err;
  const std::string line = line_with(outcome.err, std::string("fatal: ") + breach.sentence);
  EXPECT_TRUE(has_shape(line, "0/1", "fatal", breach.rule, "misuse")) << outcome.err;
  if (!breach.tells_where) return;
  const size_t last = outcome.err.rfind("opens ");
  ASSERT_NE(last, std::string::npos) << outcome.err;
  const std::string place = outcome.err.substr(last + 6, outcome.err.find('\n', last) - last - 6);
  EXPECT_NE(line.find(" at " + place), std::string::npos) << outcome.err;
}

// PA-048: of sections (PA-038, PA-042) and of locks (PA-045).
// clang-format off
constexpr Case kCases[] = {
    {"lock_twice", "C1-287", "gasnet_hsl_lock of an HSL that this thread already holds", true},
    {"trylock_twice", "C1-287", "gasnet_hsl_trylock of an HSL that this thread already holds", true},
    {"unlock_other", "C1-288", "gasnet_hsl_unlock of an HSL that this thread does not hold"},
    {"unlock_order", "C1-288", "gasnet_hsl_unlock of an HSL, locked at ", true},
    {"return_with_hsl", "C1-289", "handler 200, of a request from rank 0, returned while it holds", true},
    {"reply_with_hsl", "C1-289", "gasnet_AMReplyShort while handler 200, of a request from rank 0, holds 1", true},
    {"hold_twice", "C1-290", "gasnet_hold_interrupts twice", true},
    {"resume_unpaired", "C1-290", "gasnet_resume_interrupts without gasnet_hold_interrupts"},
    {"put_in_section", "C1-291", "gasnet_put in a No-Interrupt Section, opened at ", true},
    {"poll_in_section", "C1-291", "gasnet_AMPoll in a No-Interrupt Section, opened at ", true},
    {"request_in_section", "C1-291", "gasnet_AMRequestShort in a No-Interrupt Section, opened at ", true},
    {"sync_in_section", "C1-291", "gasnet_try_syncnb in a No-Interrupt Section, opened at ", true},
    {"poll_with_hsl", "C1-291", "gasnet_AMPoll while this thread holds 1 handler-safe lock", true},
    {"poll_with_hsls", "C1-291", "gasnet_AMPoll while this thread holds 2 handler-safe lock", true},
    {"wait_with_hsl", "C1-291", "GASNET_BLOCKUNTIL while this thread holds 1 handler-safe lock", true},
    {"poll_in_handler", "C1-291", "gasnet_AMPoll inside handler 200, of a request from rank 0,"},
    {"wait_in_handler", "C1-291", "GASNET_BLOCKUNTIL inside handler 200, of a request from rank 0,"},
    {"sync_in_handler", "C1-291", "gasnet_wait_syncnb inside handler 200, of a request from rank 0,"},
    {"put_in_handler", "C1-291", "gasnet_put inside handler 200"},
    {"request_in_handler", "C1-291", "gasnet_AMRequestShort inside handler 200"},
    {"barrier_in_handler", "C1-291", "gasnet_barrier_notify inside handler 200"},
    {"reply_twice", "C1-292", "gasnet_AMReplyShort for a request that was replied to already"},
    {"reply_in_reply", "C1-292", "gasnet_AMReplyShort in a reply handler, handler 201, of a reply from rank 0,"},
    {"reply_by_other_token", "C1-292", "gasnet_AMReplyShort with a token of another run"},
    {"reply_outside", "C1-292", "gasnet_AMReplyShort outside a handler"},
    {"async_unanswered", "C1-292", "handler 202, of a request from rank 0, returned without a reply"},
    {"destroy_locked", "C1-293", "gasnet_hsl_destroy of a locked HSL"},
    {"init_locked", "C1-293", "gasnet_hsl_init of a locked HSL"},
    {"lock_uninitialised", "C1-293", "gasnet_hsl_lock of an HSL at 0x"},
    {"destroy_uninitialised", "C1-293", "gasnet_hsl_destroy of an HSL at 0x"},
    {"trylock_destroyed", "C1-293", "gasnet_hsl_trylock of an HSL at 0x"},
    {"put_outside", "C1-295", "gasnet_put: 8 bytes at 0x"},
    {"get_outside", "C1-295", "gasnet_get_nbi: 1 bytes at 0x"},
    {"long_outside", "C1-295", "gasnet_AMRequestLong: 8 bytes at 0x"},
    {"node_outside", "C1-295", "gasnet_put: node 7 does not exist; this job has nodes 0 to 0"},
    {"handler_outside", "C1-295", "gasnet_AMRequestShort names handler 5"},
    {"put_overlaps", "C1-296", "gasnet_put: source and destination, 8 bytes at 0x"},
    {"get_overlaps", "C1-296", "gasnet_get_nb: source and destination, 8 bytes at 0x"},
    {"region_twice", "C1-297", "access regions do not nest, and this one begins inside one, which began at ", true},
    {"region_unpaired", "C1-297", "an access region ends that did not begin"},
    {"sync_in_region", "C1-297", "implicit synchronisation inside an access region, which began at ", true},
    {"atomic_of_other_type", "GX-158", "gex_AD_OpNB: the call's data type is 0x4, the domain's 0x8"},
    {"atomic_of_two_operations", "GX-158", "gex_AD_OpNB wants one operation, not 0x408"},
    {"atomic_of_none_told", "GX-158", "gex_AD_OpNBI: gex_AD_Create was not told of the operation 0x100"},
    {"atomic_without_result", "GX-154", "gex_AD_OpNBI: the operation 0x40000 returns a value, but result_p is NULL"},
    {"atomic_unaligned", "GX-158", "gex_AD_OpNBI at 0x"},
    {"atomic_outside", "GX-158", "gex_AD_OpNB at 0x"},
    {"atomic_in_two_places", "GX-046", "gex_AD_OpNB with both GEX_FLAG_AD_MY_RANK and GEX_FLAG_AD_MY_NBRHD"},
    {"atomic_in_section", "C1-291", "gex_AD_OpNBI in a No-Interrupt Section, opened at ", true},
    {"notify_twice", "C1-298", "gasnet_barrier_notify twice"},
    {"wait_unnotified", "C1-298", "gasnet_barrier_wait without a gasnet_barrier_notify"},
    {"try_unnotified", "C1-298", "gasnet_barrier_try without a gasnet_barrier_notify"},
    {"poll_before_attach", "C1-299", "gasnet_AMPoll before gasnet_attach"},
    {"put_before_attach", "C1-299", "gasnet_put before gasnet_attach"},
    {"put_by_second_thread", "C1-299", "gasnet_put by a second thread, in a program compiled with GASNET_SEQ"},
};
// clang-format on
INSTANTIATE_TEST_SUITE_P(Usage_C1_287_300, Breach,
                         testing::Combine(testing::ValuesIn(kCases),
                                          testing::Values("poll", "interrupt")),
                         [](const auto& breach) {
                           return std::string(std::get<0>(breach.param).breach) + "_" +
                                  std::get<1>(breach.param);
                         });

/// A handler on rank 1, which computes, breaks a rule: in a signal, or in a thread of the library.
void expect_in_handler(const std::string& breach, const std::string& dispatch,
                       const std::string& rule, const std::string& thread,
                       const std::string& sentence) {
  const Outcome outcome =
      run({std::getenv("GASNETRUN"), "-n", "2", std::getenv("MISUSE"), breach, "in_handler"},
          {"GASNET_DRIVER=shm", "GASNET_DISPATCH=" + dispatch});
  EXPECT_EQ(outcome.code, 128 + SIGABRT) << outcome.out << outcome.err;
  EXPECT_TRUE(has_shape(line_with(outcome.err, "fatal: " + sentence), "1/2", "fatal", rule, thread))
      << outcome.err;
}

TEST(Usage, InSignals_PA_048) {
  expect_in_handler("poll_in_handler", "interrupt", "C1-291", "misuse",
                    "gasnet_AMPoll inside handler 200, of a request from rank 0,");
  expect_in_handler("put_in_handler", "interrupt", "C1-291", "misuse",
                    "gasnet_put inside handler 200, of a request from rank 0,");
  expect_in_handler("reply_with_hsl", "interrupt", "C1-289", "misuse",
                    "gasnet_AMReplyShort while handler 200, of a request from rank 0, holds 1");
  expect_in_handler("return_with_hsl", "interrupt", "C1-289", "misuse",
                    "handler 200, of a request from rank 0, returned while it holds");
  expect_in_handler("reply_twice", "interrupt", "C1-292", "misuse",
                    "gasnet_AMReplyShort for a request that was replied to already");
}

TEST(Usage, InThreadsOfTheLibrary_PA_048) {
  expect_in_handler("poll_in_handler", "thread", "C1-291", "dispatcher",
                    "gasnet_AMPoll inside handler 200, of a request from rank 0,");
  expect_in_handler("reply_twice", "nicproc", "C1-292", "dispatcher",
                    "gasnet_AMReplyShort for a request that was replied to already");
}

class Dispatch : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Usage, Dispatch, testing::Values("poll", "interrupt"));

TEST_P(Dispatch, AProgramThatKeepsTheConventionsRuns) {
  const Outcome outcome = run({std::getenv("MISUSE"), "none"},
                              {"GASNET_DRIVER=shm", std::string("GASNET_DISPATCH=") + GetParam()});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "kept every convention\n");
  EXPECT_EQ(count_of(outcome.err, "warning: "), 1) << outcome.err;
  // C1-290: under an HSL, several times
  EXPECT_TRUE(has_shape(line_with(outcome.err, "gasnet_hold_interrupts has no effect while a"),
                        "0/1", "warning", "C1-290", "misuse"))
      << outcome.err;
}

/// It goes on, with one warning besides the one that all have.
void expect_warning(const char* dispatch, const char* breach, const char* rule,
                    const std::string& sentence) {
  const Outcome outcome = misuse(breach, dispatch);
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_TRUE(
      has_shape(line_with(outcome.err, "warning: " + sentence), "0/1", "warning", rule, "misuse"))
      << breach << ": " << outcome.err;
}

TEST_P(Dispatch, InAHandlerHoldHasNoEffect_C1_290) {
  const Outcome outcome = misuse("hold_in_handler", GetParam());
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(count_of(outcome.err, "has no effect inside handler 200"), 1) << outcome.err;
}

TEST_P(Dispatch, ASecondInitIsToldOf_C1_293) {
  expect_warning(GetParam(), "init_twice", "C1-293", "gasnet_hsl_init of an HSL at 0x");
}

TEST_P(Dispatch, WhatIsHeldTooLongIsToldOf_C1_294) {
  expect_warning(GetParam(), "hold_long", "C1-294", "a No-Interrupt Section, opened at ");
  expect_warning(GetParam(), "lock_long", "C1-294", "a handler-safe lock, locked at ");
  expect_warning(GetParam(), "handler_blocks", "C1-294",
                 "handler 200, of a request from rank 0, ran for ");
}

/// Expects a report of a section that never ends, and where it was opened.
void expect_told_of_kept(const Outcome& outcome, const std::string& what, const char* thread) {
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(count_of(outcome.err, "warning: "), 1) << outcome.err;
  const std::string line = line_with(outcome.err, "warning: " + what);
  EXPECT_TRUE(has_shape(line, "0/1", "warning", "C1-294", thread)) << outcome.err;
  EXPECT_NE(line.find(" s by now"), std::string::npos) << outcome.err;
  const size_t opens = outcome.err.find("opens ");
  ASSERT_NE(opens, std::string::npos) << outcome.err;
  const std::string place =
      outcome.err.substr(opens + 6, outcome.err.find('\n', opens) - opens - 6);
  EXPECT_NE(line.find(" at " + place), std::string::npos) << outcome.err;
}
constexpr const char* kLock = "a handler-safe lock, locked at ";
constexpr const char* kSection = "a No-Interrupt Section, opened at ";

/// By the dispatcher, while it is open; once.
TEST(Usage, WhatIsKeptIsToldOfMeanwhile_C1_294) {
  for (const char* dispatch : {"interrupt", "watchdog", "thread", "nicproc"}) {
    for (const char* breach : {"lock_kept", "section_kept"}) {
      Running job({std::getenv("MISUSE"), breach},
                  {"GASNET_DRIVER=shm", std::string("GASNET_DISPATCH=") + dispatch,
                   "GASNET_HOLD_LIMIT=0.05"});
      EXPECT_TRUE(job.wait_for_error(" s by now", 1)) << dispatch << job.err();
      job.tell("\n");
      expect_told_of_kept(job.wait(), *breach == 'l' ? kLock : kSection, "misuse");
    }
  }
}
TEST_P(Dispatch, WhatIsKeptIsToldOfAtTheEnd_C1_294) {
  expect_told_of_kept(misuse("lock_kept", GetParam()), kLock, "misuse");
  expect_told_of_kept(misuse("section_kept", GetParam()), kSection, "misuse");
}
TEST(Usage, WhatAThreadThatHasEndedKeepsIsToldOf_C1_294) {
  const Outcome outcome = run({std::getenv("MISUSE_PARSYNC"), "lock_kept_by_thread"},
                              {"GASNET_DRIVER=shm", "GASNET_HOLD_LIMIT=0.05"});
  expect_told_of_kept(outcome, kLock, "which has ended");
}

TEST_P(Dispatch, WhatIsLeftOpenIsToldOf_C1_297) {
  expect_warning(GetParam(), "region_left", "C1-297", "the job ends in an access region");
}

TEST(Usage, InParsyncOneThreadIsInside_C1_299) {
  for (const char* breach : {"poll_beside_call", "put_beside_call"}) {
    const Outcome outcome = run({std::getenv("MISUSE_PARSYNC"), breach}, {"GASNET_DRIVER=shm"});
    EXPECT_EQ(outcome.code, 128 + SIGABRT) << outcome.err;
    const std::string call = *breach == 'p' && breach[1] == 'u' ? "gasnet_put" : "gasnet_AMPoll";
    const std::string line = line_with(outcome.err, "fatal: " + call + " while thread ");
    EXPECT_TRUE(has_shape(line, "0/1", "fatal", "C1-299", "misuse_parsync")) << outcome.err;
    EXPECT_NE(line.find("is inside gasnet_AMRequestShort"), std::string::npos) << outcome.err;
  }
}

}  // namespace
}  // namespace pinwire_test
