// Puts of many small pieces as one record: a list of them (driver/scatter.h), all in one frame.
//
// To its target it is a put: it needs no room there, and whoever polls the lane carries it out,
// also a thread of the library while the client computes or is in a No-Interrupt Section. To its
// initiator it is one operation, however many pieces there are.
#include <cstring>

#include "core/base/bits.h"
#include "driver/scatter.h"
#include "nicfw/lane/lane.h"

namespace pinwire {

bool Lane::accept_scatter(Peer& peer, const Work& work) noexcept {
  check(work.bytes != 0 && work.bytes <= scatter_list_bytes(peer.frame_bytes_max),
        "post: a list of pieces larger than scatter_bytes_max, or none", work.bytes);
  check((work.flags & kWorkCopied) != 0, "post: a list of pieces that is not copied", work.flags);
  const Index op = ops_.take(work);
  if (op == kNoIndex) return false;
  const auto bytes = static_cast<uint32_t>(work.bytes);
  SendSlot* slot = nullptr;
  std::byte* at = reserve_record(peer, Flow::kOneSided, record_fields(RecordType::kScatter) + bytes,
                                 Kind::kPlain, slot);
  if (at == nullptr) {
    ops_.drop(op);
    return false;
  }
  Record record{};
  record.type = RecordType::kScatter;
  record.bytes = static_cast<uint16_t>(bytes);
  record.key = work.remote_key;
  record.op = ops_.name(op);
  record.address = work.remote;
  at += encode_record(at, record);
  std::memcpy(at, work.local, bytes);
  counters_.add(Count::kTxCopiedBytes, bytes);
  slot->wants_ack = true;
  chain_op(*slot, op);
  ops_[op].all_built = true;
  built(peer, Flow::kOneSided);
  return true;
}

/// Does the list make sense, and is every piece inside the region that it has the key of?
Reject Lane::check_scatter(Peer& peer, const Record& record, const std::byte* list) noexcept {
  const Regions::Entry* entry = nic_.regions.find(record.key);
  ScatterReader pieces(record.address, list, record.bytes);
  ScatterPiece piece;
  while (pieces.next(piece)) {
    if (entry != nullptr && inside(piece.remote, piece.bytes, entry->base, entry->bytes)) continue;
    Record asked = record;
    asked.address = piece.remote;
    asked.length = piece.bytes;
    refuse_access(peer, asked);
    return Reject::kAccess;
  }
  return pieces.is_at_end() ? Reject::kNone : Reject::kRecord;
}

void Lane::place_scattered(const Record& record, const std::byte* list) noexcept {
  ScatterReader pieces(record.address, list, record.bytes);
  ScatterPiece piece;
  uint64_t bytes = 0;
  while (pieces.next(piece)) {
    piece.copy_to(reinterpret_cast<std::byte*>(piece.remote));
    bytes += piece.bytes;
  }
  counters_.add(Count::kRxPlacedBytes, bytes);
}

}  // namespace pinwire
