#include "core/launch/plan/remote_plan.h"

#include <errno.h>
#include <limits.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <iterator>

#include "core/launch/options/words.h"

namespace pinwire::launch {
namespace {

/// The variables of the launcher's environment that a rank on another host gets on top of that
/// host's own.
std::vector<std::string> forwarded(const LaunchOptions& options,
                                   const std::vector<std::string>& environment) {
  const auto wanted = [&](const std::string& assignment) {
    const auto name = assignment.substr(0, assignment.find('='));
    if (name.starts_with("GASNET_JOB_")) return false;  // each host has its own
    const auto& asked = options.forwarded;
    return name.starts_with("GASNET_") ||
           std::find(asked.begin(), asked.end(), name) != asked.end();
  };
  std::vector<std::string> chosen;
  std::copy_if(environment.begin(), environment.end(), std::back_inserter(chosen), wanted);
  return chosen;
}

}  // namespace

int64_t silence_limit_ms(const Settings& settings) {
  if (settings.ssh_timeout_s <= 0) return 0;
  return std::max<int64_t>(1, static_cast<int64_t>(settings.ssh_timeout_s * 1000));
}

Result<RemotePlan> plan_share(const Settings& settings, const LaunchOptions& options,
                              const HostShare& share, const std::vector<std::string>& environment) {
  char folder[PATH_MAX];
  if (::getcwd(folder, sizeof folder) == nullptr)
    return error("there is no working directory: %s", std::strerror(errno));
  return RemotePlan{.first = share.first,
                    .count = share.count,
                    .rank_count = options.rank_count,
                    .cpus_per_rank = options.bind ? std::max(options.cpus_per_rank, 1U) : 0,
                    .keep_files = options.keep_files,
                    .no_aslr = options.no_aslr,
                    .has_input = share.first == 0,
                    .silence_limit_ms = silence_limit_ms(settings),
                    .host_name = share.host,
                    .folder = folder,
                    .command = options.command,
                    .environment = forwarded(options, environment)};
}

Result<std::vector<std::string>> shell_for(const Settings& settings, const std::string& host) {
  auto shell = split_words(settings.ssh_cmd, " \t");
  if (shell.empty()) return error("GASNET_SSH_CMD has no words: it takes a command, such as ssh");
  const bool is_ssh = shell[0] == "ssh" || shell[0].ends_with("/ssh");
  // No terminal there, and no question for a password, which nobody could answer.
  if (is_ssh) shell.insert(shell.end(), {"-T", "-x", "-o", "BatchMode=yes"});
  for (auto& option : split_words(settings.ssh_options, " \t")) shell.push_back(option);
  shell.push_back(host);
  return shell;
}

}  // namespace pinwire::launch
