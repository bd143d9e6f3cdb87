// The sets of ranks that gex_System_QueryNbrhdInfo and its kin tell of: neighbourhoods and hosts
// (GX-164 to GX-167).
#pragma once

#include "driver/work.h"

namespace pinwire {

/// The ranks of this rank's set, as the API gives them out. The pointer leads to `count` of
/// gex_RankInfo_t, a type that has no linkage, as the API defines it without a name.
struct RankList {
  const void* infos;
  Rank count;
  Rank index;  ///< of this rank in it
};

/// Makes the lists of ranks, once their places are known and before any handler runs: a handler may
/// ask for them in signal context, where nothing is allocated (PA-020, problem 3).
void make_rank_lists();

RankList neighbours() noexcept;
RankList ranks_of_this_host() noexcept;

/// The number of a rank's set. Sets count from 0, by their lowest rank. In EVERYTHING no process
/// maps another's memory: each is alone (GX-167).
uint32_t neighbourhood_of(Rank rank) noexcept;
uint32_t host_of(Rank rank) noexcept;

}  // namespace pinwire
