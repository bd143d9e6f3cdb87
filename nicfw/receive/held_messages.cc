#include "nicfw/receive/held_messages.h"

#include <algorithm>

#include "core/base/check.h"

namespace pinwire {
namespace {

constexpr Flow message_flow(MessageClass cls) noexcept {
  return cls == MessageClass::kRequest ? Flow::kRequest : Flow::kReply;
}

}  // namespace

void HeldMessages::make(Port& port, uint32_t queue, Peer* peers, const ArrivedAheadPool& ahead,
                        uint32_t rx_buffers) {
  port_ = &port;
  port_queue_ = queue;
  peers_ = peers;
  ahead_ = &ahead;
  held_.make(rx_buffers);
  held_max_ = rx_buffers - std::max(1u, rx_buffers / 8);
  request_buffers_.max = rx_buffers / 2;
}

bool HeldMessages::may_hold(Flow flow) const noexcept {
  if (held_.available() == 0) return false;
  const uint32_t held = held_.size() - held_.available();
  return held < held_max_ &&
         (flow != Flow::kRequest || request_buffers_.held < request_buffers_.max);
}

bool HeldMessages::may_park(Flow flow) const noexcept {
  const bool request = flow == Flow::kRequest;
  const uint32_t own = request ? request_buffers_.max : held_max_ - request_buffers_.max;
  return may_hold(flow) && parked_count_[request ? 0 : 1] < own / 2;
}

bool HeldMessages::is_ready(const HeldFrame& held) const noexcept {
  const ReceiveFlow& receive =
      peers_[held.peer].receive[static_cast<size_t>(message_flow(held.cls))];
  return receive.arrived_before(*ahead_, held.sequence, held.before);
}

void HeldMessages::hold(Peer& peer, const FrameHeader& header, const RxFrame& frame,
                        uint32_t before) noexcept {
  dcheck(header.flow() != Flow::kOneSided && &peer == &peers_[header.source],
         "a frame without messages, or of another rank, is held", header.source);
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
    ++request_buffers_.held;
    ++peer.requests_held;
  }
  if (before == 0 || is_ready(held)) {
    queue_of(held.cls).push(held_, index);
  } else {
    park(index);
  }
}

/// Messages of one flow wait in the order of their sequences: of two that become ready together,
/// the earlier one may be what the later one waits for.
void HeldMessages::park(Index index) noexcept {
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

void HeldMessages::unpark(Rank peer) noexcept {
  IndexList kept;
  while (!parked_.empty()) {
    const Index index = parked_.pop(held_);
    const HeldFrame& held = held_[index];
    const bool ready = held.peer == peer && is_ready(held);
    (ready ? queue_of(held.cls) : kept).push(held_, index);
    if (ready) --parked_count_[held.cls == MessageClass::kRequest ? 0 : 1];
  }
  parked_ = kept;
}

void HeldMessages::drop_parked(Rank peer) noexcept {
  IndexList kept;
  while (!parked_.empty()) {
    const Index index = parked_.pop(held_);
    const HeldFrame& held = held_[index];
    if (held.peer != peer) {
      kept.push(held_, index);
      continue;
    }
    --parked_count_[held.cls == MessageClass::kRequest ? 0 : 1];
    drop_reference(index);
  }
  parked_ = kept;
  flush_releases();
}

uint32_t HeldMessages::deliver(MessageClass cls, std::span<Recv> out) noexcept {
  IndexList& queue = queue_of(cls);
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
  return count;
}

void HeldMessages::give_back(std::span<const Recv> messages) noexcept {
  for (const Recv& recv : messages) {
    check(recv.buffer < held_.size(), "give_back: not a buffer of this lane", recv.buffer);
    drop_reference(static_cast<Index>(recv.buffer));
  }
  flush_releases();
}

void HeldMessages::drop_reference(Index index) noexcept {
  HeldFrame& held = held_[index];
  check(held.references > 0, "a message was given back twice", index, held.peer);
  if (--held.references != 0) return;
  if (held.cls == MessageClass::kRequest) {
    --request_buffers_.held;
    --peers_[held.peer].requests_held;
  }
  release(held.frame);
  held_.give(index);
}

void HeldMessages::release(const RxFrame& frame) noexcept {
  releases_[release_count_++] = frame;
  if (release_count_ == kReleasesMax) flush_releases();
}

void HeldMessages::flush_releases() noexcept {
  if (release_count_ == 0) return;
  port_->release(port_queue_, std::span(releases_, release_count_));
  release_count_ = 0;
}

}  // namespace pinwire
