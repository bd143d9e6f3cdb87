// Frames to the port: what to send in this poll, the header's last fields, staging, back-pressure.
#include <cstring>

#include "core/base/bits.h"
#include "nicfw/crc32c.h"
#include "nicfw/lane.h"

namespace pinwire {

inline constexpr uint32_t kAckFrameBytes = 192;
static_assert(kRecordsOffset + kSackBytes <= kAckFrameBytes);

void Lane::attend(Peer& peer) noexcept {
  if (peer.queued) return;
  peer.queued = true;
  attention_[attention_tail_++ & attention_mask_] = rank_of(peer);
}

void Lane::serve_attention() noexcept {
  for (uint32_t left = attention_tail_ - attention_head_; left > 0 && !port_busy_; --left) {
    Peer& peer = peers_[attention_[attention_head_++ & attention_mask_]];
    peer.queued = false;
    if (serve(peer)) attend(peer);
  }
}

/// Sends what may be sent to the peer now. True: something is left for another poll.
bool Lane::serve(Peer& peer) noexcept {
  if (peer.dead) return false;
  bool more = false;
  if (!peer.responses.empty()) pump_responses(peer);
  for (uint32_t f = 0; f < kFlows; ++f) {
    SendFlow& send = peer.send[f];
    const auto flow = static_cast<Flow>(f);
    if (!send.ops.empty()) pump_ops(peer, flow);
    if (send.window == kNoIndex) {
      more |= !send.ops.empty();  // it waits for credit, with nothing in flight: the probe is ours
      continue;
    }
    if (send.lost != 0) retransmit(peer, flow);
    if (send.open) {
      Index index;
      const SendSlot& slot = slot_at(send, send.next - 1, index);
      if (send.in_flight() <= kCoalesceBehind || now_ns_ - slot.sent_ns >= kCoalesceNs) {
        send.open = false;
      }
    }
    transmit(peer, flow);
    more |= send.unsent != send.next || send.lost != 0 || !send.ops.empty();
  }
  const bool room = (peer.refused_messages && may_hold(Flow::kRequest)) ||
                    (peer.refused_responses && responses_.available() > responses_.size() / 2);
  if (room) {
    peer.refused_messages = peer.refused_responses = false;
    peer.room_again = peer.ack_now = true;
  }
  const bool due = peer.ack_now || peer.unacked_frames >= kAckFrames ||
                   (peer.unacked_frames != 0 && peer.ack_since_poll != poll_);
  if (due) stage_ack(peer);
  return more || !peer.responses.empty() || peer.unacked_frames != 0 || peer.refused_messages ||
         peer.refused_responses;
}

void Lane::transmit(Peer& peer, Flow flow) noexcept {
  SendFlow& send = peer.send[static_cast<size_t>(flow)];
  while (!port_busy_ && send.unsent != send.next - (send.open ? 1 : 0)) {
    stage_slot(peer, flow, send.unsent, false);
  }
}

void Lane::retransmit(Peer& peer, Flow flow) noexcept {
  SendFlow& send = peer.send[static_cast<size_t>(flow)];
  const SendWindow& window = windows_[send.window];
  for (uint32_t s = send.una; s != send.unsent && send.lost != 0 && !port_busy_; ++s) {
    if (window.lost[(s % kWindowFramesMax) / 64] >> (s % 64) & 1) stage_slot(peer, flow, s, true);
  }
}

/// Hands one built frame to the port's next burst. Budget: 60 ns for a Short message.
void Lane::stage_slot(Peer& peer, Flow flow, uint32_t sequence, bool again) noexcept {
  SendFlow& send = peer.send[static_cast<size_t>(flow)];
  Index index;
  SendSlot& slot = slot_at(send, sequence, index);
  if (again) {
    windows_[send.window].lost[(sequence % kWindowFramesMax) / 64] &=
        ~(uint64_t{1} << (sequence % 64));
    --send.lost;
    counters_.add(Count::kRetransmits);
    if (slot.volatile_body) {
      snapshot_body(slot);
    } else if (slot.body_bytes != 0) {
      seal(slot);  // a client that changed its source too early gets what it deserves, but no hang
    }
  }
  if (slot.sends == 0) seal(slot);
  FrameHeader header;
  const bool tail = sequence + 1 == send.next;
  header.flags = static_cast<uint8_t>(static_cast<uint8_t>(flow) |
                                      (again || (tail && slot.wants_ack) ? kAckNow : 0));
  header.sequence = sequence;
  header.record_bytes = static_cast<uint16_t>(slot.head_bytes + slot.body_bytes - kRecordsOffset);
  header.checked_bytes = slot.checked_bytes;
  finish_header(peer, slot.head, header, slot.crc);
  slot.sent_ns = now_ns_;
  if (slot.sends != 0xff) ++slot.sends;
  if (!again) send.unsent = sequence + 1;
  if (send.rto_at_ns == 0) {
    send.rto_at_ns = now_ns_ + peer.rtt.backed_off_ns(rto_limits_, send.timeouts, random_);
    set_timer(send.rto_at_ns);
  }
  staged_[staged_count_] =
      TxFrame{slot.head, slot.head_bytes, slot.body_bytes, slot.body, slot.body_key};
  staged_what_[staged_count_] = {rank_of(peer), sequence, flow,
                                 again ? Staged::kAgain : Staged::kFirst};
  if (++staged_count_ == tx_burst_) flush();
}

void Lane::stage_ack(Peer& peer) noexcept {
  std::byte* frame = ack_frames_.get() + size_t{staged_count_} * kAckFrameBytes;
  std::memcpy(frame, peer.encapsulation, kEncapsulationBytes);
  FrameHeader header;
  bool holes = false;
  for (const ReceiveFlow& receive : peer.receive) holes |= receive.has_holes();
  header.kind = holes ? FrameKind::kAckSack : FrameKind::kAck;
  if (peer.room_again) header.flags = kRoomAgain;
  peer.room_again = false;
  if (holes) {
    std::byte* at = frame + kRecordsOffset;
    for (const ReceiveFlow& receive : peer.receive) {
      for (const uint64_t word : receive.sack().words) {
        store_little<uint64_t>(at, word);
        at += sizeof word;
      }
    }
  }
  header.record_bytes = header.checked_bytes = static_cast<uint16_t>(holes ? kSackBytes : 0);
  const uint32_t crc =
      crc32c(crc32c_start(header.checked_bytes), frame + kRecordsOffset, header.checked_bytes);
  finish_header(peer, frame, header, crc);
  peer.ack_now = false;
  peer.unacked_frames = 0;
  counters_.add(Count::kAcksSent);
  staged_[staged_count_] = TxFrame{frame, kRecordsOffset + header.record_bytes, 0, nullptr, 0};
  staged_what_[staged_count_] = {rank_of(peer), 0, Flow::kRequest, Staged::kAck};
  if (++staged_count_ == tx_burst_) flush();
}

/// Every frame acknowledges all three flows.
void Lane::finish_header(Peer& peer, std::byte* frame, FrameHeader& header, uint32_t crc) noexcept {
  header.source = nic_.info.rank;
  header.credit = credit_for(peer);
  bool holes = false;
  for (uint32_t f = 0; f < kFlows; ++f) {
    header.acks[f] = peer.receive[f].next();
    holes |= peer.receive[f].has_holes();
  }
  if (!holes && !peer.room_again) {
    peer.ack_now = false;
    peer.unacked_frames = 0;
  }
  encode_header(frame, header, key_, job_tag_, rank_of(peer), crc);
  patch_length(frame, kRecordsOffset + header.record_bytes);
}

/// What this rank will hold of the peer's request frames: never less than it said before.
uint16_t Lane::credit_for(Peer& peer) noexcept {
  const uint32_t room = request_hold_max_ > held_requests_ ? request_hold_max_ - held_requests_ : 0;
  const uint32_t limit = peer.requests_accepted + std::clamp(room / 2, 1u, kWindowFramesMax);
  if (seq_before(peer.advertised, limit)) peer.advertised = limit;
  return static_cast<uint16_t>(peer.advertised);
}

/// The CRC of the records, once, when the frame is complete.
void Lane::seal(SendSlot& slot) noexcept {
  const uint32_t own = slot.head_bytes - kRecordsOffset;
  const bool device_checks = nic_.config.trust_port_checksums && nic_.facts.udp_checksum_offload;
  const uint32_t checked = own + (device_checks ? 0 : slot.body_bytes);
  slot.checked_bytes = static_cast<uint16_t>(checked);
  uint32_t crc = crc32c(crc32c_start(checked), slot.head + kRecordsOffset, own);
  if (checked > own) crc = crc32c(crc, slot.body, slot.body_bytes);
  slot.crc = crc;
  if (slot.body_key != 0 && nic_.facts.zero_copy_tx) {
    counters_.add(Count::kTxZeroCopyBytes, slot.body_bytes);
  } else if (slot.body_bytes != 0) {
    counters_.add(Count::kTxCopiedBytes, slot.body_bytes);
  }
}

/// The source of a get may change between its CRC and the device's read of it: the receiver drops
/// such a frame, and its repetition is sent from a copy, so that it cannot happen twice.
void Lane::snapshot_body(SendSlot& slot) noexcept {
  const Index buffer = slot.buffer == kNoIndex ? buffers_.take() : kNoIndex;
  if (buffer == kNoIndex) {
    seal(slot);
    return;
  }
  std::byte* copy = buffer_bytes_.get() + size_t{buffer} * buffer_stride_;
  std::memcpy(copy, slot.head, slot.head_bytes);
  std::memcpy(copy + slot.head_bytes, slot.body, slot.body_bytes);
  slot.head = copy;
  slot.buffer = buffer;
  slot.head_bytes = static_cast<uint16_t>(slot.head_bytes + slot.body_bytes);
  slot.body = nullptr;
  slot.body_bytes = 0;
  slot.body_key = 0;
  slot.volatile_body = false;
  seal(slot);
}

void Lane::flush() noexcept {
  if (staged_count_ == 0) return;
  const uint32_t count = staged_count_;
  const uint32_t taken = nic_.port.tx(index_, std::span(staged_, count));
  staged_count_ = 0;
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < taken; ++i) bytes += staged_[i].head_bytes + staged_[i].body_bytes;
  counters_.add(Count::kFramesSent, taken);
  counters_.add(Count::kBytesSent, bytes);
  if (taken == count) return;
  counters_.add(Count::kPortBusy);
  port_busy_ = true;
  for (uint32_t i = count; i > taken; --i) unstage(staged_what_[i - 1]);
}

/// The port did not take it: as if it had not been staged.
void Lane::unstage(const Staged& staged) noexcept {
  Peer& peer = peers_[staged.peer];
  attend(peer);
  if (staged.what == Staged::kAck) {
    peer.ack_now = true;
    return;
  }
  SendFlow& send = peer.send[static_cast<size_t>(staged.flow)];
  Index index;
  SendSlot& slot = slot_at(send, staged.sequence, index);
  if (staged.what == Staged::kAgain) {
    mark_lost(send, staged.sequence);
  } else {
    send.unsent = staged.sequence;
    slot.sends = 0;
  }
}

}  // namespace pinwire
