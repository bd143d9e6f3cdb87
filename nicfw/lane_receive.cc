// Frames from the port: checked whole before anything changes, then executed, then held or
// released.
#include "core/base/bits.h"
#include "nicfw/lane.h"

namespace pinwire {
namespace {

/// May a record of this type travel in this flow?
constexpr bool belongs(RecordType type, Flow flow) noexcept {
  switch (type) {
    case RecordType::kMessage:
      return flow != Flow::kOneSided;
    case RecordType::kPut:
      return true;
    case RecordType::kGet:
    case RecordType::kAtomic:
      return flow == Flow::kOneSided;
    case RecordType::kGetData:
    case RecordType::kAtomicResult:
    case RecordType::kRefusal:
      return flow == Flow::kReply;
  }
  return false;
}

}  // namespace

uint32_t Lane::receive_burst() noexcept {
  RxFrame frames[kBurst];
  const uint32_t count = nic_.port.rx(index_, std::span(frames));
  rx_more_ = count == kBurst;
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < count; ++i) {
    bytes += frames[i].bytes;
    if (i + 1 < count) __builtin_prefetch(frames[i + 1].data + kEncapsulationBytes);
    if (receive_frame(frames[i])) continue;
    releases_[release_count_++] = frames[i];
    if (release_count_ == kBurst) flush_releases();
  }
  flush_releases();
  if (count != 0) {
    counters_.add(Count::kFramesReceived, count);
    counters_.add(Count::kBytesReceived, bytes);
  }
  return count;
}

/// True: the frame is held. Anything wrong with it is counted, and changes nothing.
bool Lane::receive_frame(const RxFrame& frame) noexcept {
  FrameHeader header;
  if (const Reject bad = parse_frame(frame, key_, job_tag_, nic_.info.rank, udp_port_, header);
      bad != Reject::kNone) {
    counters_.add(bad);
    return false;
  }
  if (header.source >= nic_.info.rank_count || !peers_[header.source].connected ||
      peers_[header.source].dead) {
    counters_.add(Reject::kSource);
    return false;
  }
  Peer& peer = peers_[header.source];
  if (!acks_valid(peer, header)) {
    counters_.add(Reject::kAck);
    return false;
  }
  if (header.record_bytes != (header.kind == FrameKind::kAckSack ? kSackBytes : 0) &&
      header.kind != FrameKind::kRecords) {
    counters_.add(Reject::kRecord);
    return false;
  }
  peer.last_heard_ns = now_ns_;
  if (header.kind == FrameKind::kAckSack) {
    SackBitmap sacks[kFlows];
    const std::byte* at = frame.data + kRecordsOffset;
    for (SackBitmap& sack : sacks) {
      for (uint64_t& word : sack.words) {
        word = load_little<uint64_t>(at);
        at += sizeof word;
      }
    }
    take_acks(peer, header, sacks);
    return false;
  }
  take_acks(peer, header, nullptr);
  return header.kind == FrameKind::kRecords && receive_records(peer, header, frame);
}

bool Lane::receive_records(Peer& peer, const FrameHeader& header, const RxFrame& frame) noexcept {
  ReceiveFlow& receive = peer.receive[static_cast<size_t>(header.flow())];
  const Arrival arrival = receive.classify(header.sequence);
  if (arrival != Arrival::kNew) {
    counters_.add(arrival == Arrival::kDuplicate ? Reject::kDuplicate : Reject::kSequence);
    peer.ack_now = true;  // an acknowledgement of ours may have been lost
    attend(peer);
    return false;
  }
  const std::byte* records = frame.data + kRecordsOffset;
  Needs needs;
  if (const Reject bad = check_records(peer, header, records, needs); bad != Reject::kNone) {
    counters_.add(bad);
    return false;
  }
  const bool is_early = needs.fenced && !receive.arrived_before(header.sequence, needs.before);
  const bool room_to_hold = needs.messages == 0 || (may_hold(header.flow()) && !is_early);
  const bool room_to_owe = needs.responses <= responses_.available();
  if (!room_to_hold || !room_to_owe) {
    counters_.add(Reject::kRefused);
    if (!room_to_hold && (is_early || header.flow() == Flow::kRequest)) {
      peer.refused_messages = true;
    }
    if (!room_to_owe) peer.refused_responses = true;
    peer.ack_now = true;  // no acceptance, but a sign of life
    attend(peer);
    return false;
  }
  receive.mark(header.sequence);
  if (peer.unacked_frames++ == 0) peer.ack_since_poll = poll_;
  if (header.flags & kAckNow || receive.has_holes()) peer.ack_now = true;
  attend(peer);
  if (needs.others != 0) execute(peer, records, header.record_bytes);
  if (needs.messages != 0) hold(peer, header, frame, needs.before);
  if (!parked_.empty()) unpark(peer);
  return needs.messages != 0;
}

