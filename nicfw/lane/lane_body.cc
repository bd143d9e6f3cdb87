// The body of a frame, which is the large payload of its last record: hashed while it is copied.
//
// The tag has vouched for the records, and judge() for what they ask: only then is a byte of the
// body read. It is written to its target before its hash is known to be right. That is allowed: the
// frame is not accepted yet, so the put or get that it belongs to is not complete, and until then
// the contents of its target are undefined. A put of up to kCopyBytes is in the head, and verified
// before it is written.
#include "nicfw/lane/lane.h"

namespace pinwire {

/// Is the body hashed, or may it go without that here?
bool Lane::covers_body(const RxFrame& frame, const FrameHeader& header) const noexcept {
  if (header.has_hashed_body()) return true;
  return leaves_body_unhashed() && checksum_vouches(frame, header);
}

/// Copies the body to where its record, at `record_at`, wants it: a message's stays in the frame.
/// False: it is not what its sender made, and the frame must not be accepted.
bool Lane::receive_body(const FrameHeader& header, const RxFrame& frame,
                        uint32_t record_at) noexcept {
  const std::byte* records = frame.data + kRecordsOffset;
  Record record;
  [[maybe_unused]] const Reject bad =
      parse_record(records + record_at, header.record_bytes - record_at, record);
  dcheck(bad == Reject::kNone, "a record changed after it was checked", static_cast<uint8_t>(bad));
  const std::byte* body = records + header.head_bytes;
  const uint32_t bytes = header.body_bytes();
  std::byte* target = target_of(record);
  dcheck(target == nullptr || record.bytes == bytes, "part of a payload in the head", record.bytes);
  const uint64_t hash = target != nullptr ? keys_.hash.copy(kBodyContext, target, body, bytes)
                                          : keys_.hash.of(kBodyContext, body, bytes);
  return body_hash_holds(frame, keys_.tag, nic_.info.rank, header, hash);
}

/// Returns where the payload of a checked record goes; nullptr: it stays in the frame.
std::byte* Lane::target_of(const Record& record) noexcept {
  if (record.type == RecordType::kPut) return reinterpret_cast<std::byte*>(record.address);
  if (record.type != RecordType::kGetData) return nullptr;
  const auto index = static_cast<Index>(record.op & 0xffff);
  return static_cast<std::byte*>(ops_[index].work.local) + record.offset;
}

}  // namespace pinwire
