// Chooses the drivers of this job, opens them, and routes each peer to one of them.
#pragma once

#include "core/base/result.h"
#include "extended/state/job.h"

namespace pinwire {

/// GASNET_DRIVER: auto takes shared memory inside a host and the network outside it. Collective.
Status open_drivers(Job& job);

}  // namespace pinwire
