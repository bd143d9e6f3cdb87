#include "tests/sim/client/atomics.h"

#include <algorithm>
#include <map>
#include <set>

#include "core/base/check.h"

namespace pinwire::sim {

uint64_t apply(const AtomicOperands& operands, uint64_t old) {
  switch (operands.code) {
    case AtomicCode::kAdd:
      return old + operands.operand;
    case AtomicCode::kAnd:
      return old & operands.operand;
    case AtomicCode::kOr:
      return old | operands.operand;
    case AtomicCode::kXor:
      return old ^ operands.operand;
    case AtomicCode::kMin:
      return std::min(old, operands.operand);
    case AtomicCode::kMax:
      return std::max(old, operands.operand);
    case AtomicCode::kSwap:
      return operands.operand;
    case AtomicCode::kCompareSwap:
      return old == operands.compare ? operands.operand : old;
    case AtomicCode::kGet:
      return old;
  }
  check(false, "no such atomic", operands.code);
  return 0;
}

AtomicLedger::AtomicLedger(uint32_t ranks, Verdict& verdict)
    : ranks_(ranks), verdict_(verdict), cells_(size_t{ranks} * cells()) {}

void AtomicLedger::result(Rank target, uint32_t number, const AtomicOperands& operands,
                          uint64_t old) {
  Cell& cell = cells_[target * cells() + number];
  if (cell_kind(number) == CellKind::kOwn) {
    if (old != cell.latest) {
      verdict_.fail("atomic %u on own cell %u of rank %u read %#lx, not %#lx",
                    static_cast<unsigned>(operands.code), number, target, old, cell.latest);
    }
    cell.latest = apply(operands, old);
    return;
  }
  cell.entries.push_back({operands, old});
  if (cell_kind(number) == CellKind::kCounter) {
    cell.latest = std::max(cell.latest, apply(operands, old));
  }
}

bool AtomicLedger::sum_holds(Cell& cell, uint64_t last) const {
  std::sort(cell.entries.begin(), cell.entries.end(), [](const Entry& a, const Entry& b) {
    return a.old != b.old ? a.old < b.old : a.operands.operand < b.operands.operand;
  });
  uint64_t value = 0;
  for (const Entry& entry :
       cell.entries) {  // a read has operand 0: before the addition it precedes
    if (entry.old != value) return false;
    value += entry.operands.operand;
  }
  return value == last;
}

bool AtomicLedger::swap_holds(const Cell& cell, uint64_t last) const {
  std::map<uint64_t, uint64_t> successor;
  for (const Entry& entry : cell.entries) {
    if (!successor.emplace(entry.old, entry.operands.operand).second) return false;
  }
  uint64_t value = 0;
  size_t steps = 0;
  for (; successor.contains(value) && steps <= cell.entries.size(); ++steps) {
    value = successor[value];
  }
  return steps == cell.entries.size() && value == last;
}

bool AtomicLedger::counter_holds(const Cell& cell, uint64_t last) const {
  std::set<uint64_t> succeeded;
  for (const Entry& entry : cell.entries) {
    if (entry.old > last) return false;
    if (entry.old == entry.operands.compare && !succeeded.insert(entry.old).second) return false;
  }
  return succeeded.size() == last && (last == 0 || *succeeded.rbegin() == last - 1);
}

void AtomicLedger::check_final(Rank target, std::span<const uint64_t> memory) {
  for (uint32_t number = 0; number < cells(); ++number) {
    Cell& cell = cells_[target * cells() + number];
    const uint64_t last = memory[number];
    bool holds = false;
    switch (cell_kind(number)) {
      case CellKind::kSum:
        holds = sum_holds(cell, last);
        break;
      case CellKind::kSwap:
        holds = swap_holds(cell, last);
        break;
      case CellKind::kCounter:
        holds = counter_holds(cell, last);
        break;
      case CellKind::kOwn:
        holds = cell.latest == last;
        break;
    }
    if (!holds) {
      return verdict_.fail("cell %u of rank %u ends at %#lx, which its %zu results contradict",
                           number, target, last, cell.entries.size());
    }
  }
}

}  // namespace pinwire::sim
