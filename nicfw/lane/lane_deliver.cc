// Messages: held in the port's buffers from their arrival until the client gives them back.
#include "nicfw/lane/lane.h"

namespace pinwire {

/// Requests leave buffers to the replies, and both leave some to acknowledgements and puts.
bool Lane::may_hold(Flow flow) const noexcept {
  if (held_.available() == 0) return false;
  const uint32_t held = held_.size() - held_.available();
  return held < held_max_ && (flow != Flow::kRequest || held_requests_ < request_hold_max_);
}

/// A message that waits for frames before it takes a buffer that only those frames set free, and
/// some of them may carry messages, too: half of a flow's own buffers never wait.
bool Lane::may_park(Flow flow) const noexcept {
  const bool request = flow == Flow::kRequest;
  const uint32_t own = request ? request_hold_max_ : held_max_ - request_hold_max_;
  return may_hold(flow) && parked_count_[request ? 0 : 1] < own / 2;
}

void Lane::hold(Peer& peer, const FrameHeader& header, const RxFrame& frame,
                uint32_t before) noexcept {
  const Index index = held_.take();
  check(index != kNoIndex, "a frame is held without room for it", header.source);
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
    ++peer.requests_held;
    spend_promise(peer);
  }
  const ReceiveFlow& receive = peer.receive[static_cast<size_t>(header.flow())];
  const bool ready = before == 0 || receive.arrived_before(ahead_, header.sequence, before);
  if (ready) {
    (request ? request_queue_ : reply_queue_).push(held_, index);
  } else {
    park(index);
  }
}

/// Messages of one flow wait in the order of their sequences: of two that become ready together,
/// the earlier one may be what the later one waits for.
void Lane::park(Index index) noexcept {
  const HeldFrame& held = held_[index];
  ++parked_count_[held.cls == MessageClass::kRequest ? 0 : 1];
  IndexList sorted;
  bool placed = false;
  while (!parked_.empty()) {
    const Index other = parked_.pop(held_);
    const HeldFrame& behind = held_[other];
    const bool same_flow = behind.peer == held.peer && behind.cls == held.cls;
    if (!placed && same_flow && seq_before(held.sequence, behind.sequence)) {
      sorted.push(held_, index);
      placed = true;
    }
    sorted.push(held_, other);
  }
  if (!placed) sorted.push(held_, index);
  parked_ = sorted;
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
        held.peer == rank_of(peer) && receive.arrived_before(ahead_, held.sequence, held.before);
    (!ready ? kept : request ? request_queue_ : reply_queue_).push(held_, index);
    if (ready) --parked_count_[request ? 0 : 1];
  }
  parked_ = kept;
}

/// The peer is given up: the frames for which its messages wait do not come any more.
void Lane::drop_parked(const Peer& peer) noexcept {
  IndexList kept;
  while (!parked_.empty()) {
    const Index index = parked_.pop(held_);
    const HeldFrame& held = held_[index];
    if (held.peer != rank_of(peer)) {
      kept.push(held_, index);
      continue;
    }
    --parked_count_[held.cls == MessageClass::kRequest ? 0 : 1];
    drop_reference(index);
  }
  parked_ = kept;
  flush_releases();
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
  if (held.cls == MessageClass::kRequest) {
    --held_requests_;
    --peers_[held.peer].requests_held;
  }
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
