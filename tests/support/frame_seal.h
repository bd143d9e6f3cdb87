// The hashes and tag of a frame, made of the bytes that are there.
#pragma once

#include "nicfw/wire/wire.h"

namespace pinwire {

inline RecordHashes hashes_of(const std::byte* frame, const FrameHeader& header,
                              const FrameKeys& keys, Rank destination) {
  const std::byte* records = frame + kRecordsOffset;
  RecordHashes hashes;
  hashes.head = hash_head(keys.hash, destination, records, header.head_bytes);
  if (header.has_hashed_body()) {
    hashes.body = keys.hash.of(kBodyContext, records + header.head_bytes, header.body_bytes());
  }
  return hashes;
}

inline void seal_frame(std::byte* frame, const FrameHeader& header, const FrameKeys& keys,
                       uint16_t job_tag, Rank destination) {
  encode_header(frame, header, keys, job_tag, destination,
                hashes_of(frame, header, keys, destination));
}

/// The checks that a receiver makes before it takes a frame, its body included.
inline Reject verify_whole(const RxFrame& frame, const FrameKeys& keys, Rank self,
                           const FrameHeader& header) {
  const Reject bad = verify_head(frame, keys, self, header);
  if (bad != Reject::kNone || header.body_bytes() == 0) return bad;
  if (!header.has_hashed_body()) {
    return checksum_vouches(frame, header) ? Reject::kNone : Reject::kChecksum;
  }
  const uint64_t hash = hashes_of(frame.data, header, keys, self).body;
  return body_hash_holds(frame, keys.tag, self, header, hash) ? Reject::kNone : Reject::kTag;
}

}  // namespace pinwire
