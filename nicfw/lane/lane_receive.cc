// Frames from the port: checked whole before anything changes, then executed, then held or
// released.
#include "core/base/bits.h"
#include "nicfw/lane/lane.h"
#include "nicfw/wire/arp.h"

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
    case RecordType::kScatter:
      return flow == Flow::kOneSided;
    case RecordType::kGetData:
    case RecordType::kAtomicResult:
    case RecordType::kRefusal:
      return flow == Flow::kReply;
  }
  return false;  // parse_record() lets no other type pass
}

/// The body is the end of the last record's payload, and no put or get data lies in both parts. A
/// list of pieces is all in the head: its places are looked at before the body is believed.
bool is_in_head(const FrameHeader& header, uint32_t at, const Record& record) noexcept {
  const uint32_t payload_at = at + record.fields;
  const uint32_t end = payload_at + record.bytes;
  if (end <= header.head_bytes) return true;
  if (record.type == RecordType::kScatter) return false;
  const bool whole = record.type == RecordType::kMessage ? payload_at <= header.head_bytes
                                                         : payload_at == header.head_bytes;
  return whole && end == header.record_bytes;
}

}  // namespace

/// A client that polls rarely finds many frames: puts, gets and acknowledgements are taken as long
/// as bursts are full, and acknowledged between them. Messages first go to the client.
uint32_t Lane::receive_bursts() noexcept {
  uint32_t received = receive_burst();
  for (uint32_t i = 1; rx_more_ && i < kBurstsPerPollMax && !has_arrivals(); ++i) {
    if (!attention_.empty()) serve_attention();
    flush();
    received += receive_burst();
  }
  full_polls_ = rx_more_ ? full_polls_ + 1 : 0;
  return received;
}

uint32_t Lane::receive_burst() noexcept {
  dcheck(!messages_.has_releases(), "frames wait to be released from before a burst", index_);
  RxFrame frames[kBurst];
  const uint32_t count = nic_.port.rx(index_, std::span(frames));
  rx_more_ = count == kBurst;
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < count; ++i) {
    bytes += frames[i].bytes;
    if (i + 1 < count) __builtin_prefetch(frames[i + 1].data + kEncapsulationBytes);
    if (receive_frame(frames[i])) continue;
    messages_.release(frames[i]);
  }
  messages_.flush_releases();
  if (count != 0) {
    counters_.add(Count::kFramesReceived, count);
    counters_.add(Count::kBytesReceived, bytes);
    load_.add(bytes);
  }
  return count;
}

/// True: the frame is held. Anything wrong with it is counted, and changes nothing.
bool Lane::receive_frame(RxFrame& frame) noexcept {
  FrameHeader header;
  Reject bad = authenticate(frame, header);
  if (bad == Reject::kNone) bad = check_fresh(peers_[header.source], header);
  if (bad != Reject::kNone) {
    counters_.add(bad);
    if (bad == Reject::kRunt || bad == Reject::kNotOurs) answer_arp(frame);
    return false;
  }
  Peer& peer = peers_[header.source];
  if (header.kind == FrameKind::kRecords) return receive_records(peer, header, frame);
  take_header(peer, header, frame);
  const bool is_plain = header.kind < FrameKind::kProbe && (header.flags & kProbeAnswer) == 0;
  return !is_plain && receive_other(peer, header, frame);
}

/// Handles probes, their answers, and pieces.
[[gnu::cold]] bool Lane::receive_other(Peer& peer, FrameHeader& header, RxFrame& frame) noexcept {
  if (header.flags & kProbeAnswer) paths_.take_answer(peer, header.sequence, now_ns_);
  if (header.kind == FrameKind::kProbe) take_probe(peer, header);
  return header.kind == FrameKind::kPiece && receive_piece(peer, header, frame);
}

