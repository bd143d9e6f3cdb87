// nicfw's frames, byte for byte.
//
//   0  Ethernet (14)   dst, src, 0x0800
//  14  IPv4 (20)       no options, don't-fragment, UDP
//  34  UDP (8)         destination port = base + lane
//  42  frame header (54), little-endian:
//        42 u8  version and kind     43 u8 flags: flow, ack-now, room again, probe answered
//        44 u16 credit               46 u32 source rank
//        50 u32 sequence; in an acknowledgement the number of the newest frame that has arrived,
//               or the length of a probe that is answered
//        54 u32 x 3 cumulative acks, one for each flow
//        66 u16 job tag              68 u16 record bytes
//        70 u16 bytes of the head    72 u16 host delay, in units of 128 ns; 32,768: quiet
//        74 u32 number of the frame   78 2 bytes of zero
//        80 u64 hash of the body     88 u64 tag
//  96  records, each padded to 16 bytes but the last
//
// The records are a head and, in frames whose last record has a large payload, a body: the end of
// that payload. The tag covers the whole header and the head, so that a receiver believes every
// record before it reads the body. The hash of the body is apart, so that a receiver can make it
// while it copies the body to where the records say. Tag and hash of the body stand in the header
// under masks made from the frame's source, destination and number, which no two frames have in
// common: a mask is used once, and nobody learns a hash. Without a body, or with one that is not
// hashed (kBodyUnhashed), its field is zero.
//
// A record begins at a multiple of 16 and a message's record header takes 8 bytes, so that every
// message, also in a frame that carries many, lies at data % 16 == 8 (driver/work.h). The parsers
// are total functions over untrusted bytes: they answer with a Reject and touch nothing.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "driver/work.h"
#include "nicfw/port/port.h"
#include "nicfw/wire/body_hash.h"
#include "nicfw/wire/bytes.h"
#include "nicfw/wire/frame_tag.h"

