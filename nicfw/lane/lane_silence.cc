// Peers from which this rank waits for something: are they there? Frames that are under way to a
// peer ask by themselves (lane_loss.cc). Two waits have nothing under way: for the response to a
// request that is acknowledged, and of a copied put for room that only a peer that is there may
// have. They ask, too.
#include "core/base/bits.h"
#include "nicfw/lane/lane.h"

namespace pinwire {

/// An acknowledgement that wants an answer.
void Lane::ask(Peer& peer) noexcept {
  peer.asks_credit = peer.ack_now = true;
  attend(peer);
}

void Lane::count_question(Peer& peer) noexcept {
  if (peer.timeouts_unheard < 0xff) ++peer.timeouts_unheard;
}

/// The peer was heard, or this rank begins to wait for it.
void Lane::start_watch(Peer& peer) noexcept {
  peer.silent_since_ns = watch_ns_;
  peer.timeouts_unheard = 0;
}

/// Silence is time in which this lane looked: watch_ns_ advances by the gap between two polls, but
/// by kWatchStepNs at most. A rank that computes for an hour and then polls has looked for
/// milliseconds, whatever the clock says; what its peers sent meanwhile still waits in the port.
/// And silence counts only when questions went unanswered: one lost frame says nothing.
/// Memory of one host cannot lose frames, so that only the peer's process can be late, and whether
/// that lives is for the launcher to say.
bool Lane::peer_silent(Peer& peer) noexcept {
  const uint64_t limit_ns = nic_.config.peer_timeout_ns;
  if (limit_ns == 0 || nic_.facts.memory_medium) return false;
  dcheck(watch_ns_ >= peer.silent_since_ns, "a peer was heard after now", rank_of(peer));
  const uint64_t silent_ns = watch_ns_ - peer.silent_since_ns;
  if (silent_ns < limit_ns || peer.timeouts_unheard < kQuestionsUnheardMin) return false;
  nic_.failure.record(
      rank_of(peer), WorkStatus::kUnreachable,
      "rank %u did not answer rank %u for %.1f s on lane %u (%s; %u questions went unanswered): "
      "its host is down, or the network between them. GASNET_PEER_TIMEOUT says how long to wait",
      rank_of(peer), nic_.info.rank, static_cast<double>(silent_ns) * 1e-9, index_,
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
  if (!ops_.await_response(op) || watch_pause_ns_ == 0) return;
  watch_at_ns_ = now_ns_ + watch_pause_ns_;
  set_timer(watch_at_ns_);
}

/// Between two questions for responses: as often as a silent peer is asked for its
/// acknowledgements, and often enough that silence counts when its time is up. 0: nobody is ever
/// given up.
uint64_t Lane::watch_pause_ns(const NicShared& nic) noexcept {
  constexpr uint64_t kLongestNs = 1'000'000'000;
  const uint64_t limit_ns = nic.config.peer_timeout_ns;
  if (limit_ns == 0 || nic.facts.memory_medium) return 0;
  return std::clamp<uint64_t>(limit_ns / (2 * kQuestionsUnheardMin), 1, kLongestNs);
}

/// Asks the peers whose responses are late and to whom nothing is under way, and gives up those
/// that are gone.
void Lane::run_watch() noexcept {
  if (watch_pause_ns_ == 0) return;
  if (now_ns_ >= watch_at_ns_) {
    watch_at_ns_ = now_ns_ + watch_pause_ns_;
    ops_.for_each_awaited([this](Rank rank) noexcept { watch(peers_[rank]); });
  }
  set_timer(watch_at_ns_);
}

void Lane::watch(Peer& peer) noexcept {
  // Several operations may wait for one peer: it is asked once.
  if (frames_in_flight(peer) != 0 || peer.ack_now) return;
  if (watch_ns_ - peer.silent_since_ns < watch_pause_ns_) return;
  if (peer_silent(peer)) {
    give_up(peer);
    return;
  }
  counters_.add(Count::kLateAsks);
  count_question(peer);
  ask(peer);
}

/// Was the peer heard lately, by the polls of this lane?
bool Lane::is_attentive(const Peer& peer) const noexcept {
  constexpr uint64_t kLatelyNs = 2'000'000;
  return peer.heard && peer.arrived_ns + kLatelyNs >= previous_ns_;
}

/// More and more rarely while no answer comes. Frames in flight to the peer ask by themselves.
void Lane::ask_for_presence(Peer& peer) noexcept {
  constexpr uint32_t kFirstUs = 64;
  constexpr uint32_t kDoublingsMax = 14;
  constexpr uint32_t kLongestUs = kFirstUs << kDoublingsMax;
  constexpr uint32_t kForgottenUs = 4 * kLongestUs;
  if (frames_in_flight(peer) != 0) return;
  const auto now_us = static_cast<uint32_t>(now_ns_ / 1'000);
  // The clock wraps in 71 minutes: a time further ahead than any pause is one of long ago.
  const uint32_t pause_us = peer.presence_at_us - now_us;
  if (peer.presence_asks != 0 && pause_us != 0 && pause_us <= kLongestUs) return;
  if (now_us - peer.presence_at_us > kForgottenUs) peer.presence_asks = 0;
  if (peer.presence_asks == 0) {
    start_watch(peer);
  } else if (peer_silent(peer)) {
    peer.is_gone = true;  // accept() gives it up: an operation may be half made here
    return;
  }
  peer.presence_at_us = now_us + (kFirstUs << peer.presence_asks);
  if (peer.presence_asks < kDoublingsMax) ++peer.presence_asks;
  count_question(peer);
  ask(peer);
}

}  // namespace pinwire
