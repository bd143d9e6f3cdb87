// A wrong call over a team ends the job with a sentence that says what, in every build.
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
  const char* sentence;
};

void PrintTo(const Case& with, std::ostream* out) { *out << with.breach; }

class TeamMisuse : public testing::TestWithParam<Case> {};

TEST_P(TeamMisuse, EndsWithASentence) {
  const Outcome outcome =
      run({std::getenv("GASNETRUN"), "-n", "2", std::getenv("TEAM_MISUSE"), GetParam().breach},
          {"GASNET_DRIVER=shm"});
  EXPECT_EQ(outcome.code, 128 + SIGABRT) << outcome.out << outcome.err;
  EXPECT_NE(outcome.err.find(GetParam().sentence), std::string::npos) << outcome.err;
}

// clang-format off
INSTANTIATE_TEST_SUITE_P(
    All, TeamMisuse,
    testing::Values(
        Case{"color", "a colour is not negative: -1 (GX-069)"},
        Case{"split_flags", "gex_TM_Split: unknown flags 0x8"},
        Case{"split_unlike", "ranks 0 and 1 of one colour pass"},
        Case{"dup_kind", "gex_TM_Dup wants one of GEX_FLAG_TM_"},
        Case{"create_kinds", "gex_TM_Create wants one of GEX_FLAG_TM_"},
        Case{"create_count", "args[] has 1 members in this process, and num_new_tms is 2"},
        Case{"create_rank", "member 1 is endpoint 0 of rank 2, and there are 2 ranks"},
        Case{"create_endpoint", "is endpoint 1 of this process, which has 1"},
        Case{"create_twice", "endpoint 0 of jobrank 0 is in args[] twice"},
        Case{"create_alone", "endpoint 0 of jobrank 1 is a member of the new team, but nobody in its process"},
        Case{"create_unlike", "is a member of the new team, but nobody in its process passes the same members"},
        Case{"destroy_first", "gex_TM_Destroy of the team of gex_Client_Init"},
        Case{"destroy_busy", "gex_TM_Destroy of a team whose collectives are not synchronised here"},
        Case{"destroy_notified", "gex_TM_Destroy of a team whose collectives are not synchronised here"},
        Case{"translate", "a rank that the team has not is translated"},
        Case{"pair", "gex_Coll_BarrierNB over a TM-pair (EX-129)"},
        Case{"pair_split", "gex_TM_Split wants a team, and was given a TM-pair"},
        Case{"no_team", "gex_Coll_BarrierNB over GEX_TM_INVALID"},
        Case{"flags", "gex_Coll_BarrierNB takes no flags, and was given 0x1"},
        Case{"root", "gex_Coll_BroadcastNB names rank 2 as the root of a team of 2"},
        Case{"lengths", "jobrank 0 sent 8 bytes where its member 1 expects 16"},
        Case{"size", "gex_Coll_ReduceToAllNB of 2 elements of type 0x20, of 4 bytes"},
        Case{"count", "gex_Coll_ReduceToOneNB of 0 elements"},
        Case{"operation", "type 0x20 has no operation 0x4 in reductions"},
        Case{"user_type", "type 0x40 has no operation 0x8 in reductions"},
        Case{"user_function", "with GEX_OP_USER wants a function"},
        Case{"syncs", "gasnet_coll_exchange wants one of GASNET_COLL_IN_"},
        Case{"wait_first", "gasnet_coll_barrier_wait without a gasnet_coll_barrier_notify before it"}),
    [](const auto& with) { return std::string(with.param.breach); });
// clang-format on

}  // namespace
}  // namespace pinwire_test
