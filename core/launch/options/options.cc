#include "core/launch/options/options.h"

#include <getopt.h>

#include <cstring>

#include "core/bootstrap/wire.h"
#include "core/launch/options/words.h"

namespace pinwire::launch {
namespace {

enum LongOption : int {
  kSpawner = 256,
  kHosts,
  kHostFile,
  kBind,
  kOptionNoAslr,
  kDriver,
  kTag,
  kHelpEnv,
  kHelpMarkdown,
  kVersion,
};

constexpr option kLong[] = {
    {"spawner", required_argument, nullptr, kSpawner},
    {"hosts", required_argument, nullptr, kHosts},
    {"hostfile", required_argument, nullptr, kHostFile},
    {"bind", no_argument, nullptr, kBind},
    {"no-aslr", no_argument, nullptr, kOptionNoAslr},
    {"driver", required_argument, nullptr, kDriver},
    {"tag", no_argument, nullptr, kTag},
    {"verbose", no_argument, nullptr, 'v'},
    {"help", no_argument, nullptr, 'h'},
    {"help-env", no_argument, nullptr, kHelpEnv},
    {"help-env-markdown", no_argument, nullptr, kHelpMarkdown},
    {"version", no_argument, nullptr, kVersion},
    {nullptr, 0, nullptr, 0},
};

constexpr const char* kUsage =
    R"(usage: gasnetrun_pinwire -n RANKS [options] [--] program [arguments]

Starts RANKS processes of a GASNet program as one job, passes their output through line by line, and
ends with the job's exit code. When one rank crashes or leaves, so do the others.

  -n RANKS            processes
  -N HOSTS            spread them over that many hosts
  -c CPUS             cores for each rank
  --bind              bind each rank to its cores (one, or as many as -c says)
  --no-aslr           give every rank the same address layout, for programs that send addresses of functions
  -spawner=HOW        fork: this host; ssh: the hosts named; netns: this host, a network namespace each
                      (tests); mpi: let mpirun do it. Default: ssh if hosts are named, else fork
  --hosts A,B,...     hosts for ssh        --hostfile FILE   the same, one a line
  --driver D          shm, verbs, dpdk or auto: sets GASNET_DRIVER
  -E VAR1,VAR2,...    environment variables to pass on to other hosts (GASNET_* always are)
  --tag               begin every line of output with [rank]
  -v                  say what is done     -t   only say it, do not do it
  -k                  keep what is in the job's directory, in GASNET_TMPDIR, and say where
  -h, --help          this text            --help-env   the environment variables
  --version

Exit code: that of gasnet_exit; 128 + the signal if one killed a rank or ended the job; 2 for a bad command line;
1 if output of a good job could not be written, or, over ssh, its input not be read. SIGUSR1, SIGUSR2, SIGTSTP and SIGCONT are passed on to the ranks.
)";

/// "-spawner=ssh", as GASNet users write it.
std::string with_two_dashes(const char* argument) {
  for (const auto& one : kLong) {
    if (one.name == nullptr || argument[0] != '-' || argument[1] == '-') continue;
    const size_t length = std::strlen(one.name);
    if (std::strncmp(argument + 1, one.name, length) == 0 &&
        (argument[1 + length] == '=' || argument[1 + length] == '\0'))
      return std::string("-") + argument;
  }
  return argument;
}

Result<uint32_t> count_of(const char* text, const char* option, uint32_t most) {
  const auto number = parse_whole(text);
  if (!number || *number < 1 || *number > int64_t{most})
    return error("invalid %s \"%s\": expected a whole number from 1 to %u", option, text, most);
  return static_cast<uint32_t>(*number);
}

Result<SpawnerChoice> spawner_named(const char* text) {
  const struct {
    const char* word;
    SpawnerChoice choice;
  } known[] = {{"fork", SpawnerChoice::kFork},
               {"ssh", SpawnerChoice::kSsh},
               {"netns", SpawnerChoice::kNetns},
               {"mpi", SpawnerChoice::kMpi},
               {"auto", SpawnerChoice::kAuto}};
  for (const auto& one : known)
    if (std::strcmp(one.word, text) == 0) return one.choice;
  return error("invalid -spawner=\"%s\": expected one of fork, ssh, netns, mpi, auto", text);
}

Status take(LaunchOptions& options, int letter, const char* value) {
  using Action = LaunchOptions::Action;
  const auto number = [&](const char* option, uint32_t most, uint32_t& into) -> Status {
    auto count = count_of(value, option, most);
    if (!count) return count.error();
    into = *count;
    return success();
  };
  switch (letter) {
    case 'n':
      return number("-n", bootstrap::kRanksMax, options.rank_count);
    case 'N':
      return number("-N", bootstrap::kRanksMax, options.host_count);
    case 'c':
      return number("-c", 4096, options.cpus_per_rank);
    case 'E':
      options.forwarded = split_words(value, ",");
      break;
    case 'v':
      options.verbose = true;
      break;
    case 't':
      options.dry_run = options.verbose = true;
      break;
    case 'k':
      options.keep_files = true;
      break;
    case 'h':
      options.action = Action::kHelp;
      break;
    case kHosts:
      options.hosts = split_words(value, ", ");
      if (options.hosts.empty())
        return error("invalid --hosts \"%s\": expected names of hosts, with commas between them",
                     value);
      options.names_hosts = true;
      break;
    case kHostFile:
      options.host_file = value;
      options.names_hosts = true;
      break;
    case kBind:
      options.bind = true;
      break;
    case kOptionNoAslr:
      options.no_aslr = true;
      break;
    case kDriver:
      options.driver = value;
      break;
    case kTag:
      options.tag_lines = true;
      break;
    case kHelpEnv:
      options.action = Action::kHelpEnvironment;
      break;
    case kHelpMarkdown:
      options.action = Action::kHelpMarkdown;
      break;
    case kVersion:
      options.action = Action::kVersion;
      break;
    case kSpawner: {
      auto spawner = spawner_named(value);
      if (!spawner) return spawner.error();
      options.spawner = *spawner;
      break;
    }
  }
  return success();
}

}  // namespace

