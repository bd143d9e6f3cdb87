// Jobs inside of jobs: a rank of Pinwire's launcher may itself be mpirun or srun, or start them,
// and what these start inherits the launcher's variables; and a launcher that they started has
// theirs. The nearer of the two is the one whose job a process belongs to.
//
// The launcher says beside its socket which process of PMIx the rank's environment names. Programs
// that run between launcher and rank (a shell, numactl, a debugger) leave both as they are; mpirun
// and srun name another process to PMIx for each that they start.
#pragma once

#include <functional>
#include <string>

namespace pinwire {

/// The variable with what pmix_process() is for the rank's environment.
inline constexpr const char* kJobPmixVariable = "GASNET_JOB_PMIX";

/// The process that PMIx's variables name: "NAMESPACE RANK". Empty: they are not all there.
std::string pmix_process(const std::function<const char*(const char* name)>& look_up);

/// Whether PMIx started this process after Pinwire's launcher had started one of those above it.
bool is_of_inner_job();

/// Removes from the environment what the outer job's launcher told its rank there. A directory that
/// the user names stays.
void leave_outer_job();

}  // namespace pinwire
