// gex_EP_PublishBoundSegment (EX-073 to EX-081).
#pragma once

#include <cstddef>

#include "core/base/result.h"
#include "extended/state/objects.h"

namespace pinwire {

/// Collective over the team: every caller's endpoints become known to every other.
Status publish_bound(gex_TM_t tm, pinwire_ep** endpoints, size_t count);

}  // namespace pinwire
