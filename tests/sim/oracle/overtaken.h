// Frames that others overtook, and whose acknowledgement came late: the receiver had told of a
// frame that was sent later, and so of a gap, and then it did not look for a while, or its port was
// full. By the rule of loss (RACK, lane_loss.cc) the sender repeats each of them once, in vain.
#pragma once

#include <algorithm>
#include <cstdint>
#include <unordered_map>

#include "nicfw/nic.h"

namespace pinwire::sim {

/// The frames of one queue of a port.
class Overtaken {
 public:
  /// The least tolerance of reordering that lane_loss.cc has: a shorter wait explains nothing.
  static constexpr uint64_t kWaitNs = NicConfig{}.rto_min_ns / 4;

  /// The receiver takes a frame of `from`, the `number`th that was sent on the fabric.
  void take(uint32_t from, uint64_t number) {
    Peer& peer = peers_[from];
    if (number < peer.told) ++peer.late;
    peer.newest = std::max(peer.newest, number);
  }

  /// The receiver sends a frame to `to`, which acknowledges all that it has taken. Returns how many
  /// frames the peer may have repeated meanwhile.
  uint64_t answer(uint32_t to, uint64_t now_ns) {
    const auto known = peers_.find(to);
    if (known == peers_.end()) return 0;
    Peer& peer = known->second;
    const uint64_t repeated = now_ns - peer.answered_ns > kWaitNs ? peer.late : 0;
    peer = {.newest = peer.newest, .told = peer.newest, .answered_ns = now_ns, .late = 0};
    return repeated;
  }

 private:
  struct Peer {
    uint64_t newest = 0;       ///< frame that was taken
    uint64_t told = 0;         ///< the newest of which the peer was told
    uint64_t answered_ns = 0;  ///< when it was
    uint64_t late = 0;         ///< frames older than `told`, taken since
  };
  std::unordered_map<uint32_t, Peer> peers_;  ///< of which a frame was taken
};

}  // namespace pinwire::sim
