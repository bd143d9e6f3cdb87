// The beginning of a job in this process: bootstrap, drivers, segments.
#pragma once

#include "core/base/result.h"
#include "extended/state/job.h"

namespace pinwire {

/// Makes the Job. `config`: the client's GASNET_CONFIG_STRING.
Status job_init(SegmentKind kind, const char* config);
/// Everything but what job_begin() does: gasnet_attach.
Status job_attach(uint64_t segment_bytes);
/// The same for gex_Client_Init: without segments, but of EVERYTHING.
Status job_connect();
/// The segments, while the job runs: gex_Segment_Attach. A barrier, in which messages are served.
Status job_attach_later(uint64_t segment_bytes);
/// From now on messages come, and handlers may run: all that they read is set. A barrier.
Status job_begin();

}  // namespace pinwire
