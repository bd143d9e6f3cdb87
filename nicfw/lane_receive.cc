// Frames from the port: checked whole before anything changes, then executed, then held or
// released.
#include <cstring>

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

uint64_t apply_atomic(uint64_t address, AtomicCode code, uint64_t operand,
                      uint64_t compare) noexcept {
  // The target's CPUs, and other drivers, may work on the same word.
  std::atomic_ref<uint64_t> word(*reinterpret_cast<uint64_t*>(address));
  uint64_t old = word.load(std::memory_order_relaxed);
  switch (code) {
    case AtomicCode::kAdd:
      return word.fetch_add(operand);
    case AtomicCode::kAnd:
      return word.fetch_and(operand);
    case AtomicCode::kOr:
      return word.fetch_or(operand);
    case AtomicCode::kXor:
      return word.fetch_xor(operand);
    case AtomicCode::kMin:
      while (operand < old && !word.compare_exchange_weak(old, operand)) {
      }
      return old;
    case AtomicCode::kMax:
      while (operand > old && !word.compare_exchange_weak(old, operand)) {
      }
      return old;
    case AtomicCode::kSwap:
      return word.exchange(operand);
    case AtomicCode::kCompareSwap:
      old = compare;
      word.compare_exchange_strong(old, operand);
      return old;
    case AtomicCode::kGet:
      return word.load();
  }
  return old;
}

}  // namespace

uint32_t Lane::receive_burst() noexcept {
  RxFrame frames[kBurst];
  const uint32_t count = nic_.port.rx(index_, std::span(frames));
  rx_more_ = count == kBurst;
  for (uint32_t i = 0; i < count; ++i) {
    if (i + 1 < count) __builtin_prefetch(frames[i + 1].data + kEncapsulationBytes);
    if (receive_frame(frames[i])) continue;
    releases_[release_count_++] = frames[i];
    if (release_count_ == kBurst) flush_releases();
  }
  flush_releases();
  return count;
}

