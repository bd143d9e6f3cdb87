// Puts and put-sends of frames of their own, cut as the windows allow.
#include <cstring>

#include "nicfw/lane.h"

namespace pinwire {

/// A put, or put-send, of a frame or more of its own.
bool Lane::accept_long(Peer& peer, Flow flow, const Work& work) noexcept {
  uint32_t unused_key = 0;
  if (!(work.flags & kWorkCopied) && !local_key(work, unused_key)) return true;
  const Index index = take_op(work);
  if (index == kNoIndex) return false;
  Operation& op = ops_[index];
  if (work.head_bytes != 0) std::memcpy(op.head, work.head, work.head_bytes);
  if (work.flags & kWorkCopied) {
    // Everything must be copied now, or nothing be accepted.
    const auto frames = static_cast<uint32_t>(
        copied_put_frames(work.bytes, put_fragment_bytes(peer.frame_bytes_max)));
    check(frames <= nic_.config.window_frames / 2 && frames <= buffers_.size() / 2,
          "post: kWorkCopied with more payload than copied_bytes_max", work.bytes);
    const SendFlow& send = peer.send[static_cast<size_t>(flow)];
    const bool room = send.next - send.una + frames <= nic_.config.window_frames &&
                      congestion_allows(peer, send, 0) &&
                      share_allows(send.in_flight(), frames, slots_.available(), slot_reserve_,
                                   flow == Flow::kReply) &&
                      share_allows(send.buffers, frames, buffers_.available(), buffer_reserve_,
                                   flow == Flow::kReply);
    const bool allowed = room && (work.op == Op::kPut || credit_allows(peer, flow));
    copying_ = true;
    const bool whole = allowed && pump_op(peer, flow, op, index);
    copying_ = false;
    if (!whole) {
      check(op.built == 0, "a copied put was cut", op.built);
      drop_op(index);
    }
    if (whole) send_whole(peer, flow);
    return whole;
  }
  peer.send[static_cast<size_t>(flow)].ops.push(ops_, index);
  pump_ops(peer, flow);
  send_whole(peer, flow);
  return true;
}

/// Frames of their own have nothing to wait for.
void Lane::send_whole(Peer& peer, Flow flow) noexcept {
  attend(peer);
  transmit(peer, flow);
}

void Lane::pump_ops(Peer& peer, Flow flow) noexcept {
  SendFlow& send = peer.send[static_cast<size_t>(flow)];
  while (!send.ops.empty()) {
    const Index index = send.ops.head;
    const Index following = ops_[index].link;
    if (!pump_op(peer, flow, ops_[index], index)) break;
    send.ops.head = following;
  }
}

/// Builds what the windows allow of a long put. True: all of it.
bool Lane::pump_op(Peer& peer, Flow flow, Operation& op, Index index) noexcept {
  while (op.built < op.work.bytes) {
    if (turn_is_over() || !build_fragment(peer, flow, op, index)) return false;
  }
  if (op.all_built) return true;
  if (op.work.op == Op::kPutSend) {  // the last fragment had no room for the message
    if (!credit_allows(peer, flow)) return false;
    SendSlot* slot = start_frame(peer, flow, false, frames_for_records(peer, flow));
    if (slot == nullptr) return false;
    slot->fragment = index;
    put_message(peer, flow, op, *slot);
    ++op.frames;
  }
  op.all_built = true;
  return true;
}

/// Adds the message of a put-send to an empty frame.
void Lane::put_message(Peer& peer, Flow flow, Operation& op, SendSlot& slot) noexcept {
  const uint32_t sequence = peer.send[static_cast<size_t>(flow)].next - 1;
  Record record{};
  record.type = RecordType::kMessage;
  record.bytes = op.work.head_bytes;
  record.before = sequence - op.first_sequence;
  std::byte* at = slot.head + kRecordsOffset;
  at += encode_record(at, record);
  std::memcpy(at, op.head, op.work.head_bytes);
  slot.head_bytes =
      static_cast<uint16_t>(kRecordsOffset + kMessageHeaderBytes + op.work.head_bytes);
  slot.has_message = true;
  if (flow == Flow::kRequest) ++peer.requests_built;
  counters_.add(Count::kMessagesSent);
}

bool Lane::build_fragment(Peer& peer, Flow flow, Operation& op, Index index) noexcept {
  const Work& work = op.work;
  const bool copied = work.flags & kWorkCopied;
  const uint32_t fields = record_fields(RecordType::kPut);
  const uint64_t left = work.bytes - op.built;
  if (left > fragment_bytes(peer) && is_narrow(peer)) [[unlikely]]
    want_wide(peer);
  // A copied put must fit in half of a window, so that it goes in few frames, if need be in pieces.
  const uint32_t frame_bytes_max = copied ? peer.frame_bytes_max : peer.path_bytes;
  const auto bytes =
      static_cast<uint32_t>(std::min<uint64_t>(left, put_fragment_bytes(frame_bytes_max)));
  // The message of a put-send travels in the frame of the last fragment if there is room.
  const uint32_t message = record_stride(kMessageHeaderBytes, work.head_bytes);
  const bool with_message = work.op == Op::kPutSend && bytes == left &&
                            kRecordsOffset + message + fields + bytes <= frame_bytes_max;
  if (with_message && !credit_allows(peer, flow)) return false;
  uint32_t body_key = 0;
  if (!copied && work.local_key != kNoRegion) {
    const Regions::Entry* entry = nic_.regions.find(work.local_key);
    body_key = entry != nullptr ? entry->port_key : 0;
  }
  SendSlot* slot = start_frame(peer, flow, copied, frames_for_records(peer, flow));
  if (slot == nullptr) return false;
  if (!op.started) op.first_sequence = peer.send[static_cast<size_t>(flow)].next - 1;
  op.started = true;
  if (with_message) {
    put_message(peer, flow, op, *slot);
    std::memset(slot->head + slot->head_bytes, 0, kRecordsOffset + message - slot->head_bytes);
    slot->head_bytes = static_cast<uint16_t>(kRecordsOffset + message);
    op.all_built = true;
  }
  Record record{};
  record.type = RecordType::kPut;
  record.bytes = static_cast<uint16_t>(bytes);
  record.key = work.remote_key;
  record.op = op_name(index);
  record.address = work.remote + op.built;
  record.offset = op.built;
  record.length = work.bytes;
  std::byte* at = slot->head + slot->head_bytes;
  encode_record(at, record);
  slot->head_bytes = static_cast<uint16_t>(slot->head_bytes + fields);
  const std::byte* from = static_cast<const std::byte*>(work.local) + op.built;
  slot->payload_bytes = static_cast<uint16_t>(bytes);
  if (copied) {
    std::memcpy(at + fields, from, bytes);
    slot->head_bytes = static_cast<uint16_t>(slot->head_bytes + bytes);
    counters_.add(Count::kTxCopiedBytes, bytes);
  } else {
    slot->body = from;
    slot->body_bytes = slot->payload_bytes;
    slot->body_key = body_key;
    // Without a Done the client goes by what the peer says, which may overtake the acknowledgement.
    slot->volatile_body = (work.flags & kWorkSilent) != 0;
  }
  slot->wants_ack = true;
  slot->fragment = index;
  ++op.frames;
  op.built += bytes;
  return true;
}

}  // namespace pinwire
