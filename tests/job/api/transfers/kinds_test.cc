// Misuses of device memory that end a program, and the sentence of gex_MK_Create where there is no
// device (EX-047, EX-051, EX-059, EX-119).
#include <gtest/gtest.h>
#include <signal.h>

#include <cstdlib>
#include <cstring>

#include "tests/job/launch/run.h"

using namespace pinwire_test;

namespace {

Outcome kinds(const std::string& how, const std::vector<std::string>& more = {}) {
  std::vector<std::string> environment = {"GASNET_DRIVER=shm"};
  environment.insert(environment.end(), more.begin(), more.end());
  return run({std::getenv("KINDS"), "cuda", how}, environment);
}

struct Case {
  const char* how;
  const char* sentence;
  const char* sentence_in_debug = nullptr;  ///< of a debug build, which looks first
  bool is_for_debug = false;                ///< others do not look, and crash
};
class Misuse : public testing::TestWithParam<Case> {};

TEST_P(Misuse, EndsTheProgram) {
  const bool is_debug = std::strcmp(std::getenv("KINDS_DEBUG"), "1") == 0;
  if (GetParam().is_for_debug && !is_debug) GTEST_SKIP() << "debug builds alone look";
  const Outcome outcome = kinds(GetParam().how);
  EXPECT_EQ(outcome.code, 128 + SIGABRT) << outcome.out << outcome.err;
  const char* in_debug = GetParam().sentence_in_debug;
  EXPECT_TRUE(outcome.err.find(GetParam().sentence) != std::string::npos ||
              (in_debug != nullptr && outcome.err.find(in_debug) != std::string::npos))
      << outcome.err;
}

constexpr Case kCases[] = {
    {"atomic", "remote atomics are for the host's memory"},
    {"kind", "gex_MK_Destroy of a kind of CUDA device 0, of which there are 2 segment(s)"},
    {"beyond", "reach beyond a segment of CUDA device 0"},
    {"outside", "is outside the segment of rank 0's endpoint 2",
     "are not in the segment of node 0"},
    {"collective", "the result of a collective, 100 bytes at"},
    {"medium", "the payload of a Medium, 100 bytes at", nullptr, true},
    {"long", "the payload of a Long, 100 bytes at", nullptr, true},
    {"scratch", "whose segment is memory of CUDA device 0, wants GEX_FLAG_TM_NO_SCRATCH (EX-119)"},
};
INSTANTIATE_TEST_SUITE_P(Kinds, Misuse, testing::ValuesIn(kCases),
                         [](const auto& made) { return made.param.how; });

TEST(KindsRefused, WhereHandlersRunInSignals) {
  for (const char* dispatch : {"interrupt", "watchdog"}) {
    const Outcome outcome = kinds("create", {std::string("GASNET_DISPATCH=") + dispatch});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_NE(
        outcome.err.find("GEX_MK_CLASS_CUDA_UVA cannot be had here: devices' libraries may not "
                         "be called in signals"),
        std::string::npos)
        << outcome.err;
  }
}

TEST(KindsRefused, WhereThereIsNoDevice) {
  const Outcome outcome = kinds("create", {"FAKE_DEVICES=0"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.err.find("cuInit finds no device"), std::string::npos) << outcome.err;
}

}  // namespace
