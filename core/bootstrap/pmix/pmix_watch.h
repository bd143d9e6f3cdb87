// Ends a rank when its PMIx server (mpirun, or that daemon which serves this host) is gone, also
// while the client computes: PMIx's own thread sees the lost connection.
#pragma once

#include "core/bootstrap/pmix/pmix_library.h"

namespace pinwire::bootstrap {

void watch_pmix_server(const PmixLibrary& library);

/// From now on the connection may end: this process finalizes PMIx.
void expect_pmix_end() noexcept;

}  // namespace pinwire::bootstrap
