// Credit: how many more request frames a sender may build. It is a promise: what all senders were
// given and have not used, what is held of theirs, and a first credit for every rank that is not
// sending fit in the buffers for requests (unless there are more ranks than buffers). A sender that
// has stopped gives its credit back by time: it forgets what it has not used for a while, and later
// the receiver does. Senders that get none now get some in turn, when buffers are given back.
//
// A sender that began while there were few others was promised more than its share of today. If it
// sends requests rarely, others would wait until it has used that. The receiver therefore takes it
// back while others wait; the next frame to the sender says so. A frame that the sender builds
// before it knows finds a buffer, or is refused and repeated.
#include "core/base/bits.h"
#include "nicfw/lane/lane.h"

namespace pinwire {
namespace {

/// A sender that builds no request for so long keeps its first credit only.
constexpr uint64_t kForgetNs = 2'000'000;
/// The receiver forgets later, by more than a frame can be under way.
constexpr uint64_t kExpireNs = 10'000'000;
/// A sender without a request for so long has few under way, and may lose what exceeds its share.
constexpr uint64_t kRarelyNs = 200'000;
/// Questions for credit before a frame is sent without any.
constexpr uint8_t kAsksBeforeProbe = 8;

}  // namespace

/// May one more frame with request messages be built?
bool Lane::credit_allows(Peer& peer, Flow flow) noexcept {
  if (flow != Flow::kRequest) return true;
  const bool quiet = peer.send[static_cast<size_t>(flow)].in_flight() == 0;
  if (quiet && now_ns_ > peer.credit_used_ns + kForgetNs) {
    const uint32_t kept = peer.requests_built + peer.first_credit;
    if (seq_before(kept, peer.request_limit)) peer.request_limit = kept;
  }
  if (copying_ || seq_before(peer.requests_built, peer.request_limit)) {
    peer.credit_used_ns = now_ns_;
    return true;
  }
  counters_.add(Count::kCreditStalls);
  if (quiet) return ask_for_credit(peer);
  peer.credit_probe_at_ns = 0;
  return false;
}

/// Nothing is in flight that would bring credit, so what the receiver said may have been lost: it
/// is asked again, more and more rarely. True: the last resort, a frame without credit.
bool Lane::ask_for_credit(Peer& peer) noexcept {
  if (peer.credit_probe_at_ns == 0) peer.credit_asks = 0;
  if (peer.credit_probe_at_ns != 0 && now_ns_ < peer.credit_probe_at_ns) return false;
  const bool first = peer.credit_probe_at_ns == 0;
  peer.credit_probe_at_ns =
      now_ns_ + peer.rtt.backed_off_ns(rto_limits_, peer.credit_asks, random_);
  if (first) return false;
  counters_.add(Count::kCreditProbes);
  if (++peer.credit_asks >= kAsksBeforeProbe) {
    peer.credit_probe_at_ns = 0;
    return true;
  }
  ask(peer);
  return false;
}

/// The newest frame of the peer may also say that there is less. The word of an older one is past.
void Lane::take_credit(Peer& peer, uint16_t credit, bool is_newest) noexcept {
  const auto ahead = static_cast<int16_t>(credit - static_cast<uint16_t>(peer.request_limit));
  if (ahead == 0 || !is_newest) return;
  peer.request_limit += static_cast<uint32_t>(int32_t{ahead});
  if (ahead < 0) return;
  peer.credit_used_ns = now_ns_;
  peer.credit_probe_at_ns = 0;
  attend(peer);
}

/// Buffers for requests that are neither held nor promised.
uint32_t Lane::credit_room() const noexcept {
  const uint64_t used = uint64_t{held_requests_} + promised_ + idle_promise();
  return used < request_hold_max_ ? static_cast<uint32_t>(request_hold_max_ - used) : 0;
}

/// The first credits of the ranks that are not sending.
uint32_t Lane::idle_promise() const noexcept {
  const uint64_t idle = nic_.info.rank_count - std::min(senders_.size(), nic_.info.rank_count);
  return static_cast<uint32_t>(std::min<uint64_t>(idle * first_credit_, request_hold_max_ / 2));
}

/// How many buffers one of those that send may have, held and promised.
uint32_t Lane::credit_share() const noexcept {
  const uint32_t all = request_hold_max_ - idle_promise();
  return std::clamp(all / std::max(senders_.size(), 1u), 1u, kWindowFramesMax);
}

/// A frame with requests came.
void Lane::note_sender(Peer& peer) noexcept {
  peer.request_came_ns = now_ns_;
  if (peer.is_sender) return;
  peer.is_sender = true;
  promised_ += peer.advertised - peer.requests_accepted;
  senders_.push(rank_of(peer));
}

/// A frame with requests is held: a promise is kept.
void Lane::spend_promise(Peer& peer) noexcept {
  ++peer.requests_accepted;
  if (seq_before(peer.advertised, peer.requests_accepted)) {
    peer.advertised = peer.requests_accepted;  // it came without credit
  } else {
    --promised_;
  }
}

/// There is no buffer for a frame with requests, so what was promised to its sender was no promise:
/// the sender waits for its turn.
void Lane::withdraw_promise(Peer& peer) noexcept {
  promised_ -= peer.advertised - peer.requests_accepted;
  peer.advertised = peer.requests_accepted;
  wait_for_credit(peer);
}

void Lane::wait_for_credit(Peer& peer) noexcept {
  if (peer.is_hungry) return;
  peer.is_hungry = true;
  hungry_.push(rank_of(peer));
}

/// The number of the peer's request frames that this rank will hold in all.
uint16_t Lane::credit_for(Peer& peer) noexcept {
  if (!peer.is_sender) return static_cast<uint16_t>(peer.advertised);
  expire_sender();
  grant(peer);
  if (peer.advertised == peer.requests_accepted) wait_for_credit(peer);
  return static_cast<uint16_t>(peer.advertised);
}

void Lane::grant(Peer& peer) noexcept {
  if (!peer.is_sender) return;
  const uint32_t promised = peer.advertised - peer.requests_accepted;
  const uint32_t share = credit_share();
  const uint32_t own = share > peer.requests_held ? share - peer.requests_held : 0;
  const uint32_t wanted = std::min({own, promised + credit_room(), depth_});
  if (wanted <= promised) return;
  promised_ += wanted - promised;
  peer.advertised += wanted - promised;
}

/// Looks at one sender, each in turn: if it has stopped, others may have what it was promised, and
/// if it sends rarely, what exceeds its share.
void Lane::expire_sender() noexcept {
  if (senders_.empty()) return;
  Peer& peer = peers_[senders_.first()];
  // After an absence of this rank its requests may still wait in the port, but not for longer than
  // it takes to empty a port that holds all buffers.
  const bool may_wait = rx_more_ && full_polls_ <= held_.size() / kBurst;
  const bool rests = !may_wait && !peer.receive[static_cast<size_t>(Flow::kRequest)].has_holes();
  const bool stopped = rests && now_ns_ > peer.request_came_ns + kExpireNs &&
                       peer.requests_held == 0 && !peer.is_hungry;
  const Rank rank = senders_.pop();
  if (!stopped && !peer.dead) {
    senders_.push(rank);
    if (rests && now_ns_ > peer.request_came_ns + kRarelyNs) take_back(peer);
    return;
  }
  peer.is_sender = false;
  promised_ -= peer.advertised - peer.requests_accepted;
  peer.advertised = peer.requests_accepted + first_credit_;
}

/// Others wait for what the sender was promised beyond its share.
void Lane::take_back(Peer& peer) noexcept {
  if (hungry_.empty()) return;
  const uint32_t share = credit_share();
  const uint32_t own = share > peer.requests_held ? share - peer.requests_held : 0;
  const uint32_t promised = peer.advertised - peer.requests_accepted;
  if (promised <= own) return;
  promised_ -= promised - own;
  peer.advertised -= promised - own;
}

bool Lane::can_feed() const noexcept {
  if (hungry_.empty()) return false;
  const Peer& peer = peers_[hungry_.first()];
  // It got some with an acknowledgement meanwhile: it waits no more, and its credit may expire.
  if (peer.advertised != peer.requests_accepted) return true;
  const uint32_t share = credit_share();
  return peer.dead || (credit_room() >= (share + 1) / 2 && peer.requests_held < share);
}

/// Gives the senders without credit some, in turn, as far as there are buffers. Credit that others
/// were promised and never used comes back here, too, as no frame may ever be sent again that would
/// look.
void Lane::feed_hungry() noexcept {
  expire_sender();
  for (uint32_t left = hungry_.size(); left > 0; --left) {
    const bool feeds = can_feed();
    Peer& peer = peers_[hungry_.pop()];
    peer.is_hungry = false;
    if (peer.dead) continue;
    if (feeds) {
      grant(peer);
      peer.ack_now = true;
      attend(peer);
    } else {
      wait_for_credit(peer);
      if (credit_room() == 0) return;
    }
  }
}

}  // namespace pinwire
