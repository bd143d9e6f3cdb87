// Messages with negotiated payloads: what a Commit or Cancel cannot do ends the program in every
// build, what a thread may not do in between in debug builds, with a sentence for the author.
#include <gtest/gtest.h>
#include <signal.h>

#include <cstdlib>
#include <ostream>
#include <string>

#include "tests/job/launch/run.h"

namespace pinwire_test {
namespace {

struct Case {
  const char* breach;
  const char* rule;
  const char* sentence;
};

void PrintTo(const Case& with, std::ostream* out) { *out << with.breach; }

Outcome misuse(const char* program, const char* breach) {
  return run({std::getenv(program), breach}, {"GASNET_DRIVER=shm"});
}

void expect_fatal(const char* program, const Case& with) {
  const Outcome outcome = misuse(program, with.breach);
  EXPECT_EQ(outcome.code, 128 + SIGABRT) << outcome.out << outcome.err;
  const size_t at = outcome.err.find(std::string("fatal: ") + with.sentence);
  ASSERT_NE(at, std::string::npos) << outcome.err;
  const std::string line = outcome.err.substr(at, outcome.err.find('\n', at) - at);
  EXPECT_NE(line.find(std::string(" [") + with.rule + ", thread "), std::string::npos) << line;
}

class InEveryBuild : public testing::TestWithParam<Case> {};
TEST_P(InEveryBuild, EndsWithASentence) {
  expect_fatal("NEGOTIATED", GetParam());
  expect_fatal("NEGOTIATED_CHECKED", GetParam());
}

class InDebugBuilds : public testing::TestWithParam<Case> {};
TEST_P(InDebugBuilds, EndsWithASentence) { expect_fatal("NEGOTIATED_CHECKED", GetParam()); }

std::string name_of(const testing::TestParamInfo<Case>& with) { return with.param.breach; }

// clang-format off
INSTANTIATE_TEST_SUITE_P(
    Negotiated_GX_113_119, InEveryBuild,
    testing::Values(
        Case{"least_above_the_limit", "GX-113", "gex_AM_PrepareRequestMedium of "},
        Case{"most_below_least", "GX-113", "gex_AM_PrepareRequestMedium of 100 to 99 bytes"},
        Case{"too_many_arguments", "GX-102", "gex_AM_PrepareRequestMedium for 17 arguments"},
        Case{"event_without_buffer", "GX-114", "gex_AM_PrepareRequestMedium wants an lc_opt where"},
        Case{"buffer_without_event", "GX-114", "gex_AM_PrepareRequestMedium wants an lc_opt where"},
        Case{"prepare_twice", "GX-119", "gex_AM_PrepareRequestLong before the Commit or Cancel of this thread's gex_AM_PrepareRequestMedium"},
        Case{"commit_by_other_thread", "GX-119", "gex_AM_CommitRequestMedium of what another thread prepared"},
        Case{"commit_nothing", "GX-119", "gex_AM_CommitRequestMedium of what another thread prepared, of the other kind of message, or of nothing"},
        Case{"commit_as_reply", "GX-119", "gex_AM_CommitReplyMedium of what another thread prepared, of the other kind"},
        Case{"commit_as_long", "GX-117", "gex_AM_CommitRequestLong of what gex_AM_PrepareRequestMedium prepared"},
        Case{"commit_too_much", "GX-117", "gex_AM_CommitRequestMedium of 101 bytes where 100 were granted"},
        Case{"commit_with_arguments", "GX-117", "gex_AM_CommitRequestMedium with 2 arguments of what was prepared for 0"},
        Case{"commit_with_flags", "GX-117", "gex_AM_CommitRequestMedium with flags 0x"},
        Case{"cancel_with_flags", "GX-118", "gex_AM_CancelRequestMedium with flags 0x1; it takes none"},
        Case{"commit_after_cancel", "GX-119", "gex_AM_CommitRequestMedium of what was consumed before"},
        Case{"commit_twice", "GX-119", "gex_AM_CommitRequestMedium of what was consumed before"},
        Case{"cancel_after_commit", "GX-119", "gex_AM_CancelRequestMedium of what was consumed before"},
        Case{"commit_reply_twice", "GX-119", "gex_AM_CommitReplyMedium of what was consumed before"},
        Case{"cancel_committed_reply", "GX-119", "gex_AM_CancelReplyMedium of what was consumed before"},
        Case{"long_elsewhere", "GX-115", "gex_AM_CommitRequestLong to 0x"}),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    Negotiated_PA_048, InDebugBuilds,
    testing::Values(
        Case{"poll_between", "GX-119", "gasnet_AMPoll before the Commit or Cancel of this thread's gex_AM_PrepareRequestMedium"},
        Case{"wait_between", "GX-119", "GASNET_BLOCKUNTIL before the Commit or Cancel of"},
        Case{"put_between", "GX-119", "gasnet_put before the Commit or Cancel of"},
        Case{"get_between", "GX-119", "gex_RMA_GetNBI before the Commit or Cancel of"},
        Case{"request_between", "GX-119", "gex_AM_RequestMedium before the Commit or Cancel of"},
        Case{"collective_between", "GX-119", "gex_Coll_BarrierNB before the Commit or Cancel of"},
        Case{"sync_between", "GX-119", "gex_NBI_Wait before the Commit or Cancel of"},
        Case{"reply_between", "GX-119", "gex_AM_ReplyShort before the Commit or Cancel of this thread's gex_AM_PrepareReplyMedium"},
        Case{"return_prepared", "GX-119", "handler 200, of a request from rank 0, returned before the Commit or Cancel of its gex_AM_PrepareReplyMedium"},
        Case{"prepare_in_handler", "C1-291", "gex_AM_PrepareRequestMedium inside handler 200, of a request from rank 0,"},
        Case{"prepare_second_reply", "C1-292", "gex_AM_PrepareReplyMedium for a request that was replied to already"},
        Case{"commit_with_lock", "C1-291", "gex_AM_CommitRequestMedium while this thread holds 1 handler-safe lock"},
        Case{"cancel_with_lock", "C1-291", "gex_AM_CancelRequestMedium while this thread holds 1 handler-safe lock"},
        Case{"commit_in_section", "C1-291", "gex_AM_CommitRequestMedium in a No-Interrupt Section"},
        Case{"commit_reply_with_lock", "C1-289", "gex_AM_CommitReplyMedium while handler 200, of a request from rank 0, holds 1"},
        Case{"cancel_reply_with_lock", "C1-289", "gex_AM_CancelReplyMedium while handler 200, of a request from rank 0, holds 1"},
        Case{"commit_to_no_handler", "C1-295", "gex_AM_CommitRequestMedium names handler 5"},
        Case{"commit_unwritten", "GX-122", "gex_AM_CommitRequestMedium of "},
        Case{"long_outside", "C1-295", "gex_AM_CommitRequestLong: 100 bytes at 0x"}),
    name_of);
// clang-format on

TEST(Negotiated, AProgramThatKeepsTheConventionsRuns) {
  for (const char* program : {"NEGOTIATED", "NEGOTIATED_CHECKED"}) {
    const Outcome outcome = misuse(program, "none");
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(outcome.out, "kept every convention\n");
    EXPECT_EQ(outcome.err, "");
  }
}

TEST(Negotiated, AnEndBetweenPrepareAndCommitIsToldOf_GX_119) {
  const Outcome outcome = misuse("NEGOTIATED_CHECKED", "exit_between");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(count_of(outcome.err,
                     "warning: the job ends before the Commit or Cancel of this thread's "
                     "gex_AM_PrepareRequestMedium [GX-119, thread "),
            1)
      << outcome.err;
}

}  // namespace
}  // namespace pinwire_test
