// Frames under construction: slots, room for records, credit.
#include <cstring>

#include "core/base/bits.h"
#include "nicfw/lane.h"

namespace pinwire {

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
    slot.head = buffer_bytes_ + size_t{slot.buffer} * buffer_stride_;
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
      if (at != slot->head_bytes) {
        std::memset(slot->head + slot->head_bytes, 0, at - slot->head_bytes);
      }
      slot->head_bytes = static_cast<uint16_t>(at + bytes);
      return slot->head + at;
    }
    send.open = false;
    attend(peer);
  }
  const bool message = kind == Kind::kMessage;
  if (message && !credit_allows(peer, flow)) return nullptr;
  const bool in_a_row = (posts_since_poll_ != 0 || posts_before_poll_ > 1) && send.in_flight() != 0;
  const bool collect = nic_.config.coalesce && (in_a_row || send.in_flight() >= kCoalesceBehind);
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

}  // namespace pinwire
