// Credit that a receiver gives: how many more request frames each sender may build. It is a
// promise: what all senders were given and have not used, what is held of theirs, and a first
// credit for every rank that is not sending fit in the buffers for requests (unless there are more
// ranks than buffers). A sender that has stopped gives its credit back by time: it forgets what it
// has not used for a while (Lane::credit_allows()), and later the receiver does. Senders that get
// none now get some in turn, when buffers are given back.
//
// A sender that began while there were few others was promised more than its share of today. If it
// sends requests rarely, others would wait until it has used that. The receiver therefore takes it
// back while others wait; the next frame to the sender says so. A frame that the sender builds
// before it knows finds a buffer, or is refused and repeated.
#pragma once

#include <algorithm>
#include <cstdint>

#include "nicfw/flow/peer.h"
#include "nicfw/pool/rank_ring.h"
#include "nicfw/receive/held_messages.h"

namespace pinwire {

/// Request frames that a rank may send before it hears more: half of what the receiver has for
/// requests, for all ranks together, but one at least.
constexpr uint32_t first_credit(uint32_t rx_buffers, uint32_t ranks, uint32_t depth) noexcept {
  return std::clamp(rx_buffers / 4 / ranks, 1u, depth);
}

class RequestCredit {
 public:
  /// When a promise is looked at.
  struct Moment {
    uint64_t now_ns;
    /// Frames that came during an absence of this rank may still wait in the port.
    bool frames_may_wait;
  };

  /// `peers` are those of the lane, by rank; they and `buffers` outlive this. A sender has `depth`
  /// request frames under way at most. `first`: where counts of ranks begin.
  void make(Peer* peers, uint32_t ranks, const RequestBuffers& buffers, uint32_t rx_buffers,
            uint32_t depth, uint32_t first);
  uint32_t depth() const noexcept { return depth_; }
  /// The credit of a rank that is not sending.
  uint32_t first() const noexcept { return first_credit_; }

  /// A frame with requests came.
  void note_sender(Peer& peer, uint64_t now_ns) noexcept;
  /// It is held: a promise is kept.
  void spend(Peer& peer) noexcept;
  /// There was no buffer for it, so what was promised to its sender was no promise: the sender
  /// waits for its turn.
  void withdraw(Peer& peer) noexcept;
  /// The peer is given up.
  void forget(Peer& peer) noexcept;

  /// Promises a sender as much as there are buffers for.
  void renew(Peer& peer, Moment moment) noexcept;
  /// The number of the peer's request frames that this rank will hold in all, as frames bear it.
  static uint16_t credit_for(const Peer& peer) noexcept {
    return static_cast<uint16_t>(peer.advertised);
  }

  /// Does a sender without credit wait?
  bool has_hungry() const noexcept { return !hungry_.empty(); }
  bool can_feed() const noexcept;
  /// Gives the senders without credit some, in turn, as far as there are buffers, and calls `fed`
  /// with each. Credit that others were promised and never used comes back here, too, as no frame
  /// may ever be sent again that would look.
  template <typename Fed>
  void feed(Moment moment, Fed fed) noexcept {
    expire_sender(moment);
    for (uint32_t left = hungry_.size(); left > 0; --left) {
      const bool feeds = can_feed();
      Peer& peer = peers_[hungry_.pop()];
      peer.is_hungry = false;
      if (peer.dead) continue;
      if (feeds) {
        grant(peer);
        fed(peer);
      } else {
        wait_for_credit(peer);
        if (room() == 0) return;
      }
    }
  }

 private:
  uint32_t room() const noexcept;
  uint32_t idle_promise() const noexcept;
  uint32_t share() const noexcept;
  uint32_t own_share(const Peer& peer) const noexcept;
  void grant(Peer& peer) noexcept;
  void wait_for_credit(Peer& peer) noexcept;
  void expire_sender(Moment moment) noexcept;
  void take_back(Peer& peer) noexcept;
  void unpromise(uint32_t frames) noexcept;
  Rank rank_of(const Peer& peer) const noexcept { return static_cast<Rank>(&peer - peers_); }

  Peer* peers_ = nullptr;
  uint32_t ranks_ = 0;
  const RequestBuffers* buffers_ = nullptr;
  uint32_t promised_ = 0;      ///< request frames that senders may still send
  uint32_t depth_ = 2;         ///< request frames that a sender may have under way here
  uint32_t first_credit_ = 1;  ///< of a rank that is not sending
  RankRing senders_;           ///< ranks that sent requests lately
  RankRing hungry_;            ///< of them those without credit, in turn
};

}  // namespace pinwire
