// The descriptors that DPDK opens while it starts, without O_CLOEXEC: memory, sockets, timers. A
// program that the client starts later must not inherit them, or a peer waits for it, and memory
// outlives the job.
#pragma once

#include <set>

namespace pinwire {

class NewDescriptors {
 public:
  /// Remembers those that are open now.
  NewDescriptors();
  /// Closes at exec all that were opened since, by any thread; but not the files with names that
  /// threads of the client have opened.
  void close_on_exec() const;

 private:
  std::set<int> before_;
};

}  // namespace pinwire
