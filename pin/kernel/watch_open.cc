// How a watch starts: only if this kernel is seen to tell of an unmapping.
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "core/base/check.h"
#include "core/base/memory/page.h"
#include "core/base/threads/library_thread.h"
#include "pin/kernel/watch.h"

namespace pinwire {
namespace {

constexpr int kUserModeOnly = 1;  // UFFD_USER_MODE_ONLY; nothing ever faults, so it needs no more
constexpr uint64_t kFeatures = UFFD_FEATURE_PAGEFAULT_FLAG_WP | UFFD_FEATURE_EVENT_UNMAP |
                               UFFD_FEATURE_EVENT_REMAP | UFFD_FEATURE_EVENT_REMOVE;

/// A page that is pinned stays with the parent of a fork() since 5.12.
Status look_at_version() {
  utsname system{};
  unsigned major = 0, minor = 0;
  uname(&system);
  if (std::sscanf(system.release, "%u.%u", &major, &minor) == 2 &&
      (major > 5 || (major == 5 && minor >= 12))) {
    return success();
  }
  return error("Linux %s; pinned memory may be kept across fork() from 5.12 on", system.release);
}

void* unmap_page(void* page) noexcept {
  munmap(page, kPageBytes);
  return nullptr;
}

void* map_page(int protection) noexcept {
  void* page = mmap(nullptr, kPageBytes, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return page == MAP_FAILED ? nullptr : page;
}

}  // namespace

Status Watch::open(uint32_t ranges_max) {
  check(fd_ < 0, "a watch is opened twice");
  check(slots_taken_ == 0, "a watch is opened whose ranges are in use", slots_taken_);
  slots_ = std::vector<Board::Slot>(ranges_max);
  board_.open(slots_.data(), ranges_max);
  Status opened = look_at_version();
  if (opened) opened = open_files();
  if (opened) opened = prove();
  if (opened) opened = start_thread();
  if (!opened) close();
  return opened;
}

Status Watch::open_files() {
  fd_ = static_cast<int>(syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | kUserModeOnly));
  if (fd_ < 0) {
    return error("userfaultfd: %s%s", std::strerror(errno),
                 errno == EPERM ? " (a container's seccomp profile may forbid it)" : "");
  }
  uffdio_api api{};
  api.api = UFFD_API;
  api.features = kFeatures;
  if (ioctl(fd_, UFFDIO_API, &api) != 0) {
    return error("userfaultfd of this kernel tells of no unmapping: %s", std::strerror(errno));
  }
  stop_fd_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (stop_fd_ < 0) return error("eventfd: %s", std::strerror(errno));
  asked_about_ = map_page(PROT_NONE);
  const auto at = reinterpret_cast<uint64_t>(asked_about_);
  if (asked_about_ == nullptr || !enroll(at, at + kPageBytes)) {
    return error("memory cannot be watched: %s", std::strerror(errno));
  }
  return success();
}

/// Before what it watched is unmapped, which would wait for a reader.
void Watch::end_proof() noexcept {
  ::close(fd_);
  fd_ = -1;
}

/// A thread unmaps a watched page: there is an event, and until it is read the kernel says that
/// something changes; not before, and not after.
Status Watch::prove() {
  constexpr int kPatienceMs = 10'000;
  void* page = map_page(PROT_READ | PROT_WRITE);
  if (page == nullptr) return error("no memory to prove it with: %s", std::strerror(errno));
  const auto at = reinterpret_cast<uint64_t>(page);
  if (!enroll(at, at + kPageBytes) || ask() != Kernel::kQuiet) {
    const int failed = errno;
    end_proof();
    munmap(page, kPageBytes);
    return error("memory cannot be watched: %s", std::strerror(failed));
  }
  pthread_t unmapper{};
  if (const int failed = start_library_thread(&unmapper, unmap_page, page); failed != 0) {
    end_proof();
    munmap(page, kPageBytes);
    return error("no thread to prove it with: %s", std::strerror(failed));
  }
  pollfd file{fd_, POLLIN, 0};
  int ready = 0;
  do {
    ready = poll(&file, 1, kPatienceMs);
  } while (ready < 0 && errno == EINTR);
  const bool has_event = ready == 1 && file.revents == POLLIN;
  const bool is_told = has_event && ask() == Kernel::kChanging;
  uffd_msg event{};
  const bool is_it = has_event && ::read(fd_, &event, sizeof event) == sizeof event &&
                     event.event == UFFD_EVENT_UNMAP && event.arg.remove.start == at &&
                     event.arg.remove.end == at + kPageBytes;
  if (!is_it) end_proof();
  pthread_join(unmapper, nullptr);
  if (is_it && is_told && ask() == Kernel::kQuiet) return success();
  return error("this kernel's userfaultfd did not tell of an unmapping");
}

Status Watch::start_thread() {
  const int failed = start_library_thread(
      &thread_,
      [](void* self) -> void* {
        static_cast<Watch*>(self)->run();
        return nullptr;
      },
      this);
  if (failed != 0) return error("no thread to read events: %s", std::strerror(failed));
  has_thread_ = true;
  pthread_setname_np(thread_, "pinwire-watch");
  return success();
}

}  // namespace pinwire
