// Memory of another process of this host that is not mapped here: the kernel copies, one copy and
// one system call for a transfer. It does so for a process that may debug the other (ptrace), which
// two of one user may where Yama does not forbid it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace pinwire::shm {

/// 0, or why not all of it was copied: EFAULT, where memory at either end is not there or may not
/// be written. `left` is then how many bytes were not.
struct CmaCopy {
  int reason = 0;
  uint64_t left = 0;
};

CmaCopy write_by_cma(int pid, uint64_t remote, const void* local, uint64_t bytes) noexcept;
/// The pieces of a list (driver/scatter.h), which makes sense to its end, in as few calls as hold
/// them. `left` counts bytes of pieces.
CmaCopy scatter_by_cma(int pid, uint64_t base, const std::byte* list, uint32_t bytes) noexcept;
CmaCopy read_by_cma(int pid, uint64_t remote, void* local, uint64_t bytes) noexcept;

/// Tells Yama that any process of this user may reach this one's memory.
void allow_cma() noexcept;

}  // namespace pinwire::shm
