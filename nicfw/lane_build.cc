// Work into frames.
#include <cstring>

#include "core/base/bits.h"
#include "nicfw/lane.h"

namespace pinwire {
namespace {

constexpr Flow flow_of(MessageClass cls) noexcept {
  return cls == MessageClass::kRequest ? Flow::kRequest : Flow::kReply;
}

}  // namespace

bool Lane::accept(const Work& work) noexcept {
  check(work.peer < nic_.info.rank_count, "post: no such rank", work.peer, nic_.info.rank_count);
  Peer& peer = peers_[work.peer];
  check(peer.connected, "post: the rank is not connected", work.peer);
  check(work.head_bytes <= kHeadBytesMax && work.head_bytes % 8 == 0, "post: bad head_bytes",
        work.head_bytes);
  if (peer.dead) return accept_dead(work);
  switch (work.op) {
    case Op::kSend:
      return accept_send(peer, work);
    case Op::kPut:
      return accept_put(peer, work);
    case Op::kPutSend:
      return accept_put_send(peer, work);
    case Op::kGet:
      return accept_get(peer, work);
    case Op::kFetchOp:
    case Op::kCompareSwap:
      return accept_atomic(peer, work);
  }
  check(false, "post: no such operation", static_cast<uint8_t>(work.op));
  return false;
}

bool Lane::accept_send(Peer& peer, const Work& work) noexcept {
  const Flow flow = flow_of(work.cls);
  const uint64_t total = work.head_bytes + work.bytes;
  check(total <= peer.frame_bytes_max - kRecordsOffset - kMessageHeaderBytes,
        "post: message larger than send_bytes_max", total);
  const bool copied = work.flags & kWorkCopied || work.bytes <= kCopyBytes;
  uint32_t body_key = 0;
  if (!copied && !local_key(work, body_key)) return true;
  const Index op = work.flags & kWorkSilent ? kNoIndex : take_op(work);
  if (op == kNoIndex && !(work.flags & kWorkSilent)) return false;

  const auto own_bytes = static_cast<uint32_t>(copied ? total : work.head_bytes);
  SendSlot* slot = nullptr;
  std::byte* at = nullptr;
  if (copied) {
    at = reserve_record(peer, flow, kMessageHeaderBytes + own_bytes, Kind::kMessage, slot);
  } else if (credit_allows(peer, flow) && (slot = start_frame(peer, flow, false)) != nullptr) {
    at = slot->head + kRecordsOffset;
    slot->head_bytes = static_cast<uint16_t>(kRecordsOffset + kMessageHeaderBytes + own_bytes);
    slot->body = static_cast<const std::byte*>(work.local);
    slot->body_bytes = static_cast<uint32_t>(work.bytes);
    slot->body_key = body_key;
    slot->has_message = true;
    if (flow == Flow::kRequest) ++peer.requests_built;
  }
  if (at == nullptr) {
    if (op != kNoIndex) drop_op(op);
    return false;
  }
  Record record{};
  record.type = RecordType::kMessage;
  record.bytes = static_cast<uint16_t>(total);
  at += encode_record(at, record);
  if (work.head_bytes != 0) std::memcpy(at, work.head, work.head_bytes);
  if (copied && work.bytes != 0) {
    std::memcpy(at + work.head_bytes, work.local, work.bytes);
    counters_.add(Count::kTxCopiedBytes, work.bytes);
  }
  if (op != kNoIndex) chain_op(*slot, op);
  counters_.add(Count::kMessagesSent);
  built(peer, flow);
  return true;
}

bool Lane::accept_put(Peer& peer, const Work& work) noexcept {
  check(work.bytes <= kPutBytesMax, "post: put larger than put_bytes_max", work.bytes);
  if (work.bytes == 0) {
    const Index op = take_op(work);
    if (op != kNoIndex) finish_op(op, WorkStatus::kOk);
    return op != kNoIndex;
  }
  const bool small =
      work.bytes <= kCopyBytes || (work.flags & kWorkCopied && work.bytes <= peer.fragment_bytes);
  if (!small) return accept_long(peer, Flow::kOneSided, work);

  const Index op = take_op(work);
  if (op == kNoIndex) return false;
  SendSlot* slot = nullptr;
  std::byte* at = reserve_record(
      peer, Flow::kOneSided, record_fields(RecordType::kPut) + static_cast<uint32_t>(work.bytes),
      Kind::kPlain, slot);
  if (at == nullptr) {
    drop_op(op);
    return false;
  }
  Record record{};
  record.type = RecordType::kPut;
  record.bytes = static_cast<uint16_t>(work.bytes);
  record.key = work.remote_key;
  record.op = op_name(op);
  record.address = work.remote;
  record.length = work.bytes;
  at += encode_record(at, record);
  std::memcpy(at, work.local, work.bytes);
  counters_.add(Count::kTxCopiedBytes, work.bytes);
  slot->wants_ack = true;
  chain_op(*slot, op);
  ops_[op].all_built = true;
  built(peer, Flow::kOneSided);
  return true;
}

bool Lane::accept_put_send(Peer& peer, const Work& work) noexcept {
  check(work.bytes <= kPutBytesMax, "post: put larger than put_bytes_max", work.bytes);
  if (work.bytes != 0) return accept_long(peer, flow_of(work.cls), work);
  Work plain = work;
  plain.op = Op::kSend;
  return accept_send(peer, plain);
}

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
    const uint64_t frames = work.bytes / peer.fragment_bytes + 2;
    check(frames <= nic_.config.window_frames / 2 && frames <= buffers_.size() / 2,
          "post: kWorkCopied with more payload than this driver copies", work.bytes);
    const SendFlow& send = peer.send[static_cast<size_t>(flow)];
    const bool room = send.next - send.una + frames <= nic_.config.window_frames &&
                      send.in_flight() < peer.congestion.frames() &&
                      slots_.available() >= frames + slots_.size() / 4 &&
                      buffers_.available() >= frames + buffers_.size() / 4;
    const bool allowed = room && (work.op == Op::kPut || credit_allows(peer, flow));
    copying_ = true;
    const bool whole = allowed && pump_op(peer, flow, op, index);
    copying_ = false;
    if (!whole) {
      check(op.built == 0, "a copied put was cut", op.built);
      drop_op(index);
    }
    if (whole) built(peer, flow);
    return whole;
  }
  peer.send[static_cast<size_t>(flow)].ops.push(ops_, index);
  pump_ops(peer, flow);
  built(peer, flow);
  return true;
}

