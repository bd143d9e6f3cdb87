// Bootstrap under mpirun, srun --mpi=pmix and whoever else serves PMIx. The library is opened at
// run time: it exists only as a shared object, and only where such a launcher is.
#pragma once

#include <memory>

#include "core/bootstrap/bootstrap.h"

namespace pinwire {

bool started_by_pmix() noexcept;
Result<std::unique_ptr<Bootstrap>> make_pmix_bootstrap();

}  // namespace pinwire
