#include "driver/shm/cma.h"

#include <sys/prctl.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>

namespace pinwire::shm {
namespace {

using Transfer = ssize_t (*)(pid_t, const iovec*, unsigned long, const iovec*, unsigned long,
                             unsigned long);

/// One call moves 2 GiB at most, and stops early where it meets memory that is not there.
CmaCopy copy(Transfer transfer, int pid, uint64_t remote, void* local, uint64_t bytes) noexcept {
  constexpr uint64_t kCallBytesMax = uint64_t{1} << 30;
  auto* near = static_cast<std::byte*>(local);
  while (bytes != 0) {
    const iovec here{near, std::min(bytes, kCallBytesMax)};
    const iovec there{reinterpret_cast<void*>(remote), here.iov_len};
    const ssize_t moved = transfer(pid, &here, 1, &there, 1, 0);
    if (moved < 0 && errno == EINTR) continue;
    if (moved <= 0) return {moved < 0 ? errno : EFAULT, bytes};
    near += moved;
    remote += static_cast<uint64_t>(moved);
    bytes -= static_cast<uint64_t>(moved);
  }
  return {};
}

}  // namespace

CmaCopy write_by_cma(int pid, uint64_t remote, const void* local, uint64_t bytes) noexcept {
  return copy(process_vm_writev, pid, remote, const_cast<void*>(local), bytes);
}

CmaCopy read_by_cma(int pid, uint64_t remote, void* local, uint64_t bytes) noexcept {
  return copy(process_vm_readv, pid, remote, local, bytes);
}

void allow_cma() noexcept {
  prctl(PR_SET_PTRACER,
        PR_SET_PTRACER_ANY);  // refused where there is no Yama, and nothing to allow
}

}  // namespace pinwire::shm
