// How much standard input may be under way to rank 0 on another host. The launcher stops reading
// when the window is used up, and the agent refuses more than it holds.
#pragma once

#include <cstddef>

namespace pinwire::launch {

/// The most bytes that may be under way between the launcher's standard input and the rank's.
inline constexpr size_t kInputWindowBytes = 256 << 10;

}  // namespace pinwire::launch
