#include "tests/models/worlds/disconnect_world.h"

#include <algorithm>

namespace pinwire::model {
namespace {

constexpr uint32_t kKinds = 10;  ///< of steps of one rank

}  // namespace

DisconnectWorld::DisconnectWorld(const DisconnectPlan& plan)
    : replies_(plan.replies), loses_(plan.loses), computes_(plan.computes) {
  for (uint32_t rank = 0; rank < 2; ++rank) {
    ends_[rank].requests = plan.requests[rank];
    ends_[rank].puts = plan.puts[rank];
    ends_[rank].asks = plan.asks[rank];
  }
}

/// The lane knows what it has looked at; a message that has only arrived does not count.
bool DisconnectWorld::is_quiet(const End& end) const {
  return end.under_way == ByClass{} && end.held == 0;
}

void DisconnectWorld::say(uint32_t to, Greet greet, const verbs::DisconnectMessage& message) {
  const Datagram datagram{static_cast<uint8_t>(to), greet, message};
  const auto at = std::lower_bound(datagrams_.begin(), datagrams_.end(), datagram);
  if (at == datagrams_.end() || *at != datagram) datagrams_.insert(at, datagram);
}

void DisconnectWorld::close(uint32_t rank) {
  End& end = ends_[rank];
  if (end.under_way != ByClass{}) fail("an end closes while what it sent is under way");
  if (ends_[1 - rank].under_way != ByClass{}) fail("an end closes while the peer sends to it");
  if (end.arrived != ByClass{}) fail("an end closes before it looked at all that has arrived");
  if (end.held != 0 || end.owed != 0) fail("an end closes while handlers run");
  end.is_joined = end.is_met = false;
  end.traffic = {};
}

/// Otherwise the rank does what brings it there.
bool DisconnectWorld::can_send(uint32_t rank) {
  End& end = ends_[rank];
  if (end.protocol.has_asked()) {
    end.protocol.withdraw();
    return false;
  }
  if (!end.is_met) greet(1 - rank, Greet::kHello, end.protocol.epoch());
  return end.is_met;
}

bool DisconnectWorld::try_request(uint32_t rank) {
  End& end = ends_[rank];
  if (end.requests == 0) return false;
  if (!can_send(rank)) return true;
  --end.requests;
  ++end.under_way[0];
  ++end.owed;
  ++end.traffic.sent;
  return true;
}

bool DisconnectWorld::try_put(uint32_t rank) {
  End& end = ends_[rank];
  if (end.puts == 0) return false;
  if (!can_send(rank)) return true;
  --end.puts;
  ++end.under_way[2];
  return true;
}

bool DisconnectWorld::try_device(uint32_t rank, uint32_t cls) {
  End& end = ends_[rank];
  End& peer = ends_[1 - rank];
  if (end.under_way[cls] == 0) return false;
  if (!peer.is_joined || peer.protocol.epoch() != end.protocol.epoch()) {
    fail("a message finds no connection");
  }
  --end.under_way[cls];
  if (cls != 2) ++peer.arrived[cls];
  return true;
}

bool DisconnectWorld::try_look(uint32_t rank, uint32_t cls) {
  End& end = ends_[rank];
  if (end.arrived[cls] == 0) return false;
  --end.arrived[cls];
  ++end.traffic.received;
  if (cls == 0) ++end.held;
  return true;
}

bool DisconnectWorld::try_handle(uint32_t rank) {
  End& end = ends_[rank];
  if (end.held == 0) return false;
  if (replies_) {
    if (!can_send(rank)) return true;
    ++end.under_way[1];
    ++end.traffic.sent;
  }
  --end.held;
  --ends_[1 - rank].owed;
  return true;
}

bool DisconnectWorld::try_ask(uint32_t rank) {
  End& end = ends_[rank];
  if (end.asks == 0 || !end.is_met || end.protocol.has_asked() || !is_quiet(end)) return false;
  --end.asks;
  say(1 - rank, Greet::kNone, end.protocol.ask(end.traffic));
  return true;
}

bool DisconnectWorld::try_repeat(uint32_t rank) {
  const End& end = ends_[rank];
  if (end.protocol.has_asked()) say(1 - rank, Greet::kNone, end.protocol.question());
  return end.protocol.has_asked();
}

bool DisconnectWorld::try_step(uint32_t rank, uint32_t kind) {
  const bool is_of_device = kind < 3;
  if (computes_ && rank == 1 && !is_of_device) return false;
  switch (kind) {
    case 0:
    case 1:
    case 2:
      return try_device(rank, kind);
    case 3:
    case 4:
      return try_look(rank, kind - 3);
    case 5:
      return try_request(rank);
    case 6:
      return try_put(rank);
    case 7:
      return try_handle(rank);
    case 8:
      return try_ask(rank);
    default:
      return try_repeat(rank);
  }
}

void DisconnectWorld::receive(const Datagram& datagram) {
  const uint32_t rank = datagram.to;
  if (datagram.greet != Greet::kNone) return receive_greeting(rank, datagram);
  // The lane alone knows whether it is quiet; the connector refuses what is withdrawn without it.
  const bool is_for_lane = datagram.message.kind == verbs::DisconnectMessage::Kind::kAsk;
  if (computes_ && rank == 1 && is_for_lane) return;
  End& end = ends_[rank];
  const auto heard = end.protocol.hear(datagram.message, is_quiet(end), end.traffic);
  if (heard.is_closed) close(rank);
  if (heard.answer) say(1 - rank, Greet::kNone, *heard.answer);
}

void DisconnectWorld::receive_greeting(uint32_t rank, const Datagram& datagram) {
  End& end = ends_[rank];
  const uint64_t epoch = datagram.message.epoch;
  const bool is_later = epoch > end.protocol.epoch();
  const auto greeted = end.protocol.greeted(epoch);
  if (greeted == verbs::Disconnect::Epoch::kStale) {
    if (is_later) fail("a peer has closed what this end has not asked to close");
    return;
  }
  if (greeted == verbs::Disconnect::Epoch::kAhead) close(rank);
  end.is_joined = true;
  if (datagram.greet != Greet::kHello) end.is_met = true;
  if (datagram.greet == Greet::kHello) greet(1 - rank, Greet::kAnswer, epoch);
  if (datagram.greet == Greet::kAnswer) greet(1 - rank, Greet::kReady, epoch);
}

std::vector<DisconnectWorld> DisconnectWorld::next() const {
  std::vector<DisconnectWorld> worlds;
  const auto add = [&](DisconnectWorld&& there) {
    if (there != *this) worlds.push_back(std::move(there));
  };
  for (uint32_t rank = 0; rank < 2; ++rank) {
    for (uint32_t kind = 0; kind < kKinds; ++kind) {
      DisconnectWorld there(*this);
      if (there.try_step(rank, kind)) add(std::move(there));
    }
  }
  for (size_t i = 0; i < datagrams_.size(); ++i) {
    DisconnectWorld there(*this);
    there.receive(datagrams_[i]);
    add(std::move(there));
    if (!loses_) continue;
    there = *this;
    there.datagrams_.erase(there.datagrams_.begin() + static_cast<ptrdiff_t>(i));
    add(std::move(there));
  }
  return worlds;
}

bool DisconnectWorld::is_over() const {
  // An ask stands until rank 1 polls, which holds nothing up: rank 0 has nothing to send.
  if (computes_) return ends_[0].requests + ends_[0].puts + ends_[0].under_way[2] == 0;
  return std::all_of(ends_.begin(), ends_.end(), [this](const End& end) {
    return end.requests == 0 && end.puts == 0 && end.arrived == ByClass{} && is_quiet(end) &&
           !end.protocol.has_asked();
  });
}

}  // namespace pinwire::model
