// gasnetrun_pinwire: starts and ends the ranks of a job.
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "core/base/log.h"
#include "core/config/settings.h"
#include "core/launch/agent.h"
#include "core/launch/options.h"
#include "core/launch/run_job.h"
#include "core/launch/signals.h"

namespace {

constexpr int kBadCommandLine = 2;
constexpr int kAgain = -1;

int say_and(int code, const std::string& sentence) {
  pinwire::log_note("%s", sentence.c_str());
  return code;
}

/// Both the launcher and the ranks, which inherit its limit, have buffers on their stacks; beyond
/// it they die by SIGSEGV.
bool has_too_little_stack() {
  constexpr rlim_t kStackBytesMin = 256 << 10;
  rlimit limit{};
  return getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur < kStackBytesMin;
}

/// What the command line asks for, in the environment as it is now.
int do_once(int argc, char** argv) {
  if (has_too_little_stack()) {
    return say_and(kBadCommandLine,
                   "the stack may have less than 256 KiB: raise its limit (ulimit -s)");
  }
  using Action = pinwire::launch::LaunchOptions::Action;
  auto settings =
      pinwire::read_settings([](const char* name) -> const char* { return std::getenv(name); });
  if (!settings) return say_and(kBadCommandLine, settings.sentence());
  auto options = pinwire::launch::parse_options(argc, argv, *settings);
  if (!options) return say_and(kBadCommandLine, options.sentence());
  switch (options->action) {
    case Action::kHelp:
      std::fputs(pinwire::launch::usage().c_str(), stdout);
      return 0;
    case Action::kHelpEnvironment:
      std::fputs(pinwire::help_text().c_str(), stdout);
      return 0;
    case Action::kHelpMarkdown:
      std::fputs(pinwire::help_markdown().c_str(), stdout);
      return 0;
    case Action::kVersion:
      std::puts("gasnetrun_pinwire " PINWIRE_VERSION);
      return 0;
    case Action::kAgent:
      return pinwire::launch::run_agent();
    case Action::kRun:
      break;
  }
  auto end = pinwire::launch::run_job(*settings, *options);
  if (!end) return say_and(kBadCommandLine, end.sentence());
  for (const std::string& one : end->again) {
    const size_t at = one.find('=');
    ::setenv(one.substr(0, at).c_str(), one.c_str() + at + 1, 1);
  }
  return end->again.empty() ? end->exit_code : kAgain;
}

}  // namespace

int main(int argc, char** argv) {
  pinwire::launch::block_signals();
  int code;
  do {
    code = do_once(argc, argv);
  } while (code == kAgain);
  return code;
}
