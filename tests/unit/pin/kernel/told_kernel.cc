#include "tests/unit/pin/kernel/told_kernel.h"

#include <linux/userfaultfd.h>
#include <poll.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstring>

using pinwire::test::ToldKernel;
using Call = ToldKernel::Call;

namespace pinwire::test {

bool ToldKernel::answers(int& error) noexcept {
  uint64_t left = answers_.load();
  do {
    if (left == 0) return false;
  } while (left != kAlways && !answers_.compare_exchange_weak(left, left - 1));
  error = error_;
  return true;
}

}  // namespace pinwire::test

namespace {

int fail(int error) noexcept {
  errno = error;
  return -1;
}
bool fails(Call call) noexcept {
  const ToldKernel* told = ToldKernel::current.load();
  return told != nullptr && told->fails == call;
}

}  // namespace

extern "C" {

int ioctl(int fd, unsigned long request, ...) noexcept {
  va_list list;
  va_start(list, request);
  void* argument = va_arg(list, void*);
  va_end(list);
  ToldKernel* told = ToldKernel::current.load();
  if (told != nullptr && request == UFFDIO_WRITEPROTECT) {
    told->asked_about.store(static_cast<uffdio_writeprotect*>(argument)->range.start);
    int error = 0;
    if (told->answers(error)) return error == 0 ? 0 : fail(error);
  }
  if (request == UFFDIO_API && fails(Call::kApi)) return fail(EINVAL);
  if (request == UFFDIO_REGISTER && fails(Call::kRegister)) return fail(EINVAL);
  return static_cast<int>(syscall(SYS_ioctl, fd, request, argument));
}

int eventfd(unsigned count, int flags) noexcept {
  if (fails(Call::kEventFd)) return fail(EMFILE);
  return static_cast<int>(syscall(SYS_eventfd2, count, flags));
}

int poll(pollfd* files, nfds_t count, int timeout_ms) {
  const ToldKernel* told = ToldKernel::current.load();
  if (told != nullptr && told->has_no_events && timeout_ms >= 0) {
    errno = EINTR;  // of an earlier call
    return 0;
  }
  timespec timeout{timeout_ms / 1000, timeout_ms % 1000 * 1'000'000L};
  return static_cast<int>(
      syscall(SYS_ppoll, files, count, timeout_ms < 0 ? nullptr : &timeout, nullptr, 0));
}

int uname(utsname* system) noexcept {
  const auto got = static_cast<int>(syscall(SYS_uname, system));
  const ToldKernel* told = ToldKernel::current.load();
  if (told != nullptr && told->release != nullptr) {
    std::strncpy(system->release, told->release, sizeof system->release - 1);
  }
  return got;
}

int sched_yield() noexcept {
  if (ToldKernel* told = ToldKernel::current.load(); told != nullptr) ++told->yields;
  return static_cast<int>(syscall(SYS_sched_yield));
}

int clock_gettime(clockid_t clock, timespec* now) noexcept {
  ToldKernel* told = ToldKernel::current.load();
  if (told == nullptr || told->ns_between_looks == 0) {
    return static_cast<int>(syscall(SYS_clock_gettime, clock, now));
  }
  const uint64_t ns = told->look_at_clock();
  now->tv_sec = static_cast<time_t>(ns / 1'000'000'000);
  now->tv_nsec = static_cast<long>(ns % 1'000'000'000);
  return 0;
}

// Wrapped by the linker, as sanitizers have their own of these.
int __real_pthread_join(pthread_t thread, void** result);
int __wrap_pthread_join(pthread_t thread, void** result) {
  if (ToldKernel* told = ToldKernel::current.load(); told != nullptr) ++told->joins;
  return __real_pthread_join(thread, result);
}

ssize_t __real_read(int fd, void* out, size_t bytes);
ssize_t __wrap_read(int fd, void* out, size_t bytes) {
  const ssize_t got = __real_read(fd, out, bytes);
  const ToldKernel* told = ToldKernel::current.load();
  if (told == nullptr || got != sizeof(uffd_msg)) return got;
  auto* event = static_cast<uffd_msg*>(out);
  event->arg.remove.start += told->start_shift;
  event->arg.remove.end += told->end_shift;
  return got;
}

}  // extern "C"
