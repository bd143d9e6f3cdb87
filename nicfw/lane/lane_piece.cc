// Frames longer than the path: cut by the sender, put together by the receiver (piece.h,
// assemblies.h). The lane's part of the probes that tell what the path carries (path_probe.h).
#include <cstdio>
#include <cstring>

#include "core/base/memory/mapped_copy.h"
#include "nicfw/lane/lane.h"

namespace pinwire {
namespace {

/// Copies the records [offset, offset + bytes) of a frame in two parts. The body of a repetition
/// may be gone: then the receiver has had it (snapshot_body()).
void copy_records(std::byte* to, const SendSlot& slot, uint32_t offset, uint32_t bytes) noexcept {
  const uint32_t own_bytes = slot.head_bytes - kRecordsOffset;
  const uint32_t first = offset < own_bytes ? std::min(bytes, own_bytes - offset) : 0;
  std::memcpy(to, slot.head + kRecordsOffset + offset, first);
  if (first == bytes) return;
  const std::byte* body = slot.body + (offset + first - own_bytes);
  if (slot.volatile_body && slot.sends > 1) {
    copy_if_mapped(to + first, body, bytes - first);
  } else {
    std::memcpy(to + first, body, bytes - first);
  }
}

}  // namespace

void Lane::make_pieces() {
  const bool needs_pieces =
      nic_.facts.frame_bytes_max > nic_.config.path_bytes && !nic_.facts.stays_inside_host();
  if (!needs_pieces) return;
  piece_frames_ = std::make_unique_for_overwrite<std::byte[]>(size_t{kBurst} * piece_stride());
  assemblies_.make(buffer_stride_);
}

/// Hands a frame that its flow has just sent to the port, in pieces. If the port does not take all
/// of them, the frame counts as lost, and its repetition begins with the first that is missing.
void Lane::stage_pieces(Peer& peer, const FrameHeader& header, bool again) noexcept {
  SendFlow& send = peer.send[static_cast<size_t>(header.flow())];
  Index index;
  SendSlot& slot = slot_at(send, header.sequence, index);
  want_wide(peer);
  Piece piece{0, piece_step(peer.path_bytes), header.record_bytes};
  const uint32_t count = piece.count();
  dcheck(count > 1 && count <= kPiecesMax, "a frame in too many pieces", count);
  // The port may have taken the first pieces only. Sending the rest is no repetition.
  if (slot.pieces_taken >= count) {
    slot.pieces_taken = 0;
    slot.first_piece = static_cast<uint8_t>(next_first_piece(slot.first_piece, count));
    if (again) counters_.add(Count::kRetransmits);
  }
  while (!port_busy_ && slot.pieces_taken < count) {
    piece.index = (slot.first_piece + slot.pieces_taken) % count;
    stage_piece(peer, header, slot, piece);
  }
  if (slot.pieces_taken != count) {
    mark_lost(send, header.sequence);
    attend(peer);
    return;
  }
  counters_.add(Count::kFramesInPieces);
}

/// A congestion window counts frames: so many pieces at most are under way. The oldest frame never
/// waits: its acknowledgement tells what has become of the others.
[[gnu::cold]] bool Lane::pieces_must_wait(const Peer& peer, const SendFlow& send,
                                          uint32_t sequence) noexcept {
  Index index;
  const SendSlot& slot = slot_at(send, sequence, index);
  const uint32_t frame_bytes = slot.frame_bytes();
  if (frame_bytes <= peer.path_bytes || sequence == send.una) return false;
  const Piece first{0, piece_step(peer.path_bytes), frame_bytes - kRecordsOffset};
  return send.on_wire() >= std::max(2u, peer.congestion.frames() / first.count());
}

void Lane::stage_piece(Peer& peer, const FrameHeader& whole, SendSlot& slot,
                       const Piece& piece) noexcept {
  std::byte* frame = piece_frames_.get() + size_t{staged_count_} * piece_stride();
  encode_piece(frame + kRecordsOffset, piece);
  copy_records(frame + kRecordsOffset + kPieceFieldsBytes, slot, piece.offset(), piece.bytes());
  FrameHeader header = whole;
  header.kind = FrameKind::kPiece;
  header.flags = static_cast<uint8_t>(header.flags & ~kBodyUnhashed);
  header.record_bytes = static_cast<uint16_t>(kPieceFieldsBytes + piece.bytes());
  stage_whole(peer, frame, header, nullptr,
              {rank_of(peer), whole.sequence, whole.flow(), Staged::kPiece, slot.pieces_taken++});
}

/// True: the frame is held. The frame that `frame` completes takes its place in the buffer.
bool Lane::receive_piece(Peer& peer, FrameHeader& header, RxFrame& frame) noexcept {
  Piece piece;
  const uint32_t total_max = assemblies_.are_made() ? peer.frame_bytes_max - kRecordsOffset : 0;
  if (const Reject bad =
          parse_piece(frame.data + kRecordsOffset, header.record_bytes, total_max, piece);
      bad != Reject::kNone) {
    counters_.add(bad);
    return false;
  }
  if (const Reject bad = check_arrival(peer, header); bad != Reject::kNone) {
    turn_away(peer, header, bad);
    return false;
  }
  Assembly* const found = assemblies_.find(rank_of(peer), header, piece, liveness_.watch_ns());
  if (found == nullptr) {
    counters_.add(Reject::kRefused);
    return false;
  }
  Assembly& assembly = *found;
  assemblies_.add(assembly, piece, frame.data + kRecordsOffset + kPieceFieldsBytes,
                  liveness_.watch_ns());
  if (!assembly.is_whole()) return false;
  const uint32_t bytes = kRecordsOffset + piece.total;
  if (!nic_.port.widen(index_, frame, bytes)) {
    counters_.add(Reject::kRefused);
    return false;  // the assembly stays whole: one repeated piece is enough to finish it
  }
  std::memcpy(frame.data + kRecordsOffset, assemblies_.records_of(assembly), piece.total);
  Assemblies::end(assembly);
  header.record_bytes = header.head_bytes = static_cast<uint16_t>(piece.total);
  Judged judged;
  judged.bad = judge(peer, header, frame.data + kRecordsOffset, judged.needs);
  return take_records(peer, header, {frame.data, bytes, frame.checksum_good, frame.buffer}, judged);
}

/// A longer frame is wanted than the path is known to carry, or one was lost again on an open path.
[[gnu::cold]] void Lane::want_wide(Peer& peer) noexcept {
  if (!paths_.want(peer, now_ns_)) return;
  set_timer(peer.probe_at_ns);  // run_timers() does so for the pairs that follow
}

void Lane::send_probe(Peer& peer, uint32_t frame_bytes) noexcept {
  check(frame_bytes == nic_.config.path_bytes || frame_bytes == peer.frame_bytes_max,
        "a probe is neither short nor long", frame_bytes);
  std::byte* frame = ack_frames_.get() + size_t{staged_count_} * kAckFrameBytes;
  FrameHeader header;
  header.kind = FrameKind::kProbe;
  header.record_bytes = static_cast<uint16_t>(frame_bytes - kRecordsOffset);
  counters_.add(Count::kPathProbes);
  stage_whole(peer, frame, header, kZeroBytes, {rank_of(peer), 0, Flow::kRequest, Staged::kProbe});
}

/// The next acknowledgement tells the longest probe that arrived since the last one.
void Lane::take_probe(Peer& peer, const FrameHeader& header) noexcept {
  peer.probed_bytes =
      std::max(peer.probed_bytes, static_cast<uint16_t>(kRecordsOffset + header.record_bytes));
  peer.ack_now = true;
  attend(peer);
}

/// From now on long frames go in pieces, those first that were lost.
void Lane::path_narrowed(Peer& peer) noexcept {
  check(is_narrow(peer), "an open path became narrow", peer.path_bytes);
  for (SendFlow& send : peer.send) {
    if (send.window == kNoIndex) continue;
    for (uint32_t s = send.una; s != send.unsent; ++s) {
      const Index index = windows_[send.window].slot[s % kWindowFramesMax];
      if (index == kNoIndex) continue;
      const SendSlot& slot = slots_[index];
      const bool is_long = slot.frame_bytes() > peer.path_bytes;
      if (is_long && slot.sent_ns + peer.rtt.smoothed_ns() <= now_ns_) mark_lost(send, s);
    }
  }
  attend(peer);
}

void Lane::path_has_hole(Peer& peer) noexcept {
  counters_.add(Count::kPathHoles);
  if (nic_.config.notices == nullptr) return;
  if (nic_.told_of_hole.exchange(true, std::memory_order_relaxed)) return;
  char sentence[400];
  std::snprintf(
      sentence, sizeof sentence,
      "frames of %u bytes from rank %u do not reach rank %u, but frames of %u bytes do: a part of "
      "the network between them carries less than the ports at both ends. Longer messages now go "
      "in pieces, which takes more time. Give every part of the network an MTU of %u, or set "
      "GASNET_DPDK_MTU=%u for all ranks",
      static_cast<unsigned>(peer.frame_bytes_max), nic_.info.rank, rank_of(peer),
      nic_.config.path_bytes, peer.frame_bytes_max - 14u, nic_.config.path_bytes - 14);
  nic_.config.notices->say(sentence);
}

}  // namespace pinwire
