// Counts what operator new hands out in this program (link tests/support/count_allocations.cc).
#pragma once

#include <atomic>
#include <cstdint>

extern std::atomic<uint64_t> allocations;
extern std::atomic<uint64_t> allocated_bytes;
