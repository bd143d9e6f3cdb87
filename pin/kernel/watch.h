// Sees that memory is unmapped, moved or discarded before it is used anew, so that what is pinned
// of it may be kept: by Linux's userfaultfd, which holds back whoever unmaps until its event is
// read. Memory is registered for write protection and nothing is ever protected, so no access ever
// faults for it.
//
// Watched is private anonymous memory alone (heap, stack, mmap without a file): pages of a file,
// and so of shared memory, may be cut out through the file, which no event tells. And from Linux
// 5.12 on, as before a fork() could part a pinned page from the parent. Not seen is
// MADV_GUARD_INSTALL (Linux 6.13), which discards pages without an event.
//
// The thread that reads events waits for nobody and neither allocates nor frees: a free() of its
// own might wait for its own reading. Everyone else may unmap while he holds any lock of ours.
// Mappings are registered whole, as mremap() moves no two at once before Linux 6.17, and stay so
// until they are unmapped. A forked child's memory is not watched, and its copy of the descriptor
// does nothing.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <vector>

#include "core/base/result.h"
#include "pin/kernel/watch_board.h"

namespace pinwire {

class Watch {
 public:
  Watch() = default;
  Watch(const Watch&) = delete;
  ~Watch() { close(); }

  /// For so many ranges. Proves that unmapping is seen, or says why not.
  Status open(uint32_t ranges_max);
  /// Threads that wait in munmap() go on; nobody uses ranges any more. A job does not call it: its
  /// client may unmap until the process is gone.
  void close() noexcept;

  /// Takes `count` of the ranges for one user alone, and returns the first. At attach.
  uint32_t take_slots(uint32_t count) noexcept;

  /// True: what was unmapped before this call is marked. False: that cannot be told at present, so
  /// nothing that was kept may be used. Waits a little for others' events to be read.
  bool settle() noexcept;
  /// After settle().
  bool is_stale(uint32_t slot) const noexcept { return board_.is_stale(slot); }

  /// From here on whole pages are watched, until the slot is used anew; pin them after. False: they
  /// cannot be.
  bool watch(uint32_t slot, uint64_t from, uint64_t to) noexcept;

  /// Events so far, and whether so many could not be told apart that nothing is kept any more.
  uint64_t events() const noexcept { return events_.load(std::memory_order_relaxed); }
  bool is_broken() const noexcept { return is_broken_.load(std::memory_order_relaxed); }

 private:
  using Board = BasicWatchBoard<HostWatchMemory>;
  enum class Kernel : uint8_t { kQuiet, kChanging, kFailed };

  Status open_files();
  Status prove();
  void end_proof() noexcept;
  Status start_thread();
  Kernel ask() const noexcept;
  bool enroll(uint64_t from, uint64_t to) const noexcept;
  void run() noexcept;
  void give_up(const char* why) noexcept;

  int fd_ = -1;
  int stop_fd_ = -1;
  void* asked_about_ = nullptr;  ///< a page of our own, never touched
  pthread_t thread_{};
  bool has_thread_ = false;
  Board board_;
  std::vector<Board::Slot> slots_;
  uint32_t slots_taken_ = 0;
  std::atomic<uint64_t> events_{0};
  std::atomic<uint64_t> unsettled_since_ns_{0};  ///< 0: it settled last time
  std::atomic<bool> is_broken_{false};
};

}  // namespace pinwire
