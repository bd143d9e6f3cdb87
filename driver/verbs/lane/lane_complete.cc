// Completions of what was sent.
#include <algorithm>
#include <cstring>

#include "driver/verbs/lane/events.h"
#include "driver/verbs/lane/lane.h"

namespace pinwire::verbs {
namespace {

constexpr uint32_t kPatienceMs = 200;

bool is_lost(const Peer& peer) noexcept { return peer.pooled && peer.pooled->is_lost; }

}  // namespace

uint32_t Lane::done(std::span<Done> out) noexcept {
  if (!has_reaped_) reap_if_due();
  has_reaped_ = false;
  const auto count = static_cast<uint32_t>(std::min(out.size(), finished_.size()));
  std::copy_n(finished_.end() - count, count, out.begin());
  finished_.resize(finished_.size() - count);
  return count;
}

/// Nobody waits for work that completes silently: it can only fail, which is looked for now and
/// then.
void Lane::reap_if_due() noexcept {
  if (tickets_.in_use() != 0 || ++silent_turns_ % kSilentTurns == 0) reap();
}

void Lane::reap() noexcept {
  if (room_ == capacity_) return;  // nothing is under way; what is unsignalled can still fail
  constexpr int kBatch = 32;
  ibv_wc batch[kBatch];
  const int found = ibv_poll_cq(completions_.get(), kBatch, batch);
  check(found >= 0, "the completion queue of the sends cannot be polled", found);
  for (int i = 0; i < found; ++i) settle(batch[i]);
}

void Lane::settle(const ibv_wc& completion) noexcept {
  if (completion.status != IBV_WC_SUCCESS && !note_loss(completion)) note_failure(completion);
  if (completion.wr_id == 0) return;  // unsignalled, and failed: nobody waits for it
  const auto index = static_cast<uint32_t>(completion.wr_id - 1);
  Ticket& ticket = tickets_.at(index);
  dcheck(ticket.link != nullptr, "the completion of a ticket that no request bears", index);
  dcheck(ticket.covers != 0 || completion.status != IBV_WC_SUCCESS,
         "a completion that ends no request", index);
  ticket.link->room += static_cast<int32_t>(ticket.covers);
  room_ += ticket.covers;
  dcheck(ticket.link->room <= static_cast<int32_t>(shared_.sizes.send_depth),
         "more requests of a connection ended than began", ticket.link->room);
  dcheck(room_ <= capacity_, "more requests of a lane ended than began", room_, capacity_);
  if (ticket.copy_to != nullptr && completion.status == IBV_WC_SUCCESS) {
    dcheck(uint64_t{ticket.copy_from} + ticket.copy_bytes <= ticket.pool->bytes_each(),
           "more is copied out of a buffer than it holds", ticket.copy_from, ticket.copy_bytes);
    std::memcpy(ticket.copy_to, ticket.pool->at(ticket.buffer) + ticket.copy_from,
                ticket.copy_bytes);
  }
  dcheck(ticket.buffer == BufferPool::kNone || ticket.pool != nullptr,
         "a buffer without the pool that it goes back to", ticket.buffer);
  if (ticket.buffer != BufferPool::kNone) ticket.pool->give(ticket.buffer);
  const After after = ticket.after;
  dcheck(finished_.size() < finished_.capacity(),
         "more completions are kept than there is room for", finished_.size());
  if (after == After::kDone) finished_.push_back({ticket.cookie, status_of(completion.status)});
  tickets_.give(index);
  if (after == After::kMessage) [[unlikely]]
    send_fenced(*ticket.link, ticket.message, completion.status);
}

Rank Lane::peer_of(uint32_t queue_pair) const noexcept {
  for (const Peer* peer = met_.load(std::memory_order_acquire); peer != nullptr;
       peer = peer->next) {
    // The connector may be making or closing them, and the number may be another one's by now.
    const bool is_lanes = peer->stage.load(std::memory_order_acquire) == Stage::kMet;
    if (peer->pooled && !is_lanes) continue;
    for (const Link& link : peer->links) {
      if (link.queue->qp_num == queue_pair) return peer->rank;
    }
  }
  return shared_.info.rank;
}

/// Under a bound a lane writes nothing to peers that nobody uses, so that they can be closed. Where
/// that alone finds no answer, all work ahead of it has arrived, and nobody waits for the peer: the
/// job may go on without it, as it does without one that answers no ask (connector_pool.cc).
bool Lane::note_loss(const ibv_wc& completion) noexcept {
  if (shared_.peers_max == 0 || completion.status != IBV_WC_RETRY_EXC_ERR) return false;
  if (completion.wr_id == 0) return false;
  if (tickets_.at(static_cast<uint32_t>(completion.wr_id - 1)).after != After::kQuiet) return false;
  Pooled* pooled = peer_at(peer_of(completion.qp_num)).pooled.get();
  if (pooled == nullptr) return false;
  pooled->is_lost = true;
  return true;
}

void Lane::note_failure(const ibv_wc& completion) noexcept {
  if (shared_.failure.get() != nullptr) return;
  // rxe fails the transfers of a port that goes down so, and says that it did a moment later.
  const bool is_by_port = completion.status == IBV_WC_LOC_QP_OP_ERR && !shared_.device.is_iwarp;
  note_cause(shared_, is_by_port ? kPatienceMs : 0);
  const Rank peer = peer_of(completion.qp_num);
  const ibv_wc_status status = is_lost(peer_at(peer)) ? IBV_WC_RETRY_EXC_ERR : completion.status;
  shared_.failure.record(
      peer, status_of(status),
      "%s port %u: a transfer of rank %u to rank %u failed: %s (status %d, vendor 0x%x): %s%s",
      shared_.device.name.c_str(), shared_.device.port, shared_.info.rank, peer,
      ibv_wc_status_str(status), status, completion.vendor_err, advice_on(status),
      shared_.outage.count() != 0 ? "; this rank's port went down before" : "");
}

}  // namespace pinwire::verbs
