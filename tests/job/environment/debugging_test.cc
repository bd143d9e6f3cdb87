// GASNET_FREEZE, GASNET_BACKTRACE and their kin, on real jobs.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include "tests/job/launch/launch_fixture.h"

namespace pinwire_test {
namespace {

class Debugging : public Launch {
 protected:
  const std::string seq_ = std::getenv("ENVIRONMENT_SEQ");

  std::vector<std::string> with(std::vector<std::string> more) const {
    more.push_back("GASNET_DRIVER=shm");
    return environment(more);
  }
  Outcome die(const char* how, std::vector<std::string> more) const {
    return run(command(2, {seq_, "die", how}), with(more));
  }
  /// The number after the `count`th `word`.
  static int number_after(const std::string& text, const std::string& word, int count = 1) {
    size_t at = 0;
    for (; count > 0 && at != std::string::npos; --count) at = text.find(word, at) + word.size();
    return std::atoi(text.c_str() + at);
  }
};

constexpr const char* kFrozen = ": frozen, as GASNET_";
constexpr const char* kHere = "die_in_a_known_function";

TEST_F(Debugging, FreezeWaitsForSigcont) {
  Running job(command(2, {seq_, "facts"}), with({"GASNET_FREEZE=1"}));
  ASSERT_TRUE(job.wait_for_error(kFrozen, 2)) << job.err();
  for (const int rank : {1, 2}) ::kill(number_after(job.err(), "gdb -p ", rank), SIGCONT);
  const auto outcome = job.wait();
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(count_of(outcome.out, "segment limit"), 2);
}

TEST_F(Debugging, FreezeWaitsForADebugger) {
  if (run({"gdb", "--version"}).code != 0) GTEST_SKIP() << "no gdb";
  Running job(command(1, {seq_, "facts"}), with({"GASNET_FREEZE=1"}));
  ASSERT_TRUE(job.wait_for_error(kFrozen, 1)) << job.err();
  const auto gdb =
      run({"gdb", "-q", "-nx", "-batch", "-p", std::to_string(number_after(job.err(), "gdb -p ")),
           "-ex", "set var *(int*)&pinwire_frozen = 0"});
  if (gdb.err.find("ptrace") != std::string::npos) GTEST_SKIP() << "gdb may not attach here";
  EXPECT_EQ(job.wait().code, 0) << gdb.err;
}

TEST_F(Debugging, AFrozenJobCanBeInterrupted) {
  Running job(command(2, {seq_, "facts"}), with({"GASNET_FREEZE=1"}));
  ASSERT_TRUE(job.wait_for_error(kFrozen, 2)) << job.err();
  ::kill(job.process(), SIGTERM);
  EXPECT_EQ(job.wait().code, 128 + SIGTERM);
}

TEST_F(Debugging, FreezeOnErrorWaitsBeforeTheEnd) {
  for (const char* how : {"abort", "segv", "fatal"}) {
    Running job(command(2, {seq_, "die", how}), with({"GASNET_FREEZE_ON_ERROR=1"}));
    ASSERT_TRUE(job.wait_for_error(kFrozen, 1)) << job.err();
    ::kill(number_after(job.err(), "gdb -p "), SIGCONT);
    EXPECT_EQ(job.wait().code, 128 + (how == std::string("segv") ? SIGSEGV : SIGABRT)) << how;
  }
}

TEST_F(Debugging, FreezeSignalFreezesAndTheRankGoesOn) {
  Running job(command(1, {seq_, "wait_until_told"}), with({"GASNET_FREEZE_SIGNAL=usr1"}));
  ASSERT_TRUE(job.wait_for("waiting: ", 1));
  const int process = number_after(job.out(), "waiting: ");
  ::kill(process, SIGUSR1);
  ASSERT_TRUE(job.wait_for_error(kFrozen, 1)) << job.err();
  ::kill(process, SIGCONT);
  job.tell("\n");
  EXPECT_EQ(job.wait().code, 0) << job.err();
}

TEST_F(Debugging, C1_025_BacktraceShowsWhereARankDied) {
  for (const char* how : {"abort", "segv", "fatal"}) {
    const auto outcome = die(how, {"GASNET_BACKTRACE=1", "GASNET_BACKTRACE_TYPE=EXECINFO"});
    EXPECT_EQ(outcome.code, 128 + (how == std::string("segv") ? SIGSEGV : SIGABRT)) << how;
    EXPECT_NE(outcome.err.find("environment_seq"), std::string::npos) << outcome.err;
    const bool has_lines = run({"addr2line", "--version"}).code == 0;
    EXPECT_TRUE(!has_lines || outcome.err.find(kHere) != std::string::npos) << outcome.err;
    EXPECT_EQ(die(how, {}).err.find("environment_seq("), std::string::npos) << "nobody asked";
  }
}

TEST_F(Debugging, BacktraceByGdbShowsAllThreads) {
  if (run({"gdb", "--version"}).code != 0) GTEST_SKIP() << "no gdb";
  const auto outcome =
      die("segv", {"GASNET_BACKTRACE=1", "GASNET_BACKTRACE_TYPE=GDB", "GASNET_BACKTRACE_MT=1"});
  EXPECT_EQ(outcome.code, 128 + SIGSEGV);
  if (outcome.err.find("#0") == std::string::npos) GTEST_SKIP() << "gdb may not attach here";
  EXPECT_NE(outcome.err.find("Thread 1 "), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find(kHere), std::string::npos) << outcome.err;
}

TEST_F(Debugging, BacktraceNodesLimitsWhoShowsOne) {
  const auto outcome = die("abort", {"GASNET_BACKTRACE=1", "GASNET_BACKTRACE_TYPE=EXECINFO",
                                     "GASNET_BACKTRACE_NODES=1-3"});
  EXPECT_EQ(outcome.code, 128 + SIGABRT);
  EXPECT_EQ(outcome.err.find("environment_seq("), std::string::npos) << outcome.err;
}

TEST_F(Debugging, BacktraceSignalShowsOneAndTheRankGoesOn) {
  Running job(command(1, {seq_, "wait_until_told"}),
              with({"GASNET_BACKTRACE_SIGNAL=SIGUSR2", "GASNET_BACKTRACE_TYPE=EXECINFO"}));
  ASSERT_TRUE(job.wait_for("waiting: ", 1));
  ::kill(number_after(job.out(), "waiting: "), SIGUSR2);
  EXPECT_TRUE(job.wait_for_error("environment_seq(", 1)) << job.err();
  job.tell("\n");
  EXPECT_EQ(job.wait().code, 0);
}

TEST_F(Debugging, BacktraceTypeThatNobodyKnowsIsTold) {
  const auto outcome = die("abort", {"GASNET_BACKTRACE_TYPE=PIGEON,EXECINFO"});
  EXPECT_NE(outcome.err.find("GASNET_BACKTRACE_TYPE names PIGEON"), std::string::npos);
}

/// No child speaks for a rank, or ends it: the job goes on.
TEST_F(Debugging, AForkedChildDiesAlone) {
  const struct {
    const char *how, *end;
  } cases[] = {{"abort", "died by 6"},
               {"segv", "died by 11"},
               {"fatal", "died by 6"},
               {"terminated", "died by 15"},
               {"exit", "exited with 3"}};
  for (const char* driver : {"shm", "dpdk"}) {
    if (driver == std::string("dpdk") && std::getenv("DPDK_BUILT") != std::string("yes")) continue;
    for (const auto& one : cases) {
      const auto outcome = run(command(2, {seq_, "child", one.how}),
                               environment({std::string("GASNET_DRIVER=") + driver}));
      EXPECT_EQ(outcome.code, 0) << one.how << outcome.err;
      EXPECT_EQ(count_of(outcome.out, std::string("the child ") + one.end), 2)
          << driver << ", " << one.how << outcome.out << outcome.err;
      EXPECT_EQ(outcome.err.find("pinwire: rank "), std::string::npos) << outcome.err;
      const int says = one.how == std::string("fatal") ? 2 : 0;
      EXPECT_EQ(count_of(outcome.err, ", a child of rank "), says) << one.how << outcome.err;
    }
  }
}

TEST_F(Debugging, NoCatchSignalLeavesTheDefaultAction) {
  const std::string caught = "fatal: caught SIGSEGV (11)";
  EXPECT_NE(die("segv", {}).err.find(caught), std::string::npos);
  for (const char* left_alone : {"SEGV", "sigsegv,ABRT", "11", "*"}) {
    const auto outcome = die("segv", {std::string("GASNET_NO_CATCH_SIGNAL=") + left_alone});
    EXPECT_EQ(outcome.code, 128 + SIGSEGV);
    EXPECT_EQ(outcome.err.find(caught), std::string::npos) << left_alone << outcome.err;
  }
}

TEST_F(Debugging, C1_104_NoCatchSignalOfSigterm) {
  for (const bool is_left_alone : {false, true}) {
    Running job(command(2, {seq_, "wait"}),
                with({std::string("GASNET_NO_CATCH_SIGNAL=") + (is_left_alone ? "term" : "")}));
    ASSERT_TRUE(job.wait_for("waiting: ", 2));
    ::kill(number_after(job.out(), "waiting: "), SIGTERM);
    EXPECT_EQ(job.wait().code, 128 + (is_left_alone ? SIGTERM : SIGQUIT));
  }
}

}  // namespace
}  // namespace pinwire_test
