#include "am/long/send_long.h"

#include <cstring>

#include "am/handlers/dispatch.h"
#include "am/handlers/handler_watch.h"
#include "am/long/stripe.h"
#include "am/on_demand/by_message.h"
#include "am/on_demand/on_demand.h"
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

/// For a payload that the driver must copy and that exceeds copied_bytes_max: sends the leading
/// part as puts. Returns its size: 0 if the first put was a no-op.
size_t put_front(const pinwire_token* token, const Route& route, Work work, size_t bytes,
                 Patience patience) noexcept {
  const uint64_t piece_max = engine.drivers[route.driver_index].caps.copied_bytes_max;
  dcheck(piece_max != 0 && bytes > piece_max, "a payload without a leading part", bytes, piece_max);
  DoneCount done{0};
  uint32_t count = 0;
  size_t at = 0;
  work.op = Op::kPut;
  work.flags = 0;
  work.head_bytes = 0;
  work.bytes = piece_max;
  work.cookie = cookie_of(done);
  for (; bytes - at > piece_max; at += piece_max, ++count) {
    if (!post(token, route, work, count == 0 ? patience : Patience::kWaits)) return 0;
    work.local = static_cast<std::byte*>(work.local) + piece_max;
    work.remote += piece_max;
  }
  wait_for(token, route, done, count);
  dcheck(at < bytes && bytes - at <= piece_max, "the rest does not fit", at, bytes);
  return at;
}

Sent sent_whole(bool is_sent) noexcept { return is_sent ? Sent::kAll : Sent::kNothing; }

/// How the payload of a Long leaves, by its size and place: copied by the driver; in place, waiting
/// until the target has it, or having that counted; or, LongAsync, in place without waiting. The
/// last only from a segment that stays: the reply after which the client may free its source can
/// overtake acknowledgements, and a repetition reads the source once more (C1-146, C1-147).
Sent send_long(const pinwire_token* token, Target to, const AmCall& call, const void* source,
               size_t bytes, void* dest, bool is_async, DoneCount* local) noexcept {
  if constexpr (kUsageChecks) check_is_hosts("the payload of a Long", source, bytes);
  check_long_bounds(to, dest, bytes);
  const Route& route = engine.routes[bytes != 0 ? to : rank_of(to)];  // of its memory, if wanted
  const AmEndpoints endpoints = endpoints_of(token, to, call);
  if (route.driver == nullptr) {
    if (bytes != 0) move_here(dest, source, bytes);
    mark_async_to_self(is_async);
    dispatch_loopback(call.handler, endpoints, token == nullptr, Category::kLong, dest, bytes,
                      call.argc, call.args);
    return Sent::kAll;
  }
  const Caps& caps = engine.drivers[route.driver_index].caps;
  if (bytes != 0 && bytes <= caps.long_in_message_max && !route.is_device) {
    return sent_whole(long_by_message(token, to, call, source, bytes, dest, is_async));
  }
  if (bytes != 0 && route.reach != Reach::kWhole) [[unlikely]] {
    const bool is_visited = token == nullptr && pays_to_pin(route, bytes);
    if (route.reach == Reach::kBuckets || is_visited) {
      return sent_whole(long_on_demand(token, to, call, source, bytes, dest, is_async));
    }
    return sent_whole(long_by_message(token, to, call, source, bytes, dest, is_async));
  }
  AmHead head;
  const uint32_t head_bytes =
      build_head(head, Category::kLong, call.handler, call.argc, call.args,
                 static_cast<uint32_t>(bytes), reinterpret_cast<uint64_t>(dest), endpoints);
  mark_async(head, is_async);
  Work work = send_work(token, to, head, head_bytes);
  Patience patience = call.patience;
  if (bytes == 0) return sent_whole(post(token, route, work, patience));
  const uint32_t local_key = engine.source_key(route.driver_index, source, bytes);
  // Not in a handler, which holds a lane of one rail: waiting for those of others could deadlock.
  const bool may_stripe = token == nullptr && patience == Patience::kWaits;
  if (may_stripe && engine.stripes(route, local_key, bytes)) [[unlikely]] {
    put_striped(rank_of(to), route, source, reinterpret_cast<uint64_t>(dest), bytes);
    post(token, route, work);
    return Sent::kAll;
  }
  work.op = Op::kPutSend;
  work.local = unconst(source);
  work.bytes = bytes;
  work.remote = reinterpret_cast<uint64_t>(dest);
  work.remote_key = route.region_key;
  const DriverSlot& slot = engine.drivers[route.driver_index];
  if (!caps.reaches(local_key) && bytes > caps.copied_bytes_max) {
    const size_t ahead = put_front(token, route, work, bytes, patience);
    if (ahead == 0) return Sent::kNothing;
    patience = Patience::kWaits;  // it has begun
    work.local = static_cast<std::byte*>(work.local) + ahead;
    work.remote += ahead;
    work.bytes = bytes -= ahead;
  }
  const bool stays = local_key != kNoRegion && local_key == slot.own_read_key && slot.own_stays;
  const bool waits = !is_async || !stays;
  const bool is_counted = waits && local != nullptr;
  // A target that computes does not take what its CPU has to: a handler does not wait for that.
  const bool may_wait = token == nullptr || caps.hw_rdma;
  const bool is_left = !may_wait && bytes <= caps.copied_bytes_max;
  if (is_left || caps.copies(bytes, waits && !is_counted)) {
    return sent_whole(post(token, route, work, patience));
  }
  work.flags = waits ? 0 : kWorkSilent;
  if (!may_wait && owe_reply(engine.drivers[route.driver_index], token->lane, work)) {
    return Sent::kAll;
  }
  work.local_key = local_key;
  DoneCount done{0};
  work.cookie = cookie_of(is_counted ? *local : done);
  if (!post(token, route, work, patience)) return Sent::kNothing;
  if (is_counted) return Sent::kPending;
  if (waits) wait_for(token, route, done, 1);
  return Sent::kAll;
}

}  // namespace

Sent request_long(Target to, const AmCall& call, const void* source, size_t bytes, void* dest,
                  bool is_async, DoneCount* local) noexcept {
  return send_long(nullptr, to, call, source, bytes, dest, is_async, local);
}

bool reply_long(pinwire_token& token, const AmCall& call, const void* source, size_t bytes,
                void* dest) noexcept {
  claim_reply(token);
  const Sent sent = send_long(&token, origin(token), call, source, bytes, dest, false, nullptr);
  return claimed(token, sent != Sent::kNothing);
}

}  // namespace pinwire
