// Runs the handlers of arriving messages in place, on the driver's receive buffer.
#pragma once

#include <cstddef>
#include <cstdint>

#include "am/message/done_count.h"
#include "am/message/message.h"
#include "am/message/token.h"
#include "am/message/tracked.h"
#include "core/engine/engine.h"

namespace pinwire {

/// Runs one message's handler; `lane` is the driver's that it came on.
void dispatch(uint32_t lane, const Recv& message) noexcept;

struct DispatchSink {
  void message(uint32_t lane, const Recv& message) const noexcept { dispatch(lane, message); }
  void done(uint64_t cookie) const noexcept {
    if ((cookie & kTrackedBit) != 0) [[unlikely]] {
      cookie = finish_tracked(cookie);
      if (cookie == 0) return;
    }
    count_done(*reinterpret_cast<DoneCount*>(cookie));
  }
};

/// Inside the handler of `request`: runs a client's handler for its source, as that of a Medium
/// reply without arguments is run.
void run_as_reply(const pinwire_token& request, uint8_t handler, uint8_t endpoint, void* payload,
                  size_t bytes) noexcept;

/// Runs `handler` on this thread, now, for a message of this process to itself.
void dispatch_loopback(uint8_t handler, AmEndpoints endpoints, bool is_request, Category category,
                       void* payload, size_t bytes, uint32_t argc, const int32_t* args) noexcept;

}  // namespace pinwire
