#include "core/launch/job/run_job.h"

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "core/base/log.h"
#include "core/bootstrap/environment_block.h"
#include "core/launch/job/again.h"
#include "core/launch/job/job.h"
#include "core/launch/loop/signals.h"
#include "core/launch/options/mpirun.h"
#include "core/launch/plan/local_plan.h"
#include "core/launch/plan/remote_plan.h"
#include "core/launch/process/environment.h"
#include "core/launch/process/supervisor_loop.h"
#include "core/launch/remote/remote_host.h"
#include "core/launch/sweep/janitor.h"
#include "core/launch/sweep/sweep.h"

namespace pinwire::launch {
namespace {

std::vector<std::string> job_environment(const LaunchOptions& options, const std::string& job_dir) {
  auto environment = own_environment();
  set_variable(environment, "GASNET_JOB_DIR", job_dir);
  set_variable(environment, kAgainVariable,
               again_path(job_dir));  // but on other hosts (plan_share)
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

/// Prints the description of a host's ranks that -v and -t ask for.
void describe(const LaunchOptions& options, const std::string& host, Rank first, Rank count) {
  std::string command;
  for (const auto& word : options.command) command += " " + word;
  log_note("ranks %u to %u on %s:%s", first, first + count - 1, host.c_str(), command.c_str());
}

Status add_remote_hosts(Loop& loop, Job& job, const Settings& settings,
                        const LaunchOptions& options, const std::vector<std::string>& environment) {
  auto shares = share_ranks(options);
  if (!shares) return shares.error();
  for (const auto& share : *shares) {
    auto plan = plan_share(settings, options, share, environment);
    if (!plan) return plan.error();
    if (options.verbose) describe(options, share.host, share.first, share.count);
    auto shell = shell_for(settings, share.host);
    if (!shell) return shell.error();
    job.add_host(std::make_unique<RemoteHost>(loop, job, std::move(*shell), std::move(*plan)));
  }
  return success();
}

Status add_this_host(Loop& loop, Job& job, const LaunchOptions& options,
                     const LocalNetwork& network, const std::vector<std::string>& environment) {
  auto plan = plan_ranks(options, network, environment);
  if (!plan) return plan.error();
  if (options.verbose) describe(options, plan->host_name, 0, plan->count);
  job.add_host(std::make_unique<LocalHost>(loop, job, std::move(*plan)));
  return success();
}

/// Does with a running job as a signal of its user asks.
void heed(Job& job, int number, bool from_terminal) {
  switch (number) {
    case SIGUSR1:
    case SIGUSR2:
    case SIGCONT:
      return job.pass_on(number, false);
    case SIGTSTP: {
      job.pass_on(SIGTSTP, from_terminal);
      const int64_t stopped_ms = now_ms();
      stop_until_continued();
      return job.stood_still(now_ms() - stopped_ms);
    }
    default:
      return job.interrupted(number, from_terminal);
  }
}

/// While it lives, the ends of children, the user's signals and the loss of the switch go to the
/// job.
class Attention {
 public:
  Attention(SupervisorLoop& events, Job& job, LocalNetwork& network)
      : events_(events),
        children_(events.watch_children([&job](pid_t process) { return job.reap(process); })),
        fabric_switch_(network.fabric_switch.get()) {
    events_.hand_signals_to(
        [&job](int number, bool from_terminal) { heed(job, number, from_terminal); });
    if (fabric_switch_ != nullptr)
      fabric_switch_->when_lost([&job](const std::string& how) { job.network_failed(how); });
  }
  ~Attention() {
    events_.hand_signals_to({});
    if (fabric_switch_ != nullptr) fabric_switch_->when_lost({});
  }
  Attention(const Attention&) = delete;
  Attention& operator=(const Attention&) = delete;

 private:
  SupervisorLoop& events_;
  const SupervisorLoop::ChildWatch children_;
  FabricSwitch* fabric_switch_;
};

Result<int> run_ranks(SupervisorLoop& events, const Settings& settings,
                      const LaunchOptions& options, LocalNetwork& network,
                      const std::vector<std::string>& environment) {
  Loop& loop = events.loop();
  Job job(loop, {.rank_count = options.rank_count,
                 .exit_timeout_ms =
                     static_cast<int64_t>(exit_timeout_s(settings, options.rank_count) * 1000),
                 .silence_limit_ms = silence_limit_ms(settings),
                 .tag_lines = options.tag_lines,
                 .verbose = options.verbose,
                 .environment = block_of(environment)});
  auto added = spawner_of(options) == SpawnerChoice::kSsh
                   ? add_remote_hosts(loop, job, settings, options, environment)
                   : add_this_host(loop, job, options, network, environment);
  // All that the job says leaves before its end, or a signal ends that.
  const auto say_the_rest = [&] {
    events.turn_until([&job] { return job.all_is_written(); }, kNever);
  };
  if (!added) {
    say_the_rest();
    return added.error();
  }
  if (options.dry_run) {
    say_the_rest();
    return 0;
  }
  // A signal that came before there are ranks ends the start; one that does not ask for the end
  // waits for them.
  if (events.end_asked() != 0) return error("interrupted before its ranks were started");
  if (auto started = job.start(); !started) {
    job.kill_all();
    say_the_rest();
    return started.error();
  }
  const Attention attention(events, job, network);
  events.watch_stops();
  while (!job.over()) job.turn();
  return job.finish();
}

Result<int> run_in(SupervisorLoop& events, const std::string& job_dir,
                   const LaunchOptions& options) {
  auto environment = job_environment(options, job_dir);
  auto network =
      options.dry_run ? LocalNetwork{} : make_network(events, options, job_dir, environment);
  if (!network) return network.error();
  auto settings = settings_of(environment);
  if (!settings) return settings.error();
  auto code = run_ranks(events, *settings, options, *network, environment);
  if (network->fabric_switch) network->fabric_switch->stop();
  return code;
}

/// A job without a code could not be started: its caller says the sentence, unless a signal ended
/// the start.
Result<JobEnd> end_of(Result<int> code, const SupervisorLoop& events) {
  if (code) return JobEnd{.exit_code = *code, .again = {}};
  if (events.end_asked() == 0) return code.error();
  log_note("%s", code.sentence().c_str());
  return JobEnd{.exit_code = 128 + events.end_asked(), .again = {}};
}

}  // namespace

Result<JobEnd> run_job(const Settings& settings, const LaunchOptions& options) {
  for (const auto& warnings : {warnings_about(environ), option_warnings(options)})
    for (const auto& warning : warnings)
      if (!settings.quiet) log_warning("%s", warning.c_str());
  if (spawner_of(options) == SpawnerChoice::kMpi) return become_mpirun(options);
  raise_descriptor_limit();  // a rank that starts takes five
  const auto inherited = InheritedChildren::now();
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  SupervisorLoop events;
  if (auto opened = events.opened(); !opened) return opened.error();
  auto running = Janitor::start_and_wait(events, settings.tmp_dir, options.keep_files);
  if (!running) return end_of(running.error(), events);
  Janitor& janitor = **running;
  const std::string& job_dir = janitor.job_dir();
  auto end = end_of(run_in(events, job_dir, options), events);
  if (end && end->exit_code == 0 && end_was_asked() == 0)
    end->again = read_again(again_path(job_dir));
  janitor.stop(kill_children(events, janitor.number(), inherited, job_dir));
  if (end && !end->again.empty() && end_was_asked() != 0)
    return JobEnd{.exit_code = 128 + end_was_asked(), .again = {}};
  return end;
}

}  // namespace pinwire::launch