bool Lane::accept_get(Peer& peer, const Work& work) noexcept {
  uint32_t unused_key = 0;
  if (!local_key(work, unused_key)) return true;
  const Index index = take_op(work);
  if (index == kNoIndex) return false;
  if (work.bytes == 0) {
    finish_op(index, WorkStatus::kOk);
    return true;
  }
  SendSlot* slot = nullptr;
  std::byte* at =
      reserve_record(peer, Flow::kOneSided, record_fields(RecordType::kGet), Kind::kAsk, slot);
  if (at == nullptr) {
    drop_op(index);
    return false;
  }
  ops_[index].remaining = work.bytes;
  Record record{};
  record.type = RecordType::kGet;
  record.key = work.remote_key;
  record.op = op_name(index);
  record.address = work.remote;
  record.length = work.bytes;
  encode_record(at, record);
  built(peer, Flow::kOneSided);
  return true;
}

bool Lane::accept_atomic(Peer& peer, const Work& work) noexcept {
  const Index index = take_op(work);
  if (index == kNoIndex) return false;
  SendSlot* slot = nullptr;
  std::byte* at =
      reserve_record(peer, Flow::kOneSided, record_fields(RecordType::kAtomic), Kind::kAsk, slot);
  if (at == nullptr) {
    drop_op(index);
    return false;
  }
  AtomicOperands operands;
  std::memcpy(&operands, work.head, sizeof operands);
  ops_[index].remaining = sizeof(uint64_t);
  Record record{};
  record.type = RecordType::kAtomic;
  record.code = static_cast<uint8_t>(operands.code);
  record.key = work.remote_key;
  record.op = op_name(index);
  record.address = work.remote;
  record.operand = operands.operand;
  record.compare = operands.compare;
  encode_record(at, record);
  built(peer, Flow::kOneSided);
  return true;
}

