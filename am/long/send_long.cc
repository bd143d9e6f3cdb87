#include "am/long/send_long.h"

#include <cstring>

#include "am/handlers/dispatch.h"
#include "am/handlers/handler_watch.h"
#include "am/long/stripe.h"
#include "am/on_demand/by_message.h"
#include "am/on_demand/on_demand.h"
#include "am/path/local_end.h"
#include "am/path/path.h"
#include "am/poll/owed.h"
#include "am/send/outgoing.h"
#include "core/base/check.h"
#include "core/base/log.h"
#include "segment/kinds/device_memory.h"

namespace pinwire {
namespace {

void check_long_bounds(Target to, const void* dest, size_t bytes) noexcept {
  const Route& route = engine.routes[to];
  if (bytes == 0 || route.covers(dest, bytes)) return;
  fatal(
      "a Long active message from rank %u to rank %u would write %zu bytes at %p, outside the "
      "target's segment of %llu bytes at 0x%llx, endpoint %u (C1-143)",
      engine.rank, rank_of(to), bytes, dest, static_cast<unsigned long long>(route.segment_bytes),
      static_cast<unsigned long long>(route.segment_base), endpoint_of(to));
}

void move_here(void* dest, const void* source, size_t bytes) noexcept {
  if (DeviceMemory* device = device_at(dest, bytes)) [[unlikely]] {
    device->copy(dest, source, bytes);
  } else {
    std::memmove(dest, source, bytes);
  }
}

/// To this process itself.
void run_here(const pinwire_token* token, const AmEndpoints& endpoints, const AmCall& call,
              const void* source, size_t bytes, void* dest, bool is_async) noexcept {
  if (bytes != 0) move_here(dest, source, bytes);
  mark_async_to_self(is_async);
  dispatch_loopback(call.handler, endpoints, token == nullptr, Category::kLong, dest, bytes,
                    call.argc, call.args);
}

Sent sent_whole(bool is_sent) noexcept { return is_sent ? Sent::kAll : Sent::kNothing; }

/// For a payload that the driver must copy and that exceeds copied_bytes_max: sends the leading
/// part as puts, and leaves the rest to `work`. False: the first put was a no-op.
bool put_front(const pinwire_token* token, const Route& route, Work& work,
               Patience patience) noexcept {
  const uint64_t piece_max = engine.caps_of(route).copied_bytes_max;
  dcheck(piece_max != 0 && work.bytes > piece_max, "a payload without a leading part", work.bytes,
         piece_max);
  DoneCount done{0};
  uint32_t count = 0;
  Work front = work;
  front.op = Op::kPut;
  front.flags = 0;
  front.head_bytes = 0;
  front.bytes = piece_max;
  front.cookie = cookie_of(done);
  for (; work.bytes > piece_max; work.bytes -= piece_max, ++count) {
    if (!post(token, route, front, count == 0 ? patience : Patience::kWaits)) return false;
    front.local = static_cast<std::byte*>(front.local) + piece_max;
    front.remote += piece_max;
  }
  wait_for(token, route, done, count);
  dcheck(work.bytes != 0 && work.bytes <= piece_max, "the rest does not fit", work.bytes);
  work.local = front.local;
  work.remote = front.remote;
  return true;
}

/// A payload in one piece, and its message with it: copied by the driver; in place, waiting until
/// the target has it, or having that counted; or, LongAsync, in place without waiting.
Sent post_long(const pinwire_token* token, const Route& route, const Path& path, Work& work,
               SourceUntil until, DoneCount* local, Patience patience) noexcept {
  dcheck(work.bytes != 0, "a Long without a payload has no path", work.peer);
  if (path.is_copied) return sent_whole(post(token, route, work, patience));
  work.flags = path.is_silent ? kWorkSilent : 0;
  if (until == SourceUntil::kPosted &&
      owe_reply(engine.drivers[route.driver_index], token->lane, work)) {
    return Sent::kAll;
  }
  const bool is_counted = !path.waits && !path.is_silent;
  dcheck(is_counted == (local != nullptr), "a Long is counted where its caller counts", work.bytes);
  DoneCount done{0};
  work.local_key = path.local_key;
  work.cookie = cookie_of(is_counted ? *local : done);
  if (!post(token, route, work, patience)) return Sent::kNothing;
  if (is_counted) return Sent::kPending;
  if (path.waits) wait_for(token, route, done, 1);
  return Sent::kAll;
}

SourceUntil until_of(const pinwire_token* token, const Caps& caps, bool is_async,
                     const DoneCount* local) noexcept {
  // A target that computes does not take what its CPU has to: a handler does not wait for that.
  if (token != nullptr && !caps.hw_rdma) return SourceUntil::kPosted;
  if (is_async) return SourceUntil::kReply;
  return local != nullptr ? SourceUntil::kDone : SourceUntil::kReturn;
}

Sent send_long(const pinwire_token* token, Target to, const AmCall& call, const void* source,
               size_t bytes, void* dest, bool is_async, DoneCount* local) noexcept {
  if constexpr (kUsageChecks) check_is_hosts("the payload of a Long", source, bytes);
  check_long_bounds(to, dest, bytes);
  const Route& route = engine.routes[bytes != 0 ? to : rank_of(to)];  // of its memory, if wanted
  const AmEndpoints endpoints = endpoints_of(token, to, call);
  const Caps& caps = engine.caps_of(route);
  const SourceUntil until = until_of(token, caps, is_async, local);
  Path path{.kind = route.driver == nullptr ? PathKind::kHere : PathKind::kKeys};
  if (bytes != 0) {
    const LocalEnd end{.route = route, .address = source, .bytes = bytes};
    // A handler, which holds a lane of one rail, could deadlock while it waits for those of others.
    const Patience for_peers = token == nullptr ? call.patience : Patience::kTries;
    path = choose_path<Op::kPutSend>(route, caps, end, bytes, until, for_peers);
  }
  switch (path.kind) {
    case PathKind::kHere:
      run_here(token, endpoints, call, source, bytes, dest, is_async);
      return Sent::kAll;
    case PathKind::kMessages:
      return sent_whole(long_by_message(token, to, call, source, bytes, dest, is_async));
    case PathKind::kBuckets:
    case PathKind::kVisit:
      return sent_whole(long_on_demand(path, token, to, call, source, bytes, dest, is_async));
    default:
      break;
  }
  dcheck(path.kind != PathKind::kPinned, "no message follows a payload that is pinned", bytes);
  dcheck(bytes <= UINT32_MAX, "a Long whose length no header has", bytes);
  AmHead head;
  const uint32_t head_bytes =
      build_head(head, Category::kLong, call.handler, call.argc, call.args,
                 static_cast<uint32_t>(bytes), reinterpret_cast<uint64_t>(dest), endpoints);
  mark_async(head, is_async);
  Work work = send_work(token, to, head, head_bytes);
  Patience patience = call.patience;
  if (bytes == 0) return sent_whole(post(token, route, work, patience));
  if (path.kind == PathKind::kRails) [[unlikely]] {
    dcheck(token == nullptr, "a handler waits for lanes that it does not hold", to);
    put_striped(rank_of(to), route, source, reinterpret_cast<uint64_t>(dest), bytes);
    post(token, route, work);
    return Sent::kAll;
  }
  work.op = Op::kPutSend;
  work.local = unconst(source);
  work.bytes = bytes;
  work.remote = reinterpret_cast<uint64_t>(dest);
  work.remote_key = route.region_key;
  if (path.kind == PathKind::kBounced && bytes > caps.copied_bytes_max) {
    if (!put_front(token, route, work, patience)) return Sent::kNothing;
    patience = Patience::kWaits;  // it has begun
    const SourceUntil rest_until = until == SourceUntil::kPosted ? until
                                   : path.waits                  ? SourceUntil::kReturn
                                                                 : SourceUntil::kDone;
    path.is_copied = work.bytes <= copied_max(caps, rest_until);
  }
  return post_long(token, route, path, work, until, local, patience);
}

}  // namespace

Sent request_long(Target to, const AmCall& call, const void* source, size_t bytes, void* dest,
                  bool is_async, DoneCount* local) noexcept {
  dcheck(!is_async || local == nullptr, "the end of a LongAsync is its reply, not a count", to);
  return send_long(nullptr, to, call, source, bytes, dest, is_async, local);
}

bool reply_long(pinwire_token& token, const AmCall& call, const void* source, size_t bytes,
                void* dest) noexcept {
  claim_reply(token);
  const Sent sent = send_long(&token, origin(token), call, source, bytes, dest, false, nullptr);
  return claimed(token, sent != Sent::kNothing);
}

}  // namespace pinwire
