// The conventions of the specification, checked at the moment of a breach in debug builds
// (-Dgasnet_debug=true) and nowhere else: which threads may make which calls, and when (C1-287 to
// C1-300). A breach is fatal, with the sentence of core/base/breach.h.
#pragma once

#include <type_traits>

#include "am/interrupts/interrupts.h"
#include "am/message/token.h"
#include "core/base/breach.h"
#include "core/base/check.h"
#include "core/engine/engine.h"
#include "core/engine/target.h"
#include "core/exact_mode.h"
#include "extended/checks/ranges.h"
#include "extended/state/failed_start.h"

namespace pinwire {

/// A call that may communicate or poll: by a client thread, after attach, outside handlers,
/// No-Interrupt Sections and held HSLs; in SEQ by one thread only.
void check_client_call(const char* call) noexcept;
/// In any build: ends the job unless GASNet-EX's `call` may name this endpoint.
[[noreturn]] void refuse_target(const char* call, Target target) noexcept;
inline void check_target(const char* call, Target target) noexcept {
  if (!engine.is_target(target)) [[unlikely]]
    refuse_target(call, target);
}
/// A request: also, the index of the handler is a client's.
void check_request(const char* call, unsigned handler) noexcept;

/// In PARSYNC one thread at a time is inside the library: from the start of a call to its end.
class OnlyEntry {
 public:
  explicit OnlyEntry(const char* call) noexcept;
  ~OnlyEntry();
  OnlyEntry(const OnlyEntry&) = delete;

 private:
  bool is_first_;
};
struct AnyEntry {
  explicit AnyEntry(const char*) noexcept {}
};
using Entry =
    std::conditional_t<kUsageChecks && kThreadMode == ThreadMode::kParsync, OnlyEntry, AnyEntry>;

/// Such a call, to its end. It ends the process where the start of the job has failed, which costs
/// nothing elsewhere: LibraryCall tests the same flag.
class ClientCall {
 public:
  explicit ClientCall(const char* call) noexcept : entry_(call), inside_(checked(call)) {}
  ClientCall(const char* call, unsigned handler) noexcept
      : entry_(call), inside_(checked(call, handler)) {}

 private:
  static LibraryCall checked(const char* call) noexcept {
    if (interrupts_clients && start_has_failed()) [[unlikely]]
      refuse_after_failed_start(call);
    if constexpr (kUsageChecks) check_client_call(call);
    return LibraryCall();
  }
  static LibraryCall checked(const char* call, unsigned handler) noexcept {
    if (interrupts_clients && start_has_failed()) [[unlikely]]
      refuse_after_failed_start(call);
    if constexpr (kUsageChecks) check_request(call, handler);
    return LibraryCall();
  }

  [[no_unique_address]] const Entry entry_;
  const LibraryCall inside_;
};

/// A reply: in a request handler, once, without HSLs.
void check_reply(const char* call, const pinwire_token* token, unsigned handler) noexcept;
inline void reply_call(const char* call, const pinwire_token* token, unsigned handler) noexcept {
  if constexpr (kUsageChecks) check_reply(call, token, handler);
}

/// A put, get or memset: also, check_range().
void check_remote(const char* call, Target node, const void* address, size_t bytes) noexcept;

/// Explicit No-Interrupt Sections: paired, not nested; ignored in handlers and under HSLs (C1-183,
/// C1-199). Without interrupts there is nothing to hold off.
void hold_interrupts() noexcept;
void resume_interrupts() noexcept;
/// Where the client opened the section that is open, or locked the lock that it locked last.
void note_section_place(const Place& place) noexcept;
void note_lock_place(const Place& place) noexcept;

/// Warns of handles, regions and other things that the calling thread leaves open at an orderly end
/// of the job.
void warn_of_leaks() noexcept;

}  // namespace pinwire
