// Each process of a job gets each signal in each phase of the job's life: the job ends with the
// right code, or goes on as if nothing had happened, and leaves nothing. How long that took is
// printed; scripts/kill-matrix measures what docs/running.md promises of it.
#include <gtest/gtest.h>

#include <cstdio>

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
};

TEST_P(KillMatrix, TheJobEndsOrGoesOnAndLeavesNothing) {
  const Target target = GetParam().target;
  if (const auto why = surroundings().missing_for(target); !why.empty()) GTEST_SKIP() << why;
  if (GetParam().over_dpdk)
    if (const auto why = surroundings().missing_for(Target::kSwitch); !why.empty())
      GTEST_SKIP() << why;
  MatrixJob job(GetParam(), surroundings().variables_for(target));
  const auto trouble = job.strike();
  ASSERT_FALSE(trouble) << *trouble;
  const auto verdict = job.end();
  expect_end(GetParam(), verdict);
  std::printf("%s: code %d after %.2f s\n", name_of(GetParam()).c_str(), verdict.outcome.code,
              verdict.seconds);
}

INSTANTIATE_TEST_SUITE_P(Cells, KillMatrix, testing::ValuesIn(all_cells()),
                         [](const auto& one) { return name_of(one.param); });

}  // namespace
}  // namespace pinwire_test
