// Frames to the port: what to send in this poll, staging, back-pressure.
#include "nicfw/lane/lane.h"

namespace pinwire {

void Lane::attend(Peer& peer) noexcept {
  if (peer.queued) return;
  peer.queued = true;
  attention_.push(rank_of(peer));
}

/// Round-robin: each flow builds at most kTurnFrames long frames in a turn, so that a flow with a
/// megabyte to send puts no more than that before the eight bytes of another peer. Turns follow
/// each other while the port takes frames, and its queue has room for long ones.
void Lane::serve_attention() noexcept {
  first_denied_ = kNobody;
  bool cut = true;
  while (cut && !port_busy_) {
    cut = false;
    for (uint32_t left = attention_.size(); left > 0 && !port_busy_; --left) {
      Peer& peer = peers_[attention_.pop()];
      peer.queued = false;
      if (serve(peer)) attend(peer);
      cut |= turn_cut_;
    }
  }
  if (first_denied_ == kNobody) return;
  while (attention_.first() != first_denied_) attention_.push(attention_.pop());
}

/// From here on so many long frames may be built until the turn ends; fewer if the port has no room
/// for them and for those that its turns have built before.
void Lane::begin_turn(const Peer& peer, const SendFlow& send, uint32_t frames_max) noexcept {
  const uint32_t free = backlog_.frames_left(peer.path_bytes);
  const uint32_t room = free - std::min(free, turn_frames_waiting(send));
  turn_is_full_ = room >= frames_max;
  turn_left_ = std::min(frames_max, room);
  shorts_left_ = backlog_.shorts_left();
}

/// How many of the next frames that leave, of a turn at most, were built by turns and found no room
/// later: others may have taken it. Records and copied puts do not count, because long ones would
/// wait for all of them.
uint32_t Lane::turn_frames_waiting(const SendFlow& send) noexcept {
  if (!backlog_.is_limited()) return 0;
  const uint32_t end = send.unsent + std::min(send.next - send.unsent, kTurnFrames);
  uint32_t frames = 0;
  for (uint32_t s = send.unsent; s != end; ++s) {
    Index index;
    const SendSlot& slot = slot_at(send, s, index);
    const bool is_part = slot.fragment != kNoIndex || slot.volatile_body;
    frames += is_part && slot.buffer == kNoIndex ? 1 : 0;
  }
  return frames;
}

/// May a frame with the rest of a payload not be built now?
bool Lane::turn_is_over(uint64_t payload_left) noexcept {
  if (payload_left <= kShortPayload && shorts_left_ != 0) {
    --shorts_left_;
    return false;
  }
  if (turn_left_ == 0) {
    (turn_is_full_ ? turn_cut_ : port_is_full_) = true;
    return true;
  }
  if (turn_left_ != kNoTurn) --turn_left_;
  has_moved_ = true;
  return false;
}

/// Has the flow nothing to build or send, now or in a later poll?
bool Lane::is_quiet(const Peer& peer, Flow flow) noexcept {
  const SendFlow& send = peer.send[static_cast<size_t>(flow)];
  return send.window == kNoIndex && !peer.has_waiting(flow) && send.small_waits == 0 &&
         send.copied_turns == kNoIndex;
}

/// Sends what may be sent to the peer now. True: something is left for another poll. Where the port
/// had no room for a flow, that one is the first next time.
bool Lane::serve(Peer& peer) noexcept {
  turn_cut_ = false;
  if (peer.dead) return false;
  bool more = false, was_denied = false, has_sent = false;
  uint32_t f = peer.first_flow;
  for (uint32_t turn = 0; turn < kFlows; ++turn) {
    const uint32_t following = f + 1 == kFlows ? 0 : f + 1;
    if (is_quiet(peer, static_cast<Flow>(f))) {
      f = following;
      continue;
    }
    SendFlow& send = peer.send[f];
    port_is_full_ = has_moved_ = false;
    const uint64_t pace_at_ns = peer.pace_at_ns;
    serve_flow(peer, static_cast<Flow>(f));
    // The flows take turns at the one frame that a window below it lets go.
    if (peer.pace_at_ns != pace_at_ns) peer.first_flow = static_cast<uint8_t>(following);
    holds_frames_ |= port_is_full_ || send.open || makes_way(peer, static_cast<Flow>(f));
    more |= send.unsent != send.next || send.lost != 0 || !send.ops.empty();
    if (port_is_full_ && !was_denied)
      peer.first_flow = static_cast<uint8_t>(has_moved_ ? following : f);
    was_denied |= port_is_full_ && !has_moved_;
    has_sent |= has_moved_;
    f = following;
  }
  if (was_denied && !has_sent && first_denied_ == kNobody) first_denied_ = rank_of(peer);
  holds_frames_ |= peer.refused != 0 || peer.congestion.is_below_one();
  if (peer.refused != 0) tell_of_room(peer);
  // Another frame that left in this poll acknowledged for it, but did not ask.
  const bool due = peer.ack_now || peer.asks_credit || peer.owes_answer ||
                   peer.unacked_frames >= kAckFrames ||
                   (peer.unacked_frames != 0 && peer.ack_since_poll != poll_);
  if (due) stage_ack(peer);
  return more || !peer.responses.empty() || peer.unacked_frames != 0 || peer.refused != 0 ||
         peer.owes_answer;
}

void Lane::serve_flow(Peer& peer, Flow flow) noexcept {
  SendFlow& send = peer.send[static_cast<size_t>(flow)];
  build_long(peer, flow);
  if (send.window == kNoIndex) return;  // ops that wait for credit have the probe to wait for
  if (send.lost != 0) retransmit(peer, flow);
  send_built(peer, flow);
}

void Lane::build_long(Peer& peer, Flow flow) noexcept {
  SendFlow& send = peer.send[static_cast<size_t>(flow)];
  if (flow == Flow::kReply && !peer.responses.empty()) {
    begin_turn(peer, send, kTurnFrames);
    pump_responses(peer);
  }
  if (send.small_waits != 0) --send.small_waits;
  if (send.copied_turns != kNoIndex && !copied_turns_[send.copied_turns].pass_poll())
    end_copied_turns(send);
  if (!send.ops.empty()) {
    begin_turn(peer, send, kTurnFrames);
    pump_ops(peer, flow);
  }
  turn_left_ = kNoTurn;
}

void Lane::send_built(Peer& peer, Flow flow) noexcept {
  SendFlow& send = peer.send[static_cast<size_t>(flow)];
  if (send.open) {
    Index index;
    const SendSlot& slot = slot_at(send, send.next - 1, index);
    if (send.in_flight() <= kCoalesceBehind || now_ns_ - slot.sent_ns >= kCoalesceNs) {
      send.open = false;
    }
  }
  transmit(peer, flow);
}

/// Has the peer repeat what was refused, flow by flow, as soon as it would be accepted.
void Lane::tell_of_room(Peer& peer) noexcept {
  for (uint32_t f = 0; f < kFlows; ++f) {
    const auto flow = static_cast<Flow>(f);
    const uint8_t flag = room_flag(flow);
    if (!(peer.refused & flag) || !may_accept(peer, flow)) continue;
    peer.refused = static_cast<uint8_t>(peer.refused & ~flag);
    peer.room_again = static_cast<uint8_t>(peer.room_again | flag);
    peer.ack_now = true;
  }
}

/// The flows (refusal_flag()) of which this rank has refused frames and still has no room for more.
uint8_t Lane::refusing(const Peer& peer) const noexcept {
  if (peer.refused == 0) [[likely]]
    return 0;
  uint8_t flags = 0;
  for (const Flow flow : {Flow::kRequest, Flow::kReply, Flow::kOneSided}) {
    if (peer.refused & room_flag(flow) && !has_room(peer, flow)) flags |= refusal_flag(flow);
  }
  return flags;
}

/// Does this rank accept a frame of the flow that waits for no other?
bool Lane::has_room(const Peer& peer, Flow flow) const noexcept {
  return flow == Flow::kOneSided ? responses_.may_owe(peer, kAsksPerFrameMax)
                                 : messages_.may_hold(flow);
}

bool Lane::may_accept(const Peer& peer, Flow flow) const noexcept {
  if (!has_room(peer, flow)) return false;
  if (flow == Flow::kOneSided) return true;
  if (flow == Flow::kRequest && peer.is_hungry) return false;
  return messages_.may_park(flow) || !peer.receive[static_cast<size_t>(flow)].has_holes();
}

/// May a frame of this flow leave now? As congestion_allows(), of what is on the wire: a copied put
/// is built as a whole, whatever the window. A window below one frame waits for its time, too.
bool Lane::may_send(const Peer& peer, const SendFlow& send) const noexcept {
  if (!peer.congestion.is_controlled()) return true;
  if (peer.congestion.is_below_one()) {
    return now_ns_ >= peer.pace_at_ns && send.on_wire() == 0;
  }
  return send.on_wire() == 0 || frames_on_wire(peer) < peer.congestion.frames();
}

bool Lane::asks_for_room(const SendFlow& send, uint32_t sequence) noexcept {
  Index index;
  return TxBacklog::asks(slot_at(send, sequence, index).frame_bytes());
}

void Lane::transmit(Peer& peer, Flow flow) noexcept {
  SendFlow& send = peer.send[static_cast<size_t>(flow)];
  while (!port_busy_ && send.unsent != send.next - (send.open ? 1 : 0) && may_send(peer, send)) {
    if (is_narrow(peer) && pieces_must_wait(peer, send, send.unsent)) [[unlikely]]
      return;
    if (backlog_.is_limited() && asks_for_room(send, send.unsent)) {
      Index index;
      if (!backlog_.has_room_for(slot_at(send, send.unsent, index).frame_bytes())) {
        port_is_full_ = true;
        return;
      }
      has_moved_ = true;
    }
    stage_slot(peer, flow, send.unsent, false);
  }
}

void Lane::retransmit(Peer& peer, Flow flow) noexcept {
  SendFlow& send = peer.send[static_cast<size_t>(flow)];
  const SendWindow& window = windows_[send.window];
  for (uint32_t s = send.una; s != send.unsent && send.lost != 0 && !port_busy_; ++s) {
    if (!is_lost(window, s)) continue;
    // The frame that a timeout repeats must not wait for the frames behind it: they may be lost,
    // too.
    const bool due = s == send.una && now_ns_ >= peer.pace_at_ns;
    if (!due && !may_send(peer, send)) return;
    if (is_narrow(peer) && pieces_must_wait(peer, send, s)) [[unlikely]]
      return;
    stage_slot(peer, flow, s, true);
  }
}

/// Seals a frame once for each time that the port takes it. A body that the client changed too
/// early is sealed as it is now, so that a repetition is not damaged, too.
void Lane::prepare(const Peer& peer, SendFlow& send, SendSlot& slot) noexcept {
  const bool sealed_for_this = slot.sealed_sends == slot.sends + 1;
  if (sealed_for_this || (slot.sealed_sends != 0 && slot.body_bytes == 0)) return;
  if (slot.sends != 0 && slot.volatile_body) snapshot_body(send, slot);
  seal(rank_of(peer), slot);
  slot.sealed_sends = static_cast<uint8_t>(slot.sends + 1);
}

/// Hands one built frame to the port's next burst. Budget: 60 ns for a Short message.
void Lane::stage_slot(Peer& peer, Flow flow, uint32_t sequence, bool again) noexcept {
  SendFlow& send = peer.send[static_cast<size_t>(flow)];
  Index index;
  SendSlot& slot = slot_at(send, sequence, index);
  if (again) unmark_lost(send, sequence);
  prepare(peer, send, slot);
  const uint32_t frame_bytes = slot.frame_bytes();
  const bool in_pieces = frame_bytes > peer.path_bytes;
  if (again && slot.sends >= kSendsBeforeDoubt && frame_bytes > nic_.config.path_bytes) [[unlikely]]
    want_wide(peer);
  FrameHeader header;
  const bool tail = sequence + 1 == send.next;
  header.flags = static_cast<uint8_t>(
      static_cast<uint8_t>(flow) | (again || (tail && slot.wants_ack) ? kAckNow : 0) |
      (slot.payload_bytes != 0 && leaves_body_unhashed() ? kBodyUnhashed : 0));
  header.sequence = sequence;
  header.record_bytes = static_cast<uint16_t>(frame_bytes - kRecordsOffset);
  header.head_bytes = static_cast<uint16_t>(header.record_bytes - slot.payload_bytes);
  if (!in_pieces) finish_header(peer, slot.head, header, slot.hashes);
  const uint64_t sent_before_ns = slot.sent_ns;
  slot.sent_ns = now_ns_;
  slot.was_posted = !is_polling_;
  if (peer.congestion.is_below_one()) {
    peer.pace_at_ns = now_ns_ + peer.congestion.pace_ns(peer.rtt.smoothed_ns());
  }
  // At the limit it alternates: each send has another number than the one before it.
  slot.sends = static_cast<uint8_t>(slot.sends < kSendsMax ? slot.sends + 1 : kSendsMax - 1);
  if (!again) send.unsent = sequence + 1;
  if (send.rto_at_ns == 0) {
    send.rto_at_ns = now_ns_ + timeout_ns(peer, send);
    set_timer(send.rto_at_ns);
  }
  if (in_pieces) [[unlikely]] {
    stage_pieces(peer, header, again);
    return;
  }
  staged_[staged_count_] =
      TxFrame{slot.head, slot.head_bytes, slot.body_bytes, slot.body, slot.body_key};
  staged_what_[staged_count_] = {
      rank_of(peer), sequence, flow, again ? Staged::kAgain : Staged::kFirst, 0, sent_before_ns};
  backlog_.add(frame_bytes);
  if (++staged_count_ == tx_burst_) flush();
}

void Lane::flush() noexcept {
  if (staged_count_ == 0) return;
  const uint32_t count = staged_count_;
  const uint32_t taken = nic_.port.tx(index_, std::span(staged_, count));
  staged_count_ = 0;
  uint64_t bytes = 0;
  uint32_t again = 0;
  for (uint32_t i = 0; i < taken; ++i) {
    bytes += staged_[i].head_bytes + staged_[i].body_bytes;
    again += staged_what_[i].what == Staged::kAgain ? 1 : 0;
  }
  counters_.add(Count::kFramesSent, taken);
  has_sent_ |= taken != 0;
  counters_.add(Count::kRetransmits, again);
  counters_.add(Count::kBytesSent, bytes);
  load_.add(bytes);
  if (taken == count) return;
  counters_.add(Count::kPortBusy);
  port_busy_ = true;
  for (uint32_t i = count; i > taken; --i) {
    backlog_.take_back(staged_[i - 1].head_bytes + staged_[i - 1].body_bytes);
    unstage(staged_what_[i - 1]);
  }
}

/// The port did not take it: as if it had not been staged.
void Lane::unstage(const Staged& staged) noexcept {
  Peer& peer = peers_[staged.peer];
  attend(peer);
  if (staged.what == Staged::kAck) {
    peer.ack_now = peer.owes_answer = true;
    peer.room_again = static_cast<uint8_t>(peer.room_again | (staged.flags & ~kAckNow));
    peer.asks_credit |= (staged.flags & kAckNow) != 0;
    peer.probed_bytes = std::max(peer.probed_bytes, static_cast<uint16_t>(staged.sequence));
    return;
  }
  if (staged.what == Staged::kProbe) {
    PathProbe::refused(peer);
    return;
  }
  SendFlow& send = peer.send[static_cast<size_t>(staged.flow)];
  Index index;
  SendSlot& slot = slot_at(send, staged.sequence, index);
  if (staged.what == Staged::kPiece) {
    slot.pieces_taken = staged.flags;
    mark_lost(send, staged.sequence);
    return;
  }
  --slot.sends;
  slot.sent_ns = staged.sent_before_ns;
  if (staged.what == Staged::kAgain) {
    mark_lost(send, staged.sequence);
  } else {
    // Frames in pieces behind it count as lost, but are now as if they had not been sent.
    for (uint32_t s = staged.sequence; s != send.unsent; ++s) unmark_lost(send, s);
    send.unsent = staged.sequence;
  }
}

}  // namespace pinwire
