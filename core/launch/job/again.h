// A rank may ask that its job, when it has ended well, be started again in another environment: it
// writes `NAME=value`, each ended by NUL, into the file that GASNET_JOB_AGAIN names. For a program
// whose user chooses at its prompt what GASNet reads before it is up (bench/flood's `set
// dispatch`).
//
// Ranks of other hosts get no such file: their standard input is read ahead, here, and the next
// job's rank 0 would miss a part of it.
#pragma once

#include <string>
#include <vector>

namespace pinwire::launch {

inline constexpr const char* kAgainVariable = "GASNET_JOB_AGAIN";

/// In the job's directory.
std::string again_path(const std::string& job_dir);

/// The assignments, NAME=value, with which the ended job asked to be started again; empty if it did
/// not ask. A signal that asks for the end ends this process meanwhile (EndsBySignal).
std::vector<std::string> read_again(const std::string& path);

}  // namespace pinwire::launch
