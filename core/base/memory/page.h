// The kernel's page, on the processors that Pinwire supports.
#pragma once

#include <cstdint>

namespace pinwire {

inline constexpr uint64_t kPageBytes = 4096;

}  // namespace pinwire
