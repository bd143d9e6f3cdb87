// Which files a forked helper keeps open: whoever waits for the end of the launcher's output, or of
// a pipe of its, must not wait for the helper.
#pragma once

#include <vector>

namespace pinwire::launch {

void close_all_but(std::vector<int> kept);

}  // namespace pinwire::launch
