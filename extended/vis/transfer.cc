#include "extended/vis/transfer.h"

#include "core/base/log.h"
#include "extended/vis/place.h"

namespace pinwire::vis {

void get_piece(Target from, std::byte* dest, std::byte* source, size_t bytes,
               pinwire_op& op) noexcept {
  if (const void* direct = place_of_piece("a piece of a get", from, source, dest, bytes)) {
    pinwire_get_direct(dest, direct, bytes);
  } else {
    start_get(from, source, dest, bytes, op);
  }
}

void check_sizes(const char* call, size_t bytes_left) noexcept {
  if (bytes_left == 0) return;
  fatal("%s: one side has %zu bytes more than the other; both sides hold as many (VIS-008)", call,
        bytes_left);
}

}  // namespace pinwire::vis
