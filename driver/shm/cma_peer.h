// All memory of a peer that exposes it: tried once, then reached by the kernel's copies
// (cma.h), a system call for each put or get.
#pragma once

#include "driver/driver.h"
#include "driver/failure_note.h"
#include "driver/shm/inbox.h"

namespace pinwire::shm {

/// One more copy of a few KiB costs less than a system call for each piece.
inline constexpr uint64_t kScatterBytesMax = 4096;

class CmaPeer {
 public:
  CmaPeer() = default;
  CmaPeer(int pid, uint64_t inbox_base) noexcept : inbox_base_(inbox_base), pid_(pid) {}

  /// Reads and writes a word of the peer's inbox, whose header is mapped here too. A sentence if
  /// the kernel does not let this process.
  Status reach(Rank peer, const InboxHeader& header);
  /// A put or get of rank `item.peer`, or what went wrong, noted in `failure`. Without reach():
  /// that the target refuses.
  WorkStatus transfer(const Work& item, Op op, FailureNote& failure) const noexcept;
  /// A kScatter, likewise.
  WorkStatus scatter(const Work& item, FailureNote& failure) const noexcept;

 private:
  uint64_t inbox_base_ = 0;  // in its own memory
  int pid_ = 0;
  bool is_reached_ = false;
};

}  // namespace pinwire::shm
