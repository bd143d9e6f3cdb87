// A job of client.c for one cell of the kill matrix: brought into the cell's phase, struck, and
// looked at until its end.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/job/kill_matrix/cell.h"
#include "tests/job/launch/run.h"

namespace pinwire_test {

class MatrixJob {
 public:
  /// `more`: variables that this target needs.
  MatrixJob(const Cell& cell, const std::vector<std::string>& more);
  ~MatrixJob();
  MatrixJob(const MatrixJob&) = delete;
  MatrixJob& operator=(const MatrixJob&) = delete;

  /// Waits for the phase, then `delay_us` more, and sends the signal; SIGCONT `stop_us` after the
  /// process has stopped. A sentence if that cannot be done.
  std::optional<std::string> strike(unsigned delay_us = 0, unsigned stop_us = 0);
  struct Verdict {
    Outcome outcome;
    double seconds = 0;  ///< from the signal until nothing was left of the job
    std::vector<std::string> left;
  };
  /// After strike(). A job that goes on is let through to its end.
  Verdict end();

 private:
  std::vector<std::string> words() const;
  void open(const char* gate) const;
  bool reach(const std::string& phase, int rank) const;
  int victim() const;
  std::optional<std::string> stop_and_continue(int process, unsigned stop_us) const;
  Outcome end_of_target() const;
  std::vector<std::string> left() const;

  const Cell cell_;
  Folder folder_, gates_;
  const std::string mark_;
  const std::vector<std::string> traces_before_;
  std::unique_ptr<Running> job_;
  double struck_s_ = 0;
};

}  // namespace pinwire_test
