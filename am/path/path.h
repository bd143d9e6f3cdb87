// How a transfer with the segment of a peer travels. Puts, gets and Longs ask choose_path() once,
// and then do what the path says.
//
// choose_path() is pure: it reads its arguments alone. am/path/local_end.h is the `local` that the
// library passes, and looks facts up as they are asked for; tests pass a table.
#pragma once

#include <cstdint>

#include "am/message/patience.h"
#include "core/engine/engine.h"
#include "driver/driver.h"
#include "driver/work.h"

namespace pinwire {

/// When the source of a put or a Long may be changed by the caller.
enum class SourceUntil : uint8_t {
  kReturn,  ///< once the call returns
  kDone,    ///< once the completion is counted
  kReply,   ///< of a LongAsync: once its reply has come
  kPosted,  ///< once the call returns, in a handler that may not wait for the target's CPU
};

/// The means by which a transfer travels.
enum class PathKind : uint8_t {
  kHere,      ///< the segment is this process's own: memory is moved
  kKeys,      ///< the driver moves it under the keys of both ends, or copies the source
  kRails,     ///< the same over all rails, a part by each
  kBounced,   ///< the driver does not know the local memory, and copies a part of it at a time
  kPinned,    ///< local memory is pinned for this transfer alone (am/on_demand/on_demand.h)
  kBuckets,   ///< the peer's memory is reached by buckets (am/on_demand/on_demand.h)
  kVisit,     ///< the peer pins its memory for this transfer alone (am/on_demand/visit.h)
  kMessages,  ///< messages carry it (am/on_demand/by_message.h)
};

struct Path {
  PathKind kind = PathKind::kHere;
  bool is_copied = false;  ///< the driver copies the source as it takes the work
  bool waits = false;      ///< the call waits for the completion, which alone frees the source
  bool is_silent = false;  ///< nobody needs the completion
  uint32_t local_key = kNoRegion;  ///< of kKeys and kRails

  bool operator==(const Path&) const = default;
};

/// Below this, copying is as cheap as pinning, which is a system call and a walk over the pages.
inline constexpr uint64_t kAloneBytesMin = 256 << 10;

/// A driver copies sources of up to so many bytes, so that nobody waits for the completion.
constexpr uint64_t copied_max(const Caps& caps, SourceUntil until) noexcept {
  switch (until) {
    case SourceUntil::kReturn:
      return caps.eager_bytes_max;
    case SourceUntil::kPosted:
      return caps.copied_bytes_max;
    default:
      return caps.inline_bytes_max;
  }
}

/// The part of choose_path() for memory of the peer that one key covers.
template <Op kOp, typename Local>
[[gnu::always_inline]] constexpr Path choose_path_by_keys(const Caps& caps, const Local& local,
                                                          uint64_t bytes, SourceUntil until,
                                                          Patience patience) noexcept {
  constexpr bool kIsGet = kOp == Op::kGet;
  uint32_t key = kNoRegion;
  if constexpr (kOp == Op::kPutSend) {
    key = local.key();
    // The reply after which the client may free its source can overtake acknowledgements, and a
    // repetition reads the source once more: only memory that stays goes unwaited (C1-146, C1-147).
    if (until == SourceUntil::kReply && !local.stays(key)) until = SourceUntil::kReturn;
  }
  if (!kIsGet && bytes <= copied_max(caps, until) && local.is_hosts()) {
    return {.kind = PathKind::kKeys, .is_copied = true};
  }
  if constexpr (kOp != Op::kPutSend) key = local.key();
  Path path;
  path.local_key = key;
  path.waits = !kIsGet && (until == SourceUntil::kReturn || until == SourceUntil::kPosted);
  path.is_silent = until == SourceUntil::kReply;
  const bool is_known = key != kNoRegion;
  if (is_known && patience == Patience::kWaits && bytes >= local.stripe_min()) [[unlikely]] {
    path.kind = PathKind::kRails;
  } else if (caps.reaches(key)) {
    path.kind = PathKind::kKeys;
  } else if (kOp != Op::kPutSend && bytes >= kAloneBytesMin && local.pins()) {
    path.kind = PathKind::kPinned;
  } else {
    path.kind = PathKind::kBounced;
  }
  return path;
}

/// The part of choose_path() for memory of the peer that no one key covers.
template <Op kOp, typename Local>
[[gnu::always_inline]] constexpr Path choose_path_in_parts(const Route& route, const Caps& caps,
                                                           const Local& local, uint64_t bytes,
                                                           SourceUntil until,
                                                           Patience patience) noexcept {
  if (route.reach != Reach::kBuckets) {  // messages copy the source, and a visit has an end
    const bool may_visit = route.reach == Reach::kMessages && patience == Patience::kWaits;
    const bool pays = may_visit && bytes >= kAloneBytesMin && local.pins();
    return {.kind = pays ? PathKind::kVisit : PathKind::kMessages};
  }
  if constexpr (kOp == Op::kGet) return {.kind = PathKind::kBuckets};
  // A Long by buckets returns once its source is free, also where its end could be counted.
  if (kOp == Op::kPutSend && until == SourceUntil::kDone) until = SourceUntil::kReturn;
  const bool is_copied = bytes <= copied_max(caps, until);
  return {.kind = PathKind::kBuckets,
          .is_copied = is_copied,
          .waits = !is_copied && until == SourceUntil::kReturn};
}

/// The path of a transfer of `bytes`, at least one, by `route` and a driver of these `caps`. kOp:
/// kPut, kGet, or kPutSend for the payload of a Long. `patience`: whether the call may wait for
/// peers; a handler may not.
template <Op kOp, typename Local>
[[gnu::always_inline]] constexpr Path choose_path(const Route& route, const Caps& caps,
                                                  const Local& local, uint64_t bytes,
                                                  SourceUntil until, Patience patience) noexcept {
  static_assert(kOp == Op::kPut || kOp == Op::kGet || kOp == Op::kPutSend);
  if (route.driver == nullptr) return {};
  if (kOp == Op::kPutSend && bytes <= caps.long_in_message_max && !route.is_device) {
    return {.kind = PathKind::kMessages};
  }
  if (route.reach == Reach::kWhole) [[likely]]
    return choose_path_by_keys<kOp>(caps, local, bytes, until, patience);
  return choose_path_in_parts<kOp>(route, caps, local, bytes, until, patience);
}

}  // namespace pinwire
