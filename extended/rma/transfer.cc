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
#include "am/path/local_end.h"
#include "am/path/path.h"
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

template <Op kOp>
Work one_sided(Target target, const Route& route, const Path& path, std::byte* local,
               uint64_t remote, bool is_device, pinwire_op& op) noexcept {
  dcheck(route.driver != nullptr, "a transfer with this process itself by a driver", target);
  dcheck(!is_device || !path.is_copied, "no CPU copies from device memory", target);
  Work work{};
  work.op = kOp;
  work.cls = MessageClass::kRequest;
  work.flags = path.is_copied ? kWorkCopied : is_device ? kWorkDevice : 0;
  work.peer = rank_of(target);
  work.local = local;
  work.remote = remote;
  work.remote_key = kOp == Op::kGet ? engine.read_key(work.peer, route) : route.region_key;
  work.local_key = path.local_key;
  work.cookie = cookie_of(op.done);
  return work;
}

/// Posts `work` in pieces of what the driver takes at once. False: not even the first was posted.
bool post_pieces(Work& work, const Route& route, size_t bytes, uint64_t piece_max, pinwire_op& op,
                 Patience patience) noexcept {
  dcheck(bytes != 0, "a transfer of no bytes", work.peer);
  dcheck(piece_max != 0, "a driver that takes nothing at once", work.peer);
  for (;;) {
    work.bytes = std::min<uint64_t>(bytes, piece_max);
    if (!post_from_client(route, work, patience)) return false;
    ++op.started;  // of this thread alone, which looks at `done` later
    bytes -= work.bytes;
    if (bytes == 0) return true;
    work.local = static_cast<std::byte*>(work.local) + work.bytes;
    work.remote += work.bytes;
    patience = Patience::kWaits;
  }
}

/// With memory that is pinned for it, or by messages. False: the first piece found no room.
template <Op kOp>
[[gnu::noinline]] bool start_on_demand(Path path, Target target, std::byte* local, uint64_t remote,
                                       size_t bytes, pinwire_op& op, Patience patience) noexcept {
  const uint32_t count = kOp == Op::kPut
                             ? put_on_demand(path, target, remote, local, bytes, op.done, patience)
                             : get_on_demand(path, target, remote, local, bytes, op.done, patience);
  op.started += count;
  return count != 0 || patience == Patience::kWaits;
}

/// False: with Patience::kTries, the first piece found no room.
template <Op kOp>
[[gnu::always_inline]] inline bool start_by(const Path& path, Target target, std::byte* local,
                                            uint64_t remote, size_t bytes, bool is_device,
                                            pinwire_op& op, Patience patience) noexcept {
  const Route& route = engine.routes[target];
  const Caps& caps = engine.caps_of(route);
  switch (path.kind) {
    case PathKind::kHere: {
      dcheck(rank_of(target) == engine.rank, "another process is not here", target);
      auto* peers = reinterpret_cast<std::byte*>(remote);
      std::memmove(kOp == Op::kPut ? peers : local, kOp == Op::kPut ? local : peers, bytes);
      return true;
    }
    case PathKind::kKeys:
    case PathKind::kBounced:
    case PathKind::kRails: {
      Work work = one_sided<kOp>(target, route, path, local, remote, is_device, op);
      if (path.kind == PathKind::kRails) [[unlikely]] {
        op.started += post_striped(work, route, local, remote, bytes);
        return true;
      }
      const bool is_bounced = path.kind == PathKind::kBounced;
      const uint64_t piece_max = is_bounced ? caps.copied_bytes_max : caps.put_bytes_max;
      return post_pieces(work, route, bytes, piece_max, op, patience);
    }
    default:
      return start_on_demand<kOp>(path, target, local, remote, bytes, op, patience);
  }
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
  const LocalEnd local{.route = route, .address = source, .bytes = bytes, .is_device = is_device};
  const Path path =
      choose_path<Op::kPut>(route, engine.caps_of(route), local, bytes, until, patience);
  dcheck(!path.is_silent, "a put whose end nobody learns", to);
  dcheck(!is_device || path.kind == PathKind::kKeys || path.kind == PathKind::kRails,
         "device memory that the driver does not know", static_cast<int>(path.kind));
  pinwire_op here{};  // of a put that is waited for alone
  const bool has_started = start_by<Op::kPut>(
      path, to, static_cast<std::byte*>(const_cast<void*>(source)),
      reinterpret_cast<uint64_t>(dest), bytes, is_device, path.waits ? here : op, patience);
  dcheck(!has_started || !path.waits || here.started != 0, "a wait for what was not posted", to);
  if (has_started && path.waits) wait_until([&] { return here.finished(); });
  return has_started;
}

bool start_get(Target from, const void* source, void* dest, size_t bytes, pinwire_op& op,
               Patience patience) noexcept {
  if (bytes == 0) return true;
  check_bounds("get", from, source, bytes);
  bool is_device = false;
  if (engine.has_devices.load(std::memory_order_relaxed)) [[unlikely]] {
    const DeviceEnd end = get_with_device(from, source, dest, bytes, get_piece);
    if (end == DeviceEnd::kDone) return true;
    is_device = end == DeviceEnd::kDirect;
  }
  const Route& route = engine.routes[from];
  const LocalEnd local{
      .route = route, .address = dest, .bytes = bytes, .is_written = true, .is_device = is_device};
  const Path path = choose_path<Op::kGet>(route, engine.caps_of(route), local, bytes,
                                          SourceUntil::kDone, patience);
  dcheck(!path.is_copied, "the end of a get is not read, so it cannot be copied", from);
  dcheck(!path.waits, "a get that its call waits for", from);
  dcheck(!is_device || path.kind == PathKind::kKeys || path.kind == PathKind::kRails,
         "device memory that the driver does not know", static_cast<int>(path.kind));
  return start_by<Op::kGet>(path, from, static_cast<std::byte*>(dest),
                            reinterpret_cast<uint64_t>(source), bytes, is_device, op, patience);
}

void start_memset(Target to, void* dest, int value, size_t bytes, pinwire_op& op) noexcept {
  if (bytes == 0) return;
  check_bounds("memset", to, dest, bytes);
  const Route& route = engine.routes[to];
  if (route.driver == nullptr) {
    std::memset(dest, value, bytes);
    return;
  }
  dcheck(rank_of(to) != engine.rank, "a memset here by a message", to);
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
