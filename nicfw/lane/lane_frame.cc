// Frames under construction: slots, room for records.
#include <cstring>

#include "core/base/bits.h"
#include "nicfw/lane/lane.h"

namespace pinwire {

/// `spare`: frames that must remain for others after this one.
bool Lane::may_build(const Peer& peer, Flow flow, uint32_t spare,
                     bool whatever_congestion) const noexcept {
  const SendFlow& send = peer.send[static_cast<size_t>(flow)];
  if (send.next - send.una + spare >= nic_.config.window_frames) return false;
  if (copying_) return true;
  if (!whatever_congestion && !congestion_allows(peer, send, spare)) return false;
  const bool is_reply = flow == Flow::kReply;
  // The first frame is the flow's own, whatever must remain.
  const uint32_t wanted = send.slots == 0 ? 1 : 1 + spare;
  return slot_share_.allows(send.slots, wanted, slots_.available(), is_reply);
}

/// A window that congestion steers is that of the peer: its flows share it, but each has one frame,
/// so that replies go on when requests fill the window and are not accepted. Without congestion
/// each flow has the receiver's limit.
bool Lane::congestion_allows(const Peer& peer, const SendFlow& send, uint32_t spare) noexcept {
  const uint32_t window = peer.congestion.frames();
  if (!peer.congestion.is_controlled()) return send.in_flight() + spare < window;
  return send.in_flight() == 0 || frames_in_flight(peer) + spare < window;
}

/// Long puts fill what the windows allow at every poll; a record that another thread posts between
/// two polls would never find a frame. The last eighth of a window is therefore for records, and of
/// a smaller window one frame whenever a record was refused. A copied put leaves none: it is cut as
/// a whole, its message included.
uint32_t Lane::frames_for_records(const Peer& peer, Flow flow) const noexcept {
  if (copying_) return 0;
  const uint32_t window = std::min<uint32_t>(nic_.config.window_frames, peer.congestion.frames());
  return std::max(window / 8, peer.send[static_cast<size_t>(flow)].small_waits != 0 ? 1u : 0u);
}

/// nullptr: nothing has changed. A window is open only while frames are in it: an empty one would
/// keep the lane from ever being drained.
SendSlot* Lane::start_frame(Peer& peer, Flow flow, bool large, uint32_t spare,
                            bool whatever_congestion) noexcept {
  SendFlow& send = peer.send[static_cast<size_t>(flow)];
  const bool is_reply = flow == Flow::kReply;
  if (!may_build(peer, flow, spare, whatever_congestion)) return nullptr;
  if (large && !copying_ &&
      !buffer_share_.allows(send.buffers, 1, buffers_.available(), is_reply)) {
    return nullptr;
  }
  if (send.window == kNoIndex) {
    const Index window = windows_.take(is_reply ? 0 : window_reserve_);
    if (window == kNoIndex) return nullptr;
    open_window(peer, flow, window);
  }
  const Index index = slots_.take();
  check(index != kNoIndex, "a frame was allowed without a slot", send.slots);
  dcheck(send.slots == send.in_flight(), "slots are not counted right", send.slots);
  slot_share_.took(send.slots++, is_reply);
  SendSlot& slot = slots_[index];
  slot = SendSlot{};
  slot.flow = flow;
  slot.head = small_frames_.get() + size_t{index} * kSmallFrameBytes;
  if (large) {
    take_buffer(send, slot, buffers_.take());
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

/// The frame that was just started goes before the long ones that are built and that the port has
/// no room for: nobody knows their sequences yet, and no one-sided operation waits for another.
void Lane::overtake(Peer& peer, Flow flow) noexcept {
  const SendFlow& send = peer.send[static_cast<size_t>(flow)];
  Index* slot = windows_[send.window].slot;
  uint32_t s = send.next - 1;
  const Index last = slot[s % kWindowFramesMax];
  for (; s != send.unsent && asks_for_room(send, s - 1); --s)
    slot[s % kWindowFramesMax] = slot[(s - 1) % kWindowFramesMax];
  slot[s % kWindowFramesMax] = last;
}

/// From here on the flow holds the buffer, until the frame is acknowledged.
void Lane::take_buffer(SendFlow& send, SendSlot& slot, Index buffer) noexcept {
  check(buffer != kNoIndex, "a frame was allowed without a buffer", send.buffers);
  slot.buffer = buffer;
  buffer_share_.took(send.buffers++, slot.flow == Flow::kReply);
}

/// A frame for a record or message; if there is none, long puts leave one for a few polls, and
/// copied ones are not accepted. One of replies is built whatever the congestion window says: a
/// handler waits for that, and all messages behind it wait with it. The frame then waits in its
/// slot (may_send()).
SendSlot* Lane::start_record_frame(Peer& peer, Flow flow, bool large, bool is_small) noexcept {
  SendFlow& send = peer.send[static_cast<size_t>(flow)];
  SendSlot* slot = start_frame(peer, flow, large, 0, flow == Flow::kReply);
  const bool is_free = flow == Flow::kOneSided && is_small;
  if (slot != nullptr && is_free && !backlog_.has_room()) overtake(peer, flow);
  send.small_waits = slot == nullptr ? kSmallWaitPolls : 0;
  return slot;
}

/// Room in the frame that is open; nullptr: it has none, and is open no more.
std::byte* Lane::join_record(Peer& peer, Flow flow, uint32_t bytes, Kind kind,
                             SendSlot*& slot) noexcept {
  SendFlow& send = peer.send[static_cast<size_t>(flow)];
  Index index;
  slot = &slot_at(send, send.next - 1, index);
  const uint32_t at = align_up<uint32_t>(slot->head_bytes, kRecordAlign);
  const bool credited = kind != Kind::kMessage || slot->has_message;
  const bool answerable = kind != Kind::kAsk || slot->asks < kAsksPerFrameMax;
  if (at + bytes > peer.path_bytes && is_narrow(peer)) [[unlikely]]
    want_wide(peer);
  if (at + bytes <= peer.path_bytes && credited && answerable) {
    slot->asks = static_cast<uint8_t>(slot->asks + (kind == Kind::kAsk ? 1 : 0));
    if (at != slot->head_bytes) {
      std::memset(slot->head + slot->head_bytes, 0, at - slot->head_bytes);
    }
    slot->head_bytes = static_cast<uint16_t>(at + bytes);
    slot->payload_bytes = 0;  // of a record that is no longer the last
    lead(peer, flow, bytes);
    return slot->head + at;
  }
  send.open = false;
  return nullptr;
}

/// The first record of a frame that was just started; others may join it if it `collects`.
std::byte* Lane::begin_record(Peer& peer, Flow flow, uint32_t bytes, Kind kind, SendSlot& slot,
                              bool collects) noexcept {
  SendFlow& send = peer.send[static_cast<size_t>(flow)];
  const bool message = kind == Kind::kMessage;
  Index newest;
  send.open = collects && slot.buffer != kNoIndex && &slot == &slot_at(send, send.next - 1, newest);
  slot.has_message = message;
  slot.asks = kind == Kind::kAsk ? 1 : 0;
  if (message && flow == Flow::kRequest) ++peer.requests_built;
  slot.head_bytes = static_cast<uint16_t>(kRecordsOffset + bytes);
  return slot.head + kRecordsOffset;
}

std::byte* Lane::reserve_record(Peer& peer, Flow flow, uint32_t bytes, Kind kind,
                                SendSlot*& slot) noexcept {
  SendFlow& send = peer.send[static_cast<size_t>(flow)];
  if (send.open) {
    if (std::byte* at = join_record(peer, flow, bytes, kind, slot)) return at;
  }
  const bool message = kind == Kind::kMessage;
  if (message && !credit_allows(peer, flow)) return nullptr;
  const bool is_response = flow == Flow::kReply && !message;
  const bool is_small = bytes <= kSmallFrameBytes - kRecordsOffset;
  if (!is_response && !may_post(peer, flow, is_small)) return nullptr;
  const bool in_a_row = (posts_since_poll_ != 0 || posts_before_poll_ > 1) && send.in_flight() != 0;
  const bool collect = nic_.config.coalesce && (in_a_row || send.in_flight() >= kCoalesceBehind);
  slot = start_record_frame(peer, flow, collect || !is_small, is_small);
  // Without a buffer a small record goes alone.
  if (slot == nullptr && collect && is_small) slot = start_record_frame(peer, flow, false, true);
  if (slot == nullptr) return nullptr;
  if (send.is_denied || send.copied_turns != kNoIndex) [[unlikely]]
    lead_with_record(peer, flow, kRecordsOffset + bytes, is_small);
  return begin_record(peer, flow, bytes, kind, *slot, collect);
}

/// Like long puts, operations that waited leave frames to the records of post(), and nobody else is
/// refused for them.
std::byte* Lane::reserve_for_waiting(Peer& peer, Flow flow, uint32_t bytes, Kind kind,
                                     bool collects) noexcept {
  const SendFlow& send = peer.send[static_cast<size_t>(flow)];
  SendSlot* slot = nullptr;
  if (send.open) {
    if (std::byte* at = join_record(peer, flow, bytes, kind, slot)) return at;
  }
  const uint32_t spare = frames_for_records(peer, flow);
  const bool large = collects && nic_.config.coalesce;
  slot = start_frame(peer, flow, large, spare);
  if (slot == nullptr && large) slot = start_frame(peer, flow, false, spare);
  if (slot == nullptr) return nullptr;
  return begin_record(peer, flow, bytes, kind, *slot, large);
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
