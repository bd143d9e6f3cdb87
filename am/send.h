// Requests and replies of the three categories (2.3.3, 2.3.4). All return once the source may be
// reused, but LongAsync.
#pragma once

#include <cstddef>
#include <cstdint>

#include "am/token.h"
#include "core/engine/target.h"
#include "driver/work.h"

namespace pinwire {

struct AmCall {
  uint8_t handler;
  uint32_t argc;
  const int32_t* args;
  uint8_t from_endpoint = 0;  ///< of a request: of this process's endpoints, who gets the reply
};
/// As the C entry points have it.
inline AmCall call_of(uint8_t handler, int argc, const int32_t* args,
                      uint32_t from_endpoint = 0) noexcept {
  return {handler, static_cast<uint32_t>(argc), args, static_cast<uint8_t>(from_endpoint)};
}

void request_short(Target to, const AmCall& call) noexcept;
void request_medium(Target to, const AmCall& call, const void* source, size_t bytes) noexcept;
/// To a segment that this process knows of.
void request_long(Target to, const AmCall& call, const void* source, size_t bytes, void* dest,
                  bool is_async) noexcept;

void reply_short(pinwire_token& token, const AmCall& call) noexcept;
void reply_medium(pinwire_token& token, const AmCall& call, const void* source,
                  size_t bytes) noexcept;
void reply_long(pinwire_token& token, const AmCall& call, const void* source, size_t bytes,
                void* dest) noexcept;

/// Fixed at attach: the least of the drivers in use.
struct AmLimits {
  size_t medium_bytes_max;
  size_t long_bytes_max;
  size_t long_reply_bytes_max;  ///< less where a reply may take one message only
};
/// `is_final`: it is known how each peer's memory is reached; else, the least that may come of it.
AmLimits am_limits(bool is_final) noexcept;

}  // namespace pinwire
