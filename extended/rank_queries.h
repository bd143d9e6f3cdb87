// The lists with which gex_System_QueryNbrhdInfo and gex_System_QueryHostInfo answer.
#pragma once

namespace pinwire {

/// Makes the lists of ranks, once their places are known and before any handler runs: a handler may
/// ask for them in signal context, where nothing is allocated (PA-020, problem 3).
void make_rank_lists();

}  // namespace pinwire
