// Segments of the job: pinned with every driver, told to everyone, mapped where the host is shared.
#pragma once

#include "core/base/result.h"
#include "core/engine/target.h"
#include "extended/state/gather.h"
#include "extended/state/job.h"

namespace pinwire {

/// Collective, by `gather`. Fills the routes and the table that the inlined puts and gets use.
Status publish_segments(Job& job, const Gather& gather);

/// From now on the headers' inlined calls reach [base, base + bytes) of that endpoint's memory
/// here, `delta` further on; unless they are traced or counted, and so must come to the library.
void let_headers_reach(Target to, uint64_t base, uint64_t bytes, uint64_t delta) noexcept;
/// No longer.
void forget_headers_reach(Target to) noexcept;
/// From now on all of this process's transfers come to the library: their local ends may be device
/// memory (Engine::has_devices).
void keep_headers_out() noexcept;

}  // namespace pinwire
