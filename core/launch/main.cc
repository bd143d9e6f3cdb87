// gasnetrun_pinwire: starts and ends the ranks of a job.
#include <errno.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "core/base/files/standard_files.h"
#include "core/base/log.h"
#include "core/config/settings.h"
#include "core/launch/agent/agent.h"
#include "core/launch/job/run_job.h"
#include "core/launch/loop/signals.h"
#include "core/launch/options/options.h"
#include "core/launch/process/environment.h"
#include "core/launch/streams/patient_write.h"

namespace {

constexpr int kBadCommandLine = 2;
constexpr int kNotShown = 1;
constexpr int kAgain = -1;

int say_and(int code, const std::string& sentence) {
  pinwire::log_note("%s", sentence.c_str());
  return code;
}

/// Writes what a user asked to see. Standard output may be a full disk, or have a reader that takes
/// nothing.
int show(const std::string& text) {
  const int os_error = pinwire::launch::write_patiently(STDOUT_FILENO, text);
  if (os_error == 0) return 0;
  if (os_error == ECANCELED) return 128 + pinwire::launch::end_was_asked();
  return say_and(kNotShown,
                 std::string("cannot write standard output: ") + std::strerror(os_error));
}

/// Both the launcher and the ranks, which inherit its limit, have buffers on their stacks; beyond
/// it they die by SIGSEGV.
bool has_too_little_stack() {
  constexpr rlim_t kStackBytesMin = 256 << 10;
  rlimit limit{};
  return getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur < kStackBytesMin;
}

/// An agent takes its settings from its launcher's plan, and answers with what is wrong with them.
bool is_agent(int argc, char** argv) { return argc == 2 && std::strcmp(argv[1], "--agent") == 0; }

/// Does the action that the command line asks for, in the environment as it is now.
int do_once(int argc, char** argv) {
  if (has_too_little_stack()) {
    return say_and(kBadCommandLine,
                   "the stack may have less than 256 KiB: raise its limit (ulimit -s)");
  }
  if (is_agent(argc, argv)) return pinwire::launch::run_agent();
  using Action = pinwire::launch::LaunchOptions::Action;
  auto settings =
      pinwire::read_settings([](const char* name) -> const char* { return std::getenv(name); });
  if (!settings) return say_and(kBadCommandLine, settings.sentence());
  auto options = pinwire::launch::parse_options(argc, argv, *settings);
  if (!options) return say_and(kBadCommandLine, options.sentence());
  switch (options->action) {
    case Action::kHelp:
      return show(pinwire::launch::usage());
    case Action::kHelpEnvironment:
      return show(pinwire::help_text());
    case Action::kHelpMarkdown:
      return show(pinwire::help_markdown());
    case Action::kVersion:
      return show("gasnetrun_pinwire " PINWIRE_VERSION "\n");
    case Action::kRun:
      break;
  }
  auto end = pinwire::launch::run_job(*settings, *options);
  if (!end) return say_and(kBadCommandLine, end.sentence());
  pinwire::launch::set_own_variables(end->again);
  return end->again.empty() ? end->exit_code : kAgain;
}

}  // namespace

int main(int argc, char** argv) {
  pinwire::open_standard_files();
  pinwire::launch::block_signals();
  pinwire::log_to_stderr_through(
      [](std::string_view line) { pinwire::launch::write_patiently(STDERR_FILENO, line); });
  int code;
  do {
    code = do_once(argc, argv);
  } while (code == kAgain);
  return code;
}
