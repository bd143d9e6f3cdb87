#include "extended/coll/messages/mail.h"

#include <algorithm>
#include <cstring>

#include "am/handlers/handlers.h"
#include "am/message/message.h"
#include "am/poll/deferred.h"
#include "am/send/send.h"
#include "core/base/check.h"
#include "core/base/log.h"
#include "core/engine/engine.h"
#include "extended/coll/messages/addressee.h"
#include "extended/rma/transfer.h"

namespace pinwire {
namespace {

/// An empty one. The thread that emptied it for an operation of the window before has said so to
/// all members, and the sender knows it: `number` is of number_at(), so what that thread read was
/// read before.
LetterBox& box_at(const pinwire_token& token, Member& member, uint64_t number, int32_t letter,
                  uint32_t letters, const char* what) noexcept {
  if (static_cast<uint32_t>(letter) >= letters) malformed(token.source, what);
  LetterBox& box = member.box(number, static_cast<uint32_t>(letter));
  if (box.arrived.load(std::memory_order_relaxed) == number + 1) malformed(token.source, what);
  return box;
}

void put_in(Member& member, LetterBox& box, uint64_t number) noexcept {
  box.arrived.store(number + 1, std::memory_order_release);
  defer(member);
}

void on_letter(pinwire_token* token, void* payload, size_t bytes, int32_t seat, int32_t low,
               int32_t letter) {
  constexpr const char* kWhat = "a letter";
  Member& member = member_at(*token, seat, kWhat);
  const uint64_t number = number_at(member, low);
  LetterBox& box = box_at(*token, member, number, letter, member.data_boxes(), kWhat);
  if (bytes > kEagerBytesMax) malformed(token->source, kWhat);
  std::memcpy(member.payload(number, static_cast<uint32_t>(letter), bytes), payload, bytes);
  box.bytes = bytes;
  box.sender_send = LetterBox::kNoOffer;
  put_in(member, box, number);
}

void on_signal(pinwire_token* token, int32_t seat, int32_t low, int32_t letter) {
  Member& member = member_at(*token, seat, "a signal");
  const uint64_t number = number_at(member, low);
  LetterBox& box = box_at(*token, member, number, letter, member.boxes_each(), "a signal");
  box.bytes = 0;
  box.sender_send = LetterBox::kNoOffer;
  put_in(member, box, number);
}

void on_offer(pinwire_token* token, int32_t seat, int32_t low, int32_t letter, int32_t bytes_low,
              int32_t bytes_high, int32_t source_low, int32_t source_high, int32_t sender_seat,
              int32_t sender_send) {
  Member& member = member_at(*token, seat, "an offer");
  const uint64_t number = number_at(member, low);
  LetterBox& box = box_at(*token, member, number, letter, member.data_boxes(), "an offer");
  box.bytes = join_halves(bytes_low, bytes_high);
  box.source = join_halves(source_low, source_high);
  box.sender_seat = static_cast<uint32_t>(sender_seat);
  box.sender_send = static_cast<uint32_t>(sender_send);
  if (!box.is_offer()) malformed(token->source, "an offer");
  put_in(member, box, number);
}

Outbound& outbound_at(const pinwire_token& token, Member& member, int32_t number, int32_t send,
                      const char* what) noexcept {
  Collective& c = live_at(token, member, number, what);
  if (static_cast<uint32_t>(send) >= kDataMax) malformed(token.source, what);
  return c.outbound[send];
}

/// release pairs with the acquire of all_taken(): nobody reads it any more.
void take_from(Member& member, Outbound& outbound, size_t bytes) noexcept {
  const size_t left = outbound.left.fetch_sub(bytes, std::memory_order_acq_rel);
  dcheck(left >= bytes, "more is taken than was offered", left, bytes);
  if (left == bytes) defer(member);
}

/// Answered by a piece of what was offered.
void on_pull(pinwire_token* token, int32_t sender_seat, int32_t number, int32_t send,
             int32_t offset_low, int32_t offset_high, int32_t bytes, int32_t puller_seat,
             int32_t letter) {
  Member& member = member_at(*token, sender_seat, "a pull");
  Outbound& outbound = outbound_at(*token, member, number, send, "a pull");
  const uint64_t offset = join_halves(offset_low, offset_high);
  const auto count = static_cast<uint32_t>(bytes);
  // acquire pairs with the release in send_data(): `from`, `bytes`
  if (count == 0 || count > outbound.left.load(std::memory_order_acquire) ||
      count > pinwire_max_medium || offset > outbound.bytes || count > outbound.bytes - offset) {
    malformed(token->source, "a pull");
  }
  const int32_t args[] = {puller_seat, number, letter, offset_low, offset_high};
  reply_medium(*token, {kHandlerCollPiece, 5, args}, outbound.from + offset, count);
  take_from(member, outbound, count);
}

void on_piece(pinwire_token* token, void* payload, size_t bytes, int32_t seat, int32_t number,
              int32_t letter, int32_t offset_low, int32_t offset_high) {
  Member& member = member_at(*token, seat, "a piece");
  Collective& c = live_at(*token, member, number, "a piece");
  if (static_cast<uint32_t>(letter) >= kDataMax) malformed(token->source, "a piece");
  Inbound& inbound = c.inbound[letter];
  const uint64_t offset = join_halves(offset_low, offset_high);
  // acquire pairs with the release in begin_inbound(): `to`, `bytes`
  if (bytes > inbound.left.load(std::memory_order_acquire) || offset > inbound.bytes ||
      bytes > inbound.bytes - offset) {
    malformed(token->source, "a piece");
  }
  std::memcpy(inbound.to + offset, payload, bytes);
  // release pairs with the acquire in receive_data()
  if (inbound.left.fetch_sub(bytes, std::memory_order_acq_rel) == bytes) defer(member);
}

void on_taken(pinwire_token* token, int32_t sender_seat, int32_t number, int32_t send) {
  Member& member = member_at(*token, sender_seat, "an answer");
  Outbound& outbound = outbound_at(*token, member, number, send, "an answer");
  if (outbound.left.load(std::memory_order_acquire) != outbound.bytes) {
    malformed(token->source, "an answer");
  }
  take_from(member, outbound, outbound.bytes);
}

void on_epoch(pinwire_token* token, int32_t seat, int32_t round) {
  Member& member = member_at(*token, seat, "an epoch");
  if (static_cast<uint32_t>(round) >= member.rounds) malformed(token->source, "an epoch");
  member.epoch_arrivals[round].fetch_add(1, std::memory_order_release);
  defer(member);
}

void begin_pull(Collective& c, Rank from, uint32_t letter, const LetterBox& box) noexcept {
  Inbound& inbound = c.inbound[letter];
  dcheck(inbound.bytes != 0, "a pull of no bytes", letter);
  dcheck(box.is_offer(), "a pull of what was not offered", letter);
  const auto number = static_cast<int32_t>(c.number);
  const auto sender_seat = static_cast<int32_t>(box.sender_seat);
  const auto send = static_cast<int32_t>(box.sender_send);
  const size_t piece_max = pinwire_max_medium;
  for (size_t at = 0; at < inbound.bytes; at += piece_max) {
    const auto piece = static_cast<int32_t>(std::min(inbound.bytes - at, piece_max));
    const int32_t args[] = {sender_seat,
                            number,
                            send,
                            low_half(at),
                            high_half(at),
                            piece,
                            static_cast<int32_t>(c.member->seat),
                            static_cast<int32_t>(letter)};
    request_short(from, {kHandlerCollPull, 8, args});
  }
}

void tell_taken(const Collective& c, Rank from, const LetterBox& box) noexcept {
  const int32_t args[] = {static_cast<int32_t>(box.sender_seat), static_cast<int32_t>(c.number),
                          static_cast<int32_t>(box.sender_send)};
  request_short(from, {kHandlerCollTaken, 3, args});
}

void begin_inbound(Collective& c, Rank from, uint32_t letter, const LetterBox& box,
                   void* to) noexcept {
  Inbound& inbound = c.inbound[letter];
  dcheck(!inbound.is_begun && !inbound.is_done, "an offer is taken twice", letter);
  dcheck(to != nullptr, "data for no place", letter, box.bytes);
  inbound.is_begun = true;
  inbound.to = static_cast<std::byte*>(to);
  inbound.bytes = box.bytes;
  inbound.is_get = can_get(from, box, to);
  if (inbound.is_get) {
    inbound.get.started = 0;
    inbound.get.done.store(0, std::memory_order_relaxed);
    ++c.member->gets;
    start_get(from, reinterpret_cast<const void*>(box.source), to, box.bytes, inbound.get);
  } else {
    inbound.left.store(box.bytes, std::memory_order_release);
    begin_pull(c, from, letter, box);
  }
}

bool is_in_place(Collective& c, Rank from, Inbound& inbound, const LetterBox& box) noexcept {
  if (!inbound.is_get) return inbound.left.load(std::memory_order_acquire) == 0;
  if (!inbound.get.finished()) return false;
  dcheck(c.member->gets != 0, "a get that nobody counted", c.number);
  --c.member->gets;
  tell_taken(c, from, box);
  return true;
}

[[noreturn, gnu::cold]] void disagree(const Collective& c, Rank from, uint64_t theirs,
                                      uint64_t ours) noexcept {
  fatal(
      "collective %llu of a team of %u: jobrank %u sent %llu bytes where its member %u expects "
      "%llu; pass the same root, counts and lengths on all members (GX-145, GX-146)",
      static_cast<unsigned long long>(c.number), c.member->size, from,
      static_cast<unsigned long long>(theirs), c.member->rank,
      static_cast<unsigned long long>(ours));
}

}  // namespace

void send_data(Collective& c, Rank to, uint32_t letter, const void* from, size_t bytes) noexcept {
  Member& member = *c.member;
  check(letter < member.data_boxes(), "a letter that no box is for", letter);
  check(c.sends < kDataMax, "more offers than an operation has", c.sends);
  dcheck(bytes == 0 || from != nullptr, "data that is nowhere", letter, bytes);
  dcheck(to < member.size && to != member.rank, "data for no other member", to, member.rank);
  if (bytes <= std::min(kEagerBytesMax, pinwire_max_medium)) {
    const int32_t args[] = {static_cast<int32_t>(member.seat_of(to)),
                            static_cast<int32_t>(c.number), static_cast<int32_t>(letter)};
    request_medium(member.jobrank_of(to), {kHandlerCollLetter, 3, args}, from, bytes);
    return;
  }
  const uint32_t send = c.sends++;
  Outbound& outbound = c.outbound[send];
  if constexpr (kChecks) {
    dcheck(outbound.left.load(std::memory_order_relaxed) == 0, "an offer in the place of another",
           send);
  }
  outbound.from = static_cast<const std::byte*>(from);
  outbound.bytes = bytes;
  outbound.left.store(bytes, std::memory_order_release);
  send_offer(c, to, letter, bytes, from, send);
}

void send_offer(Collective& c, Rank to, uint32_t letter, size_t bytes, const void* from,
                uint32_t send) noexcept {
  const Member& member = *c.member;
  dcheck(letter < member.data_boxes(), "an offer for the box of a barrier", letter);
  dcheck(send != LetterBox::kNoOffer, "an offer with the name of none", letter);
  const auto source = reinterpret_cast<uint64_t>(from);
  const int32_t args[] = {static_cast<int32_t>(member.seat_of(to)),
                          static_cast<int32_t>(c.number),
                          static_cast<int32_t>(letter),
                          low_half(bytes),
                          high_half(bytes),
                          low_half(source),
                          high_half(source),
                          static_cast<int32_t>(member.seat),
                          static_cast<int32_t>(send)};
  request_short(member.jobrank_of(to), {kHandlerCollOffer, 9, args});
}

void send_signal(Collective& c, Rank to, uint32_t letter) noexcept {
  const Member& member = *c.member;
  dcheck(to < member.size && to != member.rank, "a signal to no other member", to, member.rank);
  dcheck(letter >= member.data_boxes() && letter < member.boxes_each(), "no box of a barrier",
         letter);
  const int32_t args[] = {static_cast<int32_t>(member.seat_of(to)), static_cast<int32_t>(c.number),
                          static_cast<int32_t>(letter)};
  request_short(member.jobrank_of(to), {kHandlerCollSignal, 3, args});
}

void send_epoch(const Member& member, Rank to, uint32_t round) noexcept {
  dcheck(to < member.size && round < member.rounds, "a round that no epoch has", to, round);
  const int32_t args[] = {static_cast<int32_t>(member.seat_of(to)), static_cast<int32_t>(round)};
  request_short(member.jobrank_of(to), {kHandlerCollEpoch, 2, args});
}

bool has_arrived(Collective& c, uint32_t letter) noexcept {
  dcheck(letter < c.member->boxes_each(), "a letter that no box is for", letter);
  const LetterBox& box = c.member->box(c.number, letter);
  return box.arrived.load(std::memory_order_acquire) == c.number + 1;
}

bool can_get(Rank from, const LetterBox& box, const void* to) noexcept {
  const Route& route = engine.routes[from];
  if (route.driver == nullptr || !route.covers(reinterpret_cast<void*>(box.source), box.bytes) ||
      route.reach != Reach::kWhole) {
    return false;
  }
  const Caps& caps = engine.caps_of(route);
  return caps.reaches(engine.local_key(route.driver_index, to, box.bytes));
}

const LetterBox* find_offer(Collective& c, Rank from, uint32_t letter, size_t bytes) noexcept {
  if (!has_arrived(c, letter)) return nullptr;
  const LetterBox& box = c.member->box(c.number, letter);
  if (box.bytes != bytes || !box.is_offer()) {
    disagree(c, c.member->jobrank_of(from), box.bytes, bytes);
  }
  return &box;
}

bool receive_data(Collective& c, Rank from, uint32_t letter, void* to, size_t bytes) noexcept {
  dcheck(letter < c.member->data_boxes(), "data from the box of a barrier", letter);
  dcheck(from < c.member->size, "data of no member", from, c.member->size);
  Inbound& inbound = c.inbound[letter];
  if (inbound.is_done) return true;
  const std::byte* taken = take_data(c, from, letter, to, bytes);
  if (taken == nullptr) return false;
  if (taken != to && bytes != 0) std::memcpy(to, taken, bytes);
  inbound.is_done = true;
  return true;
}

std::byte* take_data(Collective& c, Rank from, uint32_t letter, void* to, size_t bytes) noexcept {
  if (!has_arrived(c, letter)) return nullptr;
  const LetterBox& box = c.member->box(c.number, letter);
  const Rank peer = c.member->jobrank_of(from);
  if (box.bytes != bytes) disagree(c, peer, box.bytes, bytes);
  if (!box.is_offer()) return c.member->payload(c.number, letter, bytes);
  Inbound& inbound = c.inbound[letter];
  if (!inbound.is_begun) begin_inbound(c, peer, letter, box, to);
  dcheck(inbound.bytes == bytes, "an offer of other data", inbound.bytes, bytes);
  if (!inbound.is_done) inbound.is_done = is_in_place(c, peer, inbound, box);
  return inbound.is_done ? inbound.to : nullptr;
}

bool all_taken(const Collective& c) noexcept {
  dcheck(c.sends <= kDataMax, "more offers than an operation has", c.sends);
  for (uint32_t i = 0; i < c.sends; ++i) {
    if (c.outbound[i].left.load(std::memory_order_acquire) != 0) return false;
  }
  return true;
}

void register_mail() noexcept {
  register_internal(kHandlerCollLetter, on_letter);
  register_internal(kHandlerCollSignal, on_signal);
  register_internal(kHandlerCollOffer, on_offer);
  register_internal(kHandlerCollPull, on_pull);
  register_internal(kHandlerCollPiece, on_piece);
  register_internal(kHandlerCollTaken, on_taken);
  register_internal(kHandlerCollEpoch, on_epoch);
}

}  // namespace pinwire
