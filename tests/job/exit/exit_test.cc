// Every way a rank can end, while the others do all they may: the job is gone in time, with the
// right code, and leaves nothing. Real processes; what they do is in leave.c.
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <cstdlib>

#include "core/base/check.h"
#include "tests/job/launch/run.h"

using namespace pinwire_test;

namespace {

constexpr double kPromisedSeconds = 2;  ///< from the cause to the end of the last process
constexpr double kGoneSeconds = 20;     ///< a moment's load may break the promise for one of them

struct End {
  const char* how;
  int code;               ///< of the job
  const char* says = "";  ///< somewhere on stderr
  int code_last = code;   ///< any from `code` on
};
void PrintTo(const End& end, std::ostream* out) { *out << end.how; }

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

class Leaving : public testing::TestWithParam<std::tuple<End, const char*>> {
 protected:
  const std::string driver_ = environment("EXIT_DRIVER");
  const bool is_network_ = driver_ != "shm";

  Outcome leave(const End& end, int rank, const char* others, int ranks,
                std::vector<std::string> more = {}) const {
    more.push_back("GASNET_TMPDIR=" + folder_.path());
    more.push_back("GASNET_DRIVER=" + driver_);
    return run({environment("GASNETRUN"), "-n", std::to_string(ranks), environment("LEAVE"),
                end.how, std::to_string(rank), others},
               more);
  }

  void expect_end(const Outcome& outcome, const End& end) const {
    const double over_s = now_s();
    EXPECT_GE(outcome.code, end.code) << outcome.out << outcome.err;
    EXPECT_LE(outcome.code, end.code_last) << outcome.out << outcome.err;
    EXPECT_NE(outcome.err.find(end.says), std::string::npos) << outcome.err;
    EXPECT_TRUE(gone("GASNET_TMPDIR=" + folder_.path(), kGoneSeconds)) << "a process stayed";
    EXPECT_TRUE(empty_within(folder_.path(), kGoneSeconds)) << "files stayed";
    EXPECT_TRUE(entries("/dev/shm", "pinwire").empty());
    const size_t at = outcome.out.find("cause at ");
    ASSERT_NE(at, std::string::npos) << outcome.out << outcome.err;
    took_s.push_back(over_s - std::atof(outcome.out.c_str() + at + 9));
    EXPECT_LT(took_s.back(), kGoneSeconds);
  }

  static void TearDownTestSuite() {
    if (took_s.empty()) return;
    std::sort(took_s.begin(), took_s.end());
    std::printf("%zu ends: all gone after %.2f s (median), %.2f s at most\n", took_s.size(),
                took_s[took_s.size() / 2], took_s.back());
    EXPECT_LT(took_s[took_s.size() / 2], kPromisedSeconds);
    took_s.clear();
  }

