// The lane's part of the question whether peers are there (liveness.h): it asks, and gives up.
#include "nicfw/lane/lane.h"

namespace pinwire {

/// An acknowledgement that wants an answer.
void Lane::ask(Peer& peer) noexcept {
  peer.asks_credit = peer.ack_now = true;
  attend(peer);
}

/// True: the peer is to be given up, and the user will hear why.
bool Lane::peer_silent(Peer& peer) noexcept {
  if (!liveness_.is_silent(peer)) return false;
  nic_.failure.record(
      rank_of(peer), WorkStatus::kUnreachable,
      "rank %u did not answer rank %u for %.1f s on lane %u (%s; %u questions went unanswered): "
      "its host is down, or the network between them. GASNET_PEER_TIMEOUT says how long to wait",
      rank_of(peer), nic_.info.rank, static_cast<double>(liveness_.silent_ns(peer)) * 1e-9, index_,
      peer.heard ? "it had answered before" : "it never answered",
      static_cast<unsigned>(peer.timeouts_unheard));
  return true;
}

/// Ends everything that waits for a peer that is gone. Those of its messages that wait for nothing
/// are still the client's.
void Lane::give_up(Peer& peer) noexcept {
  for (uint32_t f = 0; f < kFlows; ++f) {
    SendFlow& send = peer.send[f];
    send.ops = TwoQueues{};
    end_copied_turns(send);
    if (send.window == kNoIndex) continue;
    for (uint32_t s = send.una; s != send.next; ++s) {
      const Index index = windows_[send.window].slot[s % kWindowFramesMax];
      if (index != kNoIndex) release_slot(send, slots_[index], index);
    }
    send.una = send.unsent = send.next;
    send.sacked = 0;
    send.lost = 0;
    close_window(peer, static_cast<Flow>(f));
  }
  messages_.drop_parked(rank_of(peer));
  responses_.disown_all(peer);
  ops_.finish_all(rank_of(peer), WorkStatus::kUnreachable);
  credit_.forget(peer);
  peer.dead = true;
}

/// An operation that a response ends was built.
void Lane::await_response(Operation& op) noexcept {
  if (ops_.await_response(op)) set_timer(liveness_.await_responses(now_ns_));
}

/// Asks the peers whose responses are late and to whom nothing is under way, and gives up those
/// that are gone.
void Lane::run_watch() noexcept {
  if (liveness_.is_due(now_ns_)) {
    ops_.for_each_awaited([this](Rank rank) noexcept { watch(peers_[rank]); });
  }
  set_timer(liveness_.due_ns());
}

void Lane::watch(Peer& peer) noexcept {
  if (!liveness_.is_late(peer)) return;
  if (peer_silent(peer)) {
    give_up(peer);
    return;
  }
  counters_.add(Count::kLateAsks);
  Liveness::count_question(peer);
  ask(peer);
}

void Lane::ask_for_presence(Peer& peer) noexcept {
  const Liveness::Presence presence = liveness_.seek(peer, now_ns_);
  if (presence == Liveness::Presence::kWait) return;
  if (presence == Liveness::Presence::kGone) {
    peer.is_gone = peer_silent(peer);  // accept() gives it up: an operation may be half made here
    return;
  }
  Liveness::count_question(peer);
  ask(peer);
}

}  // namespace pinwire
