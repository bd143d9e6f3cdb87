#include "nicfw/receive/request_credit.h"

#include <algorithm>

#include "core/base/bits.h"
#include "core/base/check.h"

namespace pinwire {
namespace {

/// The receiver forgets later than the sender, by more than a frame can be under way.
constexpr uint64_t kExpireNs = 10'000'000;
/// A sender without a request for so long has few under way, and may lose what exceeds its share.
constexpr uint64_t kRarelyNs = 200'000;

}  // namespace

void RequestCredit::make(Peer* peers, uint32_t ranks, const RequestBuffers& buffers,
                         uint32_t rx_buffers, uint32_t depth, uint32_t first) {
  peers_ = peers;
  ranks_ = ranks;
  buffers_ = &buffers;
  depth_ = depth;
  first_credit_ = first_credit(rx_buffers, ranks, depth);
  senders_.make(ranks, first);
  hungry_.make(ranks, first);
}

/// Buffers for requests that are neither held nor promised.
uint32_t RequestCredit::room() const noexcept {
  const uint64_t used = uint64_t{buffers_->held} + promised_ + idle_promise();
  return used < buffers_->max ? static_cast<uint32_t>(buffers_->max - used) : 0;
}

/// The first credits of the ranks that are not sending.
uint32_t RequestCredit::idle_promise() const noexcept {
  const uint64_t idle = ranks_ - std::min(senders_.size(), ranks_);
  return static_cast<uint32_t>(std::min<uint64_t>(idle * first_credit_, buffers_->max / 2));
}

/// How many buffers one of those that send may have, held and promised.
uint32_t RequestCredit::share() const noexcept {
  const uint32_t all = buffers_->max - idle_promise();
  return std::clamp(all / std::max(senders_.size(), 1u), 1u, kWindowFramesMax);
}

/// How many of its share the peer may be promised.
uint32_t RequestCredit::own_share(const Peer& peer) const noexcept {
  const uint32_t all = share();
  return all > peer.requests_held ? all - peer.requests_held : 0;
}

void RequestCredit::unpromise(uint32_t frames) noexcept {
  dcheck(promised_ >= frames, "more credit comes back than was promised", promised_, frames);
  promised_ -= frames;
}

void RequestCredit::note_sender(Peer& peer, uint64_t now_ns) noexcept {
  peer.request_came_ns = now_ns;
  if (peer.is_sender) return;
  peer.is_sender = true;
  promised_ += peer.advertised - peer.requests_accepted;
  senders_.push(rank_of(peer));
}

void RequestCredit::spend(Peer& peer) noexcept {
  dcheck(peer.is_sender, "requests of a rank that is no sender are held", rank_of(peer));
  ++peer.requests_accepted;
  if (seq_before(peer.advertised, peer.requests_accepted)) {
    peer.advertised = peer.requests_accepted;  // it came without credit
  } else {
    unpromise(1);
  }
}

void RequestCredit::withdraw(Peer& peer) noexcept {
  dcheck(peer.is_sender, "requests of a rank that is no sender are refused", rank_of(peer));
  unpromise(peer.advertised - peer.requests_accepted);
  peer.advertised = peer.requests_accepted;
  wait_for_credit(peer);
}

void RequestCredit::forget(Peer& peer) noexcept {
  if (peer.is_sender) unpromise(peer.advertised - peer.requests_accepted);
  peer.advertised = peer.requests_accepted;
}

void RequestCredit::wait_for_credit(Peer& peer) noexcept {
  if (peer.is_hungry) return;
  peer.is_hungry = true;
  hungry_.push(rank_of(peer));
}

void RequestCredit::renew(Peer& peer, Moment moment) noexcept {
  dcheck(peer.is_sender, "a rank that is no sender is promised more", rank_of(peer));
  expire_sender(moment);
  grant(peer);
  if (peer.advertised == peer.requests_accepted) wait_for_credit(peer);
}

void RequestCredit::grant(Peer& peer) noexcept {
  if (!peer.is_sender) return;
  const uint32_t promised = peer.advertised - peer.requests_accepted;
  const uint32_t wanted = std::min({own_share(peer), promised + room(), depth_});
  if (wanted <= promised) return;
  promised_ += wanted - promised;
  peer.advertised += wanted - promised;
}

/// Looks at one sender, each in turn: if it has stopped, others may have what it was promised, and
/// if it sends rarely, what exceeds its share.
void RequestCredit::expire_sender(Moment moment) noexcept {
  if (senders_.empty()) return;
  Peer& peer = peers_[senders_.first()];
  const bool rests =
      !moment.frames_may_wait && !peer.receive[static_cast<size_t>(Flow::kRequest)].has_holes();
  const bool stopped = rests && moment.now_ns > peer.request_came_ns + kExpireNs &&
                       peer.requests_held == 0 && !peer.is_hungry;
  const Rank rank = senders_.pop();
  if (!stopped && !peer.dead) {
    senders_.push(rank);
    if (rests && moment.now_ns > peer.request_came_ns + kRarelyNs) take_back(peer);
    return;
  }
  peer.is_sender = false;
  unpromise(peer.advertised - peer.requests_accepted);
  peer.advertised = peer.requests_accepted + first_credit_;
}

/// Others wait for what the sender was promised beyond its share.
void RequestCredit::take_back(Peer& peer) noexcept {
  if (hungry_.empty()) return;
  const uint32_t own = own_share(peer);
  const uint32_t promised = peer.advertised - peer.requests_accepted;
  if (promised <= own) return;
  unpromise(promised - own);
  peer.advertised -= promised - own;
}

bool RequestCredit::can_feed() const noexcept {
  if (hungry_.empty()) return false;
  const Peer& peer = peers_[hungry_.first()];
  // It got some with an acknowledgement meanwhile: it waits no more, and its credit may expire.
  if (peer.advertised != peer.requests_accepted) return true;
  const uint32_t all = share();
  return peer.dead || (room() >= (all + 1) / 2 && peer.requests_held < all);
}

}  // namespace pinwire
