// Frames of a peer that knows the job key and lies: what a bug, or a malicious client, could send.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <optional>

#include "tests/support/frame_seal.h"
#include "tests/support/nic_group.h"

namespace pinwire {

/// Makes a frame as rank 0 would send it to rank 1, with whatever is wrong with it.
class FrameForger {
 public:
  explicit FrameForger(NicGroup& group) : group_(group) {
    header.source = 0;
    key = FrameKey(NicGroup::kJobKey, 0);
    job_tag = key.job_tag();
  }
  void add(const Record& record, const void* payload = nullptr) {
    used_ = (used_ + 15) & ~size_t{15};
    const uint32_t fields = encode_record(bytes_ + kRecordsOffset + used_, record);
    if (payload != nullptr) {
      std::memcpy(bytes_ + kRecordsOffset + used_ + fields, payload, record.bytes);
    }
    used_ += fields + record.bytes;
  }
  void raw(size_t count) { used_ = count; }
  std::byte* records() { return bytes_ + kRecordsOffset; }
  void inject(uint32_t cut = 0) {
    const Endpoint from{{2, 0, 0, 0, 0, 1}, 0x0a000001, kDefaultUdpPort, 0, 0};
    const Endpoint to{{2, 0, 0, 0, 0, 2}, 0x0a000002, kDefaultUdpPort, 0, 0};
    const auto count = static_cast<uint32_t>(kRecordsOffset + used_);
    encode_encapsulation(bytes_, from, to, count);
    header.record_bytes = static_cast<uint16_t>(used_);
    header.head_bytes = static_cast<uint16_t>(used_ - body_bytes);
    header.number = number ? *number : next_number();
    seal_frame(bytes_, header, FrameKeys(key), job_tag, destination);
    ASSERT_TRUE(group_.port(1).inject(bytes_, count - cut));
  }

  FrameHeader header;
  FrameKey key;
  uint16_t job_tag = 0;
  Rank destination = 1;
  size_t body_bytes = 0;           ///< at the end of the records
  std::optional<uint32_t> number;  ///< of the frame; without it, one that is fresh

 private:
  /// Behind those of the true peer's frames, and near enough that these are not taken for old.
  static uint32_t next_number() {
    static uint32_t made = 0;
    return 64 + made++ % 60;
  }

  NicGroup& group_;
  alignas(16) std::byte bytes_[1514] = {};
  size_t used_ = 0;
};

}  // namespace pinwire
