#include "core/bootstrap/pmix/pmix_library.h"

#include <dlfcn.h>

#include <cstring>

namespace pinwire::bootstrap {
namespace {

// The name that versions 3 to 5 have, then the link that a developer's package installs.
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
  PmixLibrary found{};
  const bool complete =
      find(library, "PMIx_Init", found.init) &&
      find(library, "PMIx_Initialized", found.initialized) &&
      find(library, "PMIx_Finalize", found.finalize) && find(library, "PMIx_Abort", found.abort) &&
      find(library, "PMIx_Put", found.put) && find(library, "PMIx_Commit", found.commit) &&
      find(library, "PMIx_Fence", found.fence) && find(library, "PMIx_Fence_nb", found.fence_nb) &&
      find(library, "PMIx_Get", found.get) &&
      find(library, "PMIx_Error_string", found.error_string) &&
      find(library, "PMIx_Register_event_handler", found.register_event_handler);
  if (!complete) return error("libpmix lacks a function: %s; it is too old", ::dlerror());
  return found;
}

pmix::Info collecting_fence() {
  pmix::Info directive{};
  std::memcpy(directive.key, pmix::kCollectData, sizeof pmix::kCollectData);
  directive.value.type = pmix::Type::kBool;
  directive.value.data.flag = true;
  return directive;
}

}  // namespace pinwire::bootstrap
