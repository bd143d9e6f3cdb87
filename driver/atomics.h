// 64-bit remote atomics as the CPU executes them: the initiator's over shared memory, the target's in nicfw.
// The target's threads, and other drivers, may work on the same word.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "driver/work.h"

namespace pinwire {

/// Applies to an aligned word, returns the old value. kMin and kMax are unsigned.
inline uint64_t apply_atomic(uint64_t* word, const AtomicOperands& with) noexcept {
  std::atomic_ref<uint64_t> at(*word);
  switch (with.code) {
    case AtomicCode::kAdd:
      return at.fetch_add(with.operand);
    case AtomicCode::kAnd:
      return at.fetch_and(with.operand);
    case AtomicCode::kOr:
      return at.fetch_or(with.operand);
    case AtomicCode::kXor:
      return at.fetch_xor(with.operand);
    case AtomicCode::kSwap:
      return at.exchange(with.operand);
    case AtomicCode::kGet:
      return at.load();
    case AtomicCode::kCompareSwap: {
      uint64_t old = with.compare;
      at.compare_exchange_strong(old, with.operand);
      return old;
    }
    case AtomicCode::kMin:
    case AtomicCode::kMax: {
      uint64_t old = at.load();
      for (;;) {
        const uint64_t next = with.code == AtomicCode::kMin ? std::min(old, with.operand)
                                                            : std::max(old, with.operand);
        if (at.compare_exchange_weak(old, next)) return old;
      }
    }
  }
  return at.load();
}

}  // namespace pinwire
