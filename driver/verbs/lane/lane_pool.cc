// The lane's part where its connections are bounded: it knows which ones it uses, and holds one
// that the connector wants to close, if it is quiet. Whose turn it is to go is for the connector to
// say (connector_pool.cc).
#include "driver/verbs/lane/lane.h"

namespace pinwire::verbs {

void Lane::note_use(Pooled& pooled) noexcept {
  const uint64_t now = uses() + 1;
  uses_.store(now, std::memory_order_relaxed);
  pooled.used_at.store(now, std::memory_order_relaxed);
}

void Lane::note_sent(Peer& peer, bool is_message) noexcept {
  dcheck(peer.is_open, "work for a peer whose connections are not open", peer.rank);
  peer.pooled->traffic.sent += is_message;
  note_use(*peer.pooled);
}

/// Whatever the caller waits for: an ask of a peer is answered by each poll.
void Lane::tend_pool(std::span<const Recv> arrived) noexcept {
  for (const Recv& message : arrived) {
    Pooled* pooled = peer_at(message.peer).pooled.get();
    if (pooled == nullptr) continue;  // from this rank itself, or it named a wrong one
    ++pooled->traffic.received;
    pooled->requests_received += message.cls == MessageClass::kRequest;
    note_use(*pooled);
  }
  answer_holds();
}

void Lane::answer_holds() noexcept {
  bool has_answered = false;
  Rank rank = 0;
  while (!holds_answered_.is_full() && holds_wanted_.pop(rank)) {
    answer_hold(peer_at(rank));
    has_answered = holds_answered_.push(rank);
  }
  if (has_answered) shared_.wake_connector();
}

void Lane::answer_hold(Peer& peer) noexcept {
  if (peer.stage.load(std::memory_order_acquire) != Stage::kMet) return;  // pairs with begin_use()
  if (!is_quiet(peer)) {
    // Next time it may be: requests that nobody waits for complete once they are asked after.
    for (Link& link : peer.links) ask_for_completions(link);
    return;
  }
  for (Link& link : peer.links) {
    dcheck(link.unsignalled == 0, "a peer is held with requests under way", peer.rank,
           link.unsignalled);
    link.room = 0;
  }
  peer.is_open = peer.is_invited = false;
  peer.pooled->held_at = peer.pooled->traffic;
  peer.stage.store(Stage::kHeld, std::memory_order_release);  // pairs with Connector::settle_hold
}

/// All that the lane posted has completed, and the client holds none of the peer's requests. Credit
/// that was not reported stays owed to the next connection.
bool Lane::is_quiet(const Peer& peer) const noexcept {
  dcheck(peer.given_back <= peer.pooled->requests_received,
         "more requests are given back than came", peer.given_back);
  dcheck(peer.reported <= peer.given_back, "more credit is reported than was given back",
         peer.reported, peer.given_back);
  if (peer.pooled->requests_received != peer.given_back) return false;
  if (peer.given_back - peer.reported >= report_every()) return false;
  const auto depth = static_cast<int32_t>(shared_.sizes.send_depth);
  return !peer.is_open || std::all_of(std::begin(peer.links), std::end(peer.links),
                                      [depth](const Link& link) { return link.room == depth; });
}

}  // namespace pinwire::verbs
