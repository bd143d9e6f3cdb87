// Each process of a job gets each signal in each phase of the job's life: the job ends with the
// right code, or goes on as if nothing had happened, and leaves nothing. How long that took is
// printed; scripts/kill-matrix measures what docs/running.md promises of it.
#include <gtest/gtest.h>

#include <cstdio>
#include <string>
#include <vector>

#include "tests/job/kill_matrix/expect_end.h"
#include "tests/job/kill_matrix/surroundings.h"

namespace pinwire_test {
namespace {

std::vector<Cell> all_cells() {
  std::vector<Cell> cells;
  for (const Target target : all_targets())
    for (const int signal : all_signals())
      for (const Phase phase : {Phase::kStarting, Phase::kRunning, Phase::kExiting})
        cells.push_back({target, signal, phase});
  // The launcher is struck while its switch starts, too.
  for (const int signal : all_signals())
    for (const Phase phase : {Phase::kAtOnce, Phase::kRunning})
      cells.push_back({Target::kLauncher, signal, phase, true});
  return cells;
}

class KillMatrix : public testing::TestWithParam<Cell> {
 protected:
  static void TearDownTestSuite() { surroundings().close(); }

  /// A step manager of Slurm that is to cancel a step which ends just then may wait for ever, in
  /// PMIx_server_finalize(), for a thread of libpmix (Slurm 22.05 with PMIx 4.2). All processes of
  /// the step have ended, but srun gives up 30 s later only, and with any code.
  static bool has_manager_hung(const MatrixJob::Verdict& verdict) {
    return verdict.outcome.err.find("srun: error: Timed out waiting for job step to complete") !=
           std::string::npos;
  }
  /// Tries again where the manager has hung: the job must have left nothing all the same.
  static MatrixJob::Verdict struck() {
    constexpr int kTriesMax = 4;
    MatrixJob::Verdict verdict;
    for (int tries = 0; tries < kTriesMax && (tries == 0 || has_manager_hung(verdict)); ++tries) {
      EXPECT_EQ(verdict.left, std::vector<std::string>());
      verdict = strike_one();
    }
    return verdict;
  }
  static MatrixJob::Verdict strike_one() {
    MatrixJob job(GetParam(), surroundings().variables_for(GetParam().target));
    const auto trouble = job.strike();
    [&] { ASSERT_FALSE(trouble) << *trouble; }();
    return trouble ? MatrixJob::Verdict{} : job.end();
  }
};

TEST_P(KillMatrix, TheJobEndsOrGoesOnAndLeavesNothing) {
  const Target target = GetParam().target;
  if (const auto why = surroundings().missing_for(target); !why.empty()) GTEST_SKIP() << why;
  if (GetParam().over_dpdk)
    if (const auto why = surroundings().missing_for(Target::kSwitch); !why.empty())
      GTEST_SKIP() << why;
  const auto verdict = struck();
  if (HasFatalFailure()) return;
  if (has_manager_hung(verdict)) GTEST_SKIP() << "the step manager of Slurm hung each time";
  expect_end(GetParam(), verdict);
  std::printf("%s: code %d after %.2f s\n", name_of(GetParam()).c_str(), verdict.outcome.code,
              verdict.seconds);
}

INSTANTIATE_TEST_SUITE_P(Cells, KillMatrix, testing::ValuesIn(all_cells()),
                         [](const auto& one) { return name_of(one.param); });

}  // namespace
}  // namespace pinwire_test