bool Lane::accept_dead(const Work& work) noexcept {
  const Index op = take_op(work);
  if (op != kNoIndex) finish_op(op, WorkStatus::kUnreachable);
  return op != kNoIndex;
}

Index Lane::take_op(const Work& work) noexcept {
  const Index index = ops_.take();
  if (index == kNoIndex) return kNoIndex;
  Operation& op = ops_[index];
  op.work = work;
  op.built = 0;
  op.remaining = 0;
  op.frames = 0;
  op.link = kNoIndex;
  op.state = OpState::kActive;
  op.status = WorkStatus::kOk;
  op.started = false;
  op.all_built = false;
  return index;
}

void Lane::drop_op(Index index) noexcept {
  Operation& op = ops_[index];
  op.state = OpState::kFree;
  ++op.generation;
  ops_.give(index);
}

uint64_t Lane::op_name(Index index) const noexcept {
  return index | uint64_t{ops_[index].generation} << 16;
}

/// The operation that a peer's response names, or kNoIndex.
Index Lane::find_op(uint64_t name, Rank peer) const noexcept {
  const auto index = static_cast<Index>(name & 0xffff);
  if (index >= ops_.size()) return kNoIndex;
  const Operation& op = ops_[index];
  const bool same = op.state == OpState::kActive && op_name(index) == name && op.work.peer == peer;
  return same ? index : kNoIndex;
}

/// False: `local` is not what `local_key` names; the work has been finished with that status.
bool Lane::local_key(const Work& work, uint32_t& port_key) noexcept {
  port_key = 0;
  if (work.local_key == kNoRegion) return true;
  const auto address = reinterpret_cast<uint64_t>(work.local);
  const Regions::Entry* entry = nic_.regions.find(work.local_key, address, work.bytes);
  if (entry != nullptr) {
    port_key = entry->port_key;
    return true;
  }
  nic_.fail(
      work.peer, WorkStatus::kLocalAccess,
      "local buffer [0x%llx, +%llu) for rank %u is not inside the pinned region with key 0x%x",
      static_cast<unsigned long long>(address), static_cast<unsigned long long>(work.bytes),
      work.peer, work.local_key);
  const Index op = take_op(work);
  if (op != kNoIndex) finish_op(op, WorkStatus::kLocalAccess);
  return false;
}

/// May one more frame with request messages be built? Credit is advice (lane.h): with none, and
/// nothing in flight that would bring more, one frame goes after a timeout.
bool Lane::credit_allows(Peer& peer, Flow flow) noexcept {
  if (flow != Flow::kRequest) return true;
  if (copying_ || seq_before(peer.requests_built, peer.request_limit)) return true;
  counters_.add(Count::kCreditStalls);
  const bool quiet = peer.send[static_cast<size_t>(flow)].in_flight() == 0;
  if (quiet && peer.credit_probe_at_ns != 0 && now_ns_ >= peer.credit_probe_at_ns) {
    peer.credit_probe_at_ns = 0;
    counters_.add(Count::kCreditProbes);
    return true;
  }
  if (!quiet) peer.credit_probe_at_ns = 0;
  if (quiet && peer.credit_probe_at_ns == 0) {
    peer.credit_probe_at_ns = now_ns_ + peer.rtt.rto_ns(rto_limits_);
  }
  return false;
}

bool Lane::may_build(const Peer& peer, Flow flow) const noexcept {
  const SendFlow& send = peer.send[static_cast<size_t>(flow)];
  return send.next - send.una < nic_.config.window_frames &&
         (copying_ || send.in_flight() < peer.congestion.frames());
}

