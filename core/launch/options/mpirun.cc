#include "core/launch/options/mpirun.h"

#include <errno.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "core/launch/loop/signals.h"
#include "core/launch/options/words.h"
#include "core/launch/process/process.h"

namespace pinwire::launch {
namespace {

constexpr const char* kPatternVariable = "MPIRUN_CMD";
constexpr const char* kPattern = "mpirun -np %N %C";

/// A word that stands for several.
std::vector<std::string> expand(const std::string& word, const LaunchOptions& options) {
  const auto& command = options.command;
  if (word == "%C") return command;
  if (word == "%A") return {command.begin() + 1, command.end()};
  std::string text;
  for (size_t i = 0; i < word.size(); ++i) {
    if (word[i] != '%' || i + 1 == word.size()) {
      text += word[i];
      continue;
    }
    switch (word[++i]) {
      case 'N':
        text += std::to_string(options.rank_count);
        break;
      case 'M':
        text += std::to_string(std::max(options.host_count, 1U));
        break;
      case 'P':
        text += command[0];
        break;
      case '%':
        text += '%';
        break;
      default:
        (text += '%') += word[i];
        break;
    }
  }
  return {text};
}

}  // namespace

std::vector<std::string> mpirun_words(const std::string& pattern, const LaunchOptions& options) {
  std::vector<std::string> words;
  for (const auto& word : split_words(pattern, " \t"))
    for (auto& one : expand(word, options)) words.push_back(std::move(one));
  return words;
}

Error become_mpirun(const LaunchOptions& options) {
  if (options.no_aslr) {
    return error(
        "--no-aslr is for ranks that this launcher starts, and mpirun starts them itself: put "
        "setarch -R before the program");
  }
  const char* pattern = std::getenv(kPatternVariable);
  auto words = mpirun_words(pattern && *pattern ? pattern : kPattern, options);
  if (words.empty()) return error("%s has no words", kPatternVariable);
  auto path = find_program(words[0]);
  if (!path)
    return error("-spawner=mpi: %s (%s tells how to run it)", path.sentence().c_str(),
                 kPatternVariable);
  std::vector<char*> arguments;
  for (auto& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  restore_signals();
  ::execv(path->c_str(), arguments.data());
  return error("cannot run %s: %s", path->c_str(), std::strerror(errno));
}

}  // namespace pinwire::launch
