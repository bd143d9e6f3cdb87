// Files that a job leaves outside of the directory that it was given.
#pragma once

#include <string>
#include <vector>

namespace pinwire_test {

/// Gives this process and its children a /dev/shm and a /tmp that nobody else writes to, where it
/// is root and may. `programs` lie where they can still be reached.
void take_own_folders(const std::vector<std::string>& programs);

/// Files there, network devices and named network namespaces, and files of huge pages, that may be
/// a job's.
std::vector<std::string> traces_of_jobs();

}  // namespace pinwire_test
