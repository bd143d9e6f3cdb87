// Work that post() takes: small operations become records at once, long ones are queued for
// lane_long.cc, gets and atomics go to lane_ask.cc.
#include <cstring>

#include "core/base/bits.h"
#include "nicfw/lane/lane.h"

namespace pinwire {

bool Lane::accept(const Work& work) noexcept {
  check(work.peer < nic_.info.rank_count, "post: no such rank", work.peer, nic_.info.rank_count);
  Peer& peer = peers_[work.peer];
  check(peer.connected, "post: the rank is not connected", work.peer);
  check(work.head_bytes <= kHeadBytesMax && work.head_bytes % 8 == 0, "post: bad head_bytes",
        work.head_bytes);
  if (peer.is_gone && !peer.dead) give_up(peer);
  if (peer.dead) {
    const bool taken = accept_dead(work);
    if (taken && (work.flags & kWorkLent)) buffers_.give(static_cast<Index>(work.lent));
    return taken;
  }
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
    case Op::kScatter:
      return accept_scatter(peer, work);
  }
  check(false, "post: no such operation", static_cast<uint8_t>(work.op));
  return false;
}

bool Lane::accept_send(Peer& peer, const Work& work) noexcept {
  const Flow flow = flow_of(work);
  const uint64_t total = work.head_bytes + work.bytes;
  check(total <= peer.frame_bytes_max - kRecordsOffset - kMessageHeaderBytes,
        "post: message larger than send_bytes_max", total);
  const bool lent = work.flags & kWorkLent;
  const bool copied = work.bytes <= kCopyBytes || (work.flags & kWorkCopied && !lent);
  uint32_t body_key = lent ? nic_.frames.port_key : 0;
  if (!copied && !lent && !local_key(work, body_key)) return true;
  const Index op = work.flags & kWorkSilent ? kNoIndex : ops_.take(work);
  if (op == kNoIndex && !(work.flags & kWorkSilent)) return false;

  // The first message of a frame may wait for the frames before it.
  SendFlow& send = peer.send[static_cast<size_t>(flow)];
  const bool fenced = work.flags & kWorkFenced;
  if (fenced) send.open = false;
  const auto own_bytes = static_cast<uint32_t>(copied ? total : work.head_bytes);
  SendSlot* slot = nullptr;
  std::byte* at = nullptr;
  if (copied) {
    at = reserve_record(peer, flow, kMessageHeaderBytes + own_bytes, Kind::kMessage, slot);
  } else if (may_post(peer, flow, false) && credit_allows(peer, flow) &&
             (slot = start_record_frame(peer, flow, false, false)) != nullptr) {
    at = slot->head + kRecordsOffset;
    slot->head_bytes = static_cast<uint16_t>(kRecordsOffset + kMessageHeaderBytes + own_bytes);
    slot->body = static_cast<const std::byte*>(work.local);
    slot->body_bytes = slot->payload_bytes = static_cast<uint16_t>(work.bytes);
    slot->body_key = body_key;
    if (lent) {
      take_buffer(send, *slot, static_cast<Index>(work.lent));
    }
    slot->has_message = true;
    if (flow == Flow::kRequest) ++peer.requests_built;
    lead(peer, flow, slot->frame_bytes());
    lead_copied(send);
  }
  if (at == nullptr) {
    if (op != kNoIndex) ops_.drop(op);
    return false;
  }
  Record record{};
  record.type = RecordType::kMessage;
  record.bytes = static_cast<uint16_t>(total);
  if (fenced) record.before = send.next - 1 - send.una;
  at += encode_record(at, record);
  if (work.head_bytes != 0) std::memcpy(at, work.head, work.head_bytes);
  if (copied && work.bytes != 0) {
    std::memcpy(at + work.head_bytes, work.local, work.bytes);
    counters_.add(Count::kTxCopiedBytes, work.bytes);
  }
  if (lent && copied) buffers_.give(static_cast<Index>(work.lent));
  if (op != kNoIndex) chain_op(*slot, op);
  counters_.add(Count::kMessagesSent);
  built(peer, flow);
  return true;
}

