// -spawner=mpi: leaves it to mpirun, under which ranks find each other through PMIx.
#pragma once

#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/launch/options/options.h"

namespace pinwire::launch {

/// `pattern` (of MPIRUN_CMD) with %N replaced by the number of ranks, %M of hosts, %C by the
/// command, %P by the program, %A by its arguments, %% by %.
std::vector<std::string> mpirun_words(const std::string& pattern, const LaunchOptions& options);

/// Becomes mpirun; returns only if that is impossible.
Error become_mpirun(const LaunchOptions& options);

}  // namespace pinwire::launch
