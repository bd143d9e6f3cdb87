// Chooses who builds the next frame of a flow.
//
// Three kinds share the flow's window: records that clients post; copied puts, of which post()
// builds all frames at once or none; and what waits, long puts and the answers of gets, which polls
// build. Threads that post without end take each frame that an acknowledgement gives back before
// the next poll can, and a copied put never finds all it needs in a window that others fill. A flow
// that was refused therefore gets its turn after a few frames of the others:
//  - post_lead is what post() has built since a waiting operation was denied a frame. When it is
//    kPostLeadMax post() waits, until the operation has made up for it. A short frame counts for
//    its part of a long one.
//  - copied_turns, while a copied put was refused lately and lacks nothing that others than its
//    flow hold: sizes of copied puts, and records, take turns (copied_turns.h).
//  - small_waits: a record was refused. Copied puts wait for it, and long ones leave a frame.
// The first small record after a poll waits for neither, unless very many have gone before.
#include "nicfw/lane/lane.h"

namespace pinwire {

/// Must post() wait for the operations that wait? Not before the windows, or way that they made,
/// denied them a frame: at first they may lack nothing but room in the port.
bool Lane::is_long_due(const Peer& peer, Flow flow) noexcept {
  const SendFlow& send = peer.send[static_cast<size_t>(flow)];
  return send.post_lead >= kPostLeadMax && send.is_denied && peer.has_waiting(flow);
}

/// Must records, and copied puts whose turn it is not, wait for one whose turn it is?
bool Lane::is_copied_due(const SendFlow& send) const noexcept {
  return send.copied_turns != kNoIndex && copied_turns_[send.copied_turns].is_due();
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
bool Lane::makes_way(const Peer& peer, Flow flow) const noexcept {
  const SendFlow& send = peer.send[static_cast<size_t>(flow)];
  if (is_long_due(peer, flow)) return false;
  const bool has_turns = send.copied_turns != kNoIndex;
  if (send.in_flight() != 0) return has_turns;
  if (send.small_waits != 0) return true;
  return has_turns && copied_turns_[send.copied_turns].was_offered_lately();
}

/// A waiting operation got no frame: from now on what post() builds counts.
void Lane::deny(SendFlow& send) noexcept {
  if (!send.is_denied) send.post_lead = 0;
  send.is_denied = true;
}

/// post() has refused a copied put of so many frames. Should all flows that there is room for have
/// turns, this one has none.
void Lane::refuse_copied(SendFlow& send, uint32_t frames) noexcept {
  if (send.copied_turns == kNoIndex) {
    send.copied_turns = copied_turns_.take();
    if (send.copied_turns == kNoIndex) return;
    copied_turns_[send.copied_turns].start();
  }
  copied_turns_[send.copied_turns].refuse(frames);
}

void Lane::accept_copied(SendFlow& send, uint32_t frames) noexcept {
  if (send.copied_turns == kNoIndex) return;
  if (!copied_turns_[send.copied_turns].accept(frames)) end_copied_turns(send);
}

void Lane::end_copied_turns(SendFlow& send) noexcept {
  if (send.copied_turns == kNoIndex) return;
  copied_turns_.give(send.copied_turns);
  send.copied_turns = kNoIndex;
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

/// Counts a frame that goes before copied puts that wait.
void Lane::lead_copied(const SendFlow& send) noexcept {
  if (send.copied_turns != kNoIndex) copied_turns_[send.copied_turns].lead(1);
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
    lead_copied(send);
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
