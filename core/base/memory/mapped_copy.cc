#include "core/base/memory/mapped_copy.h"

#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace pinwire {
bool copy_if_mapped(std::byte* to, const std::byte* from, size_t bytes) noexcept {
  const iovec here{to, bytes}, there{const_cast<std::byte*>(from), bytes};
  const ssize_t copied = process_vm_readv(getpid(), &here, 1, &there, 1, 0);
  if (copied == static_cast<ssize_t>(bytes)) return true;
  if (copied < 0 && errno != EFAULT) {
    std::memcpy(to, from, bytes);
    return true;
  }
  const size_t found = copied < 0 ? 0 : static_cast<size_t>(copied);
  std::memset(to + found, 0, bytes - found);
  return false;
}

bool is_mapped(const std::byte* from, size_t bytes) noexcept {
  std::byte piece[512];
  for (size_t at = 0; at < bytes; at += sizeof piece) {
    if (!copy_if_mapped(piece, from + at, std::min(bytes - at, sizeof piece))) return false;
  }
  return true;
}

}  // namespace pinwire
