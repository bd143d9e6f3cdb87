// The memory that code under exploration uses in place of std::atomic. Its objects hold nothing:
// what is in them is the explorer's, by their address.
#pragma once

#include "tests/models/explorer.h"

namespace pinwire::model {

/// Like std::atomic<T>, for integers of up to 8 bytes.
template <typename T>
class Atomic {
 public:
  Atomic() = default;
  explicit(false) Atomic(T value) { store(value, std::memory_order_relaxed); }
  Atomic(const Atomic&) = delete;

  T load(std::memory_order order = std::memory_order_seq_cst) const noexcept {
    return static_cast<T>(perform({.action = Action::kLoad, .at = this, .order = order}));
  }
  void store(T value, std::memory_order order = std::memory_order_seq_cst) noexcept {
    perform({.action = Action::kStore, .at = this, .order = order, .operand = value});
  }
  T exchange(T value, std::memory_order order = std::memory_order_seq_cst) noexcept {
    return modify(value, order, [](uint64_t, uint64_t next) { return next; });
  }
  T fetch_add(T value, std::memory_order order = std::memory_order_seq_cst) noexcept {
    return modify(value, order,
                  [](uint64_t old, uint64_t by) -> uint64_t { return static_cast<T>(old + by); });
  }
  T fetch_sub(T value, std::memory_order order = std::memory_order_seq_cst) noexcept {
    return fetch_add(static_cast<T>(-value), order);
  }
  T fetch_or(T value, std::memory_order order = std::memory_order_seq_cst) noexcept {
    return modify(value, order, [](uint64_t old, uint64_t bits) { return old | bits; });
  }
  T fetch_and(T value, std::memory_order order = std::memory_order_seq_cst) noexcept {
    return modify(value, order, [](uint64_t old, uint64_t bits) { return old & bits; });
  }
  bool compare_exchange_strong(T& expected, T value,
                               std::memory_order order = std::memory_order_seq_cst) noexcept {
    bool succeeded = false;
    // A failure may not release.
    const std::memory_order on_failure =
        order == std::memory_order_acq_rel   ? std::memory_order_acquire
        : order == std::memory_order_release ? std::memory_order_relaxed
                                             : order;
    const uint64_t old = perform({.action = Action::kCompareExchange,
                                  .at = this,
                                  .order = order,
                                  .order_on_failure = on_failure,
                                  .operand = value,
                                  .expected = expected},
                                 &succeeded);
    expected = static_cast<T>(old);
    return succeeded;
  }
  /// Spurious failures are left out: they only repeat the loop around.
  bool compare_exchange_weak(T& expected, T value,
                             std::memory_order order = std::memory_order_seq_cst) noexcept {
    return compare_exchange_strong(expected, value, order);
  }

 private:
  T modify(T operand, std::memory_order order, Modify how) noexcept {
    return static_cast<T>(perform({.action = Action::kModify,
                                   .at = this,
                                   .order = order,
                                   .operand = operand,
                                   .modify = how}));
  }

  T place_;  // never touched: it gives the object its size
};
static_assert(sizeof(Atomic<uint64_t>) == 8);

/// Like a plain integer of up to 8 bytes. A thread that writes one while another uses it races.
template <typename T>
class Plain {
 public:
  Plain() = default;
  Plain(const Plain&) = delete;
  explicit(false) operator T() const noexcept { return static_cast<T>(read_word(this)); }
  Plain& operator=(T value) noexcept {
    write_word(this, value);
    return *this;
  }

 private:
  uint64_t place_;  // never touched: it gives the object its size
};

/// It stands for driver/shm/host_memory.h of production, and for DeferredMemory of
/// am/poll/deferred.h.
struct ModelMemory {
  template <typename T>
  using Atomic = model::Atomic<T>;
  template <typename T>
  using Plain = model::Plain<T>;
};

}  // namespace pinwire::model
