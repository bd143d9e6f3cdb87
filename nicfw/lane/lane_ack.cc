// Acknowledgements: what the peer has accepted, and the credit it gives.
#include "core/base/bits.h"
#include "nicfw/lane/lane.h"

namespace pinwire {

SendSlot& Lane::slot_at(const SendFlow& flow, uint32_t sequence, Index& index) noexcept {
  index = windows_[flow.window].slot[sequence % kWindowFramesMax];
  return slots_[index];
}

bool Lane::acks_valid(const Peer& peer, const FrameHeader& header) const noexcept {
  for (uint32_t f = 0; f < kFlows; ++f) {
    if (seq_before(peer.send[f].unsent, header.acks[f])) return false;
  }
  return true;
}

void Lane::take_acks(Peer& peer, const FrameHeader& header, const SackBitmap* sacks) noexcept {
  for (uint32_t f = 0; f < kFlows; ++f) {
    if (peer.send[f].window == kNoIndex) continue;
    take_flow_ack(peer, static_cast<Flow>(f), header, sacks != nullptr ? &sacks[f] : nullptr);
  }
  take_credit(peer, header.credit, header.number == peer.arrived.newest());
  if (header.kind == FrameKind::kRecords) return;
  for (uint32_t f = 0; f < kFlows; ++f) {
    if (header.flags & room_flag(static_cast<Flow>(f))) repeat_refused(peer, peer.send[f]);
  }
}

/// The peer has room again for a flow of which it refused frames.
void Lane::repeat_refused(Peer& peer, SendFlow& send) noexcept {
  if (send.window == kNoIndex || send.una == send.unsent) return;
  send.timeouts = 0;
  forget_question(peer, windows_[send.window].flow);
  for (uint32_t s = send.una; s != send.unsent; ++s) {
    const Index index = windows_[send.window].slot[s % kWindowFramesMax];
    // A frame that was sent within the last round trip may not have been refused.
    if (index == kNoIndex || slots_[index].sent_ns + peer.rtt.least_ns() > now_ns_) continue;
    mark_lost(send, s);
  }
  attend(peer);
}

/// How long a frame and its acknowledgement were in the fabric: without the acknowledgement's wait
/// at the receiver, and without the time that it may have waited for this poll. 0: unknown.
uint64_t Lane::fabric_delay_ns(uint64_t rtt_ns, uint16_t host_delay) const noexcept {
  if (rtt_ns == 0 || host_delay == kHostDelayUnknown) return 0;
  const uint64_t hosts_ns = uint64_t{host_delay} * kHostDelayUnitNs + (now_ns_ - previous_ns_);
  return rtt_ns > hosts_ns ? rtt_ns - hosts_ns : 1;
}

void Lane::note_path(uint64_t path_ns) noexcept {
  if (path_ns == 0 || (shortest_path_ns_ != 0 && path_ns >= shortest_path_ns_)) return;
  shortest_path_ns_ = path_ns;
}

void Lane::take_flow_ack(Peer& peer, Flow flow, const FrameHeader& header,
                         const SackBitmap* sack) noexcept {
  const uint32_t ack = header.acks[static_cast<size_t>(flow)];
  const uint32_t in_flight = peer.congestion.is_controlled() ? frames_on_wire(peer) : 0;
  SendFlow& send = peer.send[static_cast<size_t>(flow)];
  SendWindow& window = windows_[send.window];
  uint64_t newest_ns = 0;
  uint64_t rtt_ns = 0, sure_rtt_ns = 0;
  uint64_t wait_ns = 0;
  bool was_late = false;
  uint32_t acked = 0;
  const bool has_doubts = PathProbe::has_doubts(peer);
  const auto acknowledge = [&](uint32_t sequence) noexcept {
    Index& index = window.slot[sequence % kWindowFramesMax];
    if (index == kNoIndex) return false;
    SendSlot& slot = slots_[index];
    const uint64_t took_ns = now_ns_ > slot.sent_ns ? now_ns_ - slot.sent_ns : 0;
    // A frame restamped in this very poll says nothing about the round trip.
    if (slot.sends == 1 && took_ns != 0 && slot.sent_ns >= absent_until_ns_) {
      // The newest of several counts: the others waited for a lost acknowledgement.
      uint64_t& least_ns = slot.is_restamped ? rtt_ns : sure_rtt_ns;
      least_ns = least_ns == 0 ? took_ns : std::min(least_ns, took_ns);
    }
    if (slot.sends == 1) {
      wait_ns = std::max(wait_ns, waited_ns(slot.sent_ns));
    } else {
      was_late |= !peer.rtt.is_answer(took_ns);
    }
    // The acknowledgement of a repeated frame may be the first copy's.
    const bool certain = slot.sends == 1 || took_ns >= peer.rtt.least_ns();
    if (!certain) paths_.retract_loss(peer, slot.frame_bytes());
    const uint64_t sent_ns = slot.sent_ns > now_ns_ ? previous_ns_ : slot.sent_ns;
    if (certain && sent_ns > newest_ns) newest_ns = sent_ns;
    if (has_doubts) [[unlikely]]
      paths_.dispel_doubts(peer, slot.frame_bytes());
    unmark_lost(send, sequence);
    slot_acked(send, slot, index);
    index = kNoIndex;
    ++acked;
    return true;
  };
  for (; seq_before(send.una, ack); ++send.una) {
    if (!acknowledge(send.una)) --send.sacked;
  }
  for (uint32_t w = 0; sack != nullptr && w < sack->words.size(); ++w) {
    for (uint64_t bits = sack->words[w]; bits != 0; bits &= bits - 1) {
      const uint32_t sequence = ack + w * 64 + static_cast<uint32_t>(std::countr_zero(bits));
      const bool outstanding = !seq_before(sequence, send.una) && seq_before(sequence, send.unsent);
      if (outstanding && acknowledge(sequence)) ++send.sacked;
    }
  }
  if (acked == 0) return;
  const bool is_sure = sure_rtt_ns != 0;
  if (is_sure) rtt_ns = sure_rtt_ns;
  const uint64_t since_asked_ns = static_cast<uint32_t>(now_ns_) - peer.asked_at_ns;
  if (peer.asked_flows >> static_cast<uint32_t>(flow) & 1) {
    // It may answer the question: then an acknowledgement was lost, and the peer is not late.
    was_late |= !peer.rtt.is_answer(since_asked_ns);
    rtt_ns = 0;
  }
  // A frame that left before the peer was asked waited with others until the peer polled again.
  if (rtt_ns >= since_asked_ns) rtt_ns = 0;
  if (rtt_ns != 0) peer.rtt.sample(rtt_ns, is_sure);
  // An acknowledgement that came after a timeout may have waited for the repetition.
  const bool is_certain = send.timeouts == 0 && !was_late;
  peer.rtt.waited(is_certain ? wait_ns : 0);
  if (!was_late) send.backoff = 0;
  if (peer.congestion.is_controlled()) {
    peer.congestion.on_ack({.frames = acked,
                            .in_flight = in_flight,
                            .delay_ns = is_certain ? fabric_delay_ns(rtt_ns, header.host_delay) : 0,
                            .poll_gap_ns = now_ns_ - previous_ns_,
                            .round_trip_ns = peer.rtt.smoothed_ns(),
                            .now_ns = now_ns_,
                            .is_quiet = header.is_quiet && load_.is_low(),
                            .longest_ns = is_certain ? rtt_ns : 0,
                            .shortest_path_ns = shortest_path_ns_});
    note_path(peer.congestion.idle_path_ns());
  }
  const bool was_timed_out = send.timeouts != 0;
  send.timeouts = 0;
  if (was_timed_out) forget_question(peer, flow);
  send.rto_at_ns = 0;
  send.is_answered = false;
  attend(peer);  // the windows may have room for what waits
  if (send.una == send.next) {
    close_window(peer, flow);
    return;
  }
  if (send.una == send.unsent) return;
  send.rto_at_ns = now_ns_ + timeout_ns(peer, send);
  set_timer(send.rto_at_ns);
  find_lost_after(peer, flow, newest_ns, was_timed_out && newest_ns == 0);
}

void Lane::slot_acked(SendFlow& send, SendSlot& slot, Index index) noexcept {
  while (slot.ops != kNoIndex) {
    const Index op = slot.ops;
    slot.ops = ops_[op].link;
    ops_.finish(op, WorkStatus::kOk);
  }
  if (slot.fragment != kNoIndex) ops_.frame_acked(slot.fragment);
  release_slot(send, slot, index);
}

void Lane::release_slot(SendFlow& send, SendSlot& slot, Index index) noexcept {
  if (slot.buffer != kNoIndex) {
    dcheck(send.buffers > 0, "a flow gives back a buffer that it does not hold", index);
    buffer_share_.gave(--send.buffers, slot.flow == Flow::kReply);
    buffers_.give(slot.buffer);
  }
  dcheck(send.slots > 0, "a flow gives back a slot that it does not hold", index);
  slot_share_.gave(--send.slots, slot.flow == Flow::kReply);
  slots_.give(index);
}

void Lane::open_window(Peer& peer, Flow flow, Index index) noexcept {
  SendFlow& send = peer.send[static_cast<size_t>(flow)];
  SendWindow& window = windows_[index];
  send.window = index;
  for (uint64_t& word : window.lost) word = 0;
  window.peer = rank_of(peer);
  window.flow = flow;
  window.active_at = active_count_;
  window.deferred_ns = 0;
  active_windows_[active_count_++] = index;
  if (peer.active_flows++ != 0) return;
  liveness_.start_watch(peer);
  if (now_ns_ > peer.pace_at_ns + CongestionWindow::kIdleNs) peer.congestion.restart();
}

void Lane::close_window(Peer& peer, Flow flow) noexcept {
  SendFlow& send = peer.send[static_cast<size_t>(flow)];
  const uint32_t at = windows_[send.window].active_at;
  active_windows_[at] = active_windows_[--active_count_];
  windows_[active_windows_[at]].active_at = at;
  windows_.give(send.window);
  send.window = kNoIndex;
  send.rto_at_ns = send.reorder_at_ns = 0;
  send.open = false;
  --peer.active_flows;
  // From here on the peer may be idle; below one frame the time of the next is later still.
  peer.pace_at_ns = std::max(peer.pace_at_ns, now_ns_);
}

}  // namespace pinwire
