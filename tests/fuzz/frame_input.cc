#include "tests/fuzz/frame_input.h"

#include <algorithm>
#include <cstring>
#include <memory>

#include "core/base/check.h"
#include "nicfw/nic.h"
#include "nicfw/wire/wire.h"
#include "tests/support/frame_seal.h"
#include "tests/support/loop_port.h"

namespace pinwire {
namespace {

constexpr uint64_t kJobKey = 77;
constexpr Rank kSelf = 1;
constexpr uint16_t kPort = kDefaultUdpPort;
constexpr uint32_t kRxBuffers = 32;

struct alignas(16) Frame {
  std::byte bytes[1514];
};

uint8_t flags_of(FrameKind kind) {
  if (kind == FrameKind::kProbe) return 0;
  return kind == FrameKind::kRecords || kind == FrameKind::kPiece ? kFlagsOfRecords : kFlagsOfAcks;
}

/// Makes the encapsulation, the lengths and the tag right, and leaves the rest as the fuzzer wants
/// it.
void put_right(std::byte* frame, uint32_t count, const FrameKey& key) {
  const Endpoint from{{2, 0, 0, 0, 0, 1}, 1, kPort, 0, 0};
  const Endpoint to{{2, 0, 0, 0, 0, 2}, 2, kPort, 0, 0};
  encode_encapsulation(frame, from, to, count);
  const std::byte* at = frame + kEncapsulationBytes;
  FrameHeader header;
  header.kind = static_cast<FrameKind>(std::to_integer<uint8_t>(at[0]) % kFrameKinds);
  header.flags = std::to_integer<uint8_t>(at[1]) & flags_of(header.kind);
  header.credit = load_little<uint16_t>(at + 2);
  header.source = 0;
  // Often in the window.
  header.sequence = load_little<uint32_t>(at + 8) % 400;
  header.number = load_little<uint32_t>(at + 32) % 1000;
  for (uint32_t f = 0; f < kFlows; ++f)
    header.acks[f] = load_little<uint32_t>(at + 12 + 4 * f) % 16;
  header.host_delay = load_little<uint16_t>(at + 30) & kHostDelayUnknown;
  header.is_quiet = load_little<uint16_t>(at + 30) >> 15 != 0;
  header.record_bytes = header.head_bytes = static_cast<uint16_t>(count - kRecordsOffset);
  // Half of the frames have a body: often the payload of the first record.
  const uint32_t wanted = load_little<uint16_t>(at + 28);
  if (header.kind == FrameKind::kRecords && wanted % 2 != 0) {
    const std::byte* record = frame + kRecordsOffset;
    const uint32_t fields =
        count > kRecordsOffset ? record_fields(static_cast<RecordType>(record[0])) : 0;
    const uint32_t head = wanted % 4 == 1 ? fields : wanted / 4;
    header.head_bytes = static_cast<uint16_t>(std::min<uint32_t>(head, header.record_bytes));
  }
  seal_frame(frame, header, FrameKeys(key), key.job_tag(), kSelf);
}

/// The memory that peers may write, between guards.
struct Guarded {
  uint64_t before[64];
  uint64_t open[64];
  uint64_t after[64];
};

class Victim {
 public:
  Victim()
      : port_(2, 1514, kRxBuffers),
        nic_(make_nic(port_, clock_, {.window_frames = 8, .path_bytes = 512})) {
    OpenInfo info;
    info.rank = kSelf;
    info.rank_count = 2;
    info.job_key = kJobKey;
    check(nic_->open(info).ok(), "open");
    check(nic_->connect(0, nic_->address()).ok(), "connect");  // its frames come back to this port
    std::memset(&memory_, 0x5a, sizeof memory_);
    region_ = nic_->pin(memory_.open, sizeof memory_.open, -1, 0).value();
    Work get{};
    get.op = Op::kGet;
    get.local = &fetched_.open;
    get.bytes = sizeof fetched_.open;
    get.remote = region_.base;
    get.remote_key = region_.remote_key;
    std::memset(&fetched_, 0x5a, sizeof fetched_);
    check(nic_->post(0, {&get, 1}) == 1, "post");
    port_.lose_waiting();
  }

