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
//  - record_lead counts the frames of records, and of copied puts of other sizes, since a copied
//    put was refused. When it is kRecordLeadMax those wait, as long as the put is offered again
//    (copied_waits) and lacks nothing that others than its flow hold. The next turn is for copied
//    puts of other sizes (copied_yields), if such were refused meanwhile: a small one finds its few
//    frames whenever some come back, and a large one would never find all.
//  - small_waits: a record was refused. Copied puts wait for it, and long ones leave a frame.
// The first small record after a poll waits for neither, unless very many have gone before.
#include "nicfw/lane.h"

namespace pinwire {

/// Must post() wait for the operations that wait? Not before the windows, or way that they made,
/// denied them a frame: at first they may lack nothing but room in the port.
bool Lane::is_long_due(const Peer& peer, Flow flow) noexcept {
  const SendFlow& send = peer.send[static_cast<size_t>(flow)];
  return send.post_lead >= kPostLeadMax && send.is_denied && peer.has_waiting(flow);
}

/// Was a copied put refused in the last polls? Of threads that share a lane each polls in its turn,
/// and then offers again. One that is not offered again may be gone.
bool Lane::was_offered_lately(const SendFlow& send) noexcept {
  constexpr uint32_t kLatelyPolls = 12;
  return send.copied_waits + kLatelyPolls > kCopiedWaitPolls;
}

/// Copied puts of so many frames are as large as others of their class: half an octave.
uint32_t Lane::size_class(uint32_t frames) noexcept {
  constexpr uint32_t kGreatest = 15;
  const auto octave = static_cast<uint32_t>(std::bit_width(frames)) - 1;
  const uint32_t half = octave == 0 ? 0 : frames >> (octave - 1) & 1;
  return std::min(2 * octave + half, kGreatest);
}

/// Is it the turn of copied puts of this class?
bool Lane::is_copied_turn(const SendFlow& send, uint32_t size) noexcept {
  return (size == send.copied_size) != send.copied_yields;
}

/// Must records, and copied puts whose turn it is not, wait for one whose turn it is?
bool Lane::is_copied_due(const SendFlow& send) noexcept {
  return was_offered_lately(send) && send.record_lead >= kRecordLeadMax;
}

/// The first small record after a poll need not wait for its turn in a window of many frames: it
/// takes next to nothing from those that wait, and they leave some frames to records anyway. But
/// where the port takes one frame from poll to poll it takes each, so that it counts, too, and
/// waits in the end.
bool Lane::goes_first(const Peer& peer, const SendFlow& send, bool is_small) const noexcept {
  constexpr uint32_t kSmallWindow = 16;
  const uint32_t window = std::min<uint32_t>(nic_.config.window_frames, peer.congestion.frames());
  return is_small && !has_gone_first_ && window > kSmallWindow && send.post_lead < kLeadPartsMax;
}

/// May post() build a frame for a record? If not, the next poll builds those that are due.
bool Lane::may_post(Peer& peer, Flow flow, bool is_small) noexcept {
  SendFlow& send = peer.send[static_cast<size_t>(flow)];
  if (!is_long_due(peer, flow) && !is_copied_due(send)) return true;
  if (goes_first(peer, send, is_small)) return true;
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

/// post() has refused a copied put of so many frames. If no other has its turn it has: from now on
/// the frames of records and of other copied puts count, for a few polls.
void Lane::refuse_copied(SendFlow& send, uint32_t frames) noexcept {
  const uint32_t size = size_class(frames);
  if (send.copied_waits == 0) {
    send.record_lead = 0;
  } else if (!is_copied_turn(send, size)) {
    send.is_crowded = true;
    return;
  } else if (size == send.copied_size) {
    send.copied_waits = kCopiedWaitPolls;
    return;
  }
  send.copied_size = size & 15;
  send.copied_yields = send.is_crowded = false;
  send.copied_waits = kCopiedWaitPolls;
}

/// A copied put of so many frames is taken. If it had its turn, the next one is for those of other
/// sizes that were refused meanwhile.
void Lane::accept_copied(SendFlow& send, uint32_t frames) noexcept {
  if (send.copied_waits == 0) return;
  if (!is_copied_turn(send, size_class(frames))) {
    lead_copied(send, frames);
    return;
  }
  const bool is_others_turn = send.is_crowded && !send.copied_yields;
  send.copied_yields = is_others_turn;
  send.copied_waits = is_others_turn ? kCopiedWaitPolls : 0;
  send.record_lead = 0;
  send.is_crowded = false;
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

/// Counts frames that go before a copied put that waits.
void Lane::lead_copied(SendFlow& send, uint32_t frames) noexcept {
  if (send.copied_waits == 0) return;
  send.record_lead = std::min(send.record_lead + frames, kRecordLeadMax) & kRecordLeadMax;
}

/// Counts a frame of `bytes` that a record has begun; copied puts do not mind the first small one
/// after a poll.
void Lane::lead_with_record(Peer& peer, Flow flow, uint32_t bytes, bool is_small) noexcept {
  SendFlow& send = peer.send[static_cast<size_t>(flow)];
  const bool is_first = goes_first(peer, send, is_small);
  lead(peer, flow, bytes);
  if (is_first) {
    has_gone_first_ = true;
  } else {
    lead_copied(send, 1);
  }
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
