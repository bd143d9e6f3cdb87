#include "core/bootstrap/pmix_library.h"

#include <dlfcn.h>

#include <cstring>

namespace pinwire::bootstrap {
namespace {

// The version whose header this was built with, then whatever is installed. The wire between
// library and server is compatible from version 2 on.
constexpr const char* kNames[] = {"libpmix.so.2", "libpmix.so"};

template <typename Function>
bool find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
  return function != nullptr;
}

}  // namespace

Result<PmixLibrary> open_pmix_library() {
  void* library = nullptr;
  for (const char* name : kNames)
    if (library == nullptr) library = ::dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return error(
        "this process was started by a PMIx launcher (mpirun, srun), but libpmix cannot be opened: "
        "%s; install it (libpmix2) or put its directory into LD_LIBRARY_PATH",
        ::dlerror());
  }
  PmixLibrary pmix{};
  const bool complete =
      find(library, "PMIx_Init", pmix.init) &&
      find(library, "PMIx_Initialized", pmix.initialized) &&
      find(library, "PMIx_Finalize", pmix.finalize) && find(library, "PMIx_Abort", pmix.abort) &&
      find(library, "PMIx_Put", pmix.put) && find(library, "PMIx_Commit", pmix.commit) &&
      find(library, "PMIx_Fence", pmix.fence) && find(library, "PMIx_Fence_nb", pmix.fence_nb) &&
      find(library, "PMIx_Get", pmix.get) &&
      find(library, "PMIx_Error_string", pmix.error_string) &&
      find(library, "PMIx_Register_event_handler", pmix.register_event_handler);
  if (!complete) return error("libpmix lacks a function: %s; it is too old", ::dlerror());
  return pmix;
}

pmix_info_t collecting_fence() {
  pmix_info_t directive{};
  std::strncpy(directive.key, PMIX_COLLECT_DATA, PMIX_MAX_KEYLEN);
  directive.value.type = PMIX_BOOL;
  directive.value.data.flag = true;
  return directive;
}

}  // namespace pinwire::bootstrap
