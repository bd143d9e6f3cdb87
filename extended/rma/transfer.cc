#include "extended/rma/transfer.h"

#include <algorithm>
#include <cstring>

#include "am/handlers/handlers.h"
#include "am/handlers/own_memory.h"
#include "am/long/stripe.h"
#include "am/message/message.h"
#include "am/on_demand/by_message.h"
#include "am/on_demand/exchange.h"
#include "am/on_demand/on_demand.h"
#include "am/on_demand/visit.h"
#include "am/send/post.h"
#include "am/send/send.h"
#include "am/wait/wait.h"
#include "core/base/bits.h"
#include "core/base/log.h"
#include "core/engine/engine.h"
#include "extended/rma/device_transfer.h"
#include "extended/segments/remote.h"

namespace pinwire {
namespace {

Work one_sided(Op kind, Target to, const Route& route, pinwire_op& op) noexcept {
  Work work{};
  work.op = kind;
  work.cls = MessageClass::kRequest;
  work.peer = rank_of(to);
  work.remote_key = kind == Op::kGet ? engine.read_key(work.peer, route) : route.region_key;
  work.cookie = cookie_of(op.done);
  return work;
}

/// Splits by what the driver takes at once. False: not even the first piece was posted.
bool post_pieces(const Work& whole, Target to, const Route& route, std::byte* local,
                 uint64_t remote, size_t bytes, pinwire_op& op, Patience patience) noexcept {
  const Caps& caps = engine.drivers[route.driver_index].caps;
  uint64_t piece_max = caps.put_bytes_max;
  if (!caps.reaches(whole.local_key)) {
    if (pays_to_pin(route, bytes)) {
      const uint32_t count = whole.op == Op::kPut
                                 ? put_on_demand(to, remote, local, bytes, false, op.done, patience)
                                 : get_on_demand(to, remote, local, bytes, op.done, patience);
      op.started += count;
      return count != 0 || patience == Patience::kWaits;
    }
    piece_max = caps.copied_bytes_max;
  }
  Work work = whole;
  for (size_t at = 0; at < bytes;) {
    const size_t piece = std::min<uint64_t>(bytes - at, piece_max);
    work.local = local + at;
    work.remote = remote + at;
    work.bytes = piece;
    if (!post_from_client(route, work, at == 0 ? patience : Patience::kWaits)) return false;
    ++op.started;  // of this thread alone, which looks at `done` later
    at += piece;
  }
  return true;
}

/// To memory that no one key covers. False: not even the first piece found room.
[[gnu::noinline]] bool start_put_in_parts(Target to, uint64_t dest, const void* source,
                                          size_t bytes, SourceUntil until, pinwire_op& op,
                                          Patience patience) noexcept {
  const Route& route = engine.routes[to];
  const bool waits = patience == Patience::kWaits;
  if (route.reach >= Reach::kMessages) {  // the source is free on return
    const uint32_t count = pays_to_pin(route, bytes)
                               ? put_on_demand(to, dest, source, bytes, false, op.done, patience)
                               : put_by_message(to, dest, source, bytes, op.done, patience);
    op.started += count;
    return count != 0 || waits;
  }
  const Caps& caps = engine.drivers[route.driver_index].caps;
  const bool is_copied = caps.copies(bytes, until == SourceUntil::kReturn);
  if (until == SourceUntil::kDone || is_copied) {
    const uint32_t count = put_on_demand(to, dest, source, bytes, is_copied, op.done, patience);
    op.started += count;
    return count != 0 || waits;
  }
  pinwire_op here{};
  here.started = put_on_demand(to, dest, source, bytes, is_copied, here.done, patience);
  if (here.started == 0 && !waits) return false;
  wait_until([&] { return here.finished(); });
  return true;
}

void put_piece(Target to, std::byte* dest, const std::byte* source, size_t bytes,
               pinwire_op& op) noexcept {
  start_put(to, dest, source, bytes, SourceUntil::kDone, op);
}

void get_piece(Target from, const std::byte* source, std::byte* dest, size_t bytes,
               pinwire_op& op) noexcept {
  start_get(from, source, dest, bytes, op);
}

void on_memset(pinwire_token* token, int32_t address_low, int32_t address_high, int32_t bytes_low,
               int32_t bytes_high, int32_t value, int32_t cookie_low, int32_t cookie_high) {
  const uint64_t address = join_halves(address_low, address_high);
  const uint64_t bytes = join_halves(bytes_low, bytes_high);
  std::memset(own_memory(token->source, "memset", address, bytes), value, bytes);
  const int32_t args[] = {cookie_low, cookie_high};
  reply_short(*token, {kHandlerDone, 2, args});
}

}  // namespace

bool in_segment_of(Target to, const void* address, size_t bytes) noexcept {
  const Route& route = engine.routes[to];
  if (route.covers(address, bytes)) [[likely]]
    return true;
  return learn_segment(to) && route.covers(address, bytes);
}

void check_bounds(const char* what, Target to, const void* address, size_t bytes) noexcept {
  if (in_segment_of(to, address, bytes)) [[likely]]
    return;
  const Route& route = engine.routes[to];
  fatal(
      "a %s by rank %u of %zu bytes at %p is outside the segment of rank %u's endpoint %u, %llu "
      "bytes at 0x%llx (C1-209)",
      what, engine.rank, bytes, address, rank_of(to), endpoint_of(to),
      static_cast<unsigned long long>(route.segment_bytes),
      static_cast<unsigned long long>(route.segment_base));
}

bool start_put(Target to, void* dest, const void* source, size_t bytes, SourceUntil until,
               pinwire_op& op, Patience patience) noexcept {
  if (bytes == 0) return true;
  check_bounds("put", to, dest, bytes);
  bool is_device = false;
  if (engine.has_devices.load(std::memory_order_relaxed)) [[unlikely]] {
    const DeviceEnd end = put_with_device(to, dest, source, bytes, put_piece);
    if (end == DeviceEnd::kDone) return true;
    is_device = end == DeviceEnd::kDirect;
  }
  const Route& route = engine.routes[to];
  if (route.driver == nullptr) {
    std::memmove(dest, source, bytes);
    return true;
  }
  const auto remote = reinterpret_cast<uint64_t>(dest);
  if (route.reach != Reach::kWhole) [[unlikely]] {
    return start_put_in_parts(to, remote, source, bytes, until, op, patience);
  }
  const bool is_copied = !is_device && engine.drivers[route.driver_index].caps.copies(
                                           bytes, until == SourceUntil::kReturn);
  // A source that must be free on return, but is too large to copy: this put alone is waited for.
  const bool must_wait = until == SourceUntil::kReturn && !is_copied;
  pinwire_op here{};
  pinwire_op& counted = must_wait ? here : op;
  Work work = one_sided(Op::kPut, to, route, counted);
  if (is_copied) {
    work.flags = kWorkCopied;
  } else {
    work.local_key = engine.source_key(route.driver_index, source, bytes);
    if (is_device) [[unlikely]]
      work.flags = kWorkDevice;
  }
  std::byte* local = static_cast<std::byte*>(const_cast<void*>(source));
  if (patience == Patience::kWaits && engine.stripes(route, work.local_key, bytes)) [[unlikely]] {
    counted.started += post_striped(work, route, local, remote, bytes);
  } else if (!post_pieces(work, to, route, local, remote, bytes, counted, patience)) {
    return false;
  }
  if (must_wait) wait_until([&] { return here.finished(); });
  return true;
}

bool start_get(Target from, const void* source, void* dest, size_t bytes, pinwire_op& op,
               Patience patience) noexcept {
  if (bytes == 0) return true;
  check_bounds("get", from, source, bytes);
  uint8_t flags = 0;
  if (engine.has_devices.load(std::memory_order_relaxed)) [[unlikely]] {
    const DeviceEnd end = get_with_device(from, source, dest, bytes, get_piece);
    if (end == DeviceEnd::kDone) return true;
    if (end == DeviceEnd::kDirect) flags = kWorkDevice;
  }
  const Route& route = engine.routes[from];
  if (route.driver == nullptr) {
    std::memmove(dest, source, bytes);
    return true;
  }
  const auto remote = reinterpret_cast<uint64_t>(source);
  if (route.reach != Reach::kWhole) [[unlikely]] {
    const uint32_t count = route.reach >= Reach::kMessages && !pays_to_pin(route, bytes)
                               ? get_by_message(from, remote, dest, bytes, op.done, patience)
                               : get_on_demand(from, remote, dest, bytes, op.done, patience);
    op.started += count;
    return count != 0 || patience == Patience::kWaits;
  }
  Work work = one_sided(Op::kGet, from, route, op);
  work.flags = flags;
  work.local_key = engine.local_key(route.driver_index, dest, bytes);
  if (patience == Patience::kWaits && engine.stripes(route, work.local_key, bytes)) [[unlikely]] {
    op.started += post_striped(work, route, dest, remote, bytes);
    return true;
  }
  return post_pieces(work, from, route, static_cast<std::byte*>(dest), remote, bytes, op, patience);
}

void start_memset(Target to, void* dest, int value, size_t bytes, pinwire_op& op) noexcept {
  if (bytes == 0) return;
  check_bounds("memset", to, dest, bytes);
  const Route& route = engine.routes[to];
  if (route.driver == nullptr) {
    std::memset(dest, value, bytes);
    return;
  }
  const auto address = reinterpret_cast<uint64_t>(dest);
  const uint64_t cookie = cookie_of(op.done);
  const int32_t args[] = {
      low_half(address), high_half(address), low_half(bytes), high_half(bytes), value,
      low_half(cookie),  high_half(cookie)};
  ++op.started;
  request_short(rank_of(to), {kHandlerMemset, 7, args});
}

void register_transfer_handlers() noexcept {
  register_internal(kHandlerMemset, on_memset);
  register_message_carriers();
  register_exchange();
  register_visits();
}

}  // namespace pinwire