/// True: the frame is held. Anything wrong with it is counted, and changes nothing.
bool Lane::receive_frame(const RxFrame& frame) noexcept {
  counters_.add(Count::kFramesReceived);
  counters_.add(Count::kBytesReceived, frame.bytes);
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
  const bool room_to_hold = needs.messages == 0 || may_hold(header.flow());
  const bool room_to_owe = needs.responses <= responses_.available();
  if (!room_to_hold || !room_to_owe) {
    counters_.add(Reject::kRefused);
    if (!room_to_hold && header.flow() == Flow::kRequest) peer.refused_messages = true;
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

/// The frame stays unacknowledged, so that its sender never takes it for done; the sender learns
/// why from one refusal, and ends its job with it.
void Lane::refuse_access(Peer& peer, const Record& record) noexcept {
  if (peer.refusal_sent || responses_.available() == 0) return;
  peer.refusal_sent = true;
  const Regions::Entry* entry = nic_.regions.find(record.key);
  Record refusal{};
  refusal.type = RecordType::kRefusal;
  refusal.key = record.key;
  refusal.op = record.op;
  refusal.address = record.address;
  refusal.length = record.length;
  refusal.operand = entry != nullptr ? entry->base : 0;
  refusal.compare = entry != nullptr ? entry->bytes : 0;
  owe(peer, refusal);
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

/// Requests leave buffers to the replies, and both leave some to acknowledgements and puts.
bool Lane::may_hold(Flow flow) const noexcept {
  if (held_.available() == 0) return false;
  const uint32_t held = held_.size() - held_.available();
  return held < held_max_ && (flow != Flow::kRequest || held_requests_ < request_hold_max_);
}

void Lane::execute(Peer& peer, const std::byte* records, uint32_t bytes) noexcept {
  for (uint32_t at = 0; at < bytes;) {
    Record record;
    [[maybe_unused]] const Reject bad = parse_record(records + at, bytes - at, record);
    dcheck(bad == Reject::kNone, "a record changed after it was checked",
           static_cast<uint8_t>(bad));
    const std::byte* payload = records + at + record.fields;
    switch (record.type) {
      case RecordType::kMessage:
        break;  // hold() and deliver()
      case RecordType::kPut:
        std::memcpy(reinterpret_cast<void*>(record.address), payload, record.bytes);
        counters_.add(Count::kRxPlacedBytes, record.bytes);
        break;
      case RecordType::kGet:
        record.type = RecordType::kGetData;
        owe(peer, record);
        counters_.add(Count::kGetsServed);
        break;
      case RecordType::kAtomic:
        execute_atomic(peer, record);
        break;
      case RecordType::kGetData:
        place_get_data(record, payload);
        break;
      case RecordType::kAtomicResult: {
        const Index index = find_op(record.op, rank_of(peer));
        if (index == kNoIndex) break;  // the same result twice in one frame
        if (void* local = ops_[index].work.local)
          std::memcpy(local, &record.operand, sizeof(uint64_t));
        finish_op(index, WorkStatus::kOk);
        break;
      }
      case RecordType::kRefusal:
        take_refusal(peer, record);
        break;
    }
    at += record_stride(record.fields, record.bytes);
  }
}

void Lane::execute_atomic(Peer& peer, const Record& record) noexcept {
  Record result{};
  result.type = RecordType::kAtomicResult;
  result.op = record.op;
  result.operand = apply_atomic(record.address, static_cast<AtomicCode>(record.code),
                                record.operand, record.compare);
  owe(peer, result);
  counters_.add(Count::kAtomicsServed);
}

void Lane::place_get_data(const Record& record, const std::byte* payload) noexcept {
  const auto index = static_cast<Index>(record.op & 0xffff);
  Operation& op = ops_[index];
  // Checked one by one, but records of one frame may together claim more than the get asked for.
  if (op.state != OpState::kActive || op.remaining < record.bytes) return;
  std::memcpy(static_cast<std::byte*>(op.work.local) + record.offset, payload, record.bytes);
  counters_.add(Count::kRxPlacedBytes, record.bytes);
  op.remaining -= record.bytes;
  if (op.remaining == 0) finish_op(index, WorkStatus::kOk);
}

void Lane::take_refusal(Peer& peer, const Record& record) noexcept {
  const Rank rank = rank_of(peer);
  const auto print = [](uint64_t value) { return static_cast<unsigned long long>(value); };
  if (record.compare == 0) {
    nic_.fail(rank, WorkStatus::kRemoteAccess,
              "rank %u refused rank %u's access to %llu bytes at 0x%llx: no memory is pinned there "
              "under the key 0x%x",
              rank, nic_.info.rank, print(record.length), print(record.address), record.key);
  } else {
    nic_.fail(rank, WorkStatus::kRemoteAccess,
              "rank %u refused rank %u's access to %llu bytes at 0x%llx: outside its pinned region "
              "[0x%llx, 0x%llx) (or an atomic that is not 8-byte aligned)",
              rank, nic_.info.rank, print(record.length), print(record.address),
              print(record.operand), print(record.operand + record.compare));
  }
  const Index index = find_op(record.op, rank);
  if (index == kNoIndex) return;
  forget_op(peer, index);
  finish_op(index, WorkStatus::kRemoteAccess);
}

/// Takes an operation that is about to finish out of everything that still refers to it.
void Lane::forget_op(Peer& peer, Index op) noexcept {
  for (SendFlow& send : peer.send) {
    IndexList kept;
    while (!send.ops.empty()) {
      const Index index = send.ops.pop(ops_);
      if (index != op) kept.push(ops_, index);
    }
    send.ops = kept;
    if (send.window == kNoIndex) continue;
    for (uint32_t s = send.una; s != send.next; ++s) {
      const Index index = windows_[send.window].slot[s % kWindowFramesMax];
      if (index == kNoIndex) continue;
      SendSlot& slot = slots_[index];
      if (slot.fragment == op) slot.fragment = kNoIndex;
      Index* link = &slot.ops;
      while (*link != kNoIndex && *link != op) link = &ops_[*link].link;
      if (*link == op) *link = ops_[op].link;
    }
  }
}

void Lane::owe(Peer& peer, const Record& record) noexcept {
  const Index index = responses_.take();
  check(index != kNoIndex, "a response without room was accepted");
  responses_[index].record = record;
  responses_[index].built = 0;
  peer.responses.push(responses_, index);
  attend(peer);
}

void Lane::hold(Peer& peer, const FrameHeader& header, const RxFrame& frame,
                uint32_t before) noexcept {
  const Index index = held_.take();
  HeldFrame& held = held_[index];
  held.frame = frame;
  held.cursor = kRecordsOffset;
  held.end = kRecordsOffset + header.record_bytes;
  held.peer = header.source;
  held.sequence = header.sequence;
  held.before = before;
  held.references = 1;  // the queue's
  const bool request = header.flow() == Flow::kRequest;
  held.cls = request ? MessageClass::kRequest : MessageClass::kReply;
  if (request) {
    ++held_requests_;
    ++peer.requests_accepted;
  }
  const ReceiveFlow& receive = peer.receive[static_cast<size_t>(header.flow())];
  const bool ready = before == 0 || receive.arrived_before(header.sequence, before);
  IndexList& queue = request ? request_queue_ : reply_queue_;
  (ready ? queue : parked_).push(held_, index);
}

/// Messages whose data has arrived now are the client's.
void Lane::unpark(const Peer& peer) noexcept {
  IndexList kept;
  while (!parked_.empty()) {
    const Index index = parked_.pop(held_);
    const HeldFrame& held = held_[index];
    const bool request = held.cls == MessageClass::kRequest;
    const ReceiveFlow& receive =
        peer.receive[static_cast<size_t>(request ? Flow::kRequest : Flow::kReply)];
    const bool ready =
        held.peer == rank_of(peer) && receive.arrived_before(held.sequence, held.before);
    (!ready ? kept : request ? request_queue_ : reply_queue_).push(held_, index);
  }
  parked_ = kept;
}

uint32_t Lane::deliver(IndexList& queue, std::span<Recv> out) noexcept {
  uint32_t count = 0;
  while (count < out.size() && !queue.empty()) {
    const Index index = queue.head;
    HeldFrame& held = held_[index];
    while (count < out.size() && held.cursor < held.end) {
      Record record;
      std::byte* at = held.frame.data + held.cursor;
      if (parse_record(at, held.end - held.cursor, record) != Reject::kNone) break;
      held.cursor += record_stride(record.fields, record.bytes);
      if (record.type != RecordType::kMessage) continue;
      ++held.references;
      out[count++] = Recv{at + record.fields, record.bytes, held.peer, index, held.cls};
    }
    if (held.cursor < held.end) break;
    queue.pop(held_);
    drop_reference(index);
  }
  counters_.add(Count::kMessagesReceived, count);
  return count;
}

void Lane::drop_reference(Index index) noexcept {
  HeldFrame& held = held_[index];
  check(held.references > 0, "a message was given back twice", index, held.peer);
  if (--held.references != 0) return;
  if (held.cls == MessageClass::kRequest) --held_requests_;
  releases_[release_count_++] = held.frame;
  held_.give(index);
  if (release_count_ == kBurst) flush_releases();
}

void Lane::flush_releases() noexcept {
  if (release_count_ == 0) return;
  nic_.port.release(index_, std::span(releases_, release_count_));
  release_count_ = 0;
}

}  // namespace pinwire
