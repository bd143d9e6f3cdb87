// libpmix, opened at run time: the functions that Pinwire uses of it.
#pragma once

#include "core/base/result.h"
#include "core/bootstrap/pmix/pmix_abi.h"

namespace pinwire::bootstrap {

struct PmixLibrary {
  pmix::Init init;
  pmix::Initialized initialized;
  pmix::Finalize finalize;
  pmix::Abort abort;
  pmix::Put put;
  pmix::Commit commit;
  pmix::Fence fence;
  pmix::FenceNb fence_nb;
  pmix::Get get;
  pmix::ErrorString error_string;
  pmix::RegisterEventHandler register_event_handler;
};

Result<PmixLibrary> open_pmix_library();

/// The directive of every fence: collect data. A fence without it waits for nobody under Slurm.
pmix::Info collecting_fence();

}  // namespace pinwire::bootstrap