  const Folder folder_;
  static inline std::vector<double> took_s;
};

TEST_P(Leaving, C1_098_108_EndsTheJobInTimeAndLeavesNothing) {
  const auto& [end, others] = GetParam();
  const bool needs_threads = std::string(end.how).find("thread") != std::string::npos ||
                             std::string(end.how).find("stdin") != std::string::npos;
  if (needs_threads && environment("EXIT_MODE") != "par") GTEST_SKIP() << "threads need PAR";
  // Two ranks have a device between them, which starts faster than a switch does. Over shared
  // memory the number of ranks changes from case to case.
  static int turn = 0;
  ++turn;
  const int ranks = is_network_ ? 2 : 2 + turn % 3;
  // Where time to leave together is not the point, there is little of it: the test is sooner done.
  std::vector<std::string> hurry;
  if (others == std::string("blockuntil")) hurry.push_back("GASNET_EXITTIMEOUT=0.2");
  for (const int rank : {turn % 2, 1 - turn % 2}) {
    expect_end(leave(end, rank, others, ranks, hurry), end);
    if (is_network_) break;  // its start is the longest part of each case
  }
}

constexpr const char* kOutside =
    pinwire::kUsageChecks ? "are not in the segment of node" : "outside the segment of rank";
constexpr End kEnds[] = {
    {"exit", 42},
    {"return", 42},
    {"return0", 0},
    {"libc_exit", 42},
    {"section", 42},
    {"hsl", 42},
    {"access_region", 42},
    {"notified", 42},
    {"in_flight", 42},
    {"child", 42},
    {"handler", 42},
    {"handler_hsl", 42},
    {"remote_handler", 42},
    {"reply_handler", 42},
    {"remote_reply_handler", 42},
    {"signal_in_blockuntil", 42},
    {"signal_in_malloc", 42},
    {"signal_in_flood", 42},
    {"signal_in_sync", 42},
    {"thread", 42},
    {"thread_codes", 42, "", 45},
    {"while_threads_poll", 42},
    {"return_while_threads_poll", 42},
    {"while_stdin_is_read", 42},
    {"while_thread_reads_pipe", 42},
    {"exit_while_thread_reads_pipe", 42},
    {"abort", 128 + SIGABRT, "killed by signal 6"},
    {"segv", 128 + SIGSEGV, "killed by signal 11"},
    {"handler_segv", 128 + SIGSEGV, "killed by signal 11"},
    {"kill", 128 + SIGKILL, "killed by signal 9"},
    {"term", 128 + SIGQUIT, "killed by signal 3"},
    {"int", 128 + SIGQUIT, "killed by signal 3"},
    {"quit", 128 + SIGQUIT, "killed by signal 3"},
    {"term_caught", 55},
    {"unregistered", 128 + SIGABRT, "names handler 222, which is not registered"},
    {"double_notify", 128 + SIGABRT, "C1-265"},
    {"outside_segment", 128 + SIGABRT, kOutside},
};
constexpr End kThreeEnds[] = {
    {"exit", 42}, {"segv", 128 + SIGSEGV}, {"kill", 128 + SIGKILL, "killed by signal 9"}};
constexpr End kEarlyEnds[] = {{"before_attach_exit", 42},
                              {"before_attach_return", 42},
                              {"before_attach_abort", 128 + SIGABRT},
                              {"before_attach_segv", 128 + SIGSEGV},
                              {"before_attach_kill", 128 + SIGKILL}};
constexpr End kBeforeInit[] = {{"before_init", 42, "exited with code 42 without gasnet_exit"}};

std::string name_of(const testing::TestParamInfo<std::tuple<End, const char*>>& info) {
  return std::string(std::get<0>(info.param).how) + "_others_" + std::get<1>(info.param);
}

INSTANTIATE_TEST_SUITE_P(C1_102_AnyContext, Leaving,
                         testing::Combine(testing::ValuesIn(kEnds), testing::Values("blockuntil")),
                         name_of);
INSTANTIATE_TEST_SUITE_P(C1_026_OthersDoAnything, Leaving,
                         testing::Combine(testing::ValuesIn(kThreeEnds),
                                          testing::Values("barrier", "sync", "flood", "compute",
                                                          "sleep", "stubborn")),
                         name_of);
INSTANTIATE_TEST_SUITE_P(C1_099_BeforeAttach, Leaving,
                         testing::Combine(testing::ValuesIn(kEarlyEnds),
                                          testing::Values("attach", "sleep")),
                         name_of);
INSTANTIATE_TEST_SUITE_P(C1_026_BeforeInit, Leaving,
                         testing::Combine(testing::ValuesIn(kBeforeInit),
                                          testing::Values("blockuntil")),
                         name_of);

using Exit = Leaving;

TEST_F(Exit, C1_098_OneRankAlone) {
  for (const End& end :
       {End{"exit", 42}, End{"return", 42}, End{"return0", 0}, End{"libc_exit", 42},
        End{"handler", 42}, End{"reply_handler", 42}, End{"signal_in_blockuntil", 42},
        End{"abort", 128 + SIGABRT}, End{"segv", 128 + SIGSEGV}, End{"kill", 128 + SIGKILL},
        End{"term", 128 + SIGQUIT}, End{"before_attach_exit", 42}, End{"before_init", 42}}) {
    SCOPED_TRACE(end.how);
    expect_end(leave(end, 0, "blockuntil", 1), end);
  }
}

/// The launcher would kill the rank later; it must end by itself.
TEST_F(Exit, C1_100_AThreadThatReadsStandardInputHoldsNothingUp) {
  if (environment("EXIT_MODE") != "par") GTEST_SKIP() << "threads need PAR";
  const End end{"while_stdin_is_read", 42};
  const Outcome outcome = leave(end, 0, "blockuntil", 1);
  expect_end(outcome, end);
  EXPECT_EQ(outcome.err, "");
}

/// Nor does one that reads another stream; what was printed is not lost.
TEST_F(Exit, C1_100_AThreadThatReadsAPipeHoldsNothingUp) {
  if (environment("EXIT_MODE") != "par") GTEST_SKIP() << "threads need PAR";
  for (const End& end :
       {End{"while_thread_reads_pipe", 42}, End{"exit_while_thread_reads_pipe", 42}}) {
    const Outcome outcome = leave(end, 0, "blockuntil", 1);
    expect_end(outcome, end);
    EXPECT_EQ(outcome.err, "");
    EXPECT_EQ(count_of(outcome.out, "printed before the end"), 1) << outcome.out;
  }
}

TEST_F(Exit, C1_026_FourRanks) {
  for (const End& end : kThreeEnds) expect_end(leave(end, 2, "blockuntil", 4), end);
}

/// The library needs no handler of its own, which theirs replace (C1-060).
TEST_F(Exit, C1_103_OthersMayCatchSigquit) {
  for (const End& end : kThreeEnds) {
    const Outcome outcome = leave(end, 0, "catch", 3);
    EXPECT_EQ(outcome.code, end.code) << outcome.err;
    EXPECT_EQ(count_of(outcome.out, "saw SIGQUIT"), 2) << outcome.out << outcome.err;
  }
}

TEST_F(Exit, C1_101_DifferentCodesAtOnceGiveOneOfThem) {
  for (const char* code : {"17", "0"}) {
    const Outcome outcome = leave({"exit", 42}, 0, code, 3);
    EXPECT_TRUE(outcome.code == 42 || outcome.code == 17) << outcome.code << outcome.err;
  }
}

/// A rank that leaves still owes its peers what the network has lost of its last messages (C1-122).
TEST_F(Exit, C1_122_LastMessagesArriveThroughASwitchThatLosesEachThird) {
  if (driver_ != "dpdk") GTEST_SKIP() << "DPDK's switch loses frames when it is told to";
  if (environment("EXIT_MODE") != "seq") GTEST_SKIP() << "the driver's business: SEQ runs";
  for (const char* seed : {"1", "2", "3"}) {
    const Outcome outcome = leave({"together", 0}, 0, "together", 3,
                                  {std::string("GASNET_SWITCH_ARGS=--loss 0.3 --seed ") + seed});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(count_of(outcome.out, "has passed"), 3) << outcome.out << outcome.err;
  }
}

/// As a shell starts a background job.
TEST_F(Exit, C1_105_ATerminatedRankEndsTheJobThoughSigquitWasIgnored) {
  signal(SIGQUIT, SIG_IGN);
  const Outcome outcome = leave({"term", 0}, 1, "blockuntil", 2);
  signal(SIGQUIT, SIG_DFL);
  EXPECT_EQ(outcome.code, 128 + SIGQUIT) << outcome.err;
}

}  // namespace
