#include "core/config/suggest.h"

#include <algorithm>
#include <string>
#include <vector>

#include "core/config/variables.h"

namespace pinwire {
namespace {

constexpr std::string_view kPrefix = "GASNET_";

bool matches(std::string_view pattern, std::string_view name) {
  if (!pattern.ends_with('*')) return pattern == name;
  pattern.remove_suffix(1);
  return name.starts_with(pattern);
}

}  // namespace

int edit_distance(std::string_view a, std::string_view b) {
  // Three rows of the table of distances between prefixes: two back for the swap.
  std::vector<int> before(b.size() + 1), above(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) above[j] = static_cast<int>(j);
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = static_cast<int>(i);
    for (size_t j = 1; j <= b.size(); ++j) {
      const int change = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, change});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before.swap(above);
    above.swap(row);
  }
  return above[b.size()];
}

const char* nearest_variable(std::string_view name) {
  const char* nearest = nullptr;
  // A third of the letters may be wrong; the prefix that all share does not count.
  int least = static_cast<int>(std::max(name.size(), kPrefix.size()) - kPrefix.size()) / 3 + 1;
  for (const auto& variable : variables()) {
    if (variable.internal) continue;
    const int distance = edit_distance(name, variable.name);
    if (distance < least || (distance == least && nearest == nullptr)) {
      least = distance;
      nearest = variable.name;
    }
  }
  return nearest;
}

bool known_variable(std::string_view name) {
  for (const auto& variable : variables())
    if (name == variable.name) return true;
  for (const auto& variable : known_elsewhere())
    if (matches(variable.name, name)) return true;
  return false;
}

std::vector<std::string> warnings_about(const char* const* environment) {
  std::vector<std::string> warnings;
  for (; *environment != nullptr; ++environment) {
    const std::string_view entry(*environment);
    const auto name = entry.substr(0, entry.find('='));
    if (!name.starts_with(kPrefix) || known_variable(name)) continue;
    std::string warning = "nobody knows the environment variable " + std::string(name);
    if (const char* meant = nearest_variable(name))
      warning += std::string(": did you mean ") + meant + "?";
    warnings.push_back(warning);
  }
  return warnings;
}

}  // namespace pinwire