SpawnerChoice spawner_of(const LaunchOptions& options) {
  if (options.spawner != SpawnerChoice::kAuto) return options.spawner;
  const bool hosts_named = !options.hosts.empty() || !options.host_file.empty();
  return hosts_named ? SpawnerChoice::kSsh : SpawnerChoice::kFork;
}

std::vector<std::string> option_warnings(const LaunchOptions& options) {
  const auto spawner = spawner_of(options);
  if (spawner != SpawnerChoice::kFork && spawner != SpawnerChoice::kNetns) return {};
  std::vector<std::string> sentences;
  if (options.host_count > 1)
    sentences.emplace_back("-N has no effect: all ranks run on this host, as no others are named");
  if (options.names_hosts)
    sentences.emplace_back(
        "the hosts named have no effect: -spawner says that all run on this one");
  return sentences;
}

std::string usage() { return kUsage; }

Result<LaunchOptions> parse_options(int argc, char** argv, const Settings& settings) {
  std::vector<std::string> texts;
  bool options_end = false;
  for (int i = 0; i < argc; ++i) {
    options_end = options_end || std::strcmp(argv[i], "--") == 0;
    texts.push_back(i == 0 || options_end ? argv[i] : with_two_dashes(argv[i]));
  }
  std::vector<char*> list;
  for (auto& text : texts) list.push_back(text.data());
  list.push_back(nullptr);

  LaunchOptions options;
  options.spawner = settings.spawner;
  options.hosts = split_words(settings.ssh_servers, ", \t\n");
  options.host_file = settings.ssh_nodefile;
  options.verbose = settings.spawn_verbose;
  ::optind = 0;  // forget any earlier parse
  ::opterr = 0;
  for (int letter;
       (letter = ::getopt_long(argc, list.data(), "+:n:N:c:E:vtkh", kLong, nullptr)) != -1;) {
    const char* at = list[static_cast<size_t>(::optind - 1)];
    if (letter == '?') return error("unknown option \"%s\"; --help shows those there are", at);
    if (letter == ':') return error("option \"%s\" needs a value", at);
    if (auto taken = take(options, letter, ::optarg); !taken) return taken.error();
  }
  // The program's own arguments as they were, not with two dashes.
  options.command.assign(argv + ::optind, argv + argc);
  if (options.action != LaunchOptions::Action::kRun) return options;
  if (options.rank_count == 0)
    return error("-n RANKS is missing; --help shows how to use this program");
  if (options.command.empty())
    return error("no program is named; --help shows how to use this program");
  if (options.driver.empty()) return options;
  const auto driver_only = [&](const char* name) -> const char* {
    return std::strcmp(name, "GASNET_DRIVER") == 0 ? options.driver.c_str() : nullptr;
  };
  if (auto checked = read_settings(driver_only); !checked) return checked.error();
  return options;
}

}  // namespace pinwire::launch
