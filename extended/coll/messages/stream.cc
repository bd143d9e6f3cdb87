#include "extended/coll/messages/stream.h"

#include <cstring>

#include "am/handlers/handlers.h"
#include "am/long/send_long.h"
#include "am/message/call.h"
#include "am/message/message.h"
#include "am/poll/deferred.h"
#include "am/send/negotiated.h"
#include "am/send/send.h"
#include "core/base/check.h"
#include "core/engine/engine.h"
#include "extended/coll/messages/addressee.h"
#include "extended/coll/messages/mail.h"
#include "extended/rma/transfer.h"

namespace pinwire {
namespace {

StreamSet& streams_at(const pinwire_token& token, Member& member, int32_t number,
                      const char* what) noexcept {
  // acquire pairs with the release in offer_all()
  StreamSet* streams =
      live_at(token, member, number, what).running_streams.load(std::memory_order_acquire);
  if (streams == nullptr) malformed(token.source, what);
  return *streams;
}

void on_grant(pinwire_token* token, int32_t sender_seat, int32_t number, int32_t send,
              int32_t count, int32_t base_low, int32_t base_high, int32_t turns) {
  constexpr const char* kWhat = "a grant";
  Member& member = member_at(*token, sender_seat, kWhat);
  StreamSet& streams = streams_at(*token, member, number, kWhat);
  StreamOut* out = streams.out(static_cast<uint32_t>(send));
  if (out == nullptr ||
      !out->grants.grant(static_cast<uint32_t>(count), streams.pieces.count(),
                         join_halves(base_low, base_high), static_cast<uint32_t>(turns))) {
    malformed(token->source, kWhat);
  }
  defer(member);
}

/// Takes a piece that has arrived. The bytes of a Long are in place already.
void on_stream(pinwire_token* token, void* payload, size_t bytes, int32_t seat, int32_t number,
               int32_t letter, int32_t piece, int32_t offset) {
  constexpr const char* kWhat = "a piece of a stream";
  Member& member = member_at(*token, seat, kWhat);
  StreamSet& streams = streams_at(*token, member, number, kWhat);
  StreamIn* in = streams.in(static_cast<uint32_t>(letter));
  const auto k = static_cast<uint32_t>(piece);
  const auto at = static_cast<uint32_t>(offset);
  if (in == nullptr || !in->arrivals.is_granted(k) || in->fetches) {
    malformed(token->source, kWhat);
  }
  const size_t whole = streams.pieces.bytes_of(k);
  if (at > whole || bytes > whole - at || !in->arrivals.has_left(k, bytes, whole)) {
    malformed(token->source, kWhat);
  }
  std::byte* to = in->place(streams.pieces, k) + at;
  if (to != payload) std::memcpy(to, payload, bytes);
  if (in->arrivals.fill(k, static_cast<uint32_t>(bytes), whole)) defer(member);
}

void on_there(pinwire_token* token, int32_t seat, int32_t number, int32_t letter, int32_t count) {
  constexpr const char* kWhat = "word of pieces";
  Member& member = member_at(*token, seat, kWhat);
  StreamSet& streams = streams_at(*token, member, number, kWhat);
  StreamIn* in = streams.in(static_cast<uint32_t>(letter));
  if (in == nullptr || !in->arrivals.is_granted(0) || !in->fetches ||
      !in->arrivals.add_there(static_cast<uint32_t>(count), streams.pieces.count())) {
    malformed(token->source, kWhat);
  }
  defer(member);
}

void on_fetched(pinwire_token* token, int32_t sender_seat, int32_t number, int32_t send) {
  constexpr const char* kWhat = "word of what it fetched";
  Member& member = member_at(*token, sender_seat, kWhat);
  StreamSet& streams = streams_at(*token, member, number, kWhat);
  StreamOut* out = streams.out(static_cast<uint32_t>(send));
  if (out == nullptr) malformed(token->source, kWhat);
  out->grants.end_fetching(streams.pieces.count());
  defer(member);
}

/// A Long brings all of it at once, without asking for anything else.
bool can_write(const Route& route, uint64_t to, size_t bytes) noexcept {
  if (route.driver == nullptr || !route.covers(reinterpret_cast<const void*>(to), bytes)) {
    return false;
  }
  if (route.reach != Reach::kWhole || route.is_device) return false;
  return bytes <= engine.caps_of(route).put_bytes_max;
}

/// A Medium of it, built in memory that the driver lends, if any is left: that holds up nobody else
/// while the receiver does not look.
void send_medium_of(Rank peer, const AmCall& call, const std::byte* from, size_t bytes) noexcept {
  const Room room =
      room_for_medium(nullptr, peer, bytes, const_cast<std::byte*>(from), Patience::kWaits);
  if (room.address != from) std::memcpy(room.address, from, bytes);
  request_medium_in(peer, call, room, bytes);
}

/// Reads the offer, once it is there, which decides how the pieces come. False: there is no offer
/// yet, or nothing to grant.
bool has_offer(Collective& c, StreamIn& in, const Pieces& pieces) noexcept {
  const LetterBox* offer = find_offer(c, in.from, in.letter, pieces.bytes);
  if (offer == nullptr) return false;
  in.sender_seat = offer->sender_seat;
  in.sender_send = offer->sender_send & ~kAllThere;
  in.source = offer->source;
  in.fetches =
      in.places.turns == 0 && in.source != 0 &&
      can_get(c.member->jobrank_of(in.from), *offer, reinterpret_cast<const void*>(in.places.base));
  if (!in.fetches || (offer->sender_send & kAllThere) == 0) return true;
  in.arrivals.have_all(pieces.count());
  return false;
}

}  // namespace

void StreamOut::reset(Rank member, uint32_t its_letter) noexcept {
  to = member;
  letter = its_letter;
  sent = 0;
  grants.reset();
}

void StreamIn::reset(Rank member, uint32_t its_letter, PiecePlaces its_places,
                     uint32_t its_window) noexcept {
  check(its_window != 0 && its_window <= kWindowPieces, "a window of a stream", its_window);
  dcheck(its_places.turns == 0 || its_window <= its_places.turns, "a window beyond its places",
         its_window, its_places.turns);
  dcheck(its_places.base != 0, "a stream to nowhere", its_letter);
  from = member;
  letter = its_letter;
  places = its_places;
  window = its_window;
  taken = 0;
  fetches = false;
  fetched = fetching = 0;
  arrivals.reset();
}

void offer_stream(Collective& c, const StreamOut& out, const Pieces& pieces, uint32_t send,
                  const void* source) noexcept {
  send_offer(c, out.to, out.letter, pieces.bytes, source, send);
}

void send_piece(Collective& c, StreamOut& out, const Pieces& pieces, const std::byte* from,
                InFlight& in_flight) noexcept {
  const Rank peer = c.member->jobrank_of(out.to);
  if constexpr (kChecks) {
    dcheck(out.may_send(), "a piece that was not granted", out.sent);
    dcheck(!out.grants.is_for_fetching(), "a piece for a receiver that fetches", out.sent);
  }
  const uint32_t piece = out.sent++;
  dcheck(piece < pieces.count(), "a piece after the last one", piece, pieces.count());
  const size_t bytes = pieces.bytes_of(piece);
  dcheck(bytes != 0, "a piece of no bytes", piece);
  int32_t args[] = {static_cast<int32_t>(c.member->seat_of(out.to)), static_cast<int32_t>(c.number),
                    static_cast<int32_t>(out.letter), static_cast<int32_t>(piece), 0};
  const AmCall call{kHandlerCollStream, 5, args};
  const PiecePlaces places{out.grants.base(), out.grants.turns()};
  const uint64_t to = places.of(pieces, piece);
  if (!can_write(engine.routes[peer], to, bytes)) {
    for (size_t at = 0; at < bytes; at += pinwire_max_medium) {
      args[4] = static_cast<int32_t>(at);
      send_medium_of(peer, call, from + at, std::min(bytes - at, pinwire_max_medium));
    }
    return;
  }
  const Sent sent =
      request_long(peer, call, from, bytes, reinterpret_cast<void*>(to), false, &in_flight.done);
  if (sent == Sent::kPending) ++in_flight.started;
}

void tell_there(Collective& c, StreamOut& out, uint32_t more) noexcept {
  dcheck(more != 0, "word of no pieces", out.sent);
  if constexpr (kChecks) {
    dcheck(out.grants.is_for_fetching(), "word of pieces to a receiver that fetches none",
           out.sent);
  }
  out.sent += more;
  const int32_t args[] = {static_cast<int32_t>(c.member->seat_of(out.to)),
                          static_cast<int32_t>(c.number), static_cast<int32_t>(out.letter),
                          static_cast<int32_t>(more)};
  request_short(c.member->jobrank_of(out.to), {kHandlerCollThere, 4, args});
}

void grant_pieces(Collective& c, StreamIn& in, const Pieces& pieces) noexcept {
  const uint32_t granted = in.arrivals.granted();
  if (granted == 0 && !has_offer(c, in, pieces)) return;
  const uint32_t end = in.fetches ? pieces.count() : std::min(pieces.count(), in.taken + in.window);
  dcheck(in.taken <= granted && granted <= end, "more is taken than was granted", in.taken, granted,
         end);
  dcheck(in.fetches || end - in.taken <= in.window, "more is granted than there are places for",
         end, in.taken);
  const uint32_t more = end - granted;
  // By halves of the window: few messages, and the sender goes on meanwhile.
  if (more == 0 || more < std::min(pieces.count() - granted, (in.window + 1) / 2)) return;
  in.fetches ? in.arrivals.grant_fetching(end) : in.arrivals.grant_places(end);
  const int32_t args[] = {static_cast<int32_t>(in.sender_seat),
                          static_cast<int32_t>(c.number),
                          static_cast<int32_t>(in.sender_send),
                          static_cast<int32_t>(more),
                          low_half(in.places.base),
                          high_half(in.places.base),
                          static_cast<int32_t>(in.fetches ? kFetches : in.places.turns)};
  request_short(c.member->jobrank_of(in.from), {kHandlerCollGrant, 7, args});
}

bool fetch_pieces(Collective& c, StreamIn& in, const Pieces& pieces, uint32_t most) noexcept {
  const uint32_t all = pieces.count();
  if (!in.fetches || in.fetched == all) return false;
  const Rank peer = c.member->jobrank_of(in.from);
  if (in.fetching == in.fetched) {
    const uint32_t there = in.arrivals.there();
    if (there == in.fetched) return false;
    in.fetching = std::min(there, in.fetched + most);
    const size_t at = pieces.at(in.fetched);
    const size_t end = in.fetching == all ? pieces.bytes : pieces.at(in.fetching);
    dcheck(in.fetching > in.fetched, "a fetch that goes back", in.fetched, there);
    dcheck(end > at, "a fetch of no bytes", at, end);
    in.get.started = 0;
    in.get.done.store(0, std::memory_order_relaxed);
    ++c.member->gets;
    start_get(peer, reinterpret_cast<const void*>(in.source + at),
              reinterpret_cast<void*>(in.places.base + at), end - at, in.get);
  }
  dcheck(in.fetched < in.fetching && in.fetching <= all, "a fetch of no pieces", in.fetched,
         in.fetching);
  if (!in.get.finished()) return false;
  dcheck(c.member->gets != 0, "a fetch that nobody counted", c.number);
  --c.member->gets;
  in.fetched = in.fetching;
  if (in.fetched == all) {
    const int32_t args[] = {static_cast<int32_t>(in.sender_seat), static_cast<int32_t>(c.number),
                            static_cast<int32_t>(in.sender_send)};
    request_short(peer, {kHandlerCollFetched, 3, args});
  }
  return true;
}

void register_streams() noexcept {
  register_internal(kHandlerCollGrant, on_grant);
  register_internal(kHandlerCollStream, on_stream);
  register_internal(kHandlerCollThere, on_there);
  register_internal(kHandlerCollFetched, on_fetched);
}

}  // namespace pinwire