/// Is it a frame that a connected peer made for this lane of this rank? The body is left to
/// receive_body().
Reject Lane::authenticate(const RxFrame& frame, FrameHeader& header) const noexcept {
  if (const Reject bad = parse_header(frame, job_tag_, udp_port_, header); bad != Reject::kNone) {
    return bad;
  }
  if (header.source >= nic_.info.rank_count || !peers_[header.source].connected ||
      peers_[header.source].dead) {
    return Reject::kSource;
  }
  header.number_high = peers_[header.source].arrived.high_half(header.number);
  const Reject bad = verify_head(frame, keys_, nic_.info.rank, header);
  if (bad != Reject::kNone || header.body_bytes() == 0) return bad;
  return covers_body(frame, header) ? Reject::kNone : Reject::kChecksum;
}

/// A stranger without the key can only send again what was sent once. Every frame, a repeated one
/// too, has a number of its own, so that one whose number was seen changes nothing at all.
Reject Lane::check_fresh(const Peer& peer, const FrameHeader& header) const noexcept {
  if (peer.arrived.has_seen(header.number_64())) return Reject::kDuplicate;
  if (!acks_valid(peer, header)) return Reject::kAck;
  if (header.kind == FrameKind::kRecords) return Reject::kNone;
  // The tag must cover all of a frame of any other kind: a body would be believed unverified.
  const uint32_t wanted = header.kind == FrameKind::kAckSack ? kSackBytes : 0;
  const bool is_ack = header.kind == FrameKind::kAck || header.kind == FrameKind::kAckSack;
  const bool sound = header.body_bytes() == 0 && (!is_ack || header.record_bytes == wanted);
  return sound ? Reject::kNone : Reject::kRecord;
}

/// Acknowledgements, credit and the sign of life of a frame that is fresh. Only now does its number
/// count as seen: had a stranger sent its header with another body, the true frame could still
/// come.
void Lane::take_header(Peer& peer, const FrameHeader& header, const RxFrame& frame) noexcept {
  [[maybe_unused]] const bool fresh = peer.arrived.mark(header.number_64());
  dcheck(fresh, "the number of a frame was seen twice", header.number);
  liveness_.start_watch(peer);
  peer.heard = true;
  peer.arrived_ns = previous_ns_;
  const bool is_ack = header.kind == FrameKind::kAck || header.kind == FrameKind::kAckSack;
  if (is_ack && header.flags & kAckNow) {  // it asks for credit, or for an acknowledgement
    peer.owes_answer = true;
    attend(peer);
  }
  if (header.kind == FrameKind::kAckSack) {
    take_sacks(peer, header, frame);
  } else {
    take_acks(peer, header, nullptr);
  }
  if (is_ack && !(header.flags & kProbeAnswer)) take_answer(peer, header.sequence, header.flags);
}

void Lane::take_sacks(Peer& peer, const FrameHeader& header, const RxFrame& frame) noexcept {
  SackBitmap sacks[kFlows];
  const std::byte* at = frame.data + kRecordsOffset;
  for (SackBitmap& sack : sacks) {
    for (uint64_t& word : sack.words) {
      word = load_little<uint64_t>(at);
      at += sizeof word;
    }
  }
  take_acks(peer, header, sacks);
}

/// A router that has frames for this rank's address asks for its MAC address.
[[gnu::cold]] void Lane::answer_arp(const RxFrame& frame) noexcept {
  std::byte answer[kArpFrameBytes];
  const ArpStation self{nic_.facts.mac, nic_.config.ipv4};
  if (self.ipv4 == 0 || !make_arp_answer(frame.data, frame.bytes, self, answer)) return;
  const TxFrame out{answer, kArpFrameBytes, 0, nullptr, 0};
  nic_.port.tx(index_, {&out, 1});  // one that the port does not take is asked for again
}

/// Nothing of a frame whose body is not what its sender made is taken, not even acknowledgements:
/// a stranger could send its header with other bodies for as long as the true frame is missing.
bool Lane::receive_records(Peer& peer, const FrameHeader& header, const RxFrame& frame) noexcept {
  const std::byte* records = frame.data + kRecordsOffset;
  Needs needs;
  const Reject bad = judge(peer, header, records, needs);
  const bool hashed = header.has_hashed_body();
  if (bad == Reject::kNone && hashed && !receive_body(header, frame, needs.last_at)) {
    counters_.add(Reject::kTag);
    return false;
  }
  take_header(peer, header, frame);
  return take_records(peer, header, frame, {needs, bad, hashed});
}

