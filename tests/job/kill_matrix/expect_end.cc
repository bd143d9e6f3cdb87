#include "tests/job/kill_matrix/expect_end.h"

#include <gtest/gtest.h>

namespace pinwire_test {

void expect_end(const Cell& cell, const MatrixJob::Verdict& verdict) {
  const auto codes = right_codes(cell);
  const auto& outcome = verdict.outcome;
  EXPECT_TRUE(codes.empty() ? outcome.code != 0 && outcome.code != 124
                            : codes.contains(outcome.code))
      << "code " << outcome.code << "\n"
      << outcome.err;
  EXPECT_NE(outcome.err.find(sentence_of(cell)), std::string::npos) << outcome.err;
  EXPECT_EQ(verdict.left, std::vector<std::string>());
}

}  // namespace pinwire_test
