// Peers from which this rank waits for something: are they there? Frames that are under way to a
// peer ask by themselves (lane_loss.cc). Two waits have nothing under way: for the response to a
// request that is acknowledged, and of a copied put for room that only a peer that is there may
// have. They ask, too.
//
// Silence is time in which the lane looked: its watch advances by the gap between two polls, but by
// kStepNs at most. A rank that computes for an hour and then polls has looked for milliseconds,
// whatever the clock says; what its peers sent meanwhile still waits in the port. And silence
// counts only when questions went unanswered: one lost frame says nothing.
//
// This class says when to ask, and whom to give up; the lane asks, and gives up.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/base/check.h"
#include "nicfw/flow/peer.h"

namespace pinwire {

class Liveness {
 public:
  static constexpr uint64_t kStepNs = 10'000'000;  ///< by which a poll advances the watch at most
  static constexpr uint32_t kQuestionsMin = 4;     ///< unanswered ones, before silence counts

  /// A peer is given up after so long a silence; 0: never.
  void make(uint64_t limit_ns) noexcept;

  /// A poll, so long after the last one.
  void poll(uint64_t gap_ns) noexcept { watch_ns_ += std::min(gap_ns, kStepNs); }
  /// How long the lane has looked.
  uint64_t watch_ns() const noexcept { return watch_ns_; }

  /// The peer was heard, or this rank begins to wait for it.
  void start_watch(Peer& peer) const noexcept {
    peer.silent_since_ns = watch_ns_;
    peer.timeouts_unheard = 0;
  }
  /// The peer is asked for something.
  static void count_question(Peer& peer) noexcept {
    if (peer.timeouts_unheard < 0xff) ++peer.timeouts_unheard;
  }
  uint64_t silent_ns(const Peer& peer) const noexcept {
    dcheck(watch_ns_ >= peer.silent_since_ns, "a peer was heard after now", watch_ns_,
           peer.silent_since_ns);
    return watch_ns_ - peer.silent_since_ns;
  }
  /// Is the peer to be given up?
  bool is_silent(const Peer& peer) const noexcept;

  /// The first of the operations that a response ends was built. When the peers are asked whose
  /// responses are late; ~0: never.
  uint64_t await_responses(uint64_t now_ns) noexcept;
  /// Are they asked now? If so, due_ns() is the next time.
  bool is_due(uint64_t now_ns) noexcept;
  uint64_t due_ns() const noexcept { return pause_ns_ != 0 ? due_ns_ : ~uint64_t{0}; }
  /// Is the response of that peer late? Not while anything is under way to it, which asks by
  /// itself. Several operations may wait for one peer: it is asked once.
  bool is_late(const Peer& peer) const noexcept;

  /// Was the peer heard lately, by the polls of this lane? `previous_ns`: the time of the last one.
  static bool is_attentive(const Peer& peer, uint64_t previous_ns) noexcept {
    constexpr uint64_t kLatelyNs = 2'000'000;
    return peer.heard && peer.arrived_ns + kLatelyNs >= previous_ns;
  }
  enum class Presence : uint8_t { kWait, kAsk, kGone };
  /// A copied put waits for room, and the peer is not attentive. It is asked (kAsk) more and more
  /// rarely while no answer comes; Peer::presence_asks is 0 again after one.
  Presence seek(Peer& peer, uint64_t now_ns) const noexcept;

 private:
  uint64_t limit_ns_ = 0;
  uint64_t pause_ns_ = 0;  ///< between two questions for responses; 0: nobody is ever given up
  uint64_t watch_ns_ = 0;
  uint64_t due_ns_ = 0;
};

}  // namespace pinwire
