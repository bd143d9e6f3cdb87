#include "bench/flood/words/arguments.h"

#include <string_view>

namespace pinwire::flood {
namespace {

std::string quoted(const std::string& word) {
  if (!word.empty() && word.find_first_of(" \t\n'\"\\") == std::string::npos) return word;
  std::string out = "'";
  for (const char letter : word) {
    if (letter == '\'') {
      out += "'\\''";
    } else {
      out += letter;
    }
  }
  return out + "'";
}

}  // namespace

SplitArguments split_arguments(int argc, const char* const* argv) {
  SplitArguments split;
  if (argc > 0) split.program = argv[0];
  std::vector<std::string> all(argv + (argc > 0 ? 1 : 0), argv + argc);
  for (size_t i = 0; i < all.size(); ++i) {
    if (all[i] != "--") continue;
    const auto at = all.begin() + static_cast<std::ptrdiff_t>(i);
    split.eal.assign(all.begin(), at);
    split.application.assign(at + 1, all.end());
    return split;
  }
  split.application = std::move(all);
  return split;
}

std::string join_eal_arguments(const char* already, const std::vector<std::string>& eal) {
  std::string joined = already == nullptr ? "" : already;
  for (const std::string& argument : eal) {
    if (!joined.empty()) joined += ' ';
    joined += quoted(argument);
  }
  return joined;
}

}  // namespace pinwire::flood