SendSlot* Lane::start_frame(Peer& peer, Flow flow, bool large) noexcept {
  SendFlow& send = peer.send[static_cast<size_t>(flow)];
  if (!may_build(peer, flow)) return nullptr;
  const bool reserve = flow != Flow::kReply;
  if (send.window == kNoIndex) {
    const Index window = windows_.take(reserve ? windows_.size() / 4 : 0);
    if (window == kNoIndex) return nullptr;
    open_window(peer, flow, window);
  }
  const Index index = slots_.take(reserve ? slots_.size() / 4 : 0);
  if (index == kNoIndex) return nullptr;
  SendSlot& slot = slots_[index];
  slot = SendSlot{};
  slot.head = small_frames_.get() + size_t{index} * kSmallFrameBytes;
  if (large) {
    slot.buffer = buffers_.take(reserve ? buffers_.size() / 4 : 0);
    if (slot.buffer == kNoIndex) {
      slots_.give(index);
      return nullptr;
    }
    slot.head = buffer_bytes_.get() + size_t{slot.buffer} * buffer_stride_;
  }
  std::memcpy(slot.head, peer.encapsulation, kEncapsulationBytes);
  slot.head_bytes = kRecordsOffset;
  slot.sent_ns = now_ns_;
  send.open = false;
  windows_[send.window].slot[send.next % kWindowFramesMax] = index;
  ++send.next;
  return &slot;
}

std::byte* Lane::reserve_record(Peer& peer, Flow flow, uint32_t bytes, Kind kind,
                                SendSlot*& slot) noexcept {
  SendFlow& send = peer.send[static_cast<size_t>(flow)];
  if (send.open) {
    Index index;
    slot = &slot_at(send, send.next - 1, index);
    const uint32_t at = align_up<uint32_t>(slot->head_bytes, kRecordAlign);
    const bool credited = kind != Kind::kMessage || slot->has_message;
    const bool answerable = kind != Kind::kAsk || slot->asks < kAsksPerFrameMax;
    if (at + bytes <= peer.frame_bytes_max && credited && answerable) {
      slot->asks = static_cast<uint8_t>(slot->asks + (kind == Kind::kAsk ? 1 : 0));
      std::memset(slot->head + slot->head_bytes, 0, at - slot->head_bytes);
      slot->head_bytes = static_cast<uint16_t>(at + bytes);
      return slot->head + at;
    }
    send.open = false;
    attend(peer);
  }
  const bool message = kind == Kind::kMessage;
  if (message && !credit_allows(peer, flow)) return nullptr;
  const bool collect = nic_.config.coalesce && send.in_flight() >= kCoalesceBehind;
  slot = start_frame(peer, flow, collect || bytes > kSmallFrameBytes - kRecordsOffset);
  if (slot == nullptr) return nullptr;
  send.open = collect;
  slot->has_message = message;
  slot->asks = kind == Kind::kAsk ? 1 : 0;
  if (message && flow == Flow::kRequest) ++peer.requests_built;
  slot->head_bytes = static_cast<uint16_t>(kRecordsOffset + bytes);
  return slot->head + kRecordsOffset;
}

void Lane::chain_op(SendSlot& slot, Index op) noexcept {
  ops_[op].link = slot.ops;
  slot.ops = op;
}

/// After something was added to a flow: send it now if little is in flight, else with the next
/// poll.
void Lane::built(Peer& peer, Flow flow) noexcept {
  SendFlow& send = peer.send[static_cast<size_t>(flow)];
  attend(peer);
  const uint32_t waiting = send.next - send.unsent;
  if (send.in_flight() <= kCoalesceBehind || waiting > kBurst / 2) transmit(peer, flow);
}

void Lane::pump_ops(Peer& peer, Flow flow) noexcept {
  IndexList& list = peer.send[static_cast<size_t>(flow)].ops;
  while (!list.empty()) {
    const Index index = list.head;
    const Index following = ops_[index].link;
    if (!pump_op(peer, flow, ops_[index], index)) return;
    list.head = following;
  }
}