  void receive(std::byte* frame, uint32_t count, bool right, bool altered) {
    if (right) {
      // A key that a fuzzer would never guess.
      std::byte* key = frame + kRecordsOffset + 4;
      if (count >= kRecordsOffset + 24 && frame[kRecordsOffset + 1] == std::byte{0}) {
        store_little<uint32_t>(key, region_.remote_key);
        const uint64_t address = load_little<uint64_t>(key + 12);
        store_little<uint64_t>(key + 12, region_.base + address % 1024 - 256);
      }
      put_right(frame, count, FrameKey(kJobKey, 0));
      if (altered) frame[count - 1] ^= std::byte{1};
    }
    port_.inject(frame, count);
    poll();
  }

  void poll() {
    Recv out[8];
    const uint32_t count = nic_->recv(0, RecvFilter::kAll, out);
    for (uint32_t i = 0; i < count; ++i) {
      volatile std::byte last{};
      if (out[i].bytes != 0) last = out[i].data[out[i].bytes - 1];  // readable to its end
      static_cast<void>(last);
    }
    nic_->give_back(0, std::span(out, count));
    Done done[8];
    nic_->done(0, done);
    port_.lose_waiting();
    clock_.advance(10'000);
  }

  void check_whole() {
    for (const Guarded* guarded : {&memory_, &fetched_}) {
      for (size_t i = 0; i < 64; ++i) {
        check(guarded->before[i] == 0x5a5a5a5a5a5a5a5a, "written below the region", i);
        check(guarded->after[i] == 0x5a5a5a5a5a5a5a5a, "written above the region", i);
      }
    }
    // Only messages that wait for their data may keep buffers: half at most.
    check(port_.free_buffers() >= kRxBuffers / 2, "buffers are lost", port_.free_buffers());
  }

 private:
  ManualClock clock_;
  LoopPort port_;
  std::unique_ptr<Driver> nic_;
  Guarded memory_;
  Guarded fetched_;
  Region region_{};
};

Reject parse_frame(const RxFrame& frame, const FrameKey& key, FrameHeader& header) {
  const Reject bad = parse_header(frame, key.job_tag(), kPort, header);
  return bad != Reject::kNone ? bad : verify_whole(frame, FrameKeys(key), kSelf, header);
}

}  // namespace

void fuzz_parsers(const uint8_t* data, size_t bytes) {
  Frame frame{};
  const auto count = static_cast<uint32_t>(std::min(bytes, sizeof frame.bytes));
  if (count != 0) std::memcpy(frame.bytes, data, count);
  const FrameKey key(kJobKey, 0);
  FrameHeader header;
  const RxFrame rx{frame.bytes, count, false, nullptr};
  if (parse_frame(rx, key, header) == Reject::kNone) {
    check(kRecordsOffset + header.record_bytes <= count, "more records than frame", count);
  }
  Record record;
  if (parse_record(frame.bytes, count, record) == Reject::kNone) {
    check(record.fields + record.bytes <= count, "a record longer than its frame", count);
  }
  if (count < kRecordsOffset) return;
  put_right(frame.bytes, count, key);
  check(parse_frame(rx, key, header) == Reject::kNone || (header.flags & kFlowMask) == 3,
        "a right frame was refused");
}

void fuzz_nic(const uint8_t* data, size_t bytes) {
  Victim victim;
  Frame frame;
  while (bytes > 3) {
    // A frame: its length, whether its tag is right and its last byte altered then, its bytes.
    const uint32_t wanted = data[0] | (data[1] & 3u) << 8;
    const bool right = data[2] & 1;
    const bool altered = data[2] & 2;
    data += 3;
    bytes -= 3;
    std::memset(frame.bytes, 0, sizeof frame.bytes);
    const size_t given = std::min<size_t>(wanted, bytes);
    const uint32_t skip = right ? kEncapsulationBytes : 0;  // that would be overwritten
    std::memcpy(frame.bytes + skip, data, given);
    data += given;
    bytes -= given;
    const uint32_t count = std::max(wanted + skip, right ? kRecordsOffset : 0);
    victim.receive(frame.bytes, count, right, altered);
  }
  for (int i = 0; i < 4; ++i) victim.poll();
  victim.check_whole();
}

}  // namespace pinwire
