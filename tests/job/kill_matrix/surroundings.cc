#include "tests/job/kill_matrix/surroundings.h"

#include <signal.h>

#include <cstdlib>
#include <stdexcept>

#include "tests/job/kill_matrix/own_folders.h"

namespace pinwire_test {

Surroundings& surroundings() {
  static Surroundings all;
  return all;
}

void Surroundings::close() {
  cluster_.reset();
  for (const int left : processes_with(mark_)) ::kill(left, SIGKILL);
}

std::string Surroundings::missing_for(Target target) const {
  if (target == Target::kMpirun && std::system("mpirun --version >/dev/null 2>&1") != 0)
    return "no mpirun here";
  if (target == Target::kSrun) return SlurmCluster::missing();
  if (target == Target::kSwitch && *std::getenv("PINWIRE_SWITCH") == '\0')
    return "built without DPDK";
  return "";
}

std::vector<std::string> Surroundings::variables_for(Target target) {
  if (target != Target::kSrun) return {};
  if (!cluster_) cluster_ = std::make_unique<SlurmCluster>(std::vector<std::string>{mark_});
  if (!cluster_->up()) throw std::runtime_error("no Slurm: " + cluster_->logs());
  return {cluster_->variable()};
}

}  // namespace pinwire_test
