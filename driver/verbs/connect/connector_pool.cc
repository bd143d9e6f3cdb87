// The connector's part where the connected peers of a lane are bounded (GASNET_QP_MAX): a newcomer
// waits for a place, for which the peer that was used least recently is asked to close its
// connections (disconnect.h). Not for ever, as peers that compute answer no ask, and a lane that
// nobody polls holds nothing: then the newcomer goes over the bound. No sender therefore waits for
// another rank's program.
//
// The lane and the connector hand a peer's connections to each other by its Stage. All of the
// agreement is the connector's; of the lane it only wants the peer held, and learns in the same
// step what it had sent and received. While that is so, an ask of the peer that crosses is heard
// without the lane: if its counts are the same, nothing has come since.
#include <algorithm>

#include "driver/verbs/connect/connector.h"

namespace pinwire::verbs {
namespace {

constexpr uint64_t kPlaceWaitUs = 50'000;
/// A peer that has not answered an ask for so long computes: its place is given to another one.
constexpr uint64_t kAnswerWaitUs = 20'000;
/// One that could not be closed is left alone for a while, so that whoever wants to use it can.
constexpr uint64_t kRetryUs = 1'000;
constexpr uint32_t kRetryDoublings = 6;
/// Each end refuses once where it must ask after what completes silently. Meanwhile no other peer
/// is asked in the place of this one.
constexpr uint32_t kQuickTries = 2;

bool is_question(const DisconnectMessage& message) noexcept {
  return message.kind == DisconnectMessage::Kind::kAsk ||
         message.kind == DisconnectMessage::Kind::kWithdraw;
}

Stage stage_of(const Peer& peer) noexcept {
  return peer.stage.load(std::memory_order_acquire);  // pairs with Lane::answer_hold
}

bool is_tried_again(const Pooled& pooled, uint64_t now_us) noexcept {
  return pooled.tries != 0 && pooled.tries <= kQuickTries && pooled.next_try_us > now_us;
}

bool is_made(const Peer* peer) noexcept {
  return peer != nullptr && peer->links[0].queue != nullptr;
}

}  // namespace

bool Connector::needs_place(Lane& lane, Rank rank) const noexcept {
  return shared_.peers_max != 0 && rank != shared_.info.rank && !is_made(lane.known(rank));
}

void Connector::await_place(Lane& lane, Rank rank, const Greeting* hello,
                            uint64_t now_us) noexcept {
  auto at = std::find_if(newcomers_.begin(), newcomers_.end(), [&](const Newcomer& one) {
    return one.lane == &lane && one.rank == rank;
  });
  if (at == newcomers_.end()) at = newcomers_.insert(at, {&lane, rank, now_us, false, {}});
  if (hello != nullptr) {
    at->hello = *hello;
  } else {
    at->is_invited = true;
  }
}

/// First come, first served. Microseconds until one has waited long enough.
uint64_t Connector::admit_newcomers(uint64_t now_us) noexcept {
  for (Pool& pool : pools_) pool.places = shared_.peers_max + count_asked(pool, now_us, true);
  std::vector<Newcomer> all = std::move(newcomers_);
  newcomers_.clear();
  uint64_t due_us = ~uint64_t{0};
  for (const Newcomer& one : all) {
    const Pool& pool = pools_[one.lane->index()];
    const uint64_t waited_us = now_us - one.since_us;
    if (pool.connected.size() < pool.places || waited_us >= kPlaceWaitUs) {
      if (pool.connected.size() >= shared_.peers_max) ++counters_.over_bound;
      admit(one, now_us);
    } else {
      newcomers_.push_back(one);
      due_us = std::min(due_us, kPlaceWaitUs - waited_us);
    }
  }
  return due_us;
}

void Connector::admit(const Newcomer& one, uint64_t now_us) noexcept {
  Lane& lane = *one.lane;
  Peer* peer = lane.known(one.rank);
  if (peer != nullptr) {
    if (auto made = lane.meet_again(*peer); !made) return note_unmet(one.rank, made);
    ++counters_.made_anew;
  } else {
    peer = peer_of(lane, one.rank);
    if (peer == nullptr) return;
  }
  check(peer->stage.load(std::memory_order_relaxed) == Stage::kUnmet,
        "a peer comes anew that is connected", one.rank);
  pools_[lane.index()].connected.push_back(peer);
  peer->pooled->used_at.store(lane.uses(), std::memory_order_relaxed);
  peer->pooled->next_try_us = now_us + kRetryUs;
  peer->pooled->tries = 0;
  if (one.hello) hear(lane, *peer, *one.hello);
  if (one.is_invited) want(lane, *peer, now_us);
}

/// Whether a greeting is of the peer's present epoch, and there are connections that it is about.
bool Connector::is_of_now(Lane& lane, const Greeting& greeting, uint64_t now_us) noexcept {
  if (shared_.peers_max == 0) return true;
  Peer* peer = lane.known(greeting.from);
  auto epoch = greeting.epoch == 0 ? Disconnect::Epoch::kCurrent : Disconnect::Epoch::kStale;
  if (peer != nullptr) epoch = peer->pooled->protocol.greeted(greeting.epoch);
  if (epoch == Disconnect::Epoch::kStale) {
    ++counters_.greetings_ignored;
    return false;
  }
  if (epoch == Disconnect::Epoch::kAhead) close_connection(lane, *peer, now_us);
  if (is_made(peer)) return true;
  if (greeting.kind == Greeting::Kind::kHello) {
    await_place(lane, greeting.from, &greeting, now_us);
  } else {
    ++counters_.greetings_ignored;
  }
  return false;
}

/// Peers that were asked to close, and that this rank does not want to use after all.
size_t Connector::count_asked(const Pool& pool, uint64_t now_us, bool is_long_ago) const noexcept {
  const auto count =
      std::count_if(pool.connected.begin(), pool.connected.end(), [&](const Peer* peer) {
        const Meeting& meeting = peer->meeting;
        return peer->pooled->protocol.has_asked() && !meeting.is_wanted &&
               (now_us - meeting.since_us >= kAnswerWaitUs) == is_long_ago;
      });
  return static_cast<size_t>(count);
}

size_t Connector::count_waiting(const Lane& lane) const noexcept {
  const auto count = std::count_if(newcomers_.begin(), newcomers_.end(),
                                   [&](const Newcomer& one) { return one.lane == &lane; });
  return static_cast<size_t>(count);
}

/// Has as many closed as newcomers wait for, and as the lane has too many. Microseconds until more
/// can be tried.
uint64_t Connector::want_places(Lane& lane, uint64_t now_us) noexcept {
  const Pool& pool = pools_[lane.index()];
  const size_t wanted = pool.connected.size() + count_waiting(lane);
  size_t found = pool.places + count_asked(pool, now_us, false);
  found += static_cast<size_t>(
      std::count_if(pool.connected.begin(), pool.connected.end(), [now_us](const Peer* peer) {
        const Pooled& pooled = *peer->pooled;
        return pooled.is_hold_wanted || is_tried_again(pooled, now_us);
      }));
  for (; found < wanted; ++found) {
    Peer* peer = least_recently_used(pool, now_us);
    if (peer == nullptr || !lane.want_hold(peer->rank)) return kRetryUs;
    peer->pooled->is_hold_wanted = true;
  }
  return found == pool.places ? ~uint64_t{0} : kAnswerWaitUs;
}

/// The peer, of those that may be held, whose last use is the longest ago, and the first of equals.
/// nullptr: none may be held now.
Peer* Connector::least_recently_used(const Pool& pool, uint64_t now_us) noexcept {
  Peer* found = nullptr;
  uint64_t least = ~uint64_t{0};
  for (Peer* peer : pool.connected) {
    const Pooled& pooled = *peer->pooled;
    const uint64_t used_at = pooled.used_at.load(std::memory_order_relaxed);
    const bool may_go =
        stage_of(*peer) == Stage::kMet && !pooled.is_hold_wanted && pooled.next_try_us <= now_us;
    if (!may_go || used_at >= least) continue;
    found = peer;
    least = used_at;
  }
  return found;
}

/// It stays for now, and others go first; but not at once, see kQuickTries.
void Connector::note_tried(Lane& lane, Peer& peer, uint64_t now_us) noexcept {
  Pooled& pooled = *peer.pooled;
  if (pooled.tries >= kQuickTries) pooled.used_at.store(lane.uses(), std::memory_order_relaxed);
  pooled.next_try_us = now_us + (kRetryUs << std::min(pooled.tries++, kRetryDoublings));
  std::vector<Peer*>& connected = pools_[lane.index()].connected;
  const auto at = std::find(connected.begin(), connected.end(), &peer);
  check(at != connected.end(), "a peer was to close that is not connected", peer.rank);
  std::rotate(at, connected.end() - 1, connected.end());
}

/// The lane holds the peer, or has said that it cannot.
void Connector::settle_hold(Lane& lane, Rank rank, uint64_t now_us) noexcept {
  check(lane.known(rank) != nullptr, "a lane holds a rank that was not met", rank);
  Peer& peer = *lane.known(rank);
  Pooled& pooled = *peer.pooled;
  check(pooled.is_hold_wanted, "a lane answers a hold that was not wanted", rank);
  pooled.is_hold_wanted = false;
  const bool is_held = stage_of(peer) == Stage::kHeld;
  if (pooled.pending) {
    const DisconnectMessage ask = *pooled.pending;
    pooled.pending.reset();
    act_on(lane, peer, pooled.protocol.hear(ask, is_held, pooled.held_at), now_us);
  } else if (!is_held) {
    note_tried(lane, peer, now_us);
  } else if (peer.meeting.is_wanted || !needs_places(lane)) {
    give_back(lane, peer, now_us);
  } else {
    pooled.protocol.ask(pooled.held_at);
    repeat_from(lane, peer, now_us);
  }
}

bool Connector::needs_places(const Lane& lane) const noexcept {
  const Pool& pool = pools_[lane.index()];
  return pool.connected.size() + count_waiting(lane) > pool.places;
}

void Connector::give_back(Lane& lane, Peer& peer, uint64_t now_us) noexcept {
  check(stage_of(peer) == Stage::kHeld, "a peer is given back that the lane has", peer.rank);
  check(!peer.pooled->protocol.has_asked(), "a peer is given back that was asked to close",
        peer.rank);
  note_tried(lane, peer, now_us);
  peer.stage.store(Stage::kMet, std::memory_order_release);  // pairs with Lane::open_peer
  answer_if_wanted(lane, peer);
}

/// This rank wants to send on connections that are held.
void Connector::reopen(Lane& lane, Peer& peer, uint64_t now_us) noexcept {
  if (!peer.pooled->protocol.has_asked()) return;  // the lane's answer comes, and sees that
  peer.pooled->protocol.withdraw();
  repeat_from(lane, peer, now_us);
}

void Connector::hear_closing(Lane& lane, const Greeting& greeting, uint64_t now_us) noexcept {
  const DisconnectMessage message = disconnect_message(greeting);
  Peer* peer = lane.known(greeting.from);
  if (peer == nullptr || !peer->pooled) {  // without a bound all connections stay
    using Kind = DisconnectMessage::Kind;
    if (is_question(message)) {
      say_closing(lane, greeting.from, {Kind::kRefuse, message.epoch, message.round, {}});
    }
    return;
  }
  Pooled& pooled = *peer->pooled;
  if (message.epoch == pooled.protocol.epoch()) {
    if (!peer->meeting.has_theirs) return;
    // A peer that asks has met this rank: its ask says what a lost greeting would have.
    if (stage_of(*peer) == Stage::kUnmet) begin_use(lane, *peer);
    const bool is_ask = message.kind == DisconnectMessage::Kind::kAsk;
    if (is_ask && !pooled.protocol.has_asked()) return want_answer(lane, *peer, message);
    if (pooled.pending && pooled.pending->round <= message.round) pooled.pending.reset();
  }
  const bool is_held = stage_of(*peer) == Stage::kHeld, had_asked = pooled.protocol.has_asked();
  const auto heard = pooled.protocol.hear(message, is_held, pooled.held_at);
  counters_.refused += had_asked && !pooled.protocol.has_asked() && !heard.is_closed;
  act_on(lane, *peer, heard, now_us);
}

/// The lane alone knows whether it is quiet.
void Connector::want_answer(Lane& lane, Peer& peer, const DisconnectMessage& ask) noexcept {
  Pooled& pooled = *peer.pooled;
  // Where the lane cannot be asked now, the peer repeats its ask.
  if (!pooled.is_hold_wanted && !lane.want_hold(peer.rank)) return;
  pooled.is_hold_wanted = true;
  if (!pooled.pending || pooled.pending->round < ask.round) pooled.pending = ask;
}

void Connector::act_on(Lane& lane, Peer& peer, const Disconnect::Heard& heard,
                       uint64_t now_us) noexcept {
  const bool is_kept = !peer.pooled->protocol.has_asked() && !peer.pooled->is_hold_wanted;
  if (heard.is_closed) {
    close_connection(lane, peer, now_us);
  } else if (stage_of(peer) == Stage::kHeld && is_kept) {
    give_back(lane, peer, now_us);
  }
  if (heard.answer) say_closing(lane, peer.rank, *heard.answer);
}

void Connector::close_connection(Lane& lane, Peer& peer, uint64_t now_us) noexcept {
  const bool is_wanted = peer.meeting.is_wanted;
  lane.part(peer);
  peer.meeting = {};
  const size_t erased = std::erase(pools_[lane.index()].connected, &peer);
  check(erased == 1, "a connection is closed that takes no place", peer.rank, erased);
  std::erase_if(waits_, [&](const Wait& wait) { return wait.peer == &peer; });
  ++counters_.closed;
  peer.stage.store(Stage::kUnmet, std::memory_order_release);  // pairs with Lane::open_peer
  if (is_wanted) await_place(lane, peer.rank, nullptr, now_us);
}

void Connector::say_closing(Lane& lane, Rank to, const DisconnectMessage& message) noexcept {
  Greeting greeting;
  greeting.from = shared_.info.rank;
  greeting.to = to;
  greeting.lane = lane.index();
  set_disconnect_message(greeting, message);
  send(greeting);
}

}  // namespace pinwire::verbs
