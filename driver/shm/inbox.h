// A process's inbox: one memfd with a request and a reply ring for each lane, and its outbox
// (outbox.h). Peers of the same host map it (core/base/descriptors/peer_file.h); when the last of
// them is gone, so is the memory: nothing to clean up.
#pragma once

#include <cstdint>

#include "core/base/check.h"
#include "core/base/result.h"
#include "driver/shm/outbox.h"
#include "driver/shm/ring.h"
#include "driver/shm/wake_pipe.h"
#include "driver/work.h"

namespace pinwire::shm {

/// The facts that a peer needs to map an inbox; the shm driver's address().
struct InboxAddress {
  uint32_t magic;
  int32_t pid;
  int32_t fd;
  uint32_t lanes;
  uint32_t slot_count;
  uint32_t host_bytes;  ///< of InboxHeader, to notice a mix of builds
  uint64_t base;        ///< in its owner's memory
  uint64_t inode;       ///< which file it is (core/base/descriptors/peer_file.h)
};
inline constexpr uint32_t kInboxLanesMax = 16;
inline constexpr uint32_t kInboxMagic = 0x70770008;

struct InboxHeader {
  alignas(kCacheLineBytes) WakeAddress wakes[kInboxLanesMax];  ///< of each lane's WakePipe
  // For peers to try whether they reach its owner's memory by the kernel (cma.h).
  alignas(kCacheLineBytes) uint64_t probe_to_read;
  uint64_t probe_to_write;
  LentBoard lent;
};

class Inbox {
 public:
  Inbox() = default;
  ~Inbox();
  Inbox(Inbox&& other) noexcept;
  Inbox& operator=(Inbox&& other) noexcept;
  Inbox(const Inbox&) = delete;

  static Result<Inbox> create(uint32_t lanes, uint32_t slot_count);
  static Result<Inbox> map(const InboxAddress& address);

  InboxAddress address() const noexcept;
  InboxHeader& header() const noexcept {
    check(base_ != nullptr, "the header of an inbox that is not mapped");
    return *reinterpret_cast<InboxHeader*>(base_);
  }
  RingView ring(uint32_t lane, MessageClass cls) const noexcept;
  OutboxView outbox() const noexcept;
  uint32_t lanes() const noexcept { return lanes_; }

 private:
  std::byte* base_ = nullptr;
  uint64_t bytes_ = 0;
  int fd_ = -1;  // -1: a peer's, which is mapped
  uint32_t lanes_ = 0;
  uint32_t slot_count_ = 0;
};

}  // namespace pinwire::shm
