#include "core/launch/agent/agent_plan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/launch/loop/signals.h"
#include "core/launch/plan/placement.h"
#include "core/launch/process/environment.h"

namespace pinwire::launch {
namespace {

Status enter(const std::string& folder) {
  const EndsBySignal entering;  // perhaps a folder of a file server that does not answer
  if (::chdir(folder.c_str()) == 0) return success();
  return error("there is no working directory %s there: %s", folder.c_str(), ::strerror(errno));
}

}  // namespace

Result<Settings> enter_plan(const RemotePlan& plan) {
  if (auto entered = enter(plan.folder); !entered) return entered.error();
  set_own_variables(plan.environment);
  return read_settings(::getenv);
}

Result<LocalPlan> plan_own_ranks(const RemotePlan& plan, const Settings& settings,
                                 const std::string& job_dir) {
  auto path = find_program(plan.command[0]);
  if (!path) return path.error();
  auto environment = own_environment();
  set_variable(environment, "GASNET_JOB_DIR", job_dir);
  LocalPlan local{.host_name = plan.host_name,
                  .first = plan.first,
                  .count = plan.count,
                  .rank_count = plan.rank_count,
                  .path = *path,
                  .arguments = plan.command,
                  .environment = std::move(environment),
                  .no_aslr = plan.no_aslr,
                  .own = std::vector<LocalPlan::Own>(plan.count)};
  if (plan.cpus_per_rank == 0) return local;
  if (auto bound = bind_ranks(settings, plan.cpus_per_rank, local); !bound) return bound.error();
  return local;
}

}  // namespace pinwire::launch
