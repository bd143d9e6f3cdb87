// Debug builds: a handler from its start to its return, and what it owes then. In others nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "am/message/message.h"
#include "am/message/token.h"
#include "core/base/check.h"
#include "core/engine/client_usage.h"
#include "core/engine/lane.h"

namespace pinwire {

inline void mark_async(AmHead& head, bool is_async) noexcept {
  if constexpr (kUsageChecks) {
    if (is_async) head.words[0] |= uint64_t{kMarkMustReply} << (8 * offsetof(AmHeader, shape));
  }
}
/// As mark_async(), for a message to this rank itself, which has no header.
inline void mark_async_to_self(bool is_async) noexcept {
  if constexpr (kUsageChecks) client_usage.next_must_reply = is_async;
}

/// In debug builds a handler runs for the messages alone that it was registered for (GX-086).
void check_shape(const pinwire_token& token, Category category, uint32_t argc) noexcept;

class WatchedHandler {
 public:
  WatchedHandler(uint8_t index, const pinwire_token& token, bool must_reply) noexcept;
  ~WatchedHandler();
  WatchedHandler(const WatchedHandler&) = delete;

 private:
  RunningHandler running_;
  const RunningHandler* before_;  ///< a request's whose reply to oneself this is
  uint32_t locks_before_;
};

struct UnwatchedHandler {
  UnwatchedHandler(uint8_t, const pinwire_token&, bool) noexcept {}
};

using HandlerWatch = std::conditional_t<kUsageChecks, WatchedHandler, UnwatchedHandler>;

/// "handler 200, of a request from rank 0,"
class HandlerText {
 public:
  explicit HandlerText(const RunningHandler& handler) noexcept;
  const char* text() const noexcept { return text_; }

 private:
  char text_[64];
};

}  // namespace pinwire
