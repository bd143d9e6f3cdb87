#include "core/launch/process/environment.h"

#include <stdlib.h>
#include <unistd.h>

namespace pinwire::launch {
namespace {

bool names(const std::string& assignment, std::string_view name) {
  return assignment.size() > name.size() && assignment[name.size()] == '=' &&
         assignment.starts_with(name);
}

}  // namespace

std::vector<std::string> own_environment() {
  std::vector<std::string> environment;
  for (char** one = environ; *one != nullptr; ++one) environment.emplace_back(*one);
  return environment;
}

void set_own_variables(const std::vector<std::string>& assignments) {
  for (const auto& one : assignments) {
    const size_t at = one.find('=');
    if (at != std::string::npos) ::setenv(one.substr(0, at).c_str(), one.c_str() + at + 1, 1);
  }
}

void set_variable(std::vector<std::string>& environment, std::string_view name,
                  const std::string& value) {
  std::erase_if(environment, [&](const auto& one) { return names(one, name); });
  environment.push_back(std::string(name) + "=" + value);
}

const char* find_variable(const std::vector<std::string>& environment, std::string_view name) {
  for (const auto& one : environment)
    if (names(one, name)) return one.c_str() + name.size() + 1;
  return nullptr;
}

}  // namespace pinwire::launch
