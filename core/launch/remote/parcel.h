// A list of strings as bytes: what the launcher tells its agent on another host.
#pragma once

#include <string>
#include <vector>

#include "core/launch/hosts/host.h"

namespace pinwire::launch {

std::vector<std::byte> pack(const std::vector<std::string>& strings);
/// A sentence if the bytes are not what pack() makes.
Result<std::vector<std::string>> unpack(Bytes bytes);

/// All that an agent needs to know to start its ranks.
struct RemotePlan {
  Rank first = 0, count = 0, rank_count = 0;
  uint32_t cpus_per_rank = 0;  ///< 0: not bound
  bool keep_files = false;
  bool no_aslr = false;
  bool has_input = false;  ///< rank 0 runs there and gets the launcher's standard input
  /// Each end counts as lost when the other hears nothing of it for so long; 0: never. It is the
  /// launcher's word, for the host's own environment may have another.
  int64_t silence_limit_ms = 0;
  std::string host_name;
  std::string folder;  ///< working directory
  std::vector<std::string> command;
  std::vector<std::string> environment;  ///< NAME=value, on top of the host's own
};

std::vector<std::byte> pack_plan(const RemotePlan& plan);
Result<RemotePlan> unpack_plan(Bytes bytes);

}  // namespace pinwire::launch
