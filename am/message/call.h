// A request or a reply as its caller describes it, and what became of it.
#pragma once

#include <cstdint>

#include "am/message/patience.h"

namespace pinwire {

struct AmCall {
  uint8_t handler;
  uint32_t argc;
  const int32_t* args;
  uint8_t from_endpoint = 0;  ///< of a request: this process's endpoint that gets the reply
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

}  // namespace pinwire
