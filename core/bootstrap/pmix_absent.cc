// In place of pmix.cc where pmix.h is missing at build time.
#include <cstdlib>

#include "core/bootstrap/pmix_bootstrap.h"

namespace pinwire {

bool started_by_pmix() noexcept {
  return std::getenv("PMIX_RANK") != nullptr && std::getenv("PMIX_NAMESPACE") != nullptr;
}

Result<std::unique_ptr<Bootstrap>> make_pmix_bootstrap() {
  return error(
      "this process was started by a PMIx launcher (mpirun, srun), and this Pinwire was built "
      "without PMIx: build it with -Dpmix=enabled (libpmix-dev), or use gasnetrun_pinwire");
}

}  // namespace pinwire
