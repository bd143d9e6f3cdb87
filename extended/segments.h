// What this process knows of the segments of other endpoints than those of attach: told to a team
// by gex_EP_PublishBoundSegment, or asked for when one is wanted first (EX-073 to EX-081).
#pragma once

#include <cstddef>

#include "core/base/result.h"
#include "core/engine/target.h"
#include "extended/bound_segment.h"

namespace pinwire {

/// From now on transfers may name that endpoint of `peer`. Client context.
Status reach_bound(Rank peer, const BoundFacts& facts);

/// Asks the process of `to`, unless its segment is known; true: it is known now, and was not.
/// Client context; in handlers it asks nobody.
bool learn_segment(Target to) noexcept;

/// Collective over the team: every caller's endpoints become known to every other.
Status publish_bound(gex_TM_t tm, pinwire_ep** endpoints, size_t count);

void register_segment_questions() noexcept;

}  // namespace pinwire
