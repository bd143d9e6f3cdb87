// The names that pinwire_stats() hands out: they outlive the call, and clients may keep them.
// Handlers may make that call, and so a signal on top of malloc may: nothing is allocated (PA-020,
// problem 3).
#pragma once

#include <cstddef>
#include <mutex>
#include <span>

namespace pinwire {

/// Thread-safe. The names lie one after another in the memory, each with the NUL that ends it.
class KeptNames {
 public:
  constexpr explicit KeptNames(std::span<char> memory) noexcept : memory_(memory) {}

  /// "owner.name", at the same address each time; nullptr: the memory is full.
  const char* keep(const char* owner, const char* name) noexcept;

 private:
  const char* find(const char* owner, const char* name, size_t from, size_t to) noexcept;
  const char* add(const char* owner, const char* name) noexcept;

  std::mutex lock_;
  std::span<char> memory_;
  size_t used_bytes_ = 0;
  /// Behind the name that was asked for last. Callers ask in the same order each time, so the next
  /// one is there.
  size_t next_ = 0;
};

}  // namespace pinwire
