// The descriptors that DPDK opens while it starts, without O_CLOEXEC: memory, sockets, timers. A
// program that the client starts later must not inherit them, or a peer waits for it, and memory
// outlives the job.
#pragma once

#include <cstdint>
#include <set>

#include "core/base/result.h"

namespace pinwire {

class NewDescriptors {
 public:
  /// Remembers those that are open now.
  NewDescriptors();
  /// Whether the process may open so many more. EAL itself waits for a thread that it could not
  /// start then, or goes on with descriptors that it does not have.
  Status leave_room_for(uint32_t count) const;
  /// Closes at exec all that were opened since, by any thread; but not the files with names that
  /// threads of the client have opened.
  void close_on_exec() const;

 private:
  std::set<int> before_;
};

}  // namespace pinwire
