// EAL arguments come before the first `--`, application arguments after it, as with DPDK's own
// tools.
#pragma once

#include <string>
#include <vector>

namespace pinwire::flood {

struct SplitArguments {
  std::string program;
  std::vector<std::string> eal;
  std::vector<std::string> application;
};

/// Without a `--` everything is for the application.
SplitArguments split_arguments(int argc, const char* const* argv);

/// EAL arguments as one environment value, after what the variable already holds (the last wins in
/// EAL), quoted so that it splits into the same words again, as a shell would.
std::string join_eal_arguments(const char* already, const std::vector<std::string>& eal);

}  // namespace pinwire::flood
