// Every way a rank can end, while the others do all they may: the job is gone in time, with the
// right code, and leaves nothing. Real processes; what they do is in leave.c.
#include <gtest/gtest.h>
#include <signal.h>

#include <cstdlib>

#include "tests/job/launch/run.h"

using namespace pinwire_test;

namespace {

struct End {
  const char* how;
  int code;          ///< of the job
  const char* says;  ///< somewhere on stderr
};

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

std::vector<std::string> leave_command(const End& end, int rank, const char* others, int ranks) {
  return {environment("GASNETRUN"), "-n",  std::to_string(ranks), environment("LEAVE"), end.how,
          std::to_string(rank),     others};
}

class Leaving : public testing::TestWithParam<std::tuple<End, const char*>> {};

TEST_P(Leaving, C1_098_108_EndsTheJobInTimeAndLeavesNothing) {
  const auto& [end, others] = GetParam();
  const std::string driver = environment("EXIT_DRIVER");
  Folder folder;
  const std::string mark = "GASNET_TMPDIR=" + folder.path();
  const int ranks = driver == "dpdk" ? 2 : 3;
  for (const int rank : {0, 1}) {
    const Outcome outcome =
        run(leave_command(end, rank, others, ranks), {mark, "GASNET_DRIVER=" + driver});
    EXPECT_EQ(outcome.code, end.code) << outcome.out << outcome.err;
    EXPECT_NE(outcome.err.find(end.says), std::string::npos) << outcome.err;
    EXPECT_TRUE(gone(mark, 5)) << "a process stayed";
    EXPECT_TRUE(empty_within(folder.path(), 5)) << "files stayed";
  }
}

/// As a shell starts a background job.
TEST(Background, ATerminatedRankEndsTheJobThoughSigquitWasIgnored) {
  Folder folder;
  signal(SIGQUIT, SIG_IGN);
  const Outcome outcome =
      run(leave_command({"term", 0, ""}, 1, "blockuntil", 2),
          {"GASNET_TMPDIR=" + folder.path(), "GASNET_DRIVER=" + environment("EXIT_DRIVER")});
  signal(SIGQUIT, SIG_DFL);
  EXPECT_EQ(outcome.code, 128 + SIGQUIT) << outcome.err;
}

constexpr End kEnds[] = {
    {"exit", 42, ""},
    {"return", 42, ""},
    {"libc_exit", 42, ""},
    {"section", 42, ""},
    {"hsl", 42, ""},
    {"handler", 42, ""},
    {"remote_handler", 42, ""},
    {"before_attach", 42, ""},
    {"abort", 128 + SIGABRT, "killed by signal 6"},
    {"segv", 128 + SIGSEGV, "killed by signal 11"},
    {"kill", 128 + SIGKILL, "killed by signal 9"},
    {"term", 128 + SIGQUIT, "killed by signal 3"},
    {"unregistered", 128 + SIGABRT, "names handler 222, which is not registered"},
    {"double_notify", 128 + SIGABRT, "C1-265"},
    {"outside_segment", 128 + SIGABRT, "outside the segment of rank"},
};

std::string name_of(const testing::TestParamInfo<std::tuple<End, const char*>>& info) {
  return std::string(std::get<0>(info.param).how) + "_others_" + std::get<1>(info.param);
}

INSTANTIATE_TEST_SUITE_P(OthersBlock, Leaving,
                         testing::Combine(testing::ValuesIn(kEnds), testing::Values("blockuntil")),
                         name_of);
INSTANTIATE_TEST_SUITE_P(OthersDoAnything, Leaving,
                         testing::Combine(testing::Values(kEnds[0], kEnds[10]),
                                          testing::Values("barrier", "compute", "sleep")),
                         name_of);

TEST(Exit, C1_103_OthersMayCatchSigquit) {
  const Outcome outcome = run(leave_command({"exit", 42, ""}, 0, "catch", 3),
                              {"GASNET_DRIVER=" + environment("EXIT_DRIVER")});
  EXPECT_EQ(outcome.code, 42) << outcome.err;
  EXPECT_EQ(count_of(outcome.out, "saw SIGQUIT"), 2) << outcome.out << outcome.err;
}

TEST(Exit, C1_101_DifferentCodesAtOnceGiveOneOfThem) {
  const Outcome outcome = run(leave_command({"exit", 42, ""}, 0, "17", 3),
                              {"GASNET_DRIVER=" + environment("EXIT_DRIVER")});
  EXPECT_TRUE(outcome.code == 42 || outcome.code == 17) << outcome.code << outcome.err;
}

}  // namespace
