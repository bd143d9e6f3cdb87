#include "driver/shm/cma.h"

#include <sys/prctl.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>

#include "core/base/check.h"
#include "driver/scatter.h"

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

/// Pieces of one system call. The kernel takes up to IOV_MAX, 1,024; these fit a page of stack.
class Batch {
 public:
  static constexpr uint32_t kPiecesMax = 128;

  bool is_full() const noexcept { return count_ == kPiecesMax; }
  void add(const ScatterPiece& piece) noexcept {
    dcheck(!is_full(), "a piece more than a batch holds");
    here_[count_] = {const_cast<std::byte*>(piece.data), piece.bytes};
    there_[count_++] = {reinterpret_cast<void*>(piece.remote), piece.bytes};
    bytes_ += piece.bytes;
  }
  /// All of them, and none is left. A call that moves less met memory that is not there.
  CmaCopy write(int pid) noexcept {
    if (count_ == 0) return {};
    ssize_t moved;
    do moved = process_vm_writev(pid, here_, count_, there_, count_, 0);
    while (moved < 0 && errno == EINTR);
    const uint64_t left = bytes_ - static_cast<uint64_t>(std::max<ssize_t>(moved, 0));
    if (left != 0) return {moved < 0 ? errno : EFAULT, left};
    count_ = 0;
    bytes_ = 0;
    return {};
  }

 private:
  iovec here_[kPiecesMax];
  iovec there_[kPiecesMax];
  uint32_t count_ = 0;
  uint64_t bytes_ = 0;
};

}  // namespace

CmaCopy scatter_by_cma(int pid, uint64_t base, const std::byte* list, uint32_t bytes) noexcept {
  ScatterReader pieces(base, list, bytes);
  Batch batch;
  ScatterPiece piece;
  CmaCopy copied;
  while (copied.reason == 0 && pieces.next(piece)) {
    batch.add(piece);
    if (batch.is_full()) copied = batch.write(pid);
  }
  if (copied.reason == 0) return batch.write(pid);
  while (pieces.next(piece)) copied.left += piece.bytes;
  return copied;
}

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
