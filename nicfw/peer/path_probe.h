// Which frames the path to a peer carries. The ports at its ends say what they carry; a switch or
// an interface between them may carry less, and drops longer frames without a word.
//
// Until a frame of full size has arrived, longer frames than every path carries
// (Setup::path_bytes) go in pieces, and puts and gets are cut so that they need none. The first
// longer frame that the client wants sends a pair of probes: a frame of full size, and one that
// every path carries. The answer to the former opens the path. If only the latter is answered, a
// few times in a row, the path is narrow: the user hears it once. If neither is, the peer computes,
// and nothing is learnt. A narrow path is probed again when longer frames are wanted later, as is
// an open one on which a longer frame was lost twice: it becomes narrow if those are lost again.
// Nothing but the pieces depends on the result, so that a wrong one costs time and no more.
//
// This class decides. The lane says when longer frames are wanted and what became of frames, and
// sends the probes. A Peer holds the state of its path; Peer::path_bytes is the result, which the
// lane reads.
#pragma once

#include <cstdint>

#include "core/base/random.h"
#include "nicfw/flow/peer.h"
#include "nicfw/pool/rank_ring.h"

namespace pinwire {

class PathProbe {
 public:
  /// The lane, for the probes. Its functions are called inside want() and run(), path_narrowed()
  /// also inside take_answer(). They call nothing of PathProbe but refused().
  class Host {
   public:
    /// Sends a probe of so many bytes: Setup::path_bytes, or Peer::frame_bytes_max. If the port
    /// does not take it, the lane calls refused().
    virtual void send_probe(Peer& peer, uint32_t frame_bytes) noexcept = 0;
    /// The path has just become narrow: what was lost of the longer frames goes in pieces.
    virtual void path_narrowed(Peer& peer) noexcept = 0;
    /// Longer frames vanish on the path, and shorter ones do not.
    virtual void path_has_hole(Peer& peer) noexcept = 0;

   protected:
    ~Host() = default;
  };

  struct Setup {
    Peer* peers;  ///< of the lane, by rank
    uint32_t ranks;
    uint32_t first;            ///< where counts of ranks begin
    uint32_t path_bytes;       ///< frames that every path carries
    bool are_all_open;         ///< nothing between the ports carries shorter frames than they do
    RtoLimits timeout_limits;  ///< of a pair
  };

  /// `host`, `random` and the peers outlive this.
  void make(const Setup& setup, Host& host, Random& random);
  /// The peer connects. Peer::frame_bytes_max is known.
  void start(Peer& peer) const noexcept;

  /// A longer frame is wanted than the path is known to carry, or one was lost again on an open
  /// path. True: a pair of probes was sent, and run() is due at Peer::probe_at_ns.
  bool want(Peer& peer, uint64_t now_ns) noexcept;
  /// Judges the pairs that should have been answered by now. When it is due again; ~0: not before
  /// want() sends a pair.
  uint64_t run(uint64_t now_ns) noexcept;
  /// Is any path probed?
  bool is_probing() const noexcept { return !probed_.empty(); }

  /// The peer says that it got a probe of so many bytes. Total over untrusted lengths.
  void take_answer(Peer& peer, uint32_t bytes, uint64_t now_ns) noexcept;
  /// The port did not take a probe of the pair: the pair tells nothing, and another one follows.
  static void refused(Peer& peer) noexcept { peer.pair_refused = true; }

  /// A frame was lost, or a piece of it.
  void note_loss(Peer& peer, uint32_t frame_bytes, uint64_t now_ns) const noexcept;
  /// A frame that counted as lost had only been overtaken: its first copy has arrived.
  void retract_loss(Peer& peer, uint32_t frame_bytes) const noexcept;
  /// Is an open path suspected to be narrow?
  static bool has_doubts(const Peer& peer) noexcept { return peer.half_answered != 0; }
  /// A frame has arrived. If it is a long one, the path carries such, whatever became of probes.
  void dispel_doubts(Peer& peer, uint32_t frame_bytes) const noexcept;

 private:
  void send_pair(Peer& peer, uint64_t now_ns) noexcept;
  void judge_pair(Peer& peer, uint64_t now_ns) noexcept;
  void take_half_answer(Peer& peer, uint64_t now_ns) noexcept;
  void end(Peer& peer, uint64_t again_at_ns) noexcept;
  /// Do the ports at its ends alone say what the path carries?
  bool is_sure(const Peer& peer) const noexcept {
    return setup_.are_all_open || peer.frame_bytes_max <= setup_.path_bytes;
  }
  /// Does every path carry the frame, or does it go in pieces?
  bool is_short(const Peer& peer, uint32_t frame_bytes) const noexcept {
    return frame_bytes <= setup_.path_bytes || is_narrow(peer);
  }
  static bool is_congested(const Peer& peer, uint64_t now_ns) noexcept;
  Rank rank_of(const Peer& peer) const noexcept { return static_cast<Rank>(&peer - setup_.peers); }

  Setup setup_{};
  Host* host_ = nullptr;
  Random* random_ = nullptr;
  RankRing probed_;  ///< ranks to which the path is probed; some are no more
};

}  // namespace pinwire
