// The same ranks under srun, through PMIx: on one node, and over two.
#include <signal.h>

#include "tests/job/hosts/slurm_cluster.h"
#include "tests/job/launch/launch_fixture.h"

namespace pinwire_test {
namespace {

class Srun : public Launch {
 protected:
  void SetUp() override {
    if (const auto why = SlurmCluster::missing(); !why.empty()) GTEST_SKIP() << why;
    cluster_ = std::make_unique<SlurmCluster>(std::vector<std::string>{mark_});
    ASSERT_TRUE(cluster_->up()) << cluster_->logs();
  }
  void TearDown() override {
    cluster_.reset();
    Launch::TearDown();
  }
  Outcome srun(int ranks, int nodes, std::vector<std::string> words,
               const std::string& more = kPatience) const {
    std::vector<std::string> all = {
        "srun", "-K", "--mpi=pmix", "-n", std::to_string(ranks), "-N", std::to_string(nodes)};
    all.insert(all.end(), words.begin(), words.end());
    return run(all, environment({cluster_->variable(), more}), "", 90);
  }
  std::unique_ptr<SlurmCluster> cluster_;
};

TEST_F(Srun, RunsJobsToTheirEnd) {
  const auto gathered = srun(4, 2, {rank_, "gather", "1000", "5"});
  EXPECT_EQ(gathered.code, 0) << gathered.err;
  EXPECT_EQ(sorted_lines(gathered.out),
            (std::vector<std::string>{"pmix rank 0 of 4 key yes", "pmix rank 1 of 4 key yes",
                                      "pmix rank 2 of 4 key yes", "pmix rank 3 of 4 key yes"}))
      << gathered.err;
  const struct { int ranks, nodes; } shapes[] = {{2, 1}, {4, 2}};
  for (const auto& shape : shapes) {
    for (const char* program : {"AM_MATRIX", "RMA_MATRIX"}) {
      const auto outcome = srun(shape.ranks, shape.nodes, {std::getenv(program)});
      EXPECT_EQ(outcome.code, 0) << outcome.err << cluster_->logs();
      EXPECT_EQ(count_of(outcome.out, "ok with " + std::to_string(shape.ranks) + " ranks"), 1)
          << outcome.out << outcome.err;
    }
  }
}

TEST_F(Srun, TwoRanksMeetOverDpdkInADirectoryThatNobodyNames) {
  const std::string client = std::getenv("DPDK_CLIENT");
  if (client.empty()) GTEST_SKIP() << "built without DPDK";
  const auto outcome =
      srun(2, 1, {"env", "GASNET_DRIVER=dpdk", "GASNET_DPDK_HUGEPAGES=never", client});
  EXPECT_EQ(outcome.code, 0) << outcome.err << cluster_->logs();
  EXPECT_EQ(count_of(outcome.out, "ok with 2 ranks"), 1) << outcome.out << outcome.err;
}

TEST_F(Srun, C1_099_105_OneRankThatLeavesOrCrashesEndsTheJob) {
  // srun tells the highest code of all tasks, also of those that it ended with SIGTERM itself.
  const struct {
    std::vector<std::string> deed;
    int code, or_code;
  } cases[] = {{{"leave", "7"}, 7, 7}, {{"kill"}, 128 + SIGKILL, 128 + SIGTERM}};
  for (const auto& one : cases) {
    auto words = std::vector<std::string>{rank_, "one", "1"};
    words.insert(words.end(), one.deed.begin(), one.deed.end());
    const auto outcome = srun(4, 2, words, "GASNET_EXITTIMEOUT=1");
    EXPECT_TRUE(outcome.code == one.code || outcome.code == one.or_code)
        << outcome.code << outcome.out << outcome.err;
  }
}

}  // namespace
}  // namespace pinwire_test
