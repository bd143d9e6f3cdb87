// Who builds the next frame of a flow: what is posted, or what waits.
//
// What waits in a flow for frames, long puts above all, and what is posted meanwhile share its
// window. A client whose threads post without end would find each frame that an acknowledgement
// gives back, and of a window that long puts fill, a copied put would never find all that it needs
// at once. So what is posted may be a few frames ahead; then it is the others' turn. A short frame
// counts for its part of a long one.
#include "nicfw/lane.h"

namespace pinwire {

/// Does what is posted wait for what was there before? Not while that waits for the port only.
bool Lane::is_long_due(const Peer& peer, Flow flow) noexcept {
  const SendFlow& send = peer.send[static_cast<size_t>(flow)];
  return send.post_lead >= kPostLeadMax && send.is_denied && peer.has_waiting(flow);
}

/// Does what waits build nothing, for something posted that was refused? Of a window that is one
/// frame a record would never find that one, and a copied put finds all of its frames only when the
/// window has drained. An empty window would not help that.
bool Lane::makes_way(const Peer& peer, Flow flow) noexcept {
  const SendFlow& send = peer.send[static_cast<size_t>(flow)];
  if (is_long_due(peer, flow)) return false;
  return send.in_flight() == 0 ? send.small_waits != 0 : send.copied_waits != 0;
}

/// post() has built so many bytes while others wait for frames.
void Lane::lead(Peer& peer, Flow flow, uint32_t bytes) noexcept {
  SendFlow& send = peer.send[static_cast<size_t>(flow)];
  if (!send.is_denied || !peer.has_waiting(flow)) {
    send.post_lead = 0;
    return;
  }
  const uint32_t parts = std::max(1u, bytes * kFrameParts / peer.path_bytes);
  send.post_lead = static_cast<uint8_t>(std::min(send.post_lead + parts, 0xffu));
}

/// Something that waited was to build a frame.
void Lane::follow(SendFlow& send, Built built) noexcept {
  send.is_denied = built == Built::kNoFrame;
  if (built != Built::kSome) return;
  send.post_lead =
      static_cast<uint8_t>(send.post_lead - std::min<uint32_t>(send.post_lead, kFrameParts));
}

}  // namespace pinwire
