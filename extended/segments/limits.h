// How large segments may be (C1-063, C1-092 to C1-094): a share of the host's memory,
// GASNET_MAX_SEGSIZE, and, where a device pins FAST ones, what may be pinned. EVERYTHING has no
// limit.
#pragma once

#include "extended/state/job.h"

namespace pinwire {

/// Fills in what this rank tells the others of its limits.
void state_limits(const Job& job, RankTold& mine);
/// From what all ranks told. Collective.
Status set_segment_limits(Job& job, const std::vector<RankTold>& told);
/// The part of `asked` bytes that this rank can have. Logs the reason if it is less.
uint64_t grant_segment(const Job& job, uint64_t asked);

}  // namespace pinwire