/// Builds what the windows allow of a long put. True: all of it.
bool Lane::pump_op(Peer& peer, Flow flow, Operation& op, Index index) noexcept {
  while (op.built < op.work.bytes) {
    if (!build_fragment(peer, flow, op, index)) return false;
  }
  if (op.all_built) return true;
  if (op.work.op == Op::kPutSend) {  // the last fragment had no room for the message
    if (!credit_allows(peer, flow)) return false;
    SendSlot* slot = start_frame(peer, flow, false);
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
  const auto bytes = static_cast<uint32_t>(std::min<uint64_t>(left, peer.fragment_bytes));
  // The message of a put-send travels in the frame of the last fragment if there is room.
  const uint32_t message = record_stride(kMessageHeaderBytes, work.head_bytes);
  const bool with_message = work.op == Op::kPutSend && bytes == left &&
                            kRecordsOffset + message + fields + bytes <= peer.frame_bytes_max;
  if (with_message && !credit_allows(peer, flow)) return false;
  uint32_t body_key = 0;
  if (!copied && work.local_key != kNoRegion) {
    const Regions::Entry* entry = nic_.regions.find(work.local_key);
    body_key = entry != nullptr ? entry->port_key : 0;
  }
  SendSlot* slot = start_frame(peer, flow, copied);
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
  if (copied) {
    std::memcpy(at + fields, from, bytes);
    slot->head_bytes = static_cast<uint16_t>(slot->head_bytes + bytes);
    counters_.add(Count::kTxCopiedBytes, bytes);
  } else {
    slot->body = from;
    slot->body_bytes = bytes;
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

void Lane::pump_responses(Peer& peer) noexcept {
  while (!peer.responses.empty()) {
    const Index index = peer.responses.head;
    if (!pump_response(peer, responses_[index])) return;
    peer.responses.pop(responses_);
    responses_.give(index);
  }
}

bool Lane::pump_response(Peer& peer, Response& response) noexcept {
  if (response.record.type == RecordType::kGetData) {
    while (response.built < response.record.length) {
      if (!build_get_data(peer, response)) return false;
    }
    return true;
  }
  SendSlot* slot = nullptr;
  std::byte* at =
      reserve_record(peer, Flow::kReply, record_fields(response.record.type), Kind::kPlain, slot);
  if (at == nullptr) return false;
  encode_record(at, response.record);
  return true;
}

bool Lane::build_get_data(Peer& peer, Response& response) noexcept {
  Record record = response.record;
  const uint64_t left = record.length - response.built;
  const auto bytes = static_cast<uint32_t>(std::min<uint64_t>(left, peer.fragment_bytes));
  const uint32_t fields = record_fields(RecordType::kGetData);
  const uint64_t from = record.address + response.built;
  const Regions::Entry* entry = nic_.regions.find(record.key, from, bytes);
  if (entry == nullptr) {  // unpinned under a peer's get: the peer's client did not wait
    response.built = record.length;
    return true;
  }
  const bool copied = bytes <= kCopyBytes;
  SendSlot* slot = nullptr;
  std::byte* at = nullptr;
  if (copied) {
    at = reserve_record(peer, Flow::kReply, fields + bytes, Kind::kPlain, slot);
  } else if ((slot = start_frame(peer, Flow::kReply, false)) != nullptr) {
    at = slot->head + kRecordsOffset;
    slot->head_bytes = static_cast<uint16_t>(kRecordsOffset + fields);
    slot->body = reinterpret_cast<const std::byte*>(from);
    slot->body_bytes = bytes;
    slot->body_key = entry->port_key;
    slot->volatile_body = true;
  }
  if (at == nullptr) return false;
  record.bytes = static_cast<uint16_t>(bytes);
  record.offset = response.built;
  encode_record(at, record);
  if (copied) {
    std::memcpy(at + fields, reinterpret_cast<const std::byte*>(from), bytes);
    counters_.add(Count::kTxCopiedBytes, bytes);
  }
  response.built += bytes;
  return true;
}

}  // namespace pinwire
