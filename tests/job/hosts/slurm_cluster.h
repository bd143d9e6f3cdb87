// A Slurm cluster of this test alone: munge, a controller and two nodes that are both this host,
// all in one directory, on ports that nobody else uses.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tests/job/launch/run.h"

namespace pinwire_test {

class SlurmCluster {
 public:
  /// Why there can be none here; empty if there can.
  static std::string missing();
  /// `variables`: what every process of it carries.
  explicit SlurmCluster(const std::vector<std::string>& variables);
  ~SlurmCluster();
  SlurmCluster(const SlurmCluster&) = delete;
  SlurmCluster& operator=(const SlurmCluster&) = delete;
  bool up() const { return up_; }
  /// The output of its daemons, for a test that fails.
  std::string logs() const;
  /// The environment by which srun finds it.
  std::string variable() const { return "SLURM_CONF=" + folder_.path() + "/slurm.conf"; }

 private:
  std::string path(const char* name) const { return folder_.path() + "/" + name; }
  void configure() const;
  bool wait_until_idle() const;

  Folder folder_;
  std::vector<std::string> variables_;
  std::vector<std::unique_ptr<Running>> daemons_;
  bool up_ = false;
};

}  // namespace pinwire_test
