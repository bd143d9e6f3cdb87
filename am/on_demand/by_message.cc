#include "am/on_demand/by_message.h"

#include "am/handlers/handler_watch.h"
#include "am/handlers/handlers.h"
#include "am/handlers/own_memory.h"
#include "am/send/outgoing.h"
#include "am/send/post.h"
#include "am/send/send.h"
#include "core/base/log.h"
#include "segment/kinds/device_memory.h"

namespace pinwire {
namespace {

/// Where a peer wants bytes to be, whatever kind of memory that is.
void store_own(Rank source, const char* what, uint64_t dest, const void* from,
               size_t bytes) noexcept {
  auto* to = reinterpret_cast<void*>(dest);
  if (DeviceMemory* device = device_at(to, bytes)) [[unlikely]] {
    device->copy(to, from, bytes);
  } else {
    std::memcpy(own_memory(source, what, dest, bytes), from, bytes);
  }
}

bool request_put(Rank to, uint64_t dest, const std::byte* source, size_t bytes, DoneCount& done,
                 Patience patience) noexcept {
  const uint64_t cookie = cookie_of(done);
  const int32_t args[] = {low_half(dest), high_half(dest), low_half(cookie), high_half(cookie)};
  return request_medium(to, call_with(kHandlerPut, args, patience), source, bytes);
}

void on_put(pinwire_token* token, void* payload, size_t bytes, int32_t dest_low, int32_t dest_high,
            int32_t cookie_low, int32_t cookie_high) {
  const uint64_t dest = join_halves(dest_low, dest_high);
  store_own(token->source, "put", dest, payload, bytes);
  const int32_t args[] = {cookie_low, cookie_high};
  reply_short(*token, call_with(kHandlerDone, args));
}

void on_done(pinwire_token*, int32_t cookie_low, int32_t cookie_high) {
  count_done(*reinterpret_cast<DoneCount*>(join_halves(cookie_low, cookie_high)));
}

void on_get(pinwire_token* token, int32_t source_low, int32_t source_high, int32_t bytes,
            int32_t dest_low, int32_t dest_high, int32_t cookie_low, int32_t cookie_high) {
  const uint64_t source = join_halves(source_low, source_high);
  const auto count = static_cast<uint32_t>(bytes);
  const Caps& caps = engine.drivers[engine.routes[token->source].driver_index].caps;
  if (count > carried_bytes_max(caps)) {
    fatal("rank %u asked for %u bytes in one message; run the same build on every rank",
          token->source, count);
  }
  const int32_t args[] = {dest_low, dest_high, cookie_low, cookie_high};
  const AmCall data = call_with(kHandlerGetData, args);
  auto* from = reinterpret_cast<void*>(source);
  if (DeviceMemory* device = device_at(from, count)) [[unlikely]] {
    std::byte copy[kMediumBytesMax];
    device->copy(copy, from, count);
    reply_medium(*token, data, copy, count);
  } else {
    reply_medium(*token, data, own_memory(token->source, "get", source, count), count);
  }
}

void on_get_data(pinwire_token*, void* payload, size_t bytes, int32_t dest_low, int32_t dest_high,
                 int32_t cookie_low, int32_t cookie_high) {
  std::memcpy(reinterpret_cast<void*>(join_halves(dest_low, dest_high)), payload, bytes);
  count_done(*reinterpret_cast<DoneCount*>(join_halves(cookie_low, cookie_high)));
}

/// A piece of a Long reply; its head comes after it.
void on_place(pinwire_token* token, void* payload, size_t bytes, int32_t dest_low,
              int32_t dest_high) {
  const uint64_t dest = join_halves(dest_low, dest_high);
  store_own(token->source, "Long reply", dest, payload, bytes);
}

/// In the handler of `token`'s request; takes nothing of its right to reply.
void reply_pieces(const pinwire_token& token, uint64_t dest, const std::byte* source, size_t bytes,
                  size_t piece_max) noexcept {
  const Route& route = engine.routes[token.source];
  dcheck(!engine.caps_of(route).bounded_replies, "more replies than the peer has room for",
         token.source, bytes);
  dcheck(bytes % piece_max == 0, "a reply that begins with a piece that is not whole", bytes,
         piece_max);
  for (size_t at = 0; at < bytes;) {
    const size_t piece = std::min(bytes - at, piece_max);
    const int32_t args[] = {low_half(dest + at), high_half(dest + at)};
    const AmCall call = call_with(kHandlerPlace, args);
    post_medium(&token, route, token.source, call, AmEndpoints{}, source + at, piece);
    at += piece;
  }
}

}  // namespace

uint32_t put_by_message(Target to, uint64_t dest, const void* source, size_t bytes, DoneCount& done,
                        Patience patience) noexcept {
  const Rank peer = rank_of(to);
  dcheck(engine.routes[peer].driver != nullptr, "a put to this process itself by messages", to);
  const size_t piece_max = carried_bytes_max(engine.drivers[engine.routes[peer].driver_index].caps);
  const auto* from = static_cast<const std::byte*>(source);
  uint32_t count = 0;
  for (size_t at = 0; at < bytes; at += piece_max, ++count) {
    const size_t piece = std::min(bytes - at, piece_max);
    const Patience now = count == 0 ? patience : Patience::kWaits;
    if (!request_put(peer, dest + at, from + at, piece, done, now)) return 0;
  }
  return count;
}

uint32_t get_by_message(Target from, uint64_t source, void* dest, size_t bytes, DoneCount& done,
                        Patience patience) noexcept {
  const Rank peer = rank_of(from);
  dcheck(engine.routes[peer].driver != nullptr, "a get from this process itself by messages", from);
  const size_t piece_max = carried_bytes_max(engine.drivers[engine.routes[peer].driver_index].caps);
  const auto to = reinterpret_cast<uint64_t>(dest);
  const uint64_t cookie = cookie_of(done);
  uint32_t count = 0;
  for (size_t at = 0; at < bytes; at += piece_max, ++count) {
    const auto piece = static_cast<int32_t>(std::min(bytes - at, piece_max));
    const int32_t args[] = {low_half(source + at), high_half(source + at), piece,
                            low_half(to + at),     high_half(to + at),     low_half(cookie),
                            high_half(cookie)};
    const Patience now = count == 0 ? patience : Patience::kWaits;
    if (!request_short(peer, call_with(kHandlerGet, args, now))) return 0;
  }
  return count;
}

bool long_by_message(const pinwire_token* token, Target to, const AmCall& call, const void* source,
                     size_t bytes, void* dest, bool is_async) noexcept {
  const Route& route = engine.routes[rank_of(to)];
  const size_t piece_max = carried_bytes_max(engine.caps_of(route));
  const size_t ahead = bytes == 0 ? 0 : (bytes - 1) / piece_max * piece_max;
  dcheck(bytes - ahead <= piece_max, "the rest of a Long does not fit its message", bytes, ahead);
  dcheck(bytes == 0 || ahead < bytes, "all of a Long goes ahead of its message", bytes, ahead);
  const auto address = reinterpret_cast<uint64_t>(dest);
  const auto* from = static_cast<const std::byte*>(source);
  if (ahead != 0 && token == nullptr) {
    DoneCount done{0};
    const uint32_t count = put_by_message(to, address, from, ahead, done);
    wait_for(nullptr, route, done, count);
  } else if (ahead != 0) {
    reply_pieces(*token, address, from, ahead, piece_max);
  }
  AmHead head;
  const uint32_t head_bytes =
      build_head(head, Category::kCarriedLong, call.handler, call.argc, call.args,
                 static_cast<uint32_t>(bytes), address, endpoints_of(token, to, call));
  mark_async(head, is_async);
  Work work = send_work(token, to, head, head_bytes);
  if (ahead != 0 && token != nullptr) work.flags |= kWorkFenced;
  work.local = unconst(from + ahead);
  work.bytes = bytes - ahead;
  return post(token, route, work, ahead == 0 ? call.patience : Patience::kWaits);
}

void register_message_carriers() noexcept {
  register_internal(kHandlerDone, on_done);
  register_internal(kHandlerPut, on_put);
  register_internal(kHandlerGet, on_get);
  register_internal(kHandlerGetData, on_get_data);
  register_internal(kHandlerPlace, on_place);
}

}  // namespace pinwire