/// All or nothing: every record of a frame is checked before any is executed.
Reject Lane::check_records(Peer& peer, const FrameHeader& header, const std::byte* records,
                           Needs& needs) noexcept {
  if (header.record_bytes == 0) return Reject::kRecord;
  for (uint32_t at = 0; at < header.record_bytes;) {
    Record record;
    const uint32_t left = header.record_bytes - at;
    if (const Reject bad = parse_record(records + at, left, record); bad != Reject::kNone)
      return bad;
    if (!belongs(record.type, header.flow())) return Reject::kRecord;
    if (record.type != RecordType::kMessage) ++needs.others;
    Reject bad = Reject::kNone;
    switch (record.type) {
      case RecordType::kMessage:
        ++needs.messages;
        if (record.before != 0) {
          // Only the first message of a frame may wait for others: the frame waits with it.
          if (needs.messages > 1) return Reject::kRecord;
          needs.before = record.before;
          needs.fenced = record.code == kFenced;
        }
        break;
      case RecordType::kPut:
        bad = check_access(peer, record);
        break;
      case RecordType::kGet:
      case RecordType::kAtomic:
        if (++needs.responses > kAsksPerFrameMax) return Reject::kRecord;
        bad = check_access(peer, record);
        break;
      case RecordType::kGetData:
      case RecordType::kAtomicResult:
        bad = check_response(peer, record);
        break;
      case RecordType::kRefusal:
        break;
    }
    if (bad != Reject::kNone) return bad;
    at += record_stride(record.fields, record.bytes);
  }
  return Reject::kNone;
}

/// Is the range that a put, get or atomic names inside a region that it has the key of?
Reject Lane::check_access(Peer& peer, const Record& record) noexcept {
  const bool put = record.type == RecordType::kPut;
  const uint64_t bytes = record.type == RecordType::kAtomic ? sizeof(uint64_t) : record.length;
  // Of a put that reaches beyond its region no part is placed, not even those that would fit.
  const uint64_t start = put ? record.address - record.offset : record.address;
  if (bytes == 0 || (put && record.offset > record.address)) return Reject::kRecord;
  const bool aligned = record.type != RecordType::kAtomic || record.address % sizeof(uint64_t) == 0;
  if (aligned && nic_.regions.find(record.key, start, bytes) != nullptr) return Reject::kNone;
  Record asked = record;
  asked.address = start;
  asked.length = bytes;
  refuse_access(peer, asked);
  return Reject::kAccess;
}

Reject Lane::check_response(const Peer& peer, const Record& record) const noexcept {
  const Index index = find_op(record.op, rank_of(peer));
  if (index == kNoIndex) return Reject::kOperation;
  const Work& work = ops_[index].work;
  if (record.type == RecordType::kAtomicResult) {
    const bool atomic = work.op == Op::kFetchOp || work.op == Op::kCompareSwap;
    return atomic ? Reject::kNone : Reject::kOperation;
  }
  const bool fits = work.op == Op::kGet && inside(record.offset, record.bytes, 0, work.bytes) &&
                    record.bytes <= ops_[index].remaining;
  return fits ? Reject::kNone : Reject::kOperation;
}

}  // namespace pinwire
