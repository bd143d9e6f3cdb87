// Environments as lists of "NAME=value".
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace pinwire::launch {

std::vector<std::string> own_environment();
/// Each "NAME=value" becomes a variable of this process.
void set_own_variables(const std::vector<std::string>& assignments);
void set_variable(std::vector<std::string>& environment, std::string_view name,
                  const std::string& value);
/// nullptr if there is none.
const char* find_variable(const std::vector<std::string>& environment, std::string_view name);

}  // namespace pinwire::launch
