#include "core/bootstrap/outer_job.h"

#include <cstdlib>
#include <string_view>

#include "core/base/files/locked_dir.h"
#include "core/bootstrap/launcher_client.h"

namespace pinwire {
namespace {

constexpr const char* kDirVariable = "GASNET_JOB_DIR";
/// The launcher sets them for each rank, and nobody else does.
constexpr const char* kLaunchersVariables[] = {kJobFdVariable,     kJobPmixVariable,
                                               "GASNET_JOB_RANK",  "GASNET_JOB_RANKS",
                                               "GASNET_JOB_AGAIN", "GASNET_JOB_FREE_CPUS"};

/// The launcher's directories have a name of their own.
bool is_launchers(std::string_view directory) {
  return directory.substr(directory.rfind('/') + 1).starts_with(kJobDirStart);
}

}  // namespace

std::string pmix_process(const std::function<const char*(const char* name)>& look_up) {
  const char* const space = look_up("PMIX_NAMESPACE");
  const char* const rank = look_up("PMIX_RANK");
  if (space == nullptr || rank == nullptr) return "";
  return std::string(space) + " " + rank;
}

bool is_of_inner_job() {
  const char* const of_launcher = std::getenv(kJobPmixVariable);
  if (of_launcher == nullptr) return false;
  const std::string now = pmix_process([](const char* name) { return std::getenv(name); });
  return !now.empty() && now != of_launcher;
}

void leave_outer_job() {
  for (const char* name : kLaunchersVariables) ::unsetenv(name);
  const char* const directory = std::getenv(kDirVariable);
  if (directory != nullptr && is_launchers(directory)) ::unsetenv(kDirVariable);
}

}  // namespace pinwire
