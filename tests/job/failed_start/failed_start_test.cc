// A client that ignores why its start failed: its next call that communicates or waits ends it,
// with the first failure's sentence. The clients are ignores.c and ignores_ex.c.
#include <gtest/gtest.h>
#include <signal.h>

#include <cstdlib>
#include <filesystem>

#include "tests/job/launch/run.h"

using namespace pinwire_test;

namespace {

constexpr double kLimitS = 60;  ///< of a call that does not end the process

struct Client {
  const char* variable;  ///< that names the program
  const char* start;     ///< the call that fails where there is no job
  const char* attach;    ///< and where there is one
  std::vector<const char*> calls;
};
void PrintTo(const Client& client, std::ostream* out) { *out << client.variable; }

const Client kGasnet1{
    "IGNORES",
    "gasnet_init",
    "gasnet_attach",
    {"short", "medium", "long", "put", "get", "put_nb", "get_nbi", "get_val", "put_own_segment",
     "memset", "wait", "try", "notify", "barrier", "poll", "block_until"}};
const Client kEx{
    "IGNORES_EX",
    "gex_Client_Init",
    "gex_Client_Init",
    {"short", "medium", "put", "get", "put_nb", "get_nbi", "wait", "test", "barrier", "broadcast",
     "split", "attach", "ask_for_segment", "atomic_domain", "poll", "block_until"}};

class FailedStart : public testing::TestWithParam<Client> {
 protected:
  std::string program() const { return std::getenv(GetParam().variable); }
  /// The setting is refused before there is a job.
  Outcome without_job(const char* call) const {
    return run({program(), call}, {"GASNET_DRIVER=nonsense"}, "", kLimitS);
  }
  /// The last step fails: segments are published by then, and messages could be sent.
  Outcome late(const char* call) const {
    return run({program(), call, "signals"}, {"GASNET_DISPATCH=interrupt"}, "", kLimitS);
  }
  static void expect_refusal(const Outcome& outcome, const char* call, const std::string& why) {
    EXPECT_EQ(outcome.code, 128 + SIGABRT) << call << ": " << outcome.err;
    EXPECT_NE(outcome.err.find(" cannot go on: " + why), std::string::npos)
        << call << ": " << outcome.err;
  }
};

TEST_P(FailedStart, WithoutAJobTheNextCallEndsTheProcess) {
  const auto why = std::string(GetParam().start) + " failed: ";
  for (const char* call : GetParam().calls) expect_refusal(without_job(call), call, why);
}

TEST_P(FailedStart, AfterTheLastStepTheNextCallEndsTheProcess) {
  const auto why = std::string(GetParam().attach) + " failed: GASNET_DISPATCH asks for interrupts";
  for (const char* call : GetParam().calls) expect_refusal(late(call), call, why);
}

TEST_P(FailedStart, TheClientMayLeave) {
  EXPECT_EQ(without_job("exit").code, 7);
  EXPECT_EQ(late("exit").code, 7);
}

TEST_P(FailedStart, ARankWithoutADeviceEndsItsJob) {
  if (std::filesystem::exists("/sys/class/infiniband")) GTEST_SKIP() << "there may be RDMA devices";
  for (const char* call : {"short", "block_until", "barrier"}) {
    const auto outcome = run({std::getenv("GASNETRUN"), "-n", "2", program(), call},
                             {"GASNET_DRIVER=verbs"}, "", kLimitS);
    expect_refusal(outcome, call, std::string(GetParam().attach) + " failed: ");
  }
}

INSTANTIATE_TEST_SUITE_P(, FailedStart, testing::Values(kGasnet1, kEx),
                         [](const auto& client) { return std::string(client.param.variable); });

TEST(FailedStartCalls, TheClientMayStartAgain) {
  const auto outcome = run({std::getenv("IGNORES"), "start_again"}, {"GASNET_DRIVER=nonsense"});
  EXPECT_EQ(outcome.code, 6) << outcome.err;
}

/// A launcher takes a rank once.
TEST(FailedStartCalls, ARankOfALauncherCannotStartAgain) {
  // The launcher itself would refuse the setting in its own environment.
  const auto outcome = run({std::getenv("GASNETRUN"), "-n", "2", "env", "GASNET_DRIVER=nonsense",
                            std::getenv("IGNORES"), "start_again"},
                           {}, "", kLimitS);
  EXPECT_NE(outcome.err.find("it can join once: start the job anew"), std::string::npos)
      << outcome.err;
  EXPECT_NE(outcome.code, 6) << outcome.err;
}

TEST(FailedStartCalls, ArgumentsThatAttachRefusesEndTheClientThatGoesOn) {
  for (const char* wrong : {"size", "index"})
    for (const char* call : {"short", "block_until", "barrier"}) {
      const auto outcome = run({std::getenv("IGNORES"), call, wrong}, {}, "", kLimitS);
      EXPECT_EQ(outcome.code, 128 + SIGABRT) << wrong << ' ' << call << ": " << outcome.err;
      EXPECT_NE(outcome.err.find(" cannot go on: gasnet_attach failed: "), std::string::npos)
          << wrong << ' ' << call << ": " << outcome.err;
    }
}

TEST(FailedStartCalls, WhatOnlyWorksInTheProcessGoesOn) {
  const auto outcome = run({std::getenv("IGNORES"), "harmless"}, {"GASNET_DRIVER=nonsense"});
  EXPECT_EQ(outcome.code, 4) << outcome.err;
  EXPECT_NE(outcome.out.find("GASNET_ERR_RESOURCE"), std::string::npos) << outcome.out;
}

}  // namespace