bool Lane::accept_put(Peer& peer, const Work& work) noexcept {
  check(work.bytes <= kPutBytesMax, "post: put larger than put_bytes_max", work.bytes);
  if (work.bytes == 0) {
    const Index op = ops_.take(work);
    if (op != kNoIndex) ops_.finish(op, WorkStatus::kOk);
    return op != kNoIndex;
  }
  const bool small =
      work.bytes <= kCopyBytes || (work.flags & kWorkCopied && work.bytes <= fragment_bytes(peer));
  if (!small) return accept_long(peer, Flow::kOneSided, work);

  const Index op = ops_.take(work);
  if (op == kNoIndex) return false;
  SendSlot* slot = nullptr;
  std::byte* at = reserve_record(
      peer, Flow::kOneSided, record_fields(RecordType::kPut) + static_cast<uint32_t>(work.bytes),
      Kind::kPlain, slot);
  if (at == nullptr) {
    ops_.drop(op);
    return false;
  }
  copy_put(at, work, op);
  if (work.bytes > kCopyBytes) slot->payload_bytes = static_cast<uint16_t>(work.bytes);
  slot->wants_ack = true;
  chain_op(*slot, op);
  ops_[op].all_built = true;
  built(peer, Flow::kOneSided);
  return true;
}

/// Writes the record of a put that one frame carries, and its data; returns where they end.
std::byte* Lane::copy_put(std::byte* at, const Work& work, Index op) noexcept {
  Record record{};
  record.type = RecordType::kPut;
  record.bytes = static_cast<uint16_t>(work.bytes);
  record.key = work.remote_key;
  record.op = ops_.name(op);
  record.address = work.remote;
  record.length = work.bytes;
  at += encode_record(at, record);
  std::memcpy(at, work.local, work.bytes);
  counters_.add(Count::kTxCopiedBytes, work.bytes);
  return at + work.bytes;
}

bool Lane::accept_put_send(Peer& peer, const Work& work) noexcept {
  check(work.bytes <= kPutBytesMax, "post: put larger than put_bytes_max", work.bytes);
  if (work.bytes == 0) {
    Work plain = work;
    plain.op = Op::kSend;
    return accept_send(peer, plain);
  }
  const bool one_frame =
      work.flags & kWorkCopied && work.bytes <= copied_frame_bytes(peer.frame_bytes_max);
  return one_frame ? accept_copied_put_send(peer, flow_of(work), work)
                   : accept_long(peer, flow_of(work), work);
}

/// Put and message side by side in one frame, which others may share: a receiver places all data of
/// a frame before it hands out a message of it.
bool Lane::accept_copied_put_send(Peer& peer, Flow flow, const Work& work) noexcept {
  const Index op = ops_.take(work);
  if (op == kNoIndex) return false;
  const uint32_t stride =
      record_stride(record_fields(RecordType::kPut), static_cast<uint32_t>(work.bytes));
  SendSlot* slot = nullptr;
  std::byte* at = reserve_record(peer, flow, stride + kMessageHeaderBytes + work.head_bytes,
                                 Kind::kMessage, slot);
  if (at == nullptr) {
    ops_.drop(op);
    return false;
  }
  std::byte* next = at + stride;
  std::byte* end = copy_put(at, work, op);
  std::memset(end, 0, static_cast<size_t>(next - end));
  Record message{};
  message.type = RecordType::kMessage;
  message.bytes = work.head_bytes;
  at = next + encode_record(next, message);
  if (work.head_bytes != 0) std::memcpy(at, work.head, work.head_bytes);
  counters_.add(Count::kMessagesSent);
  slot->wants_ack = slot->wants_ack || (work.flags & kWorkSilent) == 0;
  chain_op(*slot, op);
  ops_[op].all_built = true;
  built(peer, flow);
  return true;
}

bool Lane::accept_dead(const Work& work) noexcept {
  const Index op = ops_.take(work);
  if (op != kNoIndex) ops_.finish(op, WorkStatus::kUnreachable);
  return op != kNoIndex;
}

/// False: `local` is not what `local_key` names; the work has been finished with that status.
bool Lane::local_key(const Work& work, uint32_t& port_key) noexcept {
  port_key = 0;
  if (work.local_key == kNoRegion) return true;
  const auto address = reinterpret_cast<uint64_t>(work.local);
  const Regions::Entry* entry = nic_.regions.find(work.local_key, address, work.bytes);
  if (entry == nullptr) [[unlikely]] {
    fail_local(work);
    return false;
  }
  port_key = entry->port_key;
  return true;
}

void Lane::fail_local(const Work& work) noexcept {
  nic_.failure.record(
      work.peer, WorkStatus::kLocalAccess,
      "local buffer [0x%llx, +%llu) for rank %u is not inside the pinned region with key 0x%x",
      static_cast<unsigned long long>(reinterpret_cast<uint64_t>(work.local)),
      static_cast<unsigned long long>(work.bytes), work.peer, work.local_key);
  const Index op = ops_.take(work);
  if (op != kNoIndex) ops_.finish(op, WorkStatus::kLocalAccess);
}

}  // namespace pinwire
