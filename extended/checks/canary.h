// Debug builds: what lies in a buffer of the library's before its client has written the payload
// (GX-122). GASNET_SD_INIT, GASNET_SD_INITVAL, GASNET_SD_INITLEN
#pragma once

#include <cstddef>
#include <cstdint>

namespace pinwire {

struct Canary {
  bool is_on = true;
  uint64_t value = 0;  ///< repeated
  size_t bytes_max = 0;
};
inline constinit Canary canary;

/// At Prepare.
void fill_canary(std::byte* buffer, size_t bytes) noexcept;
/// At Commit of `nbytes`: fatal if none of them was written. The check cannot tell for fewer than
/// eight bytes.
void check_canary(const char* call, const std::byte* buffer, size_t nbytes) noexcept;

}  // namespace pinwire
