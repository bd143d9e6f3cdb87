#include "tests/models/worlds/shm_world.h"

#include <algorithm>
#include <numeric>

#include "driver/shm/ring.h"

namespace pinwire::model {
namespace {

constexpr uint32_t kKinds = 7;  ///< of steps of one lane with one peer

template <typename Counts>
uint32_t sum(const Counts& counts) {
  return std::accumulate(counts.begin(), counts.end(), 0u);
}

}  // namespace

ShmWorld::ShmWorld(const ShmPlan& plan) : plan_(&plan) {
  for (uint32_t rank = 0; rank < plan.ranks; ++rank) {
    for (uint32_t peer = 0; peer < plan.ranks; ++peer) {
      if (peer == rank) continue;
      for (uint32_t i = 0; silent(rank) && i < plan.sent_by_silent; ++i) {
        push(rank, 0, peer, {.from = static_cast<uint8_t>(rank)});
      }
      const bool is_target = !plan.ring || peer == (rank + 1) % plan.ranks;
      if (silent(rank) || !is_target || (plan.posters >> rank & 1) == 0) continue;
      ranks_[rank].puts[peer] = plan.puts;
      for (uint32_t lane = 0; lane < plan.lanes; ++lane) {
        const bool is_used = !plan.crossed || (lane == 1) == (rank == 0);
        if (is_used) ranks_[rank].lanes[lane].requests[peer] = plan.requests;
      }
    }
  }
}

uint32_t ShmWorld::bytes_of(const Message& message) const {
  if (message.cargo != Cargo::kReply) return plan_->request_bytes;
  const uint32_t bytes = plan_->reply_bytes[message.number % plan_->reply_bytes.size()];
  const bool is_largest = bytes == shm::message_bytes_max(plan_->slots);
  return is_largest && is(ShmMutant::kMoreThanHalf) ? bytes + shm::kSlotBytes : bytes;
}

ShmWorld::Ring& ShmWorld::ring_of(uint32_t rank, uint32_t lane, Cargo cargo) {
  const bool is_reply = cargo == Cargo::kReply && !is(ShmMutant::kOneRing);
  return ranks_[rank].lanes[lane].rings[is_reply ? 1 : 0];
}

/// False: the ring has no room. Whether it has tell the functions that the ring's producer asks.
bool ShmWorld::push(uint32_t rank, uint32_t lane, uint32_t peer, Message message) {
  Ring& ring = ring_of(peer, lane, message.cargo);
  message.is_lent = ranks_[rank].lent < plan_->lent;
  if (plan_->lent != 0 && !message.is_lent && is(ShmMutant::kWaitsForLent)) return false;
  const uint32_t bytes = bytes_of(message);
  const shm::Extent tail{ring.tail.slots, ring.tail.lines};
  const shm::Extent head{ring.published.slots, ring.published.lines};
  const shm::Extent end = shm::end_of(shm::place_after(tail, bytes, plan_->slots), bytes);
  const bool fits = end.slots_since(head) <= plan_->slots && end.lines_since(head) <= plan_->slots;
  if (!fits) return false;
  ring.messages[ring.length()] = message;
  ring.tail = {static_cast<uint8_t>(end.slots), static_cast<uint8_t>(end.lines)};
  if (message.is_lent) ++ranks_[rank].lent;
  return true;
}

/// As free_next() of a ring's consumer.
void ShmWorld::free_oldest(Ring& ring) {
  const Message message = ring.messages[0];
  const uint32_t bytes = bytes_of(message);
  const shm::Extent freed{ring.freed.slots, ring.freed.lines};
  const shm::Extent end = shm::end_of(shm::place_after(freed, bytes, plan_->slots), bytes);
  std::shift_left(ring.messages.begin(), ring.messages.end(), 1);
  ring.messages.back() = {};
  ring.freed = {static_cast<uint8_t>(end.slots), static_cast<uint8_t>(end.lines)};
  if (message.is_lent) --ranks_[message.from].lent;
  const shm::Extent published{ring.published.slots, ring.published.lines};
  const bool is_dry = ring.length() == 0 && !is(ShmMutant::kDryIsNotTold);
  if (is_dry || end.slots_since(published) >= plan_->rarely ||
      end.lines_since(published) >= plan_->rarely) {
    ring.published = ring.freed;
  }
}

bool ShmWorld::try_request(uint32_t rank, uint32_t lane, uint32_t peer) {
  RankState& state = ranks_[rank];
  // A handler posts nothing but its reply.
  if (state.handler != 0 || state.lanes[lane].requests[peer] == 0) return false;
  if (!push(rank, lane, peer, {.from = static_cast<uint8_t>(rank)})) return false;
  --state.lanes[lane].requests[peer];
  return true;
}

bool ShmWorld::try_put(uint32_t rank, uint32_t peer) {
  RankState& state = ranks_[rank];
  if (state.handler != 0 || state.puts[peer] == 0) return false;
  const Message message{.from = static_cast<uint8_t>(rank), .cargo = Cargo::kPut};
  if (is(ShmMutant::kPutsAsMessages) && !push(rank, 0, peer, message)) return false;
  --state.puts[peer];
  return true;
}

bool ShmWorld::try_handle(uint32_t rank, uint32_t lane) {
  RankState& state = ranks_[rank];
  const Ring& ring = state.lanes[lane].rings[0];
  if (silent(rank) || deaf(rank) || state.handler != 0 || ring.length() == 0) return false;
  if (ring.messages[0].cargo != Cargo::kRequest) return false;
  state.handler = static_cast<uint8_t>(lane + 1);
  state.pieces = plan_->pieces;
  return true;
}

/// One message of a reply is in the ring, or owed.
void ShmWorld::end_piece(uint32_t rank) {
  RankState& state = ranks_[rank];
  LaneState& lane = state.lanes[state.handler - 1u];
  ++lane.numbered[lane.rings[0].messages[0].from];
  if (--state.pieces != 0) return;
  free_oldest(lane.rings[0]);
  state.handler = 0;
}

bool ShmWorld::try_reply(uint32_t rank) {
  const RankState& state = ranks_[rank];
  if (state.handler == 0) return false;
  const uint32_t lane = state.handler - 1u;
  const uint32_t peer = state.lanes[lane].rings[0].messages[0].from;
  if (state.lanes[lane].owed[peer] != 0 && !is(ShmMutant::kOvertakes)) return false;
  const uint8_t number = state.lanes[lane].numbered[peer];
  const Message reply{.from = static_cast<uint8_t>(rank), .cargo = Cargo::kReply, .number = number};
  if (!push(rank, lane, peer, reply)) return false;
  end_piece(rank);
  return true;
}

/// Only where the ring has no room, or the lane owes the peer already.
bool ShmWorld::try_owe(uint32_t rank) {
  RankState& state = ranks_[rank];
  if (state.handler == 0 || is(ShmMutant::kOwesNothing)) return false;
  LaneState& lane = state.lanes[state.handler - 1u];
  const uint32_t peer = lane.rings[0].messages[0].from;
  if (sum(lane.owed) >= plan_->owed_max) return false;
  ShmWorld there(*this);
  if (lane.owed[peer] == 0 && there.try_reply(rank)) return false;
  ++lane.owed[peer];
  end_piece(rank);
  return true;
}

/// A thread in a handler polls the lane of that handler alone.
bool ShmWorld::may_poll(uint32_t rank, uint32_t lane) const {
  const uint32_t handler = ranks_[rank].handler;
  return !silent(rank) && (handler == 0 || handler == lane + 1);
}

/// A reply, or a put that is a message.
bool ShmWorld::try_take(uint32_t rank, uint32_t lane) {
  RankState& state = ranks_[rank];
  const bool is_in_handler = state.handler != 0;
  if (!may_poll(rank, lane) || (is_in_handler && is(ShmMutant::kHandlersDoNotPoll))) return false;
  for (Ring& ring : state.lanes[lane].rings) {
    if (ring.length() == 0 || ring.messages[0].cargo == Cargo::kRequest) continue;
    if (ring.messages[0].cargo == Cargo::kPut && (is_in_handler || deaf(rank))) continue;
    if (ring.messages[0].cargo == Cargo::kReply) {
      uint8_t& taken = state.lanes[lane].taken[ring.messages[0].from];
      state.is_broken = state.is_broken || ring.messages[0].number != taken;
      ++taken;
    }
    free_oldest(ring);
    return true;
  }
  return false;
}

bool ShmWorld::try_settle(uint32_t rank, uint32_t lane, uint32_t peer) {
  RankState& state = ranks_[rank];
  LaneState& debtor = state.lanes[lane];
  if (!may_poll(rank, lane) || debtor.owed[peer] == 0) return false;
  if (state.handler != 0 && is(ShmMutant::kHandlersDoNotSettle)) return false;
  const auto number = static_cast<uint8_t>(debtor.numbered[peer] - debtor.owed[peer]);
  const Message reply{.from = static_cast<uint8_t>(rank), .cargo = Cargo::kReply, .number = number};
  if (!push(rank, lane, peer, reply)) return false;
  --debtor.owed[peer];
  return true;
}

bool ShmWorld::try_step(uint32_t rank, uint32_t lane, uint32_t kind, uint32_t peer) {
  const bool is_first = peer == (rank + 1) % plan_->ranks;  // of a lane's own steps
  switch (kind) {
    case 0:
      return try_request(rank, lane, peer);
    case 1:
      return lane == 0 && try_put(rank, peer);
    case 2:
      return is_first && try_handle(rank, lane);
    case 3:
      return is_first && lane == 0 && try_reply(rank);
    case 4:
      return is_first && lane == 0 && try_owe(rank);
    case 5:
      return is_first && try_take(rank, lane);
    default:
      return try_settle(rank, lane, peer);
  }
}

std::vector<ShmWorld> ShmWorld::next() const {
  std::vector<ShmWorld> worlds;
  for (const RankState& state : ranks_) {
    if (state.is_broken) return worlds;
  }
  ShmWorld there(*this);
  const uint32_t steps = plan_->ranks * plan_->lanes * plan_->ranks * kKinds;
  for (uint32_t step = 0; step < steps; ++step) {
    const uint32_t kind = step % kKinds, peer = step / kKinds % plan_->ranks;
    const uint32_t lane = step / kKinds / plan_->ranks % plan_->lanes;
    const uint32_t rank = step / kKinds / plan_->ranks / plan_->lanes;
    if (peer == rank || !there.try_step(rank, lane, kind, peer)) continue;
    worlds.push_back(there);
    there = *this;
  }
  return worlds;
}

bool ShmWorld::must_come(const Message& message, uint32_t to) const {
  if (message.cargo == Cargo::kPut) return true;
  return !silent(to) && (message.cargo == Cargo::kReply || !deaf(to));
}

bool ShmWorld::is_over() const {
  for (uint32_t rank = 0; rank < plan_->ranks; ++rank) {
    const RankState& state = ranks_[rank];
    if (state.is_broken || state.handler != 0 || sum(state.puts) != 0) return false;
    for (const LaneState& lane : state.lanes) {
      for (uint32_t peer = 0; peer < plan_->ranks; ++peer) {
        if (silent(peer)) continue;
        if (lane.owed[peer] != 0 || (lane.requests[peer] != 0 && !deaf(peer))) return false;
      }
      for (const Ring& ring : lane.rings) {
        for (uint32_t i = 0; i < ring.length(); ++i) {
          if (must_come(ring.messages[i], rank)) return false;
        }
      }
    }
  }
  return true;
}

std::string ShmWorld::text() const {
  std::string text;
  for (uint32_t rank = 0; rank < plan_->ranks; ++rank) {
    const RankState& state = ranks_[rank];
    text += "\n  rank " + std::to_string(rank) + ":";
    for (uint32_t l = 0; l < plan_->lanes; ++l) {
      const LaneState& lane = state.lanes[l];
      text += " lane " + std::to_string(l) + ": to post " + std::to_string(sum(lane.requests)) +
              ", in rings " + std::to_string(lane.rings[0].length()) + " and " +
              std::to_string(lane.rings[1].length()) + ", owes " + std::to_string(sum(lane.owed)) +
              ";";
    }
    text += " puts " + std::to_string(sum(state.puts));
    if (state.handler != 0) text += ", in a handler of lane " + std::to_string(state.handler - 1);
    if (state.is_broken) text += ", a reply has overtaken another";
  }
  return text;
}

}  // namespace pinwire::model
