// Short and Medium requests and replies (2.3.3, 2.3.4); am/long/send_long.h has the Longs. All
// return once the source may be reused.
//
// With Patience::kTries a call that finds no room is a no-op.
#pragma once

#include <cstddef>

#include "am/message/call.h"
#include "am/message/token.h"
#include "core/engine/target.h"

namespace pinwire {

bool request_short(Target to, const AmCall& call) noexcept;
bool request_medium(Target to, const AmCall& call, const void* source, size_t bytes) noexcept;

bool reply_short(pinwire_token& token, const AmCall& call) noexcept;
bool reply_medium(pinwire_token& token, const AmCall& call, const void* source,
                  size_t bytes) noexcept;

}  // namespace pinwire
