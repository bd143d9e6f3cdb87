// Chooses who builds the next frame of a flow: post(), or the operations and responses that wait.
//
// Long puts and the other operations that wait share the flow's window with what clients post
// meanwhile. Threads that post without end take each frame that an acknowledgement gives back
// before the next poll can; and a copied put never finds all its frames at once in a window that
// long puts fill. Therefore post() may be a few frames ahead of the waiting operations; then it is
// their turn. A short frame counts for its part of a long one.
#include "nicfw/lane.h"

namespace pinwire {

/// Must post() wait for the operations that wait? False while those lack nothing but room in the
/// port.
bool Lane::is_long_due(const Peer& peer, Flow flow) noexcept {
  const SendFlow& send = peer.send[static_cast<size_t>(flow)];
  return send.post_lead >= kPostLeadMax && send.is_denied && peer.has_waiting(flow);
}

/// May post() build a frame? If not, the next poll builds those that are due.
bool Lane::may_post(Peer& peer, Flow flow) noexcept {
  if (!is_long_due(peer, flow)) return true;
  attend(peer);
  return false;
}

/// Do the waiting operations build nothing now, because post() has refused a record or a copied
/// put? A record never finds the only frame of a window of one, and a copied put finds all its
/// frames only after the window has drained. Below an empty window a copied put lacks something
/// else.
bool Lane::makes_way(const Peer& peer, Flow flow) noexcept {
  const SendFlow& send = peer.send[static_cast<size_t>(flow)];
  if (is_long_due(peer, flow)) return false;
  return send.in_flight() == 0 ? send.small_waits != 0 : send.copied_waits != 0;
}

/// Counts `bytes` that post() has built while operations wait for frames.
void Lane::lead(Peer& peer, Flow flow, uint32_t bytes) noexcept {
  SendFlow& send = peer.send[static_cast<size_t>(flow)];
  if (!send.is_denied || !peer.has_waiting(flow)) {
    send.post_lead = 0;
    return;
  }
  const uint32_t parts = std::max(1u, bytes * kFrameParts / peer.path_bytes);
  send.post_lead = static_cast<uint8_t>(std::min(send.post_lead + parts, 0xffu));
}

/// Counts a frame of a waiting operation, or that the windows denied it one.
void Lane::follow(SendFlow& send, Built built) noexcept {
  send.is_denied = built == Built::kNoFrame;
  if (built != Built::kSome) return;
  send.post_lead =
      static_cast<uint8_t>(send.post_lead - std::min<uint32_t>(send.post_lead, kFrameParts));
}

}  // namespace pinwire
