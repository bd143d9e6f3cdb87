// The segments of other endpoints than those of attach, as far as this process knows them: told to
// a team by gex_EP_PublishBoundSegment, or asked for when one is wanted first (EX-073 to EX-081).
#pragma once

#include <cstddef>

#include "core/base/result.h"
#include "core/engine/target.h"
#include "extended/segments/bind.h"

namespace pinwire {

/// From now on transfers may name that endpoint of `peer`. Client context, any thread.
Status reach_bound(Rank peer, const BoundFacts& facts);

/// Asks the process of `to`, unless its segment is known; true: it is known now, and was not.
/// Client context; in handlers it asks nobody.
bool learn_segment(Target to) noexcept;

void register_segment_questions() noexcept;

}  // namespace pinwire
