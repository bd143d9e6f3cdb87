#include "extended/checks/canary.h"

#include <algorithm>
#include <cstring>

#include "core/base/breach.h"

namespace pinwire {
namespace {

constexpr size_t kWordBytes = sizeof(uint64_t);

/// Whole words that the canary takes of so many bytes.
size_t words_of(size_t bytes) noexcept {
  return canary.is_on ? std::min(bytes, canary.bytes_max) / kWordBytes : 0;
}

}  // namespace

void fill_canary(std::byte* buffer, size_t bytes) noexcept {
  for (size_t i = 0; i < words_of(bytes); ++i) {
    std::memcpy(buffer + i * kWordBytes, &canary.value, kWordBytes);
  }
}

void check_canary(const char* call, const std::byte* buffer, size_t nbytes) noexcept {
  const size_t words = words_of(nbytes);
  if (words == 0) return;
  for (size_t i = 0; i < words; ++i) {
    if (std::memcmp(buffer + i * kWordBytes, &canary.value, kWordBytes) != 0) return;
  }
  breach("GX-122",
         "%s of %zu bytes that nobody has written since Prepare; if that is what you mean to send, "
         "set GASNET_SD_INIT=0",
         call, nbytes);
}

}  // namespace pinwire