namespace pinwire {

inline constexpr uint32_t kEncapsulationBytes = 14 + 20 + 8;
inline constexpr uint32_t kFrameHeaderBytes = 54;
inline constexpr uint32_t kRecordsOffset = kEncapsulationBytes + kFrameHeaderBytes;
inline constexpr uint32_t kRecordAlign = 16;
inline constexpr uint32_t kMessageHeaderBytes = 8;
static_assert(kRecordsOffset % kRecordAlign == 0 &&
              (kRecordsOffset + kMessageHeaderBytes) % 16 == 8);

/// Three sequence spaces between two ranks; lane.h has the deadlock argument.
enum class Flow : uint8_t { kRequest, kReply, kOneSided };
inline constexpr uint32_t kFlows = 3;
inline constexpr uint32_t kWindowFramesMax = 512;  ///< receive bitmap bits

/// Why a frame changed nothing. Counted as rx_drop_<name>.
enum class Reject : uint8_t {
  kNone,
  kRunt,       ///< shorter than its headers say
  kNotOurs,    ///< not IPv4/UDP, or another port
  kVersion,    ///< another version or kind
  kJob,        ///< another job's tag
  kTag,        ///< damaged, or forged without the job key
  kChecksum,   ///< a body that is not hashed, where it must be, or whose UDP checksum is wrong
  kSource,     ///< a rank that is not connected
  kAck,        ///< acknowledges what was never sent
  kSequence,   ///< outside the receive window
  kDuplicate,  ///< arrived before
  kRecord,     ///< records that make no sense
  kRefused,    ///< no room to hold it; the sender will repeat it
  kAccess,     ///< outside a pinned region, or a wrong key
  kOperation,  ///< a response to nothing that is outstanding
  kCount
};
const char* reject_name(Reject reason) noexcept;

struct Endpoint {
  MacAddress mac{};
  uint32_t ipv4 = 0;  ///< host order
  uint16_t udp_port = 0;
  uint16_t frame_bytes_max = 0;  ///< what its port carries
  uint16_t rx_buffers = 0;       ///< how many frames it can take at once
  uint8_t hops_max = 64;         ///< IPv4's TTL of frames to it
};

/// Fills the first 42 bytes for a frame of `frame_bytes`, UDP checksum 0 (a port that offloads it
/// puts its own).
void encode_encapsulation(std::byte* frame, const Endpoint& from, const Endpoint& to,
                          uint32_t frame_bytes) noexcept;
/// Changes the two lengths and the IPv4 checksum of an encapsulation that is already there.
void patch_length(std::byte* frame, uint32_t frame_bytes) noexcept;

/// kProbe: as long as its records say, which are zero; its length is its message (path_probe.h).
/// kPiece: a part of a frame of records (piece.h).
enum class FrameKind : uint8_t { kRecords, kAck, kAckSack, kProbe, kPiece };
inline constexpr uint8_t kFrameKinds = 5;

enum FrameFlags : uint8_t {
  kFlowMask = 3,
  kAckNow = 4,  ///< the sender waits for the acknowledgement itself
  /// In an acknowledgement: frames of this flow were refused for want of room, and there is room
  /// now: they are to be repeated.
  kRoomForRequests = 8,
  kRoomForReplies = 16,
  kRoomForOneSided = 32,
  /// In a frame with a body: the body is left to the UDP checksum (FrameAuth::kHeader).
  kBodyUnhashed = 64,
  /// In an acknowledgement: `sequence` is the length of the longest probe that has arrived since
  /// the last such answer.
  kProbeAnswer = 128,
  /// In an acknowledgement: frames of this flow were refused, and there is no room yet: to repeat
  /// them would be in vain.
  kRefusesRequests = 1,
  kRefusesReplies = 2,
  kRefusesOneSided = 64,
};
inline constexpr uint8_t kFlagsOfRecords = kFlowMask | kAckNow | kBodyUnhashed;
inline constexpr uint8_t kFlagsOfAcks = kAckNow | kRoomForRequests | kRoomForReplies |
                                        kRoomForOneSided | kProbeAnswer | kRefusesRequests |
                                        kRefusesReplies | kRefusesOneSided;
constexpr uint8_t room_flag(Flow flow) noexcept {
  return static_cast<uint8_t>(kRoomForRequests << static_cast<uint8_t>(flow));
}
constexpr uint8_t refusal_flag(Flow flow) noexcept {
  constexpr uint8_t kFlags[kFlows] = {kRefusesRequests, kRefusesReplies, kRefusesOneSided};
  return kFlags[static_cast<size_t>(flow)];
}
static_assert(room_flag(Flow::kReply) == kRoomForReplies &&
              room_flag(Flow::kOneSided) == kRoomForOneSided);

/// The unit of FrameHeader::host_delay. One that is longer than 15 bits say, or not known, is
/// kHostDelayUnknown.
inline constexpr uint32_t kHostDelayUnitNs = 128;
inline constexpr uint16_t kHostDelayUnknown = 0x7fff;

struct FrameHeader {
  FrameKind kind = FrameKind::kRecords;
  uint8_t flags = 0;
  uint16_t credit = 0;  ///< low bits of the number of request frames that may be sent in all
  Rank source = 0;
  uint32_t sequence = 0;
  uint32_t number = 0;       ///< of all frames to this peer: no two have the same (replay_window.h)
  uint32_t number_high = 0;  ///< its upper half: not on the wire, but under the tag
  uint32_t acks[kFlows] = {};
  uint16_t record_bytes = 0;
  uint16_t head_bytes = 0;  ///< how many of them are the head; the others are the body
  uint16_t host_delay = 0;  ///< of what is acknowledged, in the sender: kHostDelayUnitNs each
  bool is_quiet = false;    ///< the sender has little to carry (load.h)

