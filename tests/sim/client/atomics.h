// Rules that the results of remote atomics must keep, when each was executed exactly once in some
// order:
//   sums      additions of positive operands: sorted by old value they form one chain to the final
//   one swaps     of values all different: each value is taken out once, the last one stays
//   counters  compare-swaps from n to n + 1: each n succeeds once
//   own       a cell that one rank uses, one operation at a time: every result is known
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "driver/work.h"
#include "tests/sim/oracle/verdict.h"

namespace pinwire::sim {

inline constexpr uint32_t kSumCells = 3;
inline constexpr uint32_t kSwapCells = 2;
inline constexpr uint32_t kCounterCells = 2;
inline constexpr uint32_t kSharedCells = kSumCells + kSwapCells + kCounterCells;

enum class CellKind : uint8_t { kSum, kSwap, kCounter, kOwn };

/// Cells of one rank lie in this order; then one own cell for each rank.
constexpr CellKind cell_kind(uint32_t cell) {
  if (cell < kSumCells) return CellKind::kSum;
  if (cell < kSumCells + kSwapCells) return CellKind::kSwap;
  return cell < kSharedCells ? CellKind::kCounter : CellKind::kOwn;
}

/// The effect of the code on a cell.
uint64_t apply(const AtomicOperands& operands, uint64_t old);

class AtomicLedger {
 public:
  AtomicLedger(uint32_t ranks, Verdict& verdict);

  uint32_t cells() const noexcept { return kSharedCells + ranks_; }
  /// An operation on `cell` of `target` came back with `old`.
  void result(Rank target, uint32_t cell, const AtomicOperands& operands, uint64_t old);
  /// The last value that the oracle knows of: a guess for a counter, exact for an own cell.
  uint64_t latest(Rank target, uint32_t cell) const { return at(target, cell).latest; }
  void check_final(Rank target, std::span<const uint64_t> memory);

 private:
  struct Entry {
    AtomicOperands operands;
    uint64_t old;
  };
  struct Cell {
    uint64_t latest = 0;
    std::vector<Entry> entries;
  };
  const Cell& at(Rank target, uint32_t cell) const { return cells_[target * cells() + cell]; }
  bool sum_holds(Cell& cell, uint64_t last) const;
  bool swap_holds(const Cell& cell, uint64_t last) const;
  bool counter_holds(const Cell& cell, uint64_t last) const;

  uint32_t ranks_;
  Verdict& verdict_;
  std::vector<Cell> cells_;
};

}  // namespace pinwire::sim
