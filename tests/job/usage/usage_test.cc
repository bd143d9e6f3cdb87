// Debug builds: every breach of a convention ends the program at once, with a sentence for its
// author.
#include <gtest/gtest.h>
#include <signal.h>

#include <cstdlib>

#include "tests/job/launch/run.h"

namespace pinwire_test {
namespace {

Outcome misuse(const std::string& breach) {
  return run({std::getenv("MISUSE"), breach}, {"GASNET_DRIVER=shm"});
}

struct Case {
  const char* breach;
  const char* sentence;
};

class Breach : public testing::TestWithParam<Case> {};

TEST_P(Breach, IsFatal) {
  const Outcome outcome = misuse(GetParam().breach);
  EXPECT_EQ(outcome.code, 128 + SIGABRT) << outcome.out << outcome.err;
  EXPECT_NE(outcome.err.find(std::string("fatal: ") + GetParam().sentence), std::string::npos)
      << outcome.err;
  EXPECT_EQ(outcome.err.find("C1-"), std::string::npos) << outcome.err;
}

constexpr Case kCases[] = {
    {"lock_twice", "gasnet_hsl_lock of an HSL that this thread already holds"},        // C1-287
    {"trylock_twice", "gasnet_hsl_trylock of an HSL that this thread already holds"},  // C1-287
    {"unlock_other", "gasnet_hsl_unlock of an HSL that this thread does not hold"},    // C1-288
    {"unlock_order", "gasnet_hsl_unlock of an HSL before one that was locked later"},  // C1-288
    {"return_with_hsl", "a handler returned while it holds a handler-safe lock"},      // C1-289
    {"reply_with_hsl", "gasnet_AMReplyShort while the handler holds 1"},               // C1-289
    {"hold_twice", "gasnet_hold_interrupts twice"},                                    // C1-290
    {"resume_unpaired", "gasnet_resume_interrupts without gasnet_hold_interrupts"},    // C1-290
    {"put_in_section", "gasnet_put between gasnet_hold_interrupts"},                   // C1-291
    {"request_in_section", "gasnet_AMRequestShort between gasnet_hold_interrupts"},    // C1-291
    {"poll_with_hsl", "gasnet_AMPoll while this thread holds 1 handler-safe lock"},    // C1-291
    {"poll_in_handler", "gasnet_AMPoll inside a handler"},                             // C1-291
    {"put_in_handler", "gasnet_put inside a handler"},                                 // C1-291
    {"request_in_handler", "gasnet_AMRequestShort inside a handler"},                  // C1-291
    {"barrier_in_handler", "gasnet_barrier_notify inside a handler"},                  // C1-291
    {"reply_twice", "gasnet_AMReplyShort for a request that was replied to already"},  // C1-292
    {"reply_in_reply", "gasnet_AMReplyShort in a reply handler"},                      // C1-292
    {"reply_outside", "gasnet_AMReplyShort outside a handler"},                        // C1-292
    {"destroy_locked", "gasnet_hsl_destroy of a locked HSL"},                          // C1-293
    {"put_outside", "gasnet_put: 8 bytes at 0x"},                                      // C1-295
    {"get_outside", "gasnet_get_nbi: 1 bytes at 0x"},                                  // C1-295
    {"node_outside", "gasnet_put: node 7 does not exist; this job has nodes 0 to 0"},  // C1-295
    {"handler_outside", "gasnet_AMRequestShort names handler 5"},                      // C1-295
    {"region_twice", "access regions do not nest"},                                    // C1-297
    {"region_unpaired", "an access region ends that did not begin"},                   // C1-297
    {"sync_in_region", "implicit synchronisation inside an access region"},            // C1-297
    {"poll_before_attach", "gasnet_AMPoll before gasnet_attach"},                      // C1-299
    {"put_before_attach", "gasnet_put before gasnet_attach"},                          // C1-299
    {"put_by_second_thread",
     "gasnet_put by a second thread, in a program compiled with GASNET_SEQ"},  // C1-299
};
INSTANTIATE_TEST_SUITE_P(Usage_C1_287_299, Breach, testing::ValuesIn(kCases),
                         [](const auto& breach) { return std::string(breach.param.breach); });

TEST(Usage, AProgramThatKeepsTheConventionsRuns) {
  const Outcome outcome = misuse("none");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "kept every convention\n");
  EXPECT_EQ(count_of(outcome.err, "has no effect"), 1) << outcome.err;  // C1-290: under an HSL
}

TEST(Usage, InAHandlerHoldHasNoEffect_C1_290) {
  const Outcome outcome = misuse("hold_in_handler");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(count_of(outcome.err, "has no effect"), 2) << outcome.err;
}

}  // namespace
}  // namespace pinwire_test
