// The debts of this rank to its peers: data of gets, results of atomics, refusals.
#include <cstring>

#include "nicfw/lane/lane.h"

namespace pinwire {

void Lane::owe(Peer& peer, const Record& record) noexcept {
  const bool is_short =
      record.type != RecordType::kGetData || record.length <= fragment_bytes(peer);
  responses_.owe(peer, record, is_short);
  attend(peer);
}

/// The frame stays unacknowledged, so that its sender never takes it for done; the sender learns
/// why from one refusal, and ends its job with it.
void Lane::refuse_access(Peer& peer, const Record& record) noexcept {
  if (peer.refusal_sent || !responses_.may_owe(peer, 1)) return;
  peer.refusal_sent = true;
  owe(peer, refusal_of(record));
}

/// Tells the initiator of `record` which memory is pinned under its key, if any.
Record Lane::refusal_of(const Record& record) const noexcept {
  const Regions::Entry* entry = nic_.regions.find(record.key);
  Record refusal{};
  refusal.type = RecordType::kRefusal;
  refusal.key = record.key;
  refusal.op = record.op;
  refusal.address = record.address;
  refusal.length = record.length;
  refusal.operand = entry != nullptr ? entry->base : 0;
  refusal.compare = entry != nullptr ? entry->bytes : 0;
  return refusal;
}

void Lane::pump_responses(Peer& peer) noexcept {
  SendFlow& send = peer.send[static_cast<size_t>(Flow::kReply)];
  if (makes_way(peer, Flow::kReply)) {
    deny(send);
    return;
  }
  const auto build = [&](IndexRing& owed) noexcept {
    const Built built = build_response(peer, owed);
    follow(send, built);
    return built;
  };
  peer.responses_short_lead =
      build_in_turns(peer.responses, peer.responses_short_lead, send, build) & kLeadMax;
}

/// The next frame, or record, of the oldest response.
Built Lane::build_response(Peer& peer, IndexRing& owed) noexcept {
  Response& response = responses_[owed.first(responses_)];
  if (response.record.type == RecordType::kGetData) {
    const uint64_t left = response.record.length - response.built;
    // Small data go beside long ones, as a small put does.
    if (left > kCopyBytes && turn_is_over(left)) return Built::kNoRoom;
    // It may turn the response into a refusal.
    if (left != 0 && !build_get_data(peer, response)) return Built::kNoFrame;
    if (response.built == response.record.length) responses_.disown(peer, owed);
    return Built::kSome;
  }
  SendSlot* slot = nullptr;
  std::byte* at =
      reserve_record(peer, Flow::kReply, record_fields(response.record.type), Kind::kPlain, slot);
  if (at == nullptr) return Built::kNoFrame;
  encode_record(at, response.record);
  responses_.disown(peer, owed);
  return Built::kSome;
}

bool Lane::build_get_data(Peer& peer, Response& response) noexcept {
  Record record = response.record;
  const uint64_t left = record.length - response.built;
  if (left > fragment_bytes(peer) && is_narrow(peer)) [[unlikely]]
    want_wide(peer);
  const auto bytes = static_cast<uint32_t>(std::min<uint64_t>(left, fragment_bytes(peer)));
  const uint32_t fields = record_fields(RecordType::kGetData);
  const uint64_t from = record.address + response.built;
  const Regions::Entry* entry = nic_.regions.find(record.key, from, bytes);
  if (entry == nullptr) {  // unpinned during the get: the initiator would wait for ever
    response.record = refusal_of(record);
    return true;
  }
  const bool copied = bytes <= kCopyBytes;
  SendSlot* slot = nullptr;
  std::byte* at = nullptr;
  if (copied) {
    at = reserve_record(peer, Flow::kReply, fields + bytes, Kind::kPlain, slot);
  } else if ((slot = start_frame(peer, Flow::kReply, false,
                                 frames_for_records(peer, Flow::kReply))) != nullptr) {
    at = slot->head + kRecordsOffset;
    slot->head_bytes = static_cast<uint16_t>(kRecordsOffset + fields);
    slot->body = reinterpret_cast<const std::byte*>(from);
    slot->body_bytes = slot->payload_bytes = static_cast<uint16_t>(bytes);
    slot->body_key = entry->port_key;
    slot->volatile_body = true;
  }
  if (at == nullptr) return false;
  record.bytes = static_cast<uint16_t>(bytes);
  record.offset = response.built;
  encode_record(at, record);
  if (copied) {
    std::memcpy(at + fields, reinterpret_cast<const std::byte*>(from), bytes);
    counters_.add(Count::kTxCopiedBytes, bytes);
  }
  response.built += bytes;
  return true;
}

}  // namespace pinwire
