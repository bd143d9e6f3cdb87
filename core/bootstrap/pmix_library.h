// libpmix, opened at run time: the functions that Pinwire uses of it.
#pragma once

#include <pmix.h>

#include "core/base/result.h"

namespace pinwire::bootstrap {

struct PmixLibrary {
  decltype(&PMIx_Init) init;
  decltype(&PMIx_Initialized) initialized;
  decltype(&PMIx_Finalize) finalize;
  decltype(&PMIx_Abort) abort;
  decltype(&PMIx_Put) put;
  decltype(&PMIx_Commit) commit;
  decltype(&PMIx_Fence) fence;
  decltype(&PMIx_Fence_nb) fence_nb;
  decltype(&PMIx_Get) get;
  decltype(&PMIx_Error_string) error_string;
  decltype(&PMIx_Register_event_handler) register_event_handler;
};

Result<PmixLibrary> open_pmix_library();

/// The directive of every fence: collect data. A fence without it waits for nobody under Slurm.
pmix_info_t collecting_fence();

}  // namespace pinwire::bootstrap
