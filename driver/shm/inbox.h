// A process's inbox: one memfd with a request and a reply ring for each lane, lines that its peers
// read (barriers), and its outbox (outbox.h). Peers of the same host map it through /proc/<pid>/fd;
// when the last of them is gone, so is the memory: nothing to clean up.
#pragma once

#include <cstdint>

#include "core/base/result.h"
#include "driver/shm/outbox.h"
#include "driver/shm/ring.h"
#include "driver/work.h"

namespace pinwire::shm {

/// What a peer needs to map an inbox; the shm driver's address().
struct InboxAddress {
  uint32_t magic;
  int32_t pid;
  int32_t fd;
  uint32_t lanes;
  uint32_t slot_count;
  uint32_t host_bytes;  ///< of InboxHeader, to notice a mix of builds
  uint64_t base;        ///< in its owner's memory
};
inline constexpr uint32_t kInboxLanesMax = 16;
inline constexpr uint32_t kInboxMagic = 0x70770005;

/// Written by the owner, read by its host's peers. Where values count, an owner is never more than
/// one phase ahead of a reader, which notifies its own next phase after it has read.
///
/// A reader that will sleep leaves a bit of its own, and reads once more. Both that and the owner's
/// look at the bits are read-modify-writes of one word: either the owner finds the bit, or the
/// reader the phase. Owners look from the first time on that a reader says that it sleeps.
template <typename Memory>
struct alignas(kCacheLineBytes) BasicBarrierLine {
  typename Memory::template Atomic<uint64_t> phase;      ///< notifies so far; stored last
  typename Memory::template Atomic<uint64_t> values[2];  ///< of the even and the odd phase
  typename Memory::template Atomic<uint64_t> sleepers;   ///< bits of readers that want to be woken
  typename Memory::template Atomic<uint32_t> sleeps;     ///< some reader does at times

  /// Returns the bits of readers that must be woken.
  uint64_t notify(uint64_t now, uint64_t value) noexcept {
    values[now & 1].store(value, std::memory_order_relaxed);
    // release pairs with the acquire in read(): the value first, and all puts before the barrier
    phase.store(now, std::memory_order_release);
    // After that: who sets it then has this process pass a barrier (ShmDriver::tell_notifiers)
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (sleeps.load(std::memory_order_relaxed) == 0) [[likely]]
      return 0;
    return sleepers.exchange(0, std::memory_order_acq_rel);  // pairs with await()
  }
  /// Read once more before you sleep.
  void await(uint64_t bit) noexcept { sleepers.fetch_or(bit, std::memory_order_acq_rel); }
  /// False: the owner has not notified `wanted` yet.
  bool read(uint64_t wanted, uint64_t& value) const noexcept {
    if (phase.load(std::memory_order_acquire) < wanted) return false;
    value = values[wanted & 1].load(std::memory_order_relaxed);
    return true;
  }
};
using BarrierLine = BasicBarrierLine<HostMemory>;
/// One for the job's barrier, the others for those of teams.
inline constexpr uint32_t kBarrierLines = 64;

struct InboxHeader {
  alignas(kCacheLineBytes) BarrierLine barriers[kBarrierLines];
  int32_t wake_fds[kInboxLanesMax];  ///< of each lane's WakePipe, in its owner
  // For peers to try whether they reach its owner's memory by the kernel (far_memory.h).
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
  InboxHeader& header() const noexcept { return *reinterpret_cast<InboxHeader*>(base_); }
  RingView ring(uint32_t lane, MessageClass cls) const noexcept;
  OutboxView outbox() const noexcept;
  uint32_t lanes() const noexcept { return lanes_; }

 private:
  std::byte* base_ = nullptr;
  uint64_t bytes_ = 0;
  int fd_ = -1;
  uint32_t lanes_ = 0;
  uint32_t slot_count_ = 0;
};

}  // namespace pinwire::shm
