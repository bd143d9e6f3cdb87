// The members of a team. The team of gex_Client_Init, in which each rank is its own jobrank, has no
// tables.
#pragma once

#include <cstdint>
#include <vector>

#include "core/engine/target.h"

namespace pinwire {

struct TeamTables {
  std::vector<Target> targets;   ///< by rank
  std::vector<uint32_t> seats;   ///< of their collectives, each in its process
  std::vector<Rank> by_jobrank;  ///< ranks, in the order of their jobranks, then of themselves

  /// Fills `by_jobrank`.
  void sort();
  /// The lowest rank of a member in that process (EX-042); false: there is none.
  bool find(Rank jobrank, Rank& rank) const noexcept;
};

/// A rank of the parent and what it says where a team splits (GX-069).
struct Choice {
  int32_t color;  ///< < 0: in no team
  int32_t key;
};
/// Ranks of the parent that have this colour: by key, then by rank.
std::vector<Rank> members_of(const std::vector<Choice>& choices, int32_t color);

}  // namespace pinwire
