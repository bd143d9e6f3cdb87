// GASNet-1's split-phase barrier, with names, over any team: a reduction of what the members say.
#pragma once

#include "extended/barrier/barrier.h"
#include "extended/state/objects.h"

namespace pinwire {

/// As extended/barrier/barrier.h has them for the job.
void named_notify(pinwire_tm& tm, int id, int flags) noexcept;
BarrierResult named_wait(pinwire_tm& tm, int id, int flags) noexcept;
BarrierResult named_try(pinwire_tm& tm, int id, int flags) noexcept;

}  // namespace pinwire