/// Executes and holds the records of a frame that was judged, or turns it away. True: it is held.
bool Lane::take_records(Peer& peer, const FrameHeader& header, const RxFrame& frame,
                        const Judged& judged) noexcept {
  const std::byte* records = frame.data + kRecordsOffset;
  const auto& [needs, bad, is_placed] = judged;
  const bool requests = needs.messages != 0 && header.flow() == Flow::kRequest;
  if (requests && (bad == Reject::kNone || bad == Reject::kRefused))
    credit_.note_sender(peer, now_ns_);
  if (bad != Reject::kNone) {
    if (requests && bad == Reject::kRefused) credit_.withdraw(peer);
    turn_away(peer, header, bad);
    return false;
  }
  ReceiveFlow& receive = peer.receive[static_cast<size_t>(header.flow())];
  const bool fills_a_hole = receive.has_holes();
  receive.mark(ahead_, header.sequence);
  if (peer.unacked_frames++ == 0) peer.ack_since_poll = poll_;
  if (header.flags & kAckNow || receive.has_holes()) peer.ack_now = true;
  attend(peer);
  if (needs.others != 0) {
    execute(peer, records, header.record_bytes, is_placed ? needs.last_at : kNothingPlaced);
  }
  if (needs.messages != 0) {
    if (requests) credit_.spend(peer);
    messages_.hold(peer, header, frame, needs.before);
  }
  if (fills_a_hole && messages_.has_parked()) messages_.unpark(header.source);
  return needs.messages != 0;
}

/// Has no frame with this sequence arrived, and is the sequence inside the window?
Reject Lane::check_arrival(const Peer& peer, const FrameHeader& header) const noexcept {
  const ReceiveFlow& receive = peer.receive[static_cast<size_t>(header.flow())];
  switch (receive.classify(ahead_, header.sequence)) {
    case Arrival::kNew:
      return Reject::kNone;
    case Arrival::kDuplicate:
      return Reject::kDuplicate;
    case Arrival::kOutside:
      break;
  }
  return Reject::kSequence;
}

/// Would the frame be accepted? Before its body is read: one that is not accepted must not write.
Reject Lane::judge(Peer& peer, const FrameHeader& header, const std::byte* records,
                   Needs& needs) noexcept {
  if (const Reject bad = check_arrival(peer, header); bad != Reject::kNone) return bad;
  const ReceiveFlow& receive = peer.receive[static_cast<size_t>(header.flow())];
  if (!receive.may_mark(ahead_, header.sequence)) return Reject::kSequence;
  if (const Reject bad = check_records(peer, header, records, needs); bad != Reject::kNone) {
    return bad;
  }
  const bool is_early =
      needs.before != 0 && !receive.arrived_before(ahead_, header.sequence, needs.before);
  const bool room_to_hold = needs.messages == 0 || (is_early ? messages_.may_park(header.flow())
                                                             : messages_.may_hold(header.flow()));
  return room_to_hold && responses_.may_owe(peer, needs.responses) ? Reject::kNone
                                                                   : Reject::kRefused;
}

/// Counts a frame that is not accepted, and has its sender hear of it where that helps.
void Lane::turn_away(Peer& peer, const FrameHeader& header, Reject reason) noexcept {
  counters_.add(reason);
  switch (reason) {
    case Reject::kRefused:
      peer.refused = static_cast<uint8_t>(peer.refused | room_flag(header.flow()));
      break;
    case Reject::kDuplicate:
    case Reject::kSequence:
      peer.ack_now = true;  // an acknowledgement of ours may have been lost
      break;
    default:
      return;
  }
  attend(peer);
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
    if (!is_in_head(header, at, record)) return Reject::kRecord;
    needs.last_at = at;
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
      case RecordType::kScatter:
        bad = check_scatter(peer, record, records + at + record.fields);
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
  // No part of a put that reaches beyond its region is placed, not even those that would fit.
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
  const Index index = ops_.find(record.op, rank_of(peer));
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