  Flow flow() const noexcept { return static_cast<Flow>(flags & kFlowMask); }
  uint32_t body_bytes() const noexcept { return uint32_t{record_bytes} - head_bytes; }
  bool has_hashed_body() const noexcept { return body_bytes() != 0 && !(flags & kBodyUnhashed); }
  uint64_t number_64() const noexcept { return number | uint64_t{number_high} << 32; }
};

/// The keys with which a sender seals the frames of a lane and a receiver verifies them.
struct FrameKeys {
  explicit FrameKeys(const FrameKey& key) noexcept
      : tag(key), hash(key.hash_point()), header(key.header_point()) {}
  FrameKey tag;
  BodyHash hash;    ///< of records
  BodyHash header;  ///< at a point of its own
};

/// The hashes of a frame's records. They do not depend on the frame's number: a repetition takes
/// them as they are.
struct RecordHashes {
  uint64_t head = 0;
  uint64_t body = 0;  ///< 0: none, or not hashed
};

/// The hash of the head also binds the destination: a frame for another rank has a wrong tag.
inline uint64_t hash_head(const BodyHash& hash, Rank destination, const std::byte* records,
                          uint32_t bytes) noexcept {
  return hash.of(destination, records, bytes);
}
/// That of the body is bound to both ranks by its mask.
inline constexpr uint32_t kBodyContext = 0;

void encode_header(std::byte* frame, const FrameHeader& header, const FrameKeys& keys,
                   uint16_t job_tag, Rank destination, const RecordHashes& hashes) noexcept;

/// Everything about a frame but its records, and nothing of it to be believed yet.
Reject parse_header(const RxFrame& frame, uint16_t job_tag, uint16_t udp_port,
                    FrameHeader& out) noexcept;
/// Did the owner of `keys` make the header and the head of this frame for `self`, with this upper
/// half of its number? Says nothing of the body.
Reject verify_head(const RxFrame& frame, const FrameKeys& keys, Rank self,
                   const FrameHeader& header) noexcept;
/// Is `hash` that of the body which the owner of the key sent in this frame? After verify_head().
bool body_hash_holds(const RxFrame& frame, const FrameKey& key, Rank self,
                     const FrameHeader& header, uint64_t hash) noexcept;
/// Does the device, or the UDP checksum, vouch for all bytes of the frame? A sender whose port
/// makes no UDP checksum leaves that out: then only Ethernet's own check sequence has vouched for
/// them.
bool checksum_vouches(const RxFrame& frame, const FrameHeader& header) noexcept;

/// Selective acknowledgement: per flow, bit i says that sequence ack + i arrived.
inline constexpr uint32_t kSackBytes = kFlows * kWindowFramesMax / 8;
/// Records of one frame that ask for a response. A receiver has room for several such frames, or
/// one could come that it can never accept.
inline constexpr uint32_t kAsksPerFrameMax = 16;
inline constexpr uint64_t kPutBytesMax = uint64_t{1} << 30;  ///< of one put or get

struct SackBitmap {
  std::array<uint64_t, kWindowFramesMax / 64> words{};
};

enum class RecordType : uint8_t {
  kMessage = 1,
  kPut,
  kGet,
  kGetData,
  kAtomic,
  kAtomicResult,
  kRefusal,
  kScatter,
};

/// Every record's fields; which of them are on the wire depends on its type.
struct Record {
  RecordType type;
  uint8_t code;     ///< kAtomic: AtomicCode
  uint16_t bytes;   ///< payload that follows the fields
  uint32_t key;     ///< kPut, kScatter, kGet, kAtomic, kRefusal
  uint32_t before;  ///< kMessage: of the frames just before, how many must have arrived first
  uint64_t address;
  uint64_t op;       ///< the initiator's name for the operation
  uint64_t offset;   ///< kGetData; kPut: of these bytes in the whole put (32 bits)
  uint64_t length;   ///< kGet, kRefusal: bytes asked for; kPut: of the whole put (32 bits)
  uint64_t operand;  ///< kAtomic; kAtomicResult: old value; kRefusal: region base
  uint64_t compare;  ///< kAtomic; kRefusal: region bytes
  uint32_t fields;   ///< bytes of the record before its payload
};

/// Bytes of the fields of a record; 0 for a type that does not exist.
constexpr uint32_t record_fields(RecordType type) noexcept {
  switch (type) {
    case RecordType::kMessage:
      return kMessageHeaderBytes;
    case RecordType::kPut:
      return 32;
    case RecordType::kGet:
      return 32;
    case RecordType::kGetData:
      return 24;
    case RecordType::kAtomic:
      return 40;
    case RecordType::kAtomicResult:
      return 24;
    case RecordType::kRefusal:
      return 48;
    case RecordType::kScatter:
      return 24;
  }
  return 0;
}

/// Writes the fields and returns how many bytes they took.
uint32_t encode_record(std::byte* at, const Record& record) noexcept;
/// Reads the record at `at` of which `left` bytes remain in the frame.
Reject parse_record(const std::byte* at, uint32_t left, Record& out) noexcept;
/// From this record to the next one.
constexpr uint32_t record_stride(uint32_t fields, uint32_t bytes) noexcept {
  return (fields + bytes + kRecordAlign - 1) & ~(kRecordAlign - 1);
}

}  // namespace pinwire
