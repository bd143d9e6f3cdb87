// The demands on every cell of the kill matrix.
#pragma once

#include "tests/job/kill_matrix/matrix_job.h"

namespace pinwire_test {

/// Fails the test that runs unless the job ended with a right code and a sentence, and left
/// nothing.
void expect_end(const Cell& cell, const MatrixJob::Verdict& verdict);

}  // namespace pinwire_test
