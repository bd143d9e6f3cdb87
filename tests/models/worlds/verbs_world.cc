#include "tests/models/worlds/verbs_world.h"

#include <numeric>

#include "driver/verbs/lane/claim.h"

namespace pinwire::model {
namespace {

constexpr uint32_t kKinds = 7;  ///< of steps of one rank with one peer
constexpr uint32_t kLengthMax = 8;

/// A buffer of a small pool stands for an eighth of a real one.
constexpr uint32_t left_by(verbs::Claim claim) { return verbs::left_by(claim, 8); }

template <typename Counts>
uint32_t sum(const Counts& counts) {
  return std::accumulate(counts.begin(), counts.end(), 0u);
}

}  // namespace

void VerbsWorld::Connection::push(Cargo cargo) {
  cargos = static_cast<uint16_t>(cargos | static_cast<uint32_t>(cargo) << (2 * length));
  ++length;
}

void VerbsWorld::Connection::pop() {
  cargos = static_cast<uint16_t>(cargos >> 2);
  --length;
}

VerbsWorld::VerbsWorld(const VerbsPlan& plan) : plan_(&plan) {
  for (uint32_t rank = 0; rank < plan.ranks; ++rank) {
    for (uint32_t peer = 0; peer < plan.ranks; ++peer) {
      if (peer == rank) continue;
      RankState& state = ranks_[rank];
      const uint32_t sent = plan.sent_by_silent + (is(VerbsMutant::kNoWindow) ? plan.buffers : 0);
      for (uint32_t i = 0; silent(rank) && plan.sent_by_silent != 0 && i < sent; ++i) {
        state.by_requests[peer].push(Cargo::kRequest);
        ++state.under_way[peer];
      }
      const bool is_target = !plan.ring || peer == (rank + 1) % plan.ranks;
      if (silent(rank) || !is_target || (plan.posters >> rank & 1) == 0) continue;
      state.requests[peer] = plan.requests;
      state.puts[peer] = plan.puts;
    }
  }
}

uint32_t VerbsWorld::free_buffers(uint32_t rank) const {
  uint32_t used = 0;
  for (const Connection& each : ranks_[rank].by_requests) used += each.length;
  for (const Connection& each : ranks_[rank].by_replies) used += each.length;
  return used < plan_->buffers ? plan_->buffers - used : 0;
}

bool VerbsWorld::send(uint32_t rank, uint32_t peer, Cargo cargo, uint32_t left) {
  const bool is_request = cargo == Cargo::kRequest ||
                          (cargo == Cargo::kPut && is(VerbsMutant::kPutsAmongThem)) ||
                          (cargo == Cargo::kReply && is(VerbsMutant::kRepliesAmongThem));
  RankState& state = ranks_[rank];
  Connection& connection = is_request ? state.by_requests[peer] : state.by_replies[peer];
  if (free_buffers(rank) <= left || connection.length == kLengthMax) return false;
  connection.push(cargo);
  return true;
}

bool VerbsWorld::try_request(uint32_t rank, uint32_t peer) {
  RankState& state = ranks_[rank];
  const bool has_credit = state.under_way[peer] < plan_->window || is(VerbsMutant::kNoWindow);
  const uint32_t left = is(VerbsMutant::kRequestsTakeAll) ? 0 : left_by(verbs::Claim::kRequest);
  // A handler posts nothing but its reply.
  if (state.requests[peer] == 0 || state.handler != 0 || !has_credit) return false;
  if (!send(rank, peer, Cargo::kRequest, left)) return false;
  --state.requests[peer];
  ++state.under_way[peer];
  return true;
}

bool VerbsWorld::try_put(uint32_t rank, uint32_t peer) {
  RankState& state = ranks_[rank];
  if (state.puts[peer] == 0 || state.handler != 0) return false;
  if (!send(rank, peer, Cargo::kPut, left_by(verbs::Claim::kOneSided))) return false;
  --state.puts[peer];
  return true;
}

/// The rank's device carries out the oldest work of a connection, if the target has a buffer.
bool VerbsWorld::try_device(uint32_t rank, uint32_t peer, Connection& connection) {
  if (connection.length == 0) return false;
  RankState& target = ranks_[peer];
  if (connection.first() == Cargo::kRequest) {
    if (sum(target.arrived) == plan_->receives) return false;
    ++target.arrived[rank];
  } else if (connection.first() == Cargo::kReply) {
    if (target.replies == plan_->reply_receives) return false;
    ++target.replies;
  }
  connection.pop();
  return true;
}

bool VerbsWorld::try_handle(uint32_t rank, uint32_t peer) {
  RankState& state = ranks_[rank];
  if (silent(rank) || deaf(rank) || state.handler != 0 || state.arrived[peer] == 0) return false;
  state.handler = static_cast<uint8_t>(peer + 1);
  return true;
}

bool VerbsWorld::try_reply(uint32_t rank) {
  RankState& state = ranks_[rank];
  if (state.handler == 0) return false;
  const uint32_t peer = state.handler - 1u;
  if (!send(rank, peer, Cargo::kReply, left_by(verbs::Claim::kReply))) return false;
  --state.arrived[peer];
  --ranks_[peer].under_way[rank];
  state.handler = 0;
  return true;
}

bool VerbsWorld::try_take_reply(uint32_t rank) {
  RankState& state = ranks_[rank];
  if (silent(rank) || state.replies == 0) return false;
  if (state.handler != 0 && is(VerbsMutant::kHandlersDoNotPoll)) return false;
  --state.replies;
  return true;
}

bool VerbsWorld::try_step(uint32_t rank, uint32_t kind, uint32_t peer) {
  const bool is_first = peer == (rank + 1) % plan_->ranks;  // of a rank's own steps
  switch (kind) {
    case 0:
      return try_request(rank, peer);
    case 1:
      return try_put(rank, peer);
    case 2:
      return try_device(rank, peer, ranks_[rank].by_requests[peer]);
    case 3:
      return try_device(rank, peer, ranks_[rank].by_replies[peer]);
    case 4:
      return try_handle(rank, peer);
    case 5:
      return is_first && try_reply(rank);
    default:
      return is_first && try_take_reply(rank);
  }
}

std::vector<VerbsWorld> VerbsWorld::next() const {
  std::vector<VerbsWorld> worlds;
  VerbsWorld there(*this);
  for (uint32_t rank = 0; rank < plan_->ranks; ++rank) {
    for (uint32_t peer = 0; peer < plan_->ranks; ++peer) {
      for (uint32_t kind = 0; peer != rank && kind < kKinds; ++kind) {
        if (!there.try_step(rank, kind, peer)) continue;
        worlds.push_back(there);
        there = *this;
      }
    }
  }
  return worlds;
}

bool VerbsWorld::must_come(Cargo cargo, uint32_t from, uint32_t to) const {
  if (cargo == Cargo::kPut) return true;
  if (silent(from) || silent(to)) return false;
  return cargo == Cargo::kReply || !deaf(to);
}

bool VerbsWorld::is_over() const {
  for (uint32_t rank = 0; rank < plan_->ranks; ++rank) {
    const RankState& state = ranks_[rank];
    if (!silent(rank) && (state.handler != 0 || state.replies != 0)) return false;
    for (uint32_t peer = 0; peer < plan_->ranks; ++peer) {
      if (state.puts[peer] != 0) return false;
      if (state.requests[peer] != 0 && must_come(Cargo::kRequest, rank, peer)) return false;
      if (state.arrived[peer] != 0 && must_come(Cargo::kRequest, peer, rank)) return false;
      for (Connection left : {state.by_requests[peer], state.by_replies[peer]}) {
        for (; left.length != 0; left.pop()) {
          if (must_come(left.first(), rank, peer)) return false;
        }
      }
    }
  }
  return true;
}

std::string VerbsWorld::text() const {
  std::string text;
  for (uint32_t rank = 0; rank < plan_->ranks; ++rank) {
    const RankState& state = ranks_[rank];
    text += "\n  rank " + std::to_string(rank) + ": to post " +
            std::to_string(sum(state.requests)) + " requests " + std::to_string(sum(state.puts)) +
            " puts, " + std::to_string(free_buffers(rank)) + " buffers free, arrived " +
            std::to_string(sum(state.arrived)) + " requests " + std::to_string(state.replies) +
            " replies" + (state.handler != 0 ? ", in a handler" : "");
  }
  return text;
}

}  // namespace pinwire::model
