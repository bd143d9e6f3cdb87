// Which hosts run which ranks.
#pragma once

#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/launch/options/options.h"

namespace pinwire::launch {

struct HostShare {
  std::string host;
  Rank first, count;
};

/// Ranks in blocks of equal size (but for one) over the first -N of the hosts that the options
/// name.
Result<std::vector<HostShare>> share_ranks(const LaunchOptions& options);

/// The first word of every line but comments (#), each host once, in order.
Result<std::vector<std::string>> read_host_file(const std::string& path);

}  // namespace pinwire::launch
