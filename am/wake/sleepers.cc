#include "am/wake/sleepers.h"

#include <bit>

#include "core/base/descriptors/event_fd.h"

namespace pinwire {
namespace {

/// An eventfd for each seat, less 1; made by the first thread that takes it.
constinit std::atomic<int> bell_fds[Doorbell::kSeats] = {};

}  // namespace

void ring_seats(uint32_t seats) noexcept {
  for (; seats != 0; seats &= seats - 1) {
    const int fd = bell_fds[std::countr_zero(seats)].load(std::memory_order_relaxed) - 1;
    dcheck(fd >= 0, "a thread sleeps without a bell", std::countr_zero(seats));
    ring_event_fd(fd);
    ++wait_counters.rings;
  }
}

int open_bell(uint32_t seat) noexcept {
  if (seat == Doorbell::kNoSeat) return -1;
  dcheck(seat < Doorbell::kSeats, "the bell of no seat", seat);
  std::atomic<int>& place = bell_fds[seat];
  if (place.load(std::memory_order_relaxed) == 0) {
    place.store(open_event_fd() + 1, std::memory_order_relaxed);
  }
  return place.load(std::memory_order_relaxed) - 1;
}

void let_waits_sleep(bool sleep) noexcept {
  if (sleep && !waits_may_sleep.load(std::memory_order_relaxed)) {
    waits_may_sleep.store(true, std::memory_order_relaxed);
    // Other threads run handlers meanwhile: a thread that reads false after them, in poll(), did so
    // before this barrier, and what those handlers wrote is seen from here on. If the kernel has no
    // such barrier, such a handler may be noticed late, at the end of a sleep.
    ThreadMemory::pass_barrier(nullptr);
  }
  waits_sleep.store(sleep, std::memory_order_relaxed);
}

void ring_sleepers() noexcept { ring_seats(sleepers_bell.happened()); }

void call_sleepers() noexcept {
  if (waits_may_sleep.load(std::memory_order_relaxed)) ring_seats(sleepers_bell.call());
}

void report_waits(StatSink& sink) noexcept {
  sink.stat("sleeps", wait_counters.sleeps);
  sink.stat("naps", wait_counters.naps);
  sink.stat("rings", wait_counters.rings);
  sink.stat("overslept", wait_counters.overslept);
}

}  // namespace pinwire
