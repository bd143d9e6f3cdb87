// Small arithmetic that the data plane shares.
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>

namespace pinwire {

inline constexpr size_t kCacheLineBytes = 64;

template <std::unsigned_integral T>
constexpr T round_up(T value, T multiple) noexcept {
  return (value + multiple - 1) / multiple * multiple;
}

/// `power` must be a power of two.
template <std::unsigned_integral T>
constexpr T align_up(T value, T power) noexcept {
  return (value + power - 1) & ~(power - 1);
}

/// True when [address, address + bytes) lies inside [base, base + size), for any 64-bit values.
constexpr bool inside(uint64_t address, uint64_t bytes, uint64_t base, uint64_t size) noexcept {
  return address >= base && bytes <= size && address - base <= size - bytes;
}

/// Sequence-number order on a circle of 2^32: is `a` before `b`?
constexpr bool seq_before(uint32_t a, uint32_t b) noexcept {
  return static_cast<int32_t>(a - b) < 0;
}

inline void cpu_relax() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#else
  asm volatile("yield" ::: "memory");
#endif
}

/// Asks for a cache line in order to write it. gcc's __builtin_prefetch(p, 1) asks for a copy to
/// read unless told that the processor has PREFETCHW, and the write then waits for the line once
/// more; a processor without it takes it for a no-op.
inline void prefetch_to_write(const void* address) noexcept {
#if defined(__x86_64__)
  asm volatile("prefetchw %0" ::"m"(*static_cast<const char*>(address)));
#else
  __builtin_prefetch(address, 1);
#endif
}

}  // namespace pinwire
