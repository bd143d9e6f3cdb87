// Whole jobs whose ranks see each other only as hosts do: one network namespace a rank, veth pairs,
// a bridge, and DPDK's af_packet port on each interface.
#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/job/launch/launch_fixture.h"

namespace pinwire_test {
namespace {

struct Job {
  const char* program;  ///< name of the variable that has its path
  int ranks;
  const char* depth;
  std::vector<std::string> words = {};
};
void PrintTo(const Job& job, std::ostream* out) { *out << job.program << " of " << job.ranks; }

class Bridged : public Launch, public testing::WithParamInterface<Job> {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "network namespaces need root";
    const auto probe = launch(1, {"true"}, {"-spawner=netns"});
    if (probe.code != 0) GTEST_SKIP() << "no network namespaces here: " << probe.err;
  }
};

TEST_P(Bridged, RunsToItsEnd) {
  const Job& job = GetParam();
  std::vector<std::string> words = {std::getenv(job.program)};
  words.insert(words.end(), job.words.begin(), job.words.end());
  const auto outcome =
      launch(job.ranks, words, {"-spawner=netns"},
             {"GASNET_DRIVER=dpdk", std::string("GASNET_NETWORKDEPTH=") + job.depth, kPatience});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(count_of(outcome.out, "ok with " + std::to_string(job.ranks) + " ranks"), 1)
      << outcome.out << outcome.err;
}

// Eight ranks share the cores with the kernel's bridge: fewer rounds for them.
INSTANTIATE_TEST_SUITE_P(Jobs, Bridged,
                         testing::Values(Job{"AM_MATRIX", 4, "256"}, Job{"RMA_MATRIX", 4, "256"},
                                         Job{"BARRIER_MATRIX", 8, "256"},
                                         Job{"STORM", 4, "2", {"100"}},
                                         Job{"STORM", 8, "2", {"40"}}),
                         [](const auto& one) {
                           return one.param.program + std::string("_") +
                                  std::to_string(one.param.ranks);
                         });

}  // namespace
}  // namespace pinwire_test
