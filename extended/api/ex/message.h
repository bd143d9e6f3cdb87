// Shared parts of the C entry points of GASNet-EX's active messages (messages.cc, negotiated.cc).
#pragma once

#include <cstddef>

#include "am/message/call.h"
#include "core/api_types.h"
#include "core/engine/target.h"
#include "core/trace/trace.h"

namespace pinwire {

/// Fatal: more than gex_AM_Max... allows.
void check_size(const char* call, size_t nbytes, size_t bytes_max) noexcept;
/// The endpoint that is meant, of a rank that there is.
Target target_in(const char* call, gex_TM_t tm, gex_Rank_t rank) noexcept;

/// Sets the patience that GEX_FLAG_IMMEDIATE asks for.
inline AmCall with(gex_Flags_t flags, AmCall call) noexcept {
  if (flags & GEX_FLAG_IMMEDIATE) call.patience = Patience::kTries;
  return call;
}
/// The call of a request by the endpoint that `tm` names.
AmCall call_by(gex_TM_t tm, gex_Flags_t flags, gex_AM_Index_t handler, int argc,
               const gex_AM_Arg_t* args) noexcept;

/// Tells the trace of a message that `send` sends: before its handler may run, unless it is yet to
/// be seen whether it is sent at all. Returns what the client gets.
template <typename Send>
int sent(gex_Flags_t flags, Event event, Rank peer, size_t bytes, gex_AM_Index_t handler,
         const void* source, Send&& send) noexcept {
  const bool may_not = (flags & GEX_FLAG_IMMEDIATE) != 0;
  if (!may_not) note_event(event, peer, bytes, handler, source);
  const bool is_sent = send();
  if (may_not && is_sent) note_event(event, peer, bytes, handler, source);
  return is_sent ? 0 : 1;
}

}  // namespace pinwire
