#include "pin/kernel/watch.h"

#include <linux/userfaultfd.h>
#include <poll.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <span>

#include "core/base/check.h"
#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/base/memory/page.h"
#include "pin/kernel/mapping.h"

namespace pinwire {
namespace {

template <typename Mark>
void tell(const uffd_msg& event, Mark&& mark) noexcept {
  switch (event.event) {
    case UFFD_EVENT_UNMAP:
    case UFFD_EVENT_REMOVE:
      mark(event.arg.remove.start, event.arg.remove.end);
      break;
    case UFFD_EVENT_REMAP:  // of what was where it goes to, the kernel told UFFD_EVENT_UNMAP
      mark(event.arg.remap.from, event.arg.remap.from + event.arg.remap.len);
      break;
    default:
      break;
  }
}

}  // namespace

uint32_t Watch::take_slots(uint32_t count) noexcept {
  check(count <= slots_.size() - slots_taken_, "more ranges than were asked for", count);
  slots_taken_ += count;
  return slots_taken_ - count;
}

/// Lifting a protection that is not there changes nothing, and is refused while something changes.
Watch::Kernel Watch::ask() const noexcept {
  uffdio_writeprotect none{};
  none.range = {reinterpret_cast<uint64_t>(asked_about_), kPageBytes};
  if (ioctl(fd_, UFFDIO_WRITEPROTECT, &none) == 0) return Kernel::kQuiet;
  return errno == EAGAIN || errno == EINTR ? Kernel::kChanging : Kernel::kFailed;
}

bool Watch::settle() noexcept {
  constexpr uint64_t kPatienceNs = 1'000'000;  // as long as a pin takes
  constexpr uint64_t kLastPatienceNs = 10'000'000'000;
  if (is_broken()) return false;
  uint64_t start_ns = 0;
  do {
    const Kernel said = ask();
    if (said == Kernel::kFailed) {
      give_up("its descriptor was closed");
      return false;
    }
    if (said == Kernel::kQuiet && board_.is_marked()) {
      if (unsettled_since_ns_.load(std::memory_order_relaxed) != 0) {
        unsettled_since_ns_.store(0, std::memory_order_relaxed);
      }
      return true;
    }
    sched_yield();  // to the reader, and to whoever unmaps
    if (start_ns == 0) start_ns = monotonic_ns();
  } while (monotonic_ns() - start_ns < kPatienceNs);
  uint64_t since_ns = 0;
  unsettled_since_ns_.compare_exchange_strong(since_ns, start_ns, std::memory_order_relaxed);
  if (since_ns != 0 && start_ns > since_ns + kLastPatienceNs) {
    give_up("memory is unmapped without end");  // or an mremap() failed half-way, which ends in
                                                // newer kernels only
  }
  return false;
}

bool Watch::watch(uint32_t slot, uint64_t from, uint64_t to) noexcept {
  board_.publish(slot, from, to);
  const Mapping around = anonymous_mapping(from, to);
  check(around.to == 0 || around.from <= from, "a mapping begins behind what it holds", from,
        around.from);
  check(around.to == 0 || around.to >= to, "a mapping ends before what it holds", to, around.to);
  return around.to != 0 && enroll(around.from, around.to);
}

bool Watch::enroll(uint64_t from, uint64_t to) const noexcept {
  uffdio_register range{};
  range.range = {from, to - from};
  range.mode = UFFDIO_REGISTER_MODE_WP;
  return ioctl(fd_, UFFDIO_REGISTER, &range) == 0;
}

void Watch::give_up(const char* why) noexcept {
  if (is_broken_.exchange(true, std::memory_order_relaxed)) return;
  log_warning("memory is no longer watched, and pinned for each transfer: %s", why);
}

/// The descriptor is closed before the thread ends: with its stack, memory goes that may be
/// watched.
void Watch::run() noexcept {
  constexpr size_t kEventsMax = 16;
  for (;;) {
    pollfd files[] = {{fd_, POLLIN, 0}, {stop_fd_, POLLIN, 0}};
    if (poll(files, 2, -1) < 0 && errno != EINTR) break;
    if (files[1].revents != 0) break;
    if ((files[0].revents & (POLLERR | POLLNVAL)) != 0) break;
    if (files[0].revents == 0) continue;
    board_.read([&](auto mark) noexcept {
      uffd_msg events[kEventsMax];
      const ssize_t got = ::read(fd_, events, sizeof events);
      if (got <= 0) return;
      const size_t count = static_cast<size_t>(got) / sizeof events[0];
      for (const uffd_msg& event : std::span(events, count)) tell(event, mark);
      events_.fetch_add(count, std::memory_order_relaxed);
    });
  }
  ::close(fd_);
}

void Watch::close() noexcept {
  if (has_thread_) {
    const uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = ::write(stop_fd_, &one, sizeof one);
    pthread_join(thread_, nullptr);
    has_thread_ = false;
  } else if (fd_ >= 0) {
    ::close(fd_);
  }
  if (stop_fd_ >= 0) ::close(stop_fd_);
  if (asked_about_ != nullptr) munmap(asked_about_, kPageBytes);
  fd_ = stop_fd_ = -1;
  asked_about_ = nullptr;
}

}  // namespace pinwire
