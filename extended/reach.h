// Segments of the job: pinned with every driver, told to everyone, mapped where the host is shared.
#pragma once

#include "core/base/result.h"
#include "extended/gather.h"
#include "extended/job.h"

namespace pinwire {

/// Collective, by `gather`. Fills the routes and the table that the inlined puts and gets use.
Status publish_segments(Job& job, const Gather& gather);

}  // namespace pinwire
