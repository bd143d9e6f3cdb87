// The last bytes of a frame before it leaves: acknowledgements, credit, hashes, tag.
#include <cstring>

#include "core/base/bits.h"
#include "core/base/memory/mapped_copy.h"
#include "nicfw/lane/lane.h"

namespace pinwire {

void Lane::stage_ack(Peer& peer) noexcept {
  std::byte* frame = ack_frames_.get() + size_t{staged_count_} * kAckFrameBytes;
  FrameHeader header;
  bool holes = false;
  for (const ReceiveFlow& receive : peer.receive) holes |= receive.has_holes();
  header.kind = holes ? FrameKind::kAckSack : FrameKind::kAck;
  header.flags = static_cast<uint8_t>(peer.room_again | (peer.asks_credit ? kAckNow : 0) |
                                      (peer.probed_bytes != 0 ? kProbeAnswer : 0));
  const uint8_t kept_flags = header.flags & static_cast<uint8_t>(~kProbeAnswer);
  header.flags |= refusing(peer);
  const uint16_t probed_bytes = peer.probed_bytes;
  header.sequence = probed_bytes != 0 ? probed_bytes : peer.arrived.newest();
  if (probed_bytes == 0) peer.owes_answer = false;
  peer.probed_bytes = 0;
  peer.room_again = 0;
  peer.asks_credit = false;
  if (holes) {
    std::byte* at = frame + kRecordsOffset;
    for (const ReceiveFlow& receive : peer.receive) {
      for (const uint64_t word : receive.sack(ahead_).words) {
        store_little<uint64_t>(at, word);
        at += sizeof word;
      }
    }
  }
  header.record_bytes = static_cast<uint16_t>(holes ? kSackBytes : 0);
  peer.ack_now = false;
  peer.unacked_frames = 0;
  counters_.add(Count::kAcksSent);
  stage_whole(peer, frame, header, nullptr,
              {rank_of(peer), probed_bytes, Flow::kRequest, Staged::kAck, kept_flags});
}

/// Hands a frame to the port's next burst that is in no flow's window and all of whose records the
/// tag covers. They lie behind the header at `frame`, or at `records` if that is not nullptr.
void Lane::stage_whole(Peer& peer, std::byte* frame, FrameHeader& header, const std::byte* records,
                       const Staged& what) noexcept {
  header.head_bytes = header.record_bytes;
  std::memcpy(frame, peer.encapsulation, kEncapsulationBytes);
  const std::byte* hashed = records != nullptr ? records : frame + kRecordsOffset;
  const uint64_t head = hash_head(keys_.hash, rank_of(peer), hashed, header.head_bytes);
  finish_header(peer, frame, header, {.head = head});
  const uint32_t own_bytes = kRecordsOffset + (records != nullptr ? 0 : header.record_bytes);
  const uint32_t other_bytes = records != nullptr ? header.record_bytes : 0;
  staged_[staged_count_] = TxFrame{frame, own_bytes, other_bytes, records, 0};
  staged_what_[staged_count_] = what;
  backlog_.add(own_bytes + other_bytes);
  if (++staged_count_ == tx_burst_) flush();
}

/// How long the peer's last frame may have waited here for what acknowledges it. post() has no
/// clock to tell.
uint16_t Lane::host_delay(const Peer& peer) const noexcept {
  if (!is_polling_) return kHostDelayUnknown;
  const uint64_t units = (now_ns_ - peer.arrived_ns) / kHostDelayUnitNs;
  return static_cast<uint16_t>(std::min<uint64_t>(units, kHostDelayUnknown));
}

/// Every frame acknowledges all three flows.
void Lane::finish_header(Peer& peer, std::byte* frame, FrameHeader& header,
                         const RecordHashes& hashes) noexcept {
  header.source = nic_.info.rank;
  if (peer.is_sender) credit_.renew(peer, credit_moment());
  header.credit = RequestCredit::credit_for(peer);
  header.host_delay = host_delay(peer);
  header.is_quiet = load_.is_low();
  header.number = static_cast<uint32_t>(peer.frames_numbered);
  header.number_high = static_cast<uint32_t>(peer.frames_numbered >> 32);
  ++peer.frames_numbered;
  bool holes = false;
  for (uint32_t f = 0; f < kFlows; ++f) {
    header.acks[f] = peer.receive[f].next();
    holes |= peer.receive[f].has_holes();
  }
  if (!holes && peer.room_again == 0 && peer.probed_bytes == 0) {
    peer.ack_now = false;
    peer.unacked_frames = 0;
  }
  encode_header(frame, header, keys_, job_tag_, rank_of(peer), hashes);
  patch_length(frame, kRecordsOffset + header.record_bytes);
}

bool Lane::leaves_body_unhashed() const noexcept {
  return nic_.config.auth == FrameAuth::kHeader && !nic_.facts.memory_medium;
}

/// The hashes of the records, once, when the frame is complete. The device may read the body later
/// than this does: a body that was changed in between is refused, and repeated as it is then.
void Lane::seal(Rank destination, SendSlot& slot) noexcept {
  if (nic_.facts.memory_medium) {
    slot.payload_bytes = 0;
    count_body(slot);
    return;
  }
  const uint32_t records = slot.head_bytes - kRecordsOffset + slot.body_bytes;
  dcheck(slot.body_bytes == 0 || slot.body_bytes == slot.payload_bytes,
         "bytes sent from where they lie that are not the frame's body", slot.body_bytes);
  dcheck(slot.payload_bytes < records, "a frame without a head", slot.payload_bytes);
  slot.hashes.head =
      hash_head(keys_.hash, destination, slot.head + kRecordsOffset, records - slot.payload_bytes);
  slot.hashes.body = 0;
  if (slot.payload_bytes != 0 && !leaves_body_unhashed()) {
    const std::byte* payload =
        slot.body_bytes != 0 ? slot.body : slot.head + slot.head_bytes - slot.payload_bytes;
    slot.hashes.body = keys_.hash.of(kBodyContext, payload, slot.payload_bytes);
  }
  count_body(slot);
}

void Lane::count_body(const SendSlot& slot) noexcept {
  if (slot.body_key != 0 && nic_.facts.zero_copy_tx) {
    counters_.add(Count::kTxZeroCopyBytes, slot.body_bytes);
  } else if (slot.body_bytes != 0) {
    counters_.add(Count::kTxCopiedBytes, slot.body_bytes);
  }
}

/// The source of a get may change between its hash and the device's read of it: the receiver drops
/// such a frame, and its repetition is sent from a copy, so that it cannot happen twice. It may
/// also be gone: then the receiver has had it, and drops whatever comes again.
void Lane::snapshot_body(SendFlow& send, SendSlot& slot) noexcept {
  const bool is_reply = slot.flow == Flow::kReply;
  const bool may_take = slot.buffer == kNoIndex &&
                        buffer_share_.allows(send.buffers, 1, buffers_.available(), is_reply);
  const Index buffer = may_take ? buffers_.take() : kNoIndex;
  if (buffer == kNoIndex) {
    if (!is_mapped(slot.body, slot.body_bytes)) {
      slot.body = kZeroBytes;
      slot.body_key = 0;
    }
    return;
  }
  take_buffer(send, slot, buffer);
  std::byte* copy = buffer_bytes_ + size_t{buffer} * buffer_stride_;
  std::memcpy(copy, slot.head, slot.head_bytes);
  copy_if_mapped(copy + slot.head_bytes, slot.body, slot.body_bytes);
  slot.head = copy;
  slot.head_bytes = static_cast<uint16_t>(slot.head_bytes + slot.body_bytes);
  slot.body = nullptr;
  slot.body_bytes = 0;
  slot.body_key = 0;
  slot.volatile_body = false;
}

}  // namespace pinwire
