// Reads of memory that its owner may have unmapped meanwhile.
#pragma once

#include <cstddef>

namespace pinwire {

/// False: some of it is not mapped, and zeros stand for it. Where the kernel does not let a process
/// read itself (process_vm_readv), it had better be there.
bool copy_if_mapped(std::byte* to, const std::byte* from, size_t bytes) noexcept;

/// The same question alone.
bool is_mapped(const std::byte* from, size_t bytes) noexcept;

}  // namespace pinwire
