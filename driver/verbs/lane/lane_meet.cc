// Peers of a lane: what the connector makes, and how the lane begins to use it.
#include "driver/verbs/lane/lane.h"
#include "driver/verbs/peer/packet_number.h"

namespace pinwire::verbs {
Peer* Lane::known(Rank rank) noexcept {
  Peer* peer = peers_[rank].load(std::memory_order_relaxed);  // by the connector alone
  return peer == &unconnected_ || peer == &connecting_ ? nullptr : peer;
}

Status Lane::make_links(Peer& peer, QueueSizes& sizes) {
  for (uint32_t cls = 0; cls < kLinksPerPeer; ++cls) {
    check(peer.links[cls].queue == nullptr, "a connection is made that there is", peer.rank, cls);
    const ReceiveQueue& receives = receive_[cls];
    auto queue =
        make_queue_pair(shared_.device,
                        {domain_.pd(shared_.device), completions_.get(), arrivals_.completions(),
                         receives.shared_queue(), receives.depth()},
                        sizes);
    if (!queue) return queue.error();
    peer.links[cls].queue = std::move(*queue);
    peer.mine.queue_pairs[cls] = peer.links[cls].queue->qp_num;
  }
  return success();
}

Status Lane::add_receives(Peer& peer) {
  for (uint32_t cls = 0; cls < kLinksPerPeer; ++cls) {
    if (receive_[cls].is_shared()) continue;
    auto added = receive_[cls].add(shared_.device, peer.rank, peer.links[cls].queue.get());
    if (!added) return added;
  }
  return success();
}

/// The queue pairs of a peer that has none.
Status Lane::meet_again(Peer& peer) {
  QueueSizes sizes = shared_.sizes;
  if (auto made = make_links(peer, sizes); !made) return made;
  if (sizes.inline_bytes >= shared_.inline_bytes) return success();
  return error("%s inlines %u bytes in a further queue pair, in the first it was %u",
               shared_.device.name.c_str(), sizes.inline_bytes, shared_.inline_bytes);
}

/// Nothing is under way, and nothing has arrived that the lane has not looked at. The peer itself
/// stays: tickets point into it, and its counts and its credit word go on.
void Lane::part(Peer& peer) noexcept {
  check(peer.stage.load(std::memory_order_relaxed) == Stage::kHeld,
        "connections are closed that the lane does not hold", peer.rank);
  for (const Link& link : peer.links) {
    check(link.unsignalled == 0, "a connection is closed with requests under way", peer.rank,
          link.unsignalled);
    check(link.room == 0, "a connection is closed that the lane may use", peer.rank, link.room);
  }
  for (Link& link : peer.links) link.queue.reset();
  peer.pooled->is_lost = false;
}

Result<Peer*> Lane::meet(Rank rank) {
  check(known(rank) == nullptr, "a rank is met twice", rank);
  auto peer = std::make_unique<Peer>();
  peer->rank = rank;
  if (shared_.peers_max != 0 && rank != shared_.info.rank) {
    peer->pooled = std::make_unique<Pooled>();
  }
  if (auto made = meet_again(*peer); !made) return made.error();
  if (auto added = add_receives(*peer); !added) return added.error();
  auto word = credit_words_.take(shared_.device);
  if (!word) return word.error();
  if (shared_.device.is_iwarp) {
    for (const Link& link : peer->links) senders_.add(link.queue->qp_num, rank);
  }
  check(*word->at == 0, "a credit word that another peer wrote", rank, *word->at);
  peer->taken = word->at;
  peer->mine.credit_address = reinterpret_cast<uint64_t>(word->at);
  peer->mine.credit_key = word->remote_key;
  peer->next = met_.load(std::memory_order_relaxed);
  met_.store(peer.get(), std::memory_order_release);  // pairs with acquire where they are walked
  Peer* before = peers_[rank].load(std::memory_order_relaxed);
  do {
    peer->is_invited = before == &connecting_;
  } while (!peers_[rank].compare_exchange_weak(before, peer.get(), std::memory_order_release,
                                               std::memory_order_relaxed));  // pairs with peer_at()
  return peer.release();
}

Status Lane::join(Peer& peer, const Ends& theirs) {
  const OpenInfo& info = shared_.info;
  check(peer.rank < shared_.places.size(), "a rank that the job has not", peer.rank);
  const Place& place = shared_.places[peer.rank];
  const uint64_t epoch = peer.pooled ? peer.pooled->protocol.epoch() : 0;
  peer.credit_address = theirs.credit_address;
  peer.credit_key = theirs.credit_key;
  if (shared_.device.is_iwarp) return success();  // the connection manager connects the queue pairs
  for (uint32_t cls = 0; cls < kLinksPerPeer; ++cls) {
    const uint32_t link = index_ * kLinksPerPeer + cls;
    const auto packets = [&](Rank from, Rank to) {
      return first_packet_number(info.job_key, from, to, epoch, link);
    };
    const Remote remote{theirs.queue_pairs[cls], packets(peer.rank, info.rank), place.lid,
                        place.gid, place.mtu};
    auto joined = connect_queue_pair(shared_.device, peer.links[cls].queue.get(), remote,
                                     packets(info.rank, peer.rank),
                                     {shared_.options.timeout, shared_.options.retry_count});
    if (!joined) return joined;
  }
  return success();
}

ibv_qp* Lane::queue_of(Rank rank, uint32_t link) noexcept {
  Peer* const peer = known(rank);
  return peer != nullptr ? peer->links[link].queue.get() : nullptr;
}

/// A link had no room. True: it has now, and had none because the peer had not been met, or was
/// held. Otherwise that is invited, once; or what takes the completion queue is asked after.
bool Lane::open_peer(Rank rank) noexcept {
  Peer& peer = peer_at(rank);
  const uint32_t wanted = left_by(Claim::kRequest, capacity_) + 2 * kCompletionsKept;
  if (peer.is_open && room_ < wanted) chores_ |= kAskForRoom;
  if (&peer == &connecting_ || peer.is_open) return false;
  const Stage stage = peer.stage.load(std::memory_order_acquire);  // pairs with the connector's
  if (&peer != &unconnected_ && stage == Stage::kMet) {
    for (Link& link : peer.links) {
      dcheck(link.room == 0, "a connection is opened that has room", rank, link.room);
      dcheck(link.unsignalled == 0, "a connection is opened with requests under way", rank,
             link.unsignalled);
      link.room = static_cast<int32_t>(shared_.sizes.send_depth);
    }
    peer.is_open = true;
    peer.is_invited = false;
    return true;
  }
  if (peer.is_invited || !invited_ranks_.push(rank)) return false;
  ++asked_;
  Peer* before = &unconnected_;
  if (!peers_[rank].compare_exchange_strong(before, &connecting_, std::memory_order_acquire)) {
    before->is_invited = true;  // the connector has met it, now or in an earlier epoch
  }
  shared_.wake_connector();
  return false;
}

}  // namespace pinwire::verbs
