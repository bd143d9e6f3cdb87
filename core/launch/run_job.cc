#include "core/launch/run_job.h"

#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

#include "core/base/log.h"
#include "core/bootstrap/environment_block.h"
#include "core/launch/binding.h"
#include "core/launch/janitor.h"
#include "core/launch/job.h"
#include "core/launch/job_dir.h"
#include "core/launch/local_host.h"
#include "core/launch/signals.h"

namespace pinwire::launch {
namespace {

std::string this_host() {
  char name[256] = "";
  ::gethostname(name, sizeof name - 1);
  return name;
}

/// Ranks need three descriptors each here.
void raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

bool starts_with_name(const std::string& assignment, const std::string& name) {
  return assignment.size() > name.size() && assignment[name.size()] == '=' &&
         assignment.starts_with(name);
}

void set_variable(std::vector<std::string>& environment, const std::string& name,
                  const std::string& value) {
  std::erase_if(environment, [&](auto& one) { return starts_with_name(one, name); });
  environment.push_back(name + "=" + value);
}

std::vector<std::string> job_environment(const LaunchOptions& options, const std::string& job_dir) {
  std::vector<std::string> environment;
  for (char** one = environ; *one != nullptr; ++one) environment.emplace_back(*one);
  set_variable(environment, "GASNET_JOB_DIR", job_dir);
  if (!options.driver.empty()) set_variable(environment, "GASNET_DRIVER", options.driver);
  return environment;
}

std::vector<std::byte> block_of(const std::vector<std::string>& environment) {
  std::vector<const char*> list;
  for (const auto& one : environment) list.push_back(one.c_str());
  list.push_back(nullptr);
  const bootstrap::EnvironmentBlock block(list.data());
  return {block.bytes().begin(), block.bytes().end()};
}

Result<LocalPlan> plan_local(const LaunchOptions& options,
                             const std::vector<std::string>& environment) {
  auto path = find_program(options.command[0]);
  if (!path) return path.error();
  LocalPlan plan{.host_name = this_host(),
                 .first = 0,
                 .count = options.rank_count,
                 .rank_count = options.rank_count,
                 .path = *path,
                 .arguments = options.command,
                 .environment = environment,
                 .stdin_fd = 0,
                 .own = std::vector<LocalPlan::Own>(options.rank_count)};
  if (options.bind) {
    auto cpus = bind_plan(options.rank_count, std::max(options.cpus_per_rank, 1U));
    if (!cpus) return cpus.error();
    for (Rank rank = 0; rank < options.rank_count; ++rank) plan.own[rank].cpus = (*cpus)[rank];
  }
  return plan;
}

Result<int> run_ranks(const Settings& settings, const LaunchOptions& options, LocalPlan local,
                      const std::vector<std::string>& environment) {
  Loop loop;
  Job job(loop, {.rank_count = options.rank_count,
                 .exit_timeout_ms =
                     static_cast<int64_t>(exit_timeout_s(settings, options.rank_count) * 1000),
                 .tag_lines = options.tag_lines,
                 .verbose = options.verbose,
                 .environment = block_of(environment)});
  auto host = std::make_unique<LocalHost>(loop, job, std::move(local));
  auto* const local_host = host.get();
  const auto reap = [local_host] {
    int wait_status = 0;
    for (pid_t process; (process = ::waitpid(-1, &wait_status, WNOHANG)) > 0;)
      local_host->reaped(process, wait_status);
  };
  const Signals signals(
      loop, {.child_changed = reap, .user_signal = [&job](int number, bool from_kernel) {
               job.interrupted(number, from_kernel);
             }});
  job.add_host(std::move(host));
  if (auto started = job.start(); !started) {
    job.kill_all();
    return started.error();
  }
  while (!job.over()) job.turn();
  return job.finish();
}

}  // namespace

Result<int> run_job(const Settings& settings, const LaunchOptions& options) {
  const bool forks = options.spawner == SpawnerChoice::kFork ||
                     (options.spawner == SpawnerChoice::kAuto && options.hosts.empty());
  if (!forks || options.action == LaunchOptions::Action::kAgent)
    return error("this version starts ranks on this host only (-spawner=fork)");
  raise_descriptor_limit();
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  for (const auto& warning : warnings_about(environ))
    if (!settings.quiet) log_warning("%s", warning.c_str());
  remove_stale_job_dirs(settings.tmp_dir);
  auto job_dir = make_job_dir(settings.tmp_dir);
  if (!job_dir) return job_dir.error();
  auto janitor = Janitor::hire(job_dir->path, job_dir->lock.get(), options.keep_files);
  if (!janitor) {
    remove_tree(job_dir->path);
    return janitor.error();
  }
  const auto environment = job_environment(options, job_dir->path);
  auto local = plan_local(options, environment);
  auto code = local ? run_ranks(settings, options, std::move(*local), environment)
                    : Result<int>(local.error());
  kill_children(janitor->process());
  janitor->dismiss();
  return code;
}

}  // namespace pinwire::launch
