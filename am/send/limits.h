// How much one message carries.
#pragma once

#include <cstddef>

namespace pinwire {

/// Fixed at attach: the least of the drivers in use.
struct AmLimits {
  size_t medium_bytes_max;
  size_t long_bytes_max;
  size_t long_reply_bytes_max;  ///< less where a reply may take one message only
};
/// `is_final`: it is known how each peer's memory is reached; else, the least that may come of it.
AmLimits am_limits(bool is_final) noexcept;

}  // namespace pinwire
