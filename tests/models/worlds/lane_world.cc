#include "tests/models/worlds/lane_world.h"

#include <algorithm>
#include <numeric>

namespace pinwire::model {
namespace {

constexpr uint32_t kKinds = kClientCargos + kCargos + 4;  ///< of steps of one rank with one peer

constexpr size_t at(Cargo cargo) { return static_cast<size_t>(cargo); }
constexpr bool in_reply_flow(Cargo cargo) {
  return cargo == Cargo::kReply || cargo == Cargo::kData;
}

/// Flow::kRequest, kReply, kOneSided of nicfw/wire/wire.h.
constexpr uint32_t flow_of(Cargo cargo) {
  if (in_reply_flow(cargo)) return 1;
  return cargo == Cargo::kPut || cargo == Cargo::kGet ? 2 : 0;
}

template <typename Counts>
uint32_t sum(const Counts& counts) {
  return std::accumulate(counts.begin(), counts.end(), 0u);
}

}  // namespace

LaneWorld::LaneWorld(const LanePlan& plan) : plan_(&plan) {
  for (uint32_t rank = 0; rank < plan.ranks; ++rank) {
    for (uint32_t peer = 0; peer < plan.ranks; ++peer) {
      const bool has_work = (plan.posters >> rank & 1) != 0 && !silent(rank) && peer != rank &&
                            (!plan.ring || peer == (rank + 1) % plan.ranks);
      for (uint32_t cargo = 0; silent(rank) && peer != rank && cargo < kClientCargos; ++cargo) {
        ranks_[rank].built[cargo][peer] = plan.sent_by_silent[cargo];
      }
      if (!has_work) continue;
      for (uint32_t cargo = 0; cargo < kClientCargos; ++cargo) {
        ranks_[rank].todo[cargo][peer] = plan.work[cargo];
      }
    }
  }
}

uint32_t LaneWorld::in_flow(uint32_t rank, uint32_t peer, Cargo cargo) const {
  uint32_t count = 0;
  for (uint32_t each = 0; each < kCargos; ++each) {
    if (flow_of(static_cast<Cargo>(each)) == flow_of(cargo)) {
      count += ranks_[rank].built[each][peer];
    }
  }
  return count;
}

/// The rule of nicfw/pool/pool_share.h for send slots: each flow has one of its own.
bool LaneWorld::may_build(uint32_t rank, uint32_t peer, Cargo cargo) const {
  uint32_t used = 0;
  uint32_t own_used = 0;
  uint32_t replies_used = 0;
  for (uint32_t other = 0; other < plan_->ranks; ++other) {
    for (const Cargo each : {Cargo::kRequest, Cargo::kPut, Cargo::kReply}) {
      const uint32_t held = in_flow(rank, other, each);
      used += held;
      own_used += held != 0 ? 1 : 0;
      if (each == Cargo::kReply && held > 1) replies_used += held - 1;
    }
  }
  const bool reply = in_reply_flow(cargo);
  const uint32_t held = in_flow(rank, peer, cargo);
  const uint32_t available = plan_->slots - used;
  const uint32_t reserve = is(LaneMutant::kRepliesHaveNoSlots) ? 0 : plan_->slots_replies;
  const uint32_t kept = reply || reserve <= replies_used ? 0 : reserve - replies_used;
  if (is(LaneMutant::kNoShares)) return available > kept;
  if (is(LaneMutant::kFirstSlotBehindReplies)) {
    const uint32_t behind = reply ? 0 : reserve;
    if (held == 0) return available > behind;
    return available > behind + plan_->slots_idle &&
           held + 1 <= available - behind - plan_->slots_idle;
  }
  const uint32_t own = is(LaneMutant::kNoFirstSlot) ? 0 : plan_->slots_idle;
  const uint32_t own_left = own > own_used ? own - own_used : 0;
  if (held == 0 && own_left != 0) return true;
  const uint32_t shared = available - own_left;
  return shared > kept && std::max(held, 1u) <= shared - kept;
}

/// A fenced request of the peer would wait here for others.
bool LaneWorld::is_early(uint32_t rank, uint32_t peer) const {
  return ranks_[peer].built[at(Cargo::kRequest)][rank] != 0;
}

bool LaneWorld::may_accept(uint32_t rank, uint32_t peer, Cargo cargo) const {
  const RankState& state = ranks_[rank];
  const uint32_t requests = sum(state.held_requests) + sum(state.parked);
  const bool has_buffer = requests + state.held_replies < plan_->buffers;
  const bool request_room =
      has_buffer && (is(LaneMutant::kRequestsHoldAll) || requests < plan_->request_hold_max);
  const bool may_park =
      is(LaneMutant::kParkedHoldAll) || sum(state.parked) < plan_->request_hold_max / 2;
  const bool own_response = state.owed[peer] == 0 && plan_->responses_idle != 0;
  uint32_t responses = 0;  // that are shared
  for (const uint8_t owed : state.owed) {
    responses += owed > 0 && plan_->responses_idle != 0 ? owed - 1u : owed;
  }
  switch (cargo) {
    case Cargo::kRequest:
      return request_room;
    case Cargo::kFenced:
      return request_room && (!is_early(rank, peer) || may_park);
    case Cargo::kReply:
      return has_buffer;
    case Cargo::kPut:
      return request_room || !is(LaneMutant::kPutsAsMessages);
    case Cargo::kGet:
      if (is(LaneMutant::kNoFirstResponse)) return sum(state.owed) < plan_->responses;
      return (own_response || responses < plan_->responses) &&
             (request_room || !is(LaneMutant::kGetsAsMessages));
    case Cargo::kData:
      return request_room || !is(LaneMutant::kDataAsMessages);
    case Cargo::kCount:
      break;
  }
  return false;
}

bool LaneWorld::try_post(uint32_t rank, uint32_t peer, Cargo cargo) {
  RankState& state = ranks_[rank];
  // The fence comes behind all requests.
  if (cargo == Cargo::kFenced && state.todo[at(Cargo::kRequest)][peer] != 0) return false;
  // A handler posts nothing but its reply.
  if (state.todo[at(cargo)][peer] == 0 || state.handler != 0 || !may_build(rank, peer, cargo)) {
    return false;
  }
  --state.todo[at(cargo)][peer];
  ++state.built[at(cargo)][peer];
  return true;
}

bool LaneWorld::try_accept(uint32_t rank, uint32_t peer, Cargo cargo) {
  RankState& state = ranks_[rank];
  RankState& sender = ranks_[peer];
  if (sender.built[at(cargo)][rank] == 0 || silent(rank) || !may_accept(rank, peer, cargo)) {
    return false;
  }
  if (state.handler != 0 && is(LaneMutant::kHandlersDoNotPoll)) return false;
  const bool waits = cargo == Cargo::kFenced && is_early(rank, peer);
  --sender.built[at(cargo)][rank];
  if (waits) ++state.parked[peer];
  if (cargo == Cargo::kRequest || (cargo == Cargo::kFenced && !waits)) ++state.held_requests[peer];
  if (!is_early(rank, peer)) {
    state.held_requests[peer] =
        static_cast<uint8_t>(state.held_requests[peer] + state.parked[peer]);
    state.parked[peer] = 0;
  }
  if (cargo == Cargo::kReply) ++state.held_replies;
  if (cargo == Cargo::kGet) ++state.owed[peer];
  return true;
}

bool LaneWorld::try_handle(uint32_t rank, uint32_t peer) {
  RankState& state = ranks_[rank];
  if (state.held_requests[peer] == 0 || state.handler != 0 || deaf(rank)) return false;
  state.handler = static_cast<uint8_t>(peer + 1);  // it keeps its receive buffer until it returns
  return true;
}

bool LaneWorld::try_reply(uint32_t rank) {
  RankState& state = ranks_[rank];
  if (state.handler == 0) return false;
  const uint32_t peer = state.handler - 1u;
  if (!may_build(rank, peer, Cargo::kReply)) return false;
  ++state.built[at(Cargo::kReply)][peer];
  --state.held_requests[peer];
  state.handler = 0;
  return true;
}

bool LaneWorld::try_answer_get(uint32_t rank, uint32_t peer) {
  RankState& state = ranks_[rank];
  if (state.owed[peer] == 0 || !may_build(rank, peer, Cargo::kData)) return false;
  if (state.handler != 0 && is(LaneMutant::kHandlersDoNotPoll)) return false;
  --state.owed[peer];
  ++state.built[at(Cargo::kData)][peer];
  return true;
}

bool LaneWorld::try_take_reply(uint32_t rank) {
  RankState& state = ranks_[rank];
  if (state.held_replies == 0) return false;
  if (state.handler != 0 && is(LaneMutant::kHandlersDoNotPoll)) return false;
  --state.held_replies;
  return true;
}

bool LaneWorld::try_step(uint32_t rank, uint32_t kind, uint32_t peer) {
  if (kind < kClientCargos) return try_post(rank, peer, static_cast<Cargo>(kind));
  kind -= kClientCargos;
  if (kind < kCargos) return try_accept(rank, peer, static_cast<Cargo>(kind));
  switch (kind - kCargos) {
    case 0:
      return try_handle(rank, peer);
    case 1:
      return peer == (rank + 1) % plan_->ranks && try_reply(rank);
    case 2:
      return try_answer_get(rank, peer);
    default:
      return peer == (rank + 1) % plan_->ranks && try_take_reply(rank);
  }
}

std::vector<LaneWorld> LaneWorld::next() const {
  std::vector<LaneWorld> worlds;
  LaneWorld there(*this);
  for (uint32_t rank = 0; rank < plan_->ranks; ++rank) {
    for (uint32_t peer = 0; peer < plan_->ranks; ++peer) {
      if (peer == rank || silent(rank)) continue;
      for (uint32_t kind = 0; kind < kKinds; ++kind) {
        if (!there.try_step(rank, kind, peer)) continue;
        worlds.push_back(there);
        there = *this;
      }
    }
  }
  return worlds;
}

bool LaneWorld::must_come(Cargo cargo, uint32_t from, uint32_t to) const {
  if (silent(from) || silent(to)) return false;
  return (cargo != Cargo::kRequest && cargo != Cargo::kFenced) || !deaf(to);
}

bool LaneWorld::is_over() const {
  for (uint32_t rank = 0; rank < plan_->ranks; ++rank) {
    const RankState& state = ranks_[rank];
    if (state.held_replies != 0 || (state.handler != 0 && !silent(rank))) return false;
    for (uint32_t peer = 0; peer < plan_->ranks; ++peer) {
      if (peer == rank) continue;
      for (uint32_t c = 0; c < kCargos; ++c) {
        const bool left =
            state.built[c][peer] != 0 || (c < kClientCargos && state.todo[c][peer] != 0);
        if (left && must_come(static_cast<Cargo>(c), rank, peer)) return false;
      }
      const bool owes = state.owed[peer] != 0 || state.parked[peer] != 0 ||
                        (state.held_requests[peer] != 0 && !deaf(rank));
      if (owes && !silent(rank) && !silent(peer)) return false;
    }
  }
  return true;
}

std::string LaneWorld::text() const {
  std::string text;
  for (uint32_t rank = 0; rank < plan_->ranks; ++rank) {
    const RankState& state = ranks_[rank];
    text += "\n  rank " + std::to_string(rank) + ": built";
    for (const Counts& counts : state.built) text += " " + std::to_string(sum(counts));
    text += ", held " + std::to_string(sum(state.held_requests)) + " requests " +
            std::to_string(state.held_replies) + " replies, owes " +
            std::to_string(sum(state.owed)) + (state.handler != 0 ? ", in a handler" : "");
  }
  return text;
}

}  // namespace pinwire::model
