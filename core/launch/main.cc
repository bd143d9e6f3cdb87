// gasnetrun_pinwire: starts and ends the ranks of a job.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "core/base/log.h"
#include "core/config/settings.h"
#include "core/launch/agent.h"
#include "core/launch/options.h"
#include "core/launch/run_job.h"
#include "core/launch/signals.h"

namespace {

constexpr int kBadCommandLine = 2;

int say_and(int code, const std::string& sentence) {
  pinwire::log_note("%s", sentence.c_str());
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  using Action = pinwire::launch::LaunchOptions::Action;
  pinwire::launch::block_signals();
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
  auto code = pinwire::launch::run_job(*settings, *options);
  return code ? *code : say_and(kBadCommandLine, code.sentence());
}
