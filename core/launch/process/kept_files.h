// The files that a forked helper keeps open: a process that waits for the end of the launcher's
// output, or of one of its pipes, must not wait for the helper.
#pragma once

#include <vector>

namespace pinwire::launch {

void close_all_but(std::vector<int> kept);

}  // namespace pinwire::launch
