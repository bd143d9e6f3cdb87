// Puts and put-sends of frames of their own, cut as the windows allow.
#include <cstring>

#include "nicfw/lane/lane.h"

namespace pinwire {

/// A put, or put-send, of a frame or more of its own.
bool Lane::accept_long(Peer& peer, Flow flow, const Work& work) noexcept {
  uint32_t unused_key = 0;
  if (!(work.flags & kWorkCopied) && !local_key(work, unused_key)) return true;
  const Index index = ops_.take(work);
  if (index == kNoIndex) return false;
  Operation& op = ops_[index];
  if (work.head_bytes != 0) std::memcpy(op.head, work.head, work.head_bytes);
  if (work.flags & kWorkCopied) return accept_copied_long(peer, flow, op, index);
  SendFlow& send = peer.send[static_cast<size_t>(flow)];
  send.ops.of(is_one_frame(peer, work)).push(ops_, index);
  begin_turn(peer, send, kNoTurn);
  pump_ops(peer, flow);
  turn_left_ = kNoTurn;
  send_whole(peer, flow);
  return true;
}

/// Everything must be copied now, or nothing be accepted.
bool Lane::accept_copied_long(Peer& peer, Flow flow, Operation& op, Index index) noexcept {
  SendFlow& send = peer.send[static_cast<size_t>(flow)];
  const CopiedFrames frames = copied_frames_of(peer, op.work);
  if (op.work.op == Op::kPut || credit_allows(peer, flow)) {
    copying_ = whole_fits(peer, flow, frames);
    if (copying_) accept_copied(send, frames.slots);
  } else {
    refuse_copied(send, frames.slots);
  }
  const bool whole = copying_ && build_whole(peer, flow, op, index);
  copying_ = false;
  if (!whole) {
    check(op.built == 0, "a copied put was cut", op.built);
    attend(peer);  // which counts the polls, and builds what is due
    ops_.drop(index);
    return false;
  }
  lead(peer, flow, op.frames * peer.path_bytes);
  send_whole(peer, flow);
  return true;
}

Lane::CopiedFrames Lane::copied_frames_of(const Peer& peer, const Work& work) const noexcept {
  const uint64_t fragment = put_fragment_bytes(peer.frame_bytes_max);
  check(copied_put_frames(work.bytes, static_cast<uint32_t>(fragment)) <=
            copied_frames(nic_.config.window_frames),
        "post: kWorkCopied with more payload than copied_bytes_max", work.bytes);
  const auto buffers = static_cast<uint32_t>((work.bytes + fragment - 1) / fragment);
  const uint64_t last_bytes = work.bytes - (buffers - 1) * fragment;
  const bool is_joined =
      work.op == Op::kPut || message_fits(peer.frame_bytes_max, work, last_bytes);
  return {.buffers = buffers, .slots = buffers + (is_joined ? 0 : 1)};
}

/// Are there slots and buffers for all frames of a copied put at once? One of replies is built
/// whatever the congestion window says, like a record (start_record_frame()). A peer that was heard
/// lately may have some that nobody else may (pool_share.h). If it was not, it is asked, so that a
/// peer that is there can have them a round trip later.
bool Lane::whole_fits(Peer& peer, Flow flow, CopiedFrames frames) noexcept {
  const uint32_t buffers = frames.buffers, slots = frames.slots;
  SendFlow& send = peer.send[static_cast<size_t>(flow)];
  if (is_copied_due(send) && !copied_turns_[send.copied_turns].is_turn(slots)) {
    refuse_copied(send, slots);
    return false;
  }
  if (is_long_due(peer, flow) || (send.small_waits != 0 && !is_copied_due(send))) {
    refuse_copied(send, slots);
    return false;
  }
  const bool is_reply = flow == Flow::kReply;
  if (send.next - send.una + slots > nic_.config.window_frames ||
      (!is_reply && !congestion_allows(peer, send, 0))) {
    refuse_copied(send, slots);
    return false;
  }
  const auto fits = [&](auto allows) noexcept {
    return (slot_share_.*allows)(send.slots, slots, slots_.available(), is_reply) &&
           (buffer_share_.*allows)(send.buffers, buffers, buffers_.available(), is_reply);
  };
  if (fits(&PoolShare::allows)) return true;
  const bool is_there = Liveness::is_attentive(peer, previous_ns_);
  if (!is_there) ask_for_presence(peer);
  if (is_there) peer.presence_asks = 0;
  if (is_there && fits(&PoolShare::allows_whole)) return true;
  if (send.buffers != 0) {
    refuse_copied(send, slots);  // records of its flow may have them
  } else if (send.copied_turns != kNoIndex) {
    copied_turns_[send.copied_turns].forget_lead();  // others have them: records need not wait
  }
  return false;
}

/// Can the frame of the last fragment, of `put_bytes`, carry the message of a put-send, too?
bool Lane::message_fits(uint32_t frame_bytes_max, const Work& work, uint64_t put_bytes) noexcept {
  const uint32_t message = record_stride(kMessageHeaderBytes, work.head_bytes);
  return kRecordsOffset + message + record_fields(RecordType::kPut) + put_bytes <= frame_bytes_max;
}

/// Frames of their own have nothing to wait for.
void Lane::send_whole(Peer& peer, Flow flow) noexcept {
  attend(peer);
  transmit(peer, flow);
}

void Lane::pump_ops(Peer& peer, Flow flow) noexcept {
  SendFlow& send = peer.send[static_cast<size_t>(flow)];
  if (makes_way(peer, flow)) {
    deny(send);
    return;
  }
  const auto build = [&](IndexRing& queue) noexcept {
    const Built built = build_first(peer, flow, queue);
    follow(send, built);
    return built;
  };
  send.short_lead = build_in_turns(send.ops, send.short_lead, send, build) & kLeadMax;
}

/// The next frame, or record, of the first operation that waits.
Built Lane::build_first(Peer& peer, Flow flow, IndexRing& queue) noexcept {
  const Index index = queue.first(ops_);
  Operation& op = ops_[index];
  if (is_ask(op.work)) return build_ask(peer, queue);
  const Built built = build_next(peer, flow, op, index);
  if (built == Built::kSome && op.all_built) queue.pop(ops_);
  return built;
}

/// May one frame carry all of it? A path that becomes narrow later does not move it.
bool Lane::is_one_frame(const Peer& peer, const Work& work) noexcept {
  return work.bytes <= fragment_bytes(peer) &&
         (work.op == Op::kPut || message_fits(peer.path_bytes, work, work.bytes));
}

/// False: the windows do not allow all of it, and it is cut. Its first frames travel while the rest
/// is copied.
bool Lane::build_whole(Peer& peer, Flow flow, Operation& op, Index index) noexcept {
  constexpr uint32_t kFramesAtOnce = 4;
  const SendFlow& send = peer.send[static_cast<size_t>(flow)];
  while (!op.all_built) {
    if (build_next(peer, flow, op, index) != Built::kSome) return false;
    if (send.next - send.unsent < kFramesAtOnce) continue;
    transmit(peer, flow);
    flush();
  }
  return true;
}

/// The next frame of a put.
Built Lane::build_next(Peer& peer, Flow flow, Operation& op, Index index) noexcept {
  const bool is_fragment = op.built < op.work.bytes;
  if (is_fragment && turn_is_over(op.work.bytes - op.built)) return Built::kNoRoom;
  const bool has_built =
      is_fragment ? build_fragment(peer, flow, op, index) : build_message(peer, flow, op, index);
  return has_built ? Built::kSome : Built::kNoFrame;
}

/// The message of a put-send for which the frame of the last fragment had no room.
bool Lane::build_message(Peer& peer, Flow flow, Operation& op, Index index) noexcept {
  if (!credit_allows(peer, flow)) return false;
  SendSlot* slot = start_frame(peer, flow, false, frames_for_records(peer, flow));
  if (slot == nullptr) return false;
  slot->fragment = index;
  put_message(peer, flow, op, *slot);
  ++op.frames;
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
  const bool with_message =
      work.op == Op::kPutSend && bytes == left && message_fits(frame_bytes_max, work, bytes);
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
  record.op = ops_.name(index);
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
  if (work.op == Op::kPut && bytes == left) op.all_built = true;
  return true;
}

}  // namespace pinwire
