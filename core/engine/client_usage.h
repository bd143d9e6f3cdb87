// Debug builds: what each thread of a client has open, where it opened it, and since when. No other
// build refers to any of this.
#pragma once

#include <cstdint>

#include "core/base/breach.h"
#include "core/base/check.h"
#include "core/base/clock.h"

struct pinwire_token;

namespace pinwire {

/// A No-Interrupt Section, a lock that is held, an access region.
struct Opened {
  Place place;
  int64_t since_ns = 0;

  static Opened now() noexcept { return {{}, clock_ns(CLOCK_MONOTONIC)}; }
};

struct HeldLock {
  const uint32_t* word;
  Opened opened;
};

struct RunningHandler {
  uint32_t index;
  uint32_t source;
  bool is_request;
  bool must_reply;  ///< to a LongAsync
  const pinwire_token* token;
  int64_t since_ns;
  int64_t computed_ns;  ///< by its thread until then
};

struct ClientUsage {
  static constexpr uint32_t kLocksMax = 255;  ///< as ThreadState counts them

  Opened section;
  Opened region;
  HeldLock locks[kLocksMax] = {};
  const RunningHandler* handler = nullptr;  ///< the innermost
  const char* prepared[2] = {};  ///< gex_AM_Prepare..., open: a request's, a handler's reply
  bool next_must_reply = false;  ///< a LongAsync to oneself is about to be handled

  const HeldLock& last_lock(uint32_t count) const noexcept {
    dcheck(count != 0, "the last of no locks");
    dcheck(count <= kLocksMax, "more locks than a thread has places for", count);
    return locks[count - 1];
  }
};
inline constinit thread_local ClientUsage client_usage;

/// GASNET_HOLD_LIMIT; 0: none.
inline constinit int64_t hold_limit_ns = 0;

/// At the end of what was opened; `what`: "a No-Interrupt Section, opened".
inline void warn_if_long(const char* what, const Opened& opened) noexcept {
  const int64_t lasted_ns = clock_ns(CLOCK_MONOTONIC) - opened.since_ns;
  if (hold_limit_ns == 0 || lasted_ns <= hold_limit_ns) return;
  warn_of_breach("C1-294",
                 "%s at %s, lasted %.3f s: this thread's messages waited meanwhile; keep it short "
                 "(GASNET_HOLD_LIMIT)",
                 what, PlaceText(opened.place).text(), 1e-9 * static_cast<double>(lasted_ns));
}

}  // namespace pinwire
