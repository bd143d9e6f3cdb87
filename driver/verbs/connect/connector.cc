#include "driver/verbs/connect/connector.h"

#include <algorithm>
#include <utility>

namespace pinwire::verbs {
namespace {

constexpr uint64_t kUsPerS = 1'000'000;
constexpr uint64_t kFirstIntervalUs = 10'000;
constexpr uint64_t kLastIntervalUs = kUsPerS / 2;
/// Without a thread there is no clock either, so that a test can be replayed.
constexpr uint64_t kUsPerPoll = 100;

}  // namespace

Status Connector::open() {
  pools_.resize(lanes_.size());
  if (shared_.device.is_iwarp) return open_manager();
  auto has_datagrams = datagrams_.open(shared_.device, datagram_key(shared_.info.job_key));
  if (!has_datagrams) return has_datagrams.error();
  if (!*has_datagrams) return meet_all();
  return shared_.options.connects_in_polls ? success() : start_thread();
}

Status Connector::open_manager() {
  ConnectionManager::Setting setting{
      shared_.info.rank, shared_.info.job_key, shared_.options.connect_timeout_s,
      reads_max(shared_.device), [this](Rank peer, uint32_t lane, uint32_t link) -> ibv_qp* {
        return lane < lanes_.size() ? lanes_[lane]->queue_of(peer, link) : nullptr;
      }};
  auto made = make_connection_manager(shared_.device, shared_.options.gid, std::move(setting));
  if (!made) return made.error();
  manager_ = std::move(*made);
  return meet_all();
}

void Connector::fill_in(Place& place) const noexcept {
  place.datagram_queue = datagram_queue();
  if (manager_) manager_->fill_in(place);
}

Status Connector::meet_all() {
  for (const auto& lane : lanes_) {
    for (Rank rank = 0; rank < shared_.info.rank_count; ++rank) {
      if (rank == shared_.info.rank) continue;
      if (auto met = lane->meet(rank); !met) return met.error();
    }
  }
  return success();
}

std::vector<Ends> Connector::all_ends() const {
  std::vector<Ends> all;
  for (Rank rank = 0; rank < shared_.info.rank_count; ++rank) {
    for (const auto& lane : lanes_) {
      const Peer* peer = lane->known(rank);
      all.push_back(peer != nullptr ? peer->mine : Ends{});
    }
  }
  return all;
}

Status Connector::join_all(Rank rank, std::span<const Ends> ends) {
  check(ends.size() == shared_.info.rank_count * lanes_.size(), "a peer has ends for each lane",
        rank, ends.size());
  std::vector<ConnectionManager::End> calls;
  for (size_t i = 0; i < lanes_.size(); ++i) {
    Peer* peer = lanes_[i]->known(rank);
    check(peer != nullptr, "without datagrams all ranks are met at start", rank);
    auto joined = lanes_[i]->join(*peer, ends[shared_.info.rank * lanes_.size() + i]);
    if (!joined) return joined;
    for (uint32_t link = 0; link < kLinksPerPeer; ++link) {
      calls.push_back({rank, static_cast<uint32_t>(i), link, peer->links[link].queue.get()});
    }
  }
  if (manager_) {
    if (auto joined = manager_->join(shared_.places[rank], calls); !joined) return joined;
  }
  for (const auto& lane : lanes_) {
    Peer* peer = lane->known(rank);
    // The other end listens before attach is over, and nobody sends earlier.
    peer->stage.store(Stage::kMet, std::memory_order_release);  // pairs with Lane::open_peer
    ++counters_.met;
  }
  return success();
}

void Connector::turn_in_poll() noexcept {
  if (is_turning_.exchange(true, std::memory_order_acquire)) return;
  if (datagrams_.is_open()) turn(++polls_ * kUsPerPoll);
  is_turning_.store(false, std::memory_order_release);
}

uint64_t Connector::turn(uint64_t now_us) noexcept {
  for (const auto& lane : lanes_) {
    Rank rank = 0;
    while (lane->next_answered_hold(rank)) settle_hold(*lane, rank, now_us);
    while (lane->next_invited(rank)) invite(*lane, rank, now_us);
  }
  while (const auto arrival = datagrams_.receive()) take(*arrival, now_us);
  if (shared_.peers_max == 0) return repeat(now_us);
  uint64_t due_us = admit_newcomers(now_us);
  for (const auto& lane : lanes_) due_us = std::min(due_us, want_places(*lane, now_us));
  return std::min(due_us, repeat(now_us));
}

Peer* Connector::peer_of(Lane& lane, Rank rank) noexcept {
  if (Peer* known = lane.known(rank)) return known;
  auto met = lane.meet(rank);
  if (met) return *met;
  note_unmet(rank, met.error());
  return nullptr;
}

void Connector::note_unmet(Rank rank, const Status& why) noexcept {
  shared_.failure.record(rank, WorkStatus::kUnreachable, "no connection to rank %u: %s", rank,
                         why.sentence().c_str());
}

void Connector::invite(Lane& lane, Rank rank, uint64_t now_us) noexcept {
  if (needs_place(lane, rank)) return await_place(lane, rank, nullptr, now_us);
  if (Peer* peer = peer_of(lane, rank)) want(lane, *peer, now_us);
}

void Connector::want(Lane& lane, Peer& peer, uint64_t now_us) noexcept {
  peer.meeting.is_wanted = true;
  const Stage stage = peer.stage.load(std::memory_order_relaxed);
  if (stage == Stage::kMet) return answer_if_wanted(lane, peer);
  if (stage == Stage::kHeld) return reopen(lane, peer, now_us);
  if (peer.rank == shared_.info.rank) {  // nobody to greet: each queue pair is its own other end
    if (join_ends(lane, peer, peer.mine)) begin_use(lane, peer);
    return;
  }
  repeat_from(lane, peer, now_us);
}

void Connector::answer_if_wanted(Lane& lane, Peer& peer) noexcept {
  if (std::exchange(peer.meeting.is_wanted, false)) lane.answer_invitation();
}

/// The first hello, ask or withdrawal leaves with the others of this turn.
void Connector::repeat_from(Lane& lane, Peer& peer, uint64_t now_us) noexcept {
  std::erase_if(waits_, [&](const Wait& wait) { return wait.peer == &peer; });
  peer.meeting.since_us = peer.meeting.next_us = now_us;
  peer.meeting.repeats = 0;
  waits_.push_back({&lane, &peer});
}

void Connector::take(const Datagrams::Arrival& arrival, uint64_t now_us) noexcept {
  const auto greeting = decode(arrival.bytes, shared_.info.job_key);
  const OpenInfo& info = shared_.info;
  const auto queue_of = [this](Rank rank) noexcept {  // 0: not known yet
    return std::atomic_ref(shared_.places[rank].datagram_queue)
        .load(std::memory_order_acquire);  // pairs with Verbs::connect
  };
  // A greeting is of this job, to this rank, from where its sender lives: anything else is a stray.
  if (!greeting || greeting->to != info.rank || greeting->from == info.rank ||
      greeting->from >= info.rank_count || greeting->lane >= lanes_.size() ||
      queue_of(greeting->from) != arrival.from_queue) {
    ++counters_.greetings_ignored;
    return;
  }
  ++counters_.greetings_received;
  Lane& lane = *lanes_[greeting->lane];
  if (is_about_closing(greeting->kind)) return hear_closing(lane, *greeting, now_us);
  if (!is_of_now(lane, *greeting, now_us)) return;
  if (Peer* peer = peer_of(lane, greeting->from)) hear(lane, *peer, *greeting);
}

bool Connector::join_ends(Lane& lane, Peer& peer, const Ends& theirs) noexcept {
  if (auto joined = lane.join(peer, theirs); !joined) {
    note_unmet(peer.rank, joined);
    return false;
  }
  peer.meeting.theirs = theirs;
  peer.meeting.has_theirs = true;
  return true;
}

void Connector::begin_use(Lane& lane, Peer& peer) noexcept {
  check(peer.stage.load(std::memory_order_relaxed) == Stage::kUnmet,
        "a connection begins that is in use", peer.rank);
  check(peer.meeting.has_theirs, "a connection begins that has no other end", peer.rank);
  peer.stage.store(Stage::kMet, std::memory_order_release);  // pairs with Lane::open_peer
  ++counters_.met;
  answer_if_wanted(lane, peer);
}

void Connector::hear(Lane& lane, Peer& peer, const Greeting& greeting) noexcept {
  Meeting& meeting = peer.meeting;
  if (!meeting.has_theirs) {
    if (!join_ends(lane, peer, greeting.ends)) return;
  } else if (!(meeting.theirs == greeting.ends)) {
    ++counters_.greetings_ignored;
    return;
  }
  const bool is_met = peer.stage.load(std::memory_order_relaxed) != Stage::kUnmet;
  if (greeting.kind != Greeting::Kind::kHello && !is_met) begin_use(lane, peer);
  if (greeting.kind == Greeting::Kind::kHello) say(Greeting::Kind::kAnswer, lane, peer);
  if (greeting.kind == Greeting::Kind::kAnswer) say(Greeting::Kind::kReady, lane, peer);
}

uint64_t Connector::repeat(uint64_t now_us) noexcept {
  std::erase_if(waits_, [](const Wait& wait) {
    return wait.peer->stage.load(std::memory_order_relaxed) == Stage::kMet;
  });
  uint64_t due_us = ~uint64_t{0};
  for (const Wait& wait : waits_) {
    if (now_us >= wait.peer->meeting.next_us) repeat(wait, now_us);
    due_us = std::min(due_us, wait.peer->meeting.next_us - now_us);
  }
  return due_us;
}

void Connector::repeat(const Wait& wait, uint64_t now_us) noexcept {
  Meeting& meeting = wait.peer->meeting;
  const uint32_t timeout_s = shared_.options.connect_timeout_s;
  const uint64_t patience_us = timeout_s != 0 ? timeout_s * kUsPerS : ~uint64_t{0};
  // An ask that nobody here wants withdrawn may wait for as long as the peer computes.
  if (meeting.is_wanted && now_us - meeting.since_us > patience_us) give_up(*wait.peer, now_us);
  if (wait.peer->stage.load(std::memory_order_relaxed) == Stage::kUnmet) {
    say(Greeting::Kind::kHello, *wait.lane, *wait.peer);
  } else {
    say_closing(*wait.lane, wait.peer->rank, wait.peer->pooled->protocol.question());
  }
  const uint64_t interval_us =
      std::min(kFirstIntervalUs << std::min(meeting.repeats, 10u), kLastIntervalUs);
  // Ranks that all began at once do not all come back at once.
  meeting.next_us = now_us + interval_us + random_.below(interval_us / 2);
  ++meeting.repeats;
}

void Connector::give_up(const Peer& peer, uint64_t now_us) noexcept {
  shared_.failure.record(
      peer.rank, WorkStatus::kUnreachable,
      "%s port %u: rank %u does not answer rank %u: %u greetings in %llu s brought no connection. "
      "Is its process stopped, or do datagrams not pass between the two (RoCE v2: UDP port 4791)? "
      "GASNET_CONNECT_TIMEOUT says how long to try",
      shared_.device.name.c_str(), shared_.device.port, peer.rank, shared_.info.rank,
      peer.meeting.repeats,
      static_cast<unsigned long long>((now_us - peer.meeting.since_us) / kUsPerS));
}

void Connector::say(Greeting::Kind kind, Lane& lane, const Peer& peer) noexcept {
  const uint64_t epoch = peer.pooled ? peer.pooled->protocol.epoch() : 0;
  send({kind, shared_.info.rank, peer.rank, lane.index(), peer.mine, epoch, 0, {}});
}

void Connector::send(const Greeting& greeting) noexcept {
  check(greeting.to < shared_.places.size(), "a greeting to no rank of the job", greeting.to);
  // A datagram that does not leave is as good as lost.
  const auto bytes = encode(greeting, shared_.info.job_key);
  counters_.greetings_sent += datagrams_.send(shared_.places[greeting.to], bytes);
}

}  // namespace pinwire::verbs
