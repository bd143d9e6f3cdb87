// Who builds the next frame of a flow: what is posted, or what waits.
//
// What waits in a flow for frames, long puts above all, and what is posted meanwhile share its
// window. A client whose threads post without end would find each frame that an acknowledgement
// gives back, and of a window that long puts fill, a copied put would never find all that it needs
// at once. So what is posted may be a few frames ahead; then it is the others' turn. A short frame
// counts for its part of a long one.
#include "nicfw/lane.h"

namespace pinwire {

/// Does what is posted wait for what was there before?
bool Lane::is_long_due(const Peer& peer, Flow flow) noexcept {
  return peer.send[static_cast<size_t>(flow)].post_lead >= kPostLeadMax && peer.has_waiting(flow);
}

/// Does what waits build nothing, so that the window drains for a copied put that was refused? An
/// empty one would not help that.
bool Lane::makes_way(const Peer& peer, Flow flow) noexcept {
  const SendFlow& send = peer.send[static_cast<size_t>(flow)];
  return send.copied_waits != 0 && send.in_flight() != 0 && !is_long_due(peer, flow);
}

/// post() has built so many parts of frames while others wait for theirs.
void Lane::lead(Peer& peer, Flow flow, uint32_t frame_parts) noexcept {
  SendFlow& send = peer.send[static_cast<size_t>(flow)];
  if (!peer.has_waiting(flow)) {
    send.post_lead = 0;
    return;
  }
  send.post_lead = static_cast<uint8_t>(std::min(send.post_lead + frame_parts, 0xffu));
}

/// Something that waited has built a frame.
void Lane::follow(SendFlow& send) noexcept {
  send.post_lead =
      static_cast<uint8_t>(send.post_lead - std::min<uint32_t>(send.post_lead, kFrameParts));
}

}  // namespace pinwire
