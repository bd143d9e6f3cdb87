// Chooses who builds the next frame of a flow.
//
// Three kinds share the flow's window: records that clients post; copied puts, of which post()
// builds all frames at once or none; and what waits, long puts and the answers of gets, which polls
// build. Threads that post without end take each frame that an acknowledgement gives back before
// the next poll can, and a copied put never finds all it needs in a window that others fill. So
// whoever was refused gets its turn after a few frames of the others:
//  - post_lead is what post() has built since a waiting operation was denied a frame. When it is
//    kPostLeadMax post() waits, until the operation has made up for it. A short frame counts for
//    its part of a long one.
//  - record_lead are the frames that records have begun since a copied put was refused. When they
//    are kRecordLeadMax records wait, as long as the put is offered again (copied_waits) and lacks
//    nothing that others than its flow hold.
//  - small_waits: a record was refused. Copied puts wait for it, and long ones leave a frame.
// The first small record after a poll waits for neither.
#include "nicfw/lane.h"

namespace pinwire {

/// Must post() wait for the operations that wait? Not before the windows, or way that they made,
/// denied them a frame: at first they may lack nothing but room in the port.
bool Lane::is_long_due(const Peer& peer, Flow flow) noexcept {
  const SendFlow& send = peer.send[static_cast<size_t>(flow)];
  return send.post_lead >= kPostLeadMax && send.is_denied && peer.has_waiting(flow);
}

/// Was a copied put refused in the last polls? One that is not offered again may be gone.
bool Lane::was_offered_lately(const SendFlow& send) noexcept {
  constexpr uint32_t kLatelyPolls = 4;
  return send.copied_waits + kLatelyPolls > kCopiedWaitPolls;
}

/// Must records wait for a copied put?
bool Lane::is_copied_due(const SendFlow& send) noexcept {
  return was_offered_lately(send) && send.record_lead >= kRecordLeadMax;
}

/// The first small record after a poll need not wait for its turn in a window of many frames: it
/// takes next to nothing from those that wait, and they leave some frames to records anyway.
bool Lane::goes_first(const Peer& peer, bool is_small) const noexcept {
  constexpr uint32_t kSmallWindow = 16;
  const uint32_t window = std::min<uint32_t>(nic_.config.window_frames, peer.congestion.frames());
  return is_small && !has_gone_first_ && window > kSmallWindow;
}

/// May post() build a frame for a record? If not, the next poll builds those that are due.
bool Lane::may_post(Peer& peer, Flow flow, bool is_small) noexcept {
  SendFlow& send = peer.send[static_cast<size_t>(flow)];
  if (!is_long_due(peer, flow) && !is_copied_due(send)) return true;
  if (goes_first(peer, is_small)) return true;
  send.small_waits = kSmallWaitPolls;
  attend(peer);
  return false;
}

/// Do the waiting operations build nothing now, because post() has refused a record or a copied
/// put? A record never finds the only frame of a window of one, and a copied put finds all its
/// frames only after the window has drained: once it is empty, in the next polls.
bool Lane::makes_way(const Peer& peer, Flow flow) noexcept {
  const SendFlow& send = peer.send[static_cast<size_t>(flow)];
  if (is_long_due(peer, flow)) return false;
  if (send.in_flight() != 0) return send.copied_waits != 0;
  return send.small_waits != 0 || was_offered_lately(send);
}

/// A waiting operation got no frame: from now on what post() builds counts.
void Lane::deny(SendFlow& send) noexcept {
  if (!send.is_denied) send.post_lead = 0;
  send.is_denied = true;
}

/// post() has refused a copied put: from now on frames for records count, for a few polls.
void Lane::refuse_copied(SendFlow& send) noexcept {
  if (send.copied_waits == 0) send.record_lead = 0;
  send.copied_waits = kCopiedWaitPolls;
}

/// Counts `bytes` that post() has built while operations wait for frames.
void Lane::lead(Peer& peer, Flow flow, uint32_t bytes) noexcept {
  SendFlow& send = peer.send[static_cast<size_t>(flow)];
  if (!send.is_denied) [[likely]]
    return;
  if (!peer.has_waiting(flow)) {
    send.is_denied = false;
    return;
  }
  const uint32_t lead = send.post_lead + bytes * kFrameParts / peer.path_bytes;
  send.post_lead = static_cast<uint16_t>(std::min(lead, kLeadPartsMax)) & kLeadPartsMax;
}

/// Counts a frame that a record began.
void Lane::lead_copied(SendFlow& send) noexcept {
  if (send.copied_waits == 0 || send.record_lead == kRecordLeadMax) return;
  ++send.record_lead;
}

/// Counts a frame of `bytes` that a record has begun, but the first small one after a poll.
void Lane::lead_with_record(Peer& peer, Flow flow, uint32_t bytes, bool is_small) noexcept {
  if (goes_first(peer, is_small)) {
    has_gone_first_ = true;
    return;
  }
  lead(peer, flow, bytes);
  lead_copied(peer.send[static_cast<size_t>(flow)]);
}

/// Counts a frame of a waiting operation, or that the windows denied it one. That it was denied
/// holds until it has made up for what post() built meanwhile.
void Lane::follow(SendFlow& send, Built built) noexcept {
  if (built == Built::kNoFrame) deny(send);
  if (built != Built::kSome) return;
  const uint32_t lead = send.post_lead;
  send.post_lead = static_cast<uint16_t>(lead - std::min(lead, kFrameParts)) & kLeadPartsMax;
  if (send.post_lead == 0) send.is_denied = false;
}

}  // namespace pinwire
