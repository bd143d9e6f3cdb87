// Lines in memory that processes of one host share, whatever drivers they use: each says on its own
// how far it is at barriers, and the others read it. A memfd that peers map
// (core/base/descriptors/peer_file.h); when the last of them is gone, so is the memory: nothing to
// clean up.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "core/base/bits.h"
#include "core/base/check.h"
#include "core/base/result.h"
#include "driver/shm/host_memory.h"
#include "driver/work.h"

namespace pinwire::shm {

/// Written by the owner, read by its host's peers. Some notifies say a value; those are counted in
/// turns, which are the same on all ranks. A value stays until the owner's turn after the next one:
/// the owner begins that turn once all readers have notified the next one, and so have read this.
///
/// A reader that will sleep leaves a bit of its own, and reads once more. Both that and the owner's
/// look at the bits are read-modify-writes of one word: either the owner finds the bit, or the
/// reader the phase. Owners look from the first time on that a reader says that it sleeps.
template <typename Memory>
struct alignas(kCacheLineBytes) BasicBarrierLine {
  typename Memory::template Atomic<uint64_t> phase;      ///< notifies so far; stored last
  typename Memory::template Atomic<uint64_t> values[2];  ///< of the even and the odd turn
  typename Memory::template Atomic<uint64_t> sleepers;   ///< bits of readers that want to be woken
  typename Memory::template Atomic<uint32_t> sleeps;     ///< some reader does at times

  /// The owner says the value before it notifies the phase of the turn.
  void say(uint64_t turn, uint64_t value) noexcept {
    values[turn & 1].store(value, std::memory_order_relaxed);
  }
  /// Returns the bits of readers that must be woken.
  uint64_t notify(uint64_t now) noexcept {
    // release pairs with the acquire in shows(): the value first, and all puts before the barrier
    phase.store(now, std::memory_order_release);
    // After that: who sets it then has this process pass a barrier (Lines::tell_owner)
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (sleeps.load(std::memory_order_relaxed) == 0) [[likely]]
      return 0;
    return sleepers.exchange(0, std::memory_order_acq_rel);  // pairs with await()
  }
  /// Look once more before you sleep.
  void await(uint64_t bit) noexcept {
    dcheck(std::has_single_bit(bit), "a reader that sleeps has one bit", bit);
    sleepers.fetch_or(bit, std::memory_order_acq_rel);
  }
  /// Whether the owner has notified `wanted`.
  bool shows(uint64_t wanted) const noexcept {
    return phase.load(std::memory_order_acquire) >= wanted;
  }
  /// The value of a turn whose phase the line shows.
  uint64_t value(uint64_t turn) const noexcept {
    return values[turn & 1].load(std::memory_order_relaxed);
  }
};
using BarrierLine = BasicBarrierLine<HostMemory>;

/// The lines of one barrier, in one process.
struct BarrierLines {
  BarrierLine here;  ///< it has come
  BarrierLine over;  ///< if it leads others: all have
};
/// One for the first team of a process, which is the job's, the others for further teams.
inline constexpr uint32_t kBarrierLines = 64;

/// The facts that a peer needs to map them.
struct LinesAddress {
  int32_t pid;
  int32_t fd;
  uint64_t inode;
};
/// Whose they are: a pid may be of another namespace, and name something else here.
struct LinesOwner {
  uint64_t job_key;
  uint32_t rank;
  uint32_t lines;  ///< to notice a mix of builds
  bool operator==(const LinesOwner&) const = default;
};

class Lines {
 public:
  Lines() = default;
  ~Lines();
  Lines(Lines&& other) noexcept { *this = std::move(other); }
  Lines& operator=(Lines&& other) noexcept;
  Lines(const Lines&) = delete;

  static Result<Lines> create(uint64_t job_key, Rank rank);
  static Result<Lines> map(const LinesAddress& address, uint64_t job_key, Rank rank);
  LinesAddress address() const noexcept;
  /// Every peer that wanted to has mapped them.
  void close_file() noexcept;

  Rank rank() const noexcept { return header_->owner.rank; }
  BarrierLines& of(uint32_t index) const noexcept {
    dcheck(header_ != nullptr, "lines that are not mapped", index);
    dcheck(index < kBarrierLines, "no such line", index);
    return header_->barriers[index];
  }
  /// That some reader sleeps at times. Once this process has had the owner pass a barrier
  /// (pass_process_barriers), that looks whom to wake.
  void tell_owner() const noexcept;

 private:
  struct Header {
    alignas(kCacheLineBytes) LinesOwner owner;
    BarrierLines barriers[kBarrierLines];
  };
  static Result<Lines> of_file(int fd, bool is_own);

  Header* header_ = nullptr;
  int fd_ = -1;
};

}  // namespace pinwire::shm
