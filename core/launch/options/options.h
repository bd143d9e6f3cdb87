// The command line of gasnetrun_pinwire.
#pragma once

#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/config/settings.h"
#include "driver/work.h"

namespace pinwire::launch {

struct LaunchOptions {
  enum class Action { kRun, kHelp, kHelpEnvironment, kHelpMarkdown, kVersion };
  Action action = Action::kRun;
  Rank rank_count = 0;
  uint32_t host_count = 0;     ///< -N; 0: as many as are named
  uint32_t cpus_per_rank = 0;  ///< -c; 0: not said
  bool bind = false;
  bool verbose = false;
  bool dry_run = false;     ///< -t
  bool keep_files = false;  ///< -k
  bool tag_lines = false;
  bool no_aslr = false;
  SpawnerChoice spawner = SpawnerChoice::kAuto;
  std::string driver;
  std::vector<std::string> forwarded;  ///< -E
  std::vector<std::string> hosts;
  std::string host_file;
  bool names_hosts = false;  ///< by the command line itself
  std::vector<std::string> command;
};

/// The spawner of the job; decides which one `auto` means.
SpawnerChoice spawner_of(const LaunchOptions& options);

/// `settings` fill in what the command line leaves open.
Result<LaunchOptions> parse_options(int argc, char** argv, const Settings& settings);
/// Sentences about all that the command line asks for in vain.
std::vector<std::string> option_warnings(const LaunchOptions& options);
std::string usage();

}  // namespace pinwire::launch
