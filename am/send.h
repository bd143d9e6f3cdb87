// Requests and replies of the three categories (2.3.3, 2.3.4). All return once the source may be
// reused, but LongAsync, and a Long whose end is counted.
//
// With Patience::kTries a call is a no-op when its first message or piece finds no room; what has
// begun is completed, and waits if need be: so do the messages ahead of a Long that takes several,
// to memory that is pinned on demand and not known yet.
#pragma once

#include <cstddef>
#include <cstdint>

#include "am/progress.h"
#include "am/token.h"
#include "core/engine/target.h"
#include "driver/work.h"

namespace pinwire {

struct AmCall {
  uint8_t handler;
  uint32_t argc;
  const int32_t* args;
  uint8_t from_endpoint = 0;  ///< of a request: of this process's endpoints, who gets the reply
  Patience patience = Patience::kWaits;
};
/// As the C entry points have it.
inline AmCall call_of(uint8_t handler, int argc, const int32_t* args,
                      uint32_t from_endpoint = 0) noexcept {
  return {handler, static_cast<uint32_t>(argc), args, static_cast<uint8_t>(from_endpoint)};
}
/// A call of one of the library's own handlers with all of `args`, which must outlive it.
template <uint32_t kCount>
AmCall call_with(uint8_t handler, const int32_t (&args)[kCount],
                 Patience patience = Patience::kWaits) noexcept {
  return {handler, kCount, args, 0, patience};
}

enum class Sent : uint8_t {
  kNothing,  ///< a no-op: only with Patience::kTries
  kAll,      ///< its source may be reused
  kPending,  ///< the source is read until the count that was given has gone up by one
};

bool request_short(Target to, const AmCall& call) noexcept;
bool request_medium(Target to, const AmCall& call, const void* source, size_t bytes) noexcept;
/// To a segment that this process knows of. `is_async`: its source is read until the reply.
/// `local`, if any, may count its end.
Sent request_long(Target to, const AmCall& call, const void* source, size_t bytes, void* dest,
                  bool is_async, DoneCount* local = nullptr) noexcept;

bool reply_short(pinwire_token& token, const AmCall& call) noexcept;
bool reply_medium(pinwire_token& token, const AmCall& call, const void* source,
                  size_t bytes) noexcept;
bool reply_long(pinwire_token& token, const AmCall& call, const void* source, size_t bytes,
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
