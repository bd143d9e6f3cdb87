// The programs and daemons that jobs of the kill matrix need; the first that needs one starts it.
#pragma once

#include <unistd.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/job/hosts/slurm_cluster.h"
#include "tests/job/kill_matrix/cell.h"

namespace pinwire_test {

class Surroundings {
 public:
  /// The reason why there can be no jobs with this target here; empty if there can.
  std::string missing_for(Target target) const;
  /// The variables that a job with this target needs.
  std::vector<std::string> variables_for(Target target);
  void close();

 private:
  // Slurm leaves the daemons of steps whose srun was killed; they carry this.
  const std::string mark_ = "KILL_MATRIX_CLUSTER=" + std::to_string(::getpid());
  std::unique_ptr<SlurmCluster> cluster_;
};

Surroundings& surroundings();

}  // namespace pinwire_test
