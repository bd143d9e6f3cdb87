// Counters of events, for pinwire_stats(), which reads it at any time, from any thread. They read
// like numbers. All relaxed: a count orders nothing.
#pragma once

#include <atomic>
#include <cstdint>

namespace pinwire {

/// Written by one thread at a time: no locked instruction, so that the data plane may count. The
/// count that it wrote itself it reads plainly; as two atomic accesses, a count would look to the
/// compiler like two calls, and what counts would not be inlined any more.
class Counter {
 public:
  constexpr Counter() noexcept = default;
  Counter(const Counter& other) noexcept : value_(other) {}
  Counter& operator=(const Counter&) = delete;

  operator uint64_t() const noexcept { return __atomic_load_n(&value_, __ATOMIC_RELAXED); }
  void operator+=(uint64_t more) noexcept {
    __atomic_store_n(&value_, value_ + more, __ATOMIC_RELAXED);
  }
  void operator++() noexcept { *this += 1; }

 private:
  uint64_t value_ = 0;
};

/// Written by several threads at once: a locked instruction, for what is rare.
class SharedCounter {
 public:
  operator uint64_t() const noexcept { return value_.load(std::memory_order_relaxed); }
  void operator+=(uint64_t more) noexcept { value_.fetch_add(more, std::memory_order_relaxed); }
  void operator++() noexcept { *this += 1; }

 private:
  std::atomic<uint64_t> value_{0};
};

}  // namespace pinwire
