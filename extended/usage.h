// The conventions of the specification, checked at the moment of a breach in debug builds
// (-Dgasnet_debug=true) and nowhere else: who may call what, when (C1-287 to C1-299). A breach is
// fatal.
#pragma once

#include "am/interrupts.h"
#include "am/token.h"
#include "core/base/check.h"

namespace pinwire {

/// A call that may communicate or poll: by a client thread, after attach, outside handlers,
/// No-Interrupt Sections and held HSLs; in SEQ by one thread only.
void check_client_call(const char* call) noexcept;
/// A request: also, the index of the handler is a client's.
void check_request(const char* call, unsigned handler) noexcept;

/// Such a call, to its end.
class ClientCall {
 public:
  explicit ClientCall(const char* call) noexcept : inside_(checked(call)) {}
  ClientCall(const char* call, unsigned handler) noexcept : inside_(checked(call, handler)) {}

 private:
  static LibraryCall checked(const char* call) noexcept {
    if constexpr (kUsageChecks) check_client_call(call);
    return LibraryCall();
  }
  static LibraryCall checked(const char* call, unsigned handler) noexcept {
    if constexpr (kUsageChecks) check_request(call, handler);
    return LibraryCall();
  }

  const LibraryCall inside_;
};

/// A reply: in a request handler, once, without HSLs.
void check_reply(const char* call, const pinwire_token* token, unsigned handler) noexcept;
inline void reply_call(const char* call, const pinwire_token* token, unsigned handler) noexcept {
  if constexpr (kUsageChecks) check_reply(call, token, handler);
}

/// [address, address + bytes) is in the segment of `node`.
void check_remote(const char* call, uint32_t node, const void* address, size_t bytes) noexcept;

/// Explicit No-Interrupt Sections: paired, not nested; ignored in handlers and under HSLs (C1-183,
/// C1-199). Without interrupts there is nothing to hold off.
void hold_interrupts() noexcept;
void resume_interrupts() noexcept;

}  // namespace pinwire
