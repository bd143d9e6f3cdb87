#include "am/send/negotiated.h"

#include "am/handlers/dispatch.h"
#include "am/message/call.h"
#include "am/send/outgoing.h"

namespace pinwire {
namespace {

/// Runs `use` on the lane as post() would be called for silent work. False: it was not to be had.
template <typename Use>
bool with_lane(const pinwire_token* token, const Route& route, uint32_t lane, Patience patience,
               Use&& use) noexcept {
  DriverSlot& slot = engine.drivers[route.driver_index];
  dcheck(slot.driver == route.driver, "a route and its index name two drivers", route.driver_index);
  dcheck(lane < slot.lane_count, "room of no lane", lane, slot.lane_count);
  if (token != nullptr || slot.caps.concurrent_post) {  // a handler holds its lane
    use(*slot.driver);
    return true;
  }
  DriverLane& held = slot.lanes[lane];
  if (patience == Patience::kWaits) {
    held.lock(engine.spins_now);
  } else if (!held.try_lock_briefly()) {
    return false;
  }
  use(*slot.driver);
  held.unlock();
  return true;
}

bool send_in(const pinwire_token* token, Target to, const AmCall& call, const Room& room,
             size_t bytes) noexcept {
  dcheck(bytes <= room.bytes, "a Medium ends after the room for it", bytes, room.bytes);
  dcheck(room.lent.payload == nullptr || room.address == room.lent.payload,
         "room that is not what was lent for it", bytes);
  const Route& route = engine.routes[rank_of(to)];
  const AmEndpoints endpoints = endpoints_of(token, to, call);
  if (route.driver == nullptr) {  // its handler gets the very memory
    dispatch_loopback(call.handler, endpoints, token == nullptr, Category::kMedium, room.address,
                      bytes, call.argc, call.args);
    return true;
  }
  return post_medium(token, route, to, call, endpoints, room.address, bytes, room.lent);
}

}  // namespace

Room room_for_medium(const pinwire_token* token, Target to, size_t bytes, std::byte* own,
                     Patience patience) noexcept {
  const Route& route = engine.routes[rank_of(to)];
  if (route.driver == nullptr) return {own, bytes, {}, 0};
  const DriverSlot& slot = engine.drivers[route.driver_index];
  if (slot.caps.lent_bytes_max < bytes) return {own, bytes, {}, 0};
  Room room;
  room.lane = token != nullptr ? token->lane : slot.lane_of(engine.thread().lane);
  with_lane(token, route, room.lane, patience,
            [&](Driver& driver) { room.lent = driver.lend(room.lane, rank_of(to), bytes); });
  const bool is_lent = room.lent.payload != nullptr;
  dcheck(!is_lent || room.lent.bytes >= bytes, "less was lent than was asked for", room.lent.bytes,
         bytes);
  dcheck(reinterpret_cast<uintptr_t>(room.lent.payload) % 16 == 0, "lent memory is not aligned",
         room.lent.payload);
  if (!is_lent && patience == Patience::kTries) return {};
  room.address = is_lent ? room.lent.payload : own;
  room.bytes = bytes;
  return room;
}

void leave_room(const pinwire_token* token, Target to, const Room& room) noexcept {
  if (room.lent.payload == nullptr) return;
  const Route& route = engine.routes[rank_of(to)];
  dcheck(room.address == room.lent.payload, "room that is not what was lent for it", room.bytes);
  with_lane(token, route, room.lane, Patience::kWaits,
            [&](Driver& driver) { driver.take_back(room.lane, room.lent); });
}

bool request_medium_in(Target to, const AmCall& call, const Room& room, size_t bytes) noexcept {
  return send_in(nullptr, to, call, room, bytes);
}

bool reply_medium_in(pinwire_token& token, const AmCall& call, const Room& room,
                     size_t bytes) noexcept {
  claim_reply(token);
  return claimed(token, send_in(&token, origin(token), call, room, bytes));
}

}  // namespace pinwire
