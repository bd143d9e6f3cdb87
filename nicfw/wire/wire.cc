#include "nicfw/wire/wire.h"

#include "core/base/bits.h"
#include "core/base/check.h"

namespace pinwire {
namespace {

constexpr uint8_t kVersion = 5;
constexpr uint16_t kEtherTypeIpv4 = 0x0800;
constexpr uint8_t kProtocolUdp = 17;
constexpr uint16_t kDontFragment = 0x4000;
constexpr uint32_t kIpv4At = 14;
constexpr uint32_t kUdpAt = 34;
constexpr uint32_t kHeaderAt = kEncapsulationBytes;
constexpr uint32_t kJobTagAt = kHeaderAt + 24;
constexpr uint32_t kRecordBytesAt = kHeaderAt + 26;
constexpr uint32_t kHeadBytesAt = kHeaderAt + 28;
constexpr uint32_t kHostDelayAt = kHeaderAt + 30;
constexpr uint32_t kNumberAt = kHeaderAt + 32;
constexpr uint32_t kReservedAt = kHeaderAt + 36;
constexpr uint32_t kReservedBytes = 2;
constexpr uint32_t kBodyHashAt = kHeaderAt + 38;
constexpr uint32_t kTagAt = kHeaderAt + 46;
static_assert(kHostDelayAt + 2 == kNumberAt && kNumberAt + 4 == kReservedAt &&
              kReservedAt + kReservedBytes == kBodyHashAt);
static_assert(kTagAt + 8 == kRecordsOffset);

uint32_t sum_network_words(const std::byte* at, uint32_t bytes, uint32_t sum) noexcept {
  for (uint32_t i = 0; i + 1 < bytes; i += 2) sum += load_network<uint16_t>(at + i);
  if (bytes & 1) sum += std::to_integer<uint32_t>(at[bytes - 1]) << 8;
  return sum;
}

uint16_t folded(uint32_t sum) noexcept {
  sum = (sum & 0xffff) + (sum >> 16);
  sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<uint16_t>(~sum);
}

bool udp_checksum_holds(const std::byte* frame, uint32_t udp_bytes) noexcept {
  uint32_t sum = sum_network_words(frame + kIpv4At + 12, 8, kProtocolUdp + udp_bytes);
  sum = sum_network_words(frame + kUdpAt, udp_bytes, sum);
  return folded(sum) == 0;
}

/// The header but its number, which the masks bind, its reserved bytes, which are zero, and its
/// tag.
using HeaderWords = uint64_t[BodyHash::kFixedWords];

/// A mask hides one of these. The bit tells their masks apart, because no sender makes so many
/// frames that a number has it.
enum class Masked : uint64_t { kBody = 0, kTag = uint64_t{1} << 63 };

uint64_t mask_of(Masked what, const FrameKey& key, Rank destination,
                 const FrameHeader& header) noexcept {
  return key.tag(header.source | uint64_t{destination} << 32,
                 header.number_64() | static_cast<uint64_t>(what));
}

/// Covers the whole header, and the head. The points of the two hashes are independent, so that no
/// change of one can be known to make up for a change of the other.
uint64_t frame_tag(const HeaderWords& words, const FrameKeys& keys, Rank destination,
                   const FrameHeader& header, uint64_t head_hash) noexcept {
  return keys.header.of_words(words) ^ head_hash ^
         mask_of(Masked::kTag, keys.tag, destination, header);
}

bool reserved_is_zero(const std::byte* frame) noexcept {
  return load_little<uint16_t>(frame + kReservedAt) == 0;
}

Reject parse_encapsulation(const std::byte* frame, uint32_t frame_bytes, uint16_t udp_port,
                           uint32_t& udp_bytes) noexcept {
  if (frame_bytes < kRecordsOffset) return Reject::kRunt;
  const auto byte_at = [frame](uint32_t i) { return std::to_integer<uint8_t>(frame[i]); };
  if (load_network<uint16_t>(frame + 12) != kEtherTypeIpv4 || byte_at(kIpv4At) != 0x45 ||
      byte_at(kIpv4At + 9) != kProtocolUdp ||
      (load_network<uint16_t>(frame + kIpv4At + 6) & ~kDontFragment) != 0 ||
      load_network<uint16_t>(frame + kUdpAt + 2) != udp_port) {
    return Reject::kNotOurs;
  }
  const uint32_t ip_bytes = load_network<uint16_t>(frame + kIpv4At + 2);
  udp_bytes = load_network<uint16_t>(frame + kUdpAt + 4);
  const bool fits = ip_bytes + kIpv4At <= frame_bytes && udp_bytes + 20 == ip_bytes &&
                    udp_bytes >= 8 + kFrameHeaderBytes;
  return fits ? Reject::kNone : Reject::kRunt;
}

/// Which flags a frame of this kind may bear: the others must be zero.
bool flags_are_known(FrameKind kind, uint8_t flags) noexcept {
  if (kind == FrameKind::kProbe) return flags == 0;
  if (kind == FrameKind::kAck || kind == FrameKind::kAckSack) return (flags & ~kFlagsOfAcks) == 0;
  return (flags & ~kFlagsOfRecords) == 0 && (flags & kFlowMask) < kFlows;
}

}  // namespace

const char* reject_name(Reject reason) noexcept {
  static constexpr const char* kNames[] = {
      "none", "runt",     "not_ours",  "version", "job",     "tag",    "checksum", "source",
      "ack",  "sequence", "duplicate", "record",  "refused", "access", "operation"};
  static_assert(std::size(kNames) == static_cast<size_t>(Reject::kCount));
  return kNames[static_cast<size_t>(reason)];
}

void encode_encapsulation(std::byte* frame, const Endpoint& from, const Endpoint& to,
                          uint32_t frame_bytes) noexcept {
  std::memcpy(frame, to.mac.data(), 6);
  std::memcpy(frame + 6, from.mac.data(), 6);
  store_network<uint16_t>(frame + 12, kEtherTypeIpv4);
  std::byte* ip = frame + kIpv4At;
  store_network<uint16_t>(ip, 0x4500);
  store_network<uint16_t>(ip + 4, 0);  // identification: unused by frames that are never fragmented
  store_network<uint16_t>(ip + 6, kDontFragment);
  store_network<uint16_t>(ip + 8, static_cast<uint16_t>(to.hops_max << 8 | kProtocolUdp));
  store_network<uint32_t>(ip + 12, from.ipv4);
  store_network<uint32_t>(ip + 16, to.ipv4);
  std::byte* udp = frame + kUdpAt;
  store_network<uint16_t>(udp, from.udp_port);
  store_network<uint16_t>(udp + 2, to.udp_port);
  store_network<uint16_t>(udp + 6, 0);
  store_network<uint16_t>(ip + 2, 0);
  store_network<uint16_t>(ip + 10, 0);
  store_network<uint16_t>(ip + 10, folded(sum_network_words(ip, 20, 0)));
  patch_length(frame, frame_bytes);
}

void patch_length(std::byte* frame, uint32_t frame_bytes) noexcept {
  std::byte* ip = frame + kIpv4At;
  const auto ip_bytes = static_cast<uint16_t>(frame_bytes - kIpv4At);
  const uint16_t old_bytes = load_network<uint16_t>(ip + 2);
  const uint16_t old_sum = load_network<uint16_t>(ip + 10);
  // RFC 1624, equation 3
  const uint32_t sum = uint32_t{static_cast<uint16_t>(~old_sum)} +
                       uint32_t{static_cast<uint16_t>(~old_bytes)} + ip_bytes;
  store_network<uint16_t>(ip + 2, ip_bytes);
  store_network<uint16_t>(ip + 10, folded(sum));
  store_network<uint16_t>(frame + kUdpAt + 4, static_cast<uint16_t>(ip_bytes - 20));
}

void encode_header(std::byte* frame, const FrameHeader& header, const FrameKeys& keys,
                   uint16_t job_tag, Rank destination, const RecordHashes& hashes) noexcept {
  std::byte* at = frame + kHeaderAt;
  const auto first = static_cast<uint32_t>(kVersion << 4 | static_cast<uint8_t>(header.kind)) |
                     static_cast<uint32_t>(header.flags) << 8 |
                     static_cast<uint32_t>(header.credit) << 16;
  const bool hashed = header.has_hashed_body();
  const HeaderWords words = {
      first | uint64_t{header.source} << 32, header.sequence | uint64_t{header.acks[0]} << 32,
      header.acks[1] | uint64_t{header.acks[2]} << 32,
      job_tag | uint64_t{header.record_bytes} << 16 | uint64_t{header.head_bytes} << 32 |
          uint64_t{header.host_delay} << 48 | uint64_t{header.is_quiet} << 63,
      hashed ? hashes.body ^ mask_of(Masked::kBody, keys.tag, destination, header) : 0};
  for (uint32_t i = 0; i < 4; ++i) store_little<uint64_t>(at + 8 * i, words[i]);
  store_little<uint32_t>(frame + kNumberAt, header.number);
  store_little<uint16_t>(frame + kReservedAt, 0);
  store_little<uint64_t>(frame + kBodyHashAt, words[4]);
  store_little<uint64_t>(frame + kTagAt, frame_tag(words, keys, destination, header, hashes.head));
}

Reject parse_header(const RxFrame& frame, uint16_t job_tag, uint16_t udp_port,
                    FrameHeader& out) noexcept {
  uint32_t udp_bytes = 0;
  if (const Reject bad = parse_encapsulation(frame.data, frame.bytes, udp_port, udp_bytes);
      bad != Reject::kNone) {
    return bad;
  }
  const std::byte* at = frame.data + kHeaderAt;
  const auto version_kind = std::to_integer<uint8_t>(at[0]);
  out.kind = static_cast<FrameKind>(version_kind & 15);
  out.flags = std::to_integer<uint8_t>(at[1]);
  if (version_kind >> 4 != kVersion || (version_kind & 15) >= kFrameKinds ||
      !flags_are_known(out.kind, out.flags) || !reserved_is_zero(frame.data)) {
    return Reject::kVersion;
  }
  if (load_little<uint16_t>(frame.data + kJobTagAt) != job_tag) return Reject::kJob;
  out.credit = load_little<uint16_t>(at + 2);
  out.source = load_little<uint32_t>(at + 4);
  out.number = load_little<uint32_t>(frame.data + kNumberAt);
  out.sequence = load_little<uint32_t>(at + 8);
  for (uint32_t f = 0; f < kFlows; ++f) out.acks[f] = load_little<uint32_t>(at + 12 + 4 * f);
  out.record_bytes = load_little<uint16_t>(frame.data + kRecordBytesAt);
  out.head_bytes = load_little<uint16_t>(frame.data + kHeadBytesAt);
  const auto delay = load_little<uint16_t>(frame.data + kHostDelayAt);
  out.host_delay = delay & kHostDelayUnknown;
  out.is_quiet = delay >> 15 != 0;
  if (out.record_bytes + 8 + kFrameHeaderBytes != udp_bytes || out.head_bytes > out.record_bytes) {
    return Reject::kRunt;
  }
  return Reject::kNone;
}

Reject verify_head(const RxFrame& frame, const FrameKeys& keys, Rank self,
                   const FrameHeader& header) noexcept {
  dcheck(kRecordsOffset + header.record_bytes <= frame.bytes, "records beyond their frame",
         header.record_bytes);
  dcheck(header.head_bytes <= header.record_bytes, "a head beyond the records", header.head_bytes);
  const uint64_t head = hash_head(keys.hash, self, frame.data + kRecordsOffset, header.head_bytes);
  const std::byte* at = frame.data + kHeaderAt;
  const HeaderWords words = {load_little<uint64_t>(at), load_little<uint64_t>(at + 8),
                             load_little<uint64_t>(at + 16), load_little<uint64_t>(at + 24),
                             load_little<uint64_t>(frame.data + kBodyHashAt)};
  const uint64_t tag = frame_tag(words, keys, self, header, head);
  return load_little<uint64_t>(frame.data + kTagAt) == tag ? Reject::kNone : Reject::kTag;
}

bool body_hash_holds(const RxFrame& frame, const FrameKey& key, Rank self,
                     const FrameHeader& header, uint64_t hash) noexcept {
  dcheck(header.has_hashed_body(), "a frame without a hashed body", header.flags);
  const uint64_t masked = hash ^ mask_of(Masked::kBody, key, self, header);
  return load_little<uint64_t>(frame.data + kBodyHashAt) == masked;
}

bool checksum_vouches(const RxFrame& frame, const FrameHeader& header) noexcept {
  return frame.checksum_good || load_network<uint16_t>(frame.data + kUdpAt + 6) == 0 ||
         udp_checksum_holds(frame.data, header.record_bytes + 8 + kFrameHeaderBytes);
}

uint32_t encode_record(std::byte* at, const Record& record) noexcept {
  // One word, not its parts: what copies or checks the frame next loads whole words
  // (am/message/message.h).
  const uint64_t first =
      static_cast<uint8_t>(record.type) | uint64_t{record.code} << 8 | uint64_t{record.bytes} << 16;
  switch (record.type) {
    case RecordType::kMessage:
      store_little<uint64_t>(at, first | uint64_t{record.before} << 32);
      break;
    case RecordType::kPut:
    case RecordType::kGet:
    case RecordType::kAtomic:
    case RecordType::kRefusal:
    case RecordType::kScatter:
      store_little<uint64_t>(at, first | uint64_t{record.key} << 32);
      store_little<uint64_t>(at + 8, record.op);
      store_little<uint64_t>(at + 16, record.address);
      break;
    case RecordType::kGetData:
    case RecordType::kAtomicResult:
      store_little<uint64_t>(at, first);
      store_little<uint64_t>(at + 8, record.op);
      break;
  }
  if (record.type == RecordType::kPut) {
    store_little<uint64_t>(at + 24, static_cast<uint32_t>(record.offset) | record.length << 32);
  }
  if (record.type == RecordType::kGetData) store_little<uint64_t>(at + 16, record.offset);
  if (record.type == RecordType::kAtomicResult) store_little<uint64_t>(at + 16, record.operand);
  if (record.type == RecordType::kGet) store_little<uint64_t>(at + 24, record.length);
  if (record.type == RecordType::kAtomic) {
    store_little<uint64_t>(at + 24, record.operand);
    store_little<uint64_t>(at + 32, record.compare);
  }
  if (record.type == RecordType::kRefusal) {
    store_little<uint64_t>(at + 24, record.length);
    store_little<uint64_t>(at + 32, record.operand);
    store_little<uint64_t>(at + 40, record.compare);
  }
  return record_fields(record.type);
}

Reject parse_record(const std::byte* at, uint32_t left, Record& out) noexcept {
  if (left < kMessageHeaderBytes) return Reject::kRecord;
  out.type = static_cast<RecordType>(at[0]);
  out.fields = record_fields(out.type);
  if (out.fields == 0 || out.fields > left) return Reject::kRecord;
  out.code = std::to_integer<uint8_t>(at[1]);
  out.bytes = load_little<uint16_t>(at + 2);
  if (out.bytes > left - out.fields) return Reject::kRecord;
  out.before = out.key = load_little<uint32_t>(at + 4);
  if (out.type == RecordType::kMessage) return Reject::kNone;
  out.op = load_little<uint64_t>(at + 8);
  const uint64_t third = load_little<uint64_t>(at + 16);
  out.address = third;
  out.offset = third;
  out.operand = third;
  if (out.type == RecordType::kGet || out.type == RecordType::kRefusal) {
    out.length = load_little<uint64_t>(at + 24);
  }
  if (out.type == RecordType::kPut) {
    out.offset = load_little<uint32_t>(at + 24);
    out.length = load_little<uint32_t>(at + 28);
    if (!inside(out.offset, out.bytes, 0, out.length)) return Reject::kRecord;
  }
  if (out.type == RecordType::kAtomic) {
    out.operand = load_little<uint64_t>(at + 24);
    out.compare = load_little<uint64_t>(at + 32);
    if (out.code > static_cast<uint8_t>(AtomicCode::kGet)) return Reject::kRecord;
  }
  if (out.type == RecordType::kRefusal) {
    out.operand = load_little<uint64_t>(at + 32);
    out.compare = load_little<uint64_t>(at + 40);
  }
  const bool has_payload = out.type == RecordType::kPut || out.type == RecordType::kGetData ||
                           out.type == RecordType::kScatter;
  return has_payload == (out.bytes != 0) ? Reject::kNone : Reject::kRecord;
}

}  // namespace pinwire
