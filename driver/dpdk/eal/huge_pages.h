// How much huge-page memory this host has to give.
#pragma once

#include <cstdint>

namespace pinwire {

/// Bytes in free, unreserved huge pages of all sizes. `sys_dir` is a parameter for the tests.
uint64_t huge_bytes_free(const char* sys_dir = "/sys/kernel/mm/hugepages");

}  // namespace pinwire
