#include "nicfw/wire/wire.h"

#include <gtest/gtest.h>

#include <bit>
#include <string>
#include <vector>

#include "core/base/random.h"
#include "core/base/udp_ports.h"
#include "tests/support/frame_seal.h"

namespace pinwire {
namespace {

constexpr uint64_t kJobKey = 0x1122334455667788;
const FrameKeys kKeys(FrameKey(kJobKey, 1));
const uint16_t kJobTag = kKeys.tag.job_tag();
const Endpoint kFrom{{2, 0, 0, 0, 0, 1}, 0x0a000001, kDefaultUdpPort, 0, 0};
const Endpoint kTo{{2, 0, 0, 0, 0, 2}, 0x0a000002, kDefaultUdpPort + 1, 0, 0};

FrameHeader sample_header() {
  FrameHeader header;
  header.flags = static_cast<uint8_t>(Flow::kReply) | kAckNow;
  header.credit = 0x1234;
  header.source = 0x01020304;
  header.sequence = 0xfffffffe;
  header.acks[0] = 1;
  header.acks[1] = 0x22222222;
  header.acks[2] = 0x33333333;
  header.record_bytes = header.head_bytes = 16;
  header.host_delay = 0x4567;
  header.is_quiet = true;
  return header;
}

struct alignas(16) Frame {
  std::byte bytes[256] = {};
  uint32_t count = 112;
  RxFrame rx() { return {bytes, count, false, nullptr}; }
};

/// A frame with one message of 8 bytes, complete and right.
Frame sample_frame(FrameHeader header = sample_header()) {
  Frame frame;
  encode_encapsulation(frame.bytes, kFrom, kTo, frame.count);
  Record record{};
  record.type = RecordType::kMessage;
  record.bytes = 8;
  record.before = 3;
  encode_record(frame.bytes + kRecordsOffset, record);
  for (uint8_t i = 0; i < 8; ++i) frame.bytes[104 + i] = std::byte{static_cast<uint8_t>(0xa0 + i)};
  seal_frame(frame.bytes, header, kKeys, kJobTag, 7);
  return frame;
}

Reject parse_with(const RxFrame& frame, const FrameKeys& keys, uint16_t job_tag, Rank self,
                  uint16_t port, FrameHeader& header) {
  const Reject bad = parse_header(frame, job_tag, port, header);
  return bad != Reject::kNone ? bad : verify_whole(frame, keys, self, header);
}

Reject parse(Frame& frame, FrameHeader& header, Rank self = 7,
             uint16_t port = kDefaultUdpPort + 1) {
  return parse_with(frame.rx(), kKeys, kJobTag, self, port, header);
}

TEST(Wire, GoldenFrame) {
  // The last sixteen bytes before the records are the hash of no body, and the tag.
  constexpr uint8_t kGolden[112] = {
      0x02, 0x00, 0x00, 0x00, 0x00, 0x02, 0x02, 0x00, 0x00, 0x00, 0x00, 0x01, 0x08, 0x00,
      0x45, 0x00, 0x00, 0x62, 0x00, 0x00, 0x40, 0x00, 0x40, 0x11, 0x26, 0x89, 0x0a, 0x00,
      0x00, 0x01, 0x0a, 0x00, 0x00, 0x02, 0xf4, 0xec, 0xf4, 0xed, 0x00, 0x4e, 0x00, 0x00,
      0x50, 0x05, 0x34, 0x12, 0x04, 0x03, 0x02, 0x01, 0xfe, 0xff, 0xff, 0xff, 0x01, 0x00,
      0x00, 0x00, 0x22, 0x22, 0x22, 0x22, 0x33, 0x33, 0x33, 0x33, 0x75, 0x79, 0x10, 0x00,
      0x10, 0x00, 0x67, 0xc5, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
      0x00, 0x00, 0x00, 0x00, 0xd7, 0x63, 0xaf, 0xdb, 0x12, 0x68, 0x93, 0x7c, 0x01, 0x00,
      0x08, 0x00, 0x03, 0x00, 0x00, 0x00, 0xa0, 0xa1, 0xa2, 0xa3, 0xa4, 0xa5, 0xa6, 0xa7};
  Frame frame = sample_frame();
  for (size_t i = 0; i < sizeof kGolden; ++i) {
    EXPECT_EQ(std::to_integer<uint8_t>(frame.bytes[i]), kGolden[i]) << "byte " << i;
  }
}

TEST(Wire, GoldenRecords) {
  struct Case {
    Record record;
    std::vector<uint8_t> bytes;
  };
  Record put{};
  put.type = RecordType::kPut;
  put.bytes = 0x0102;
  put.key = 0x0a0b0c0d;
  put.op = 0x1112131415161718;
  put.address = 0x2122232425262728;
  put.offset = 0x61626364;
  put.length = 0x71727374;
  Record get = put;
  get.type = RecordType::kGet;
  get.bytes = 0;
  get.length = 0x3132333435363738;
  Record atomic = get;
  atomic.type = RecordType::kAtomic;
  atomic.code = 7;
  atomic.operand = 0x4142434445464748;
  atomic.compare = 0x5152535455565758;
  Record refusal = atomic;
  refusal.type = RecordType::kRefusal;
  refusal.code = 0;
  Record scatter = put;
  scatter.type = RecordType::kScatter;
  const std::vector<uint8_t> key_op_address = {0x0d, 0x0c, 0x0b, 0x0a, 0x18, 0x17, 0x16,
                                               0x15, 0x14, 0x13, 0x12, 0x11, 0x28, 0x27,
                                               0x26, 0x25, 0x24, 0x23, 0x22, 0x21};
  const auto joined = [&](std::vector<uint8_t> start, std::vector<uint64_t> words) {
    start.insert(start.end(), key_op_address.begin(), key_op_address.end());
    for (const uint64_t word : words) {
      for (uint32_t i = 0; i < 64; i += 8) start.push_back(static_cast<uint8_t>(word >> i));
    }
    return start;
  };
  const Case cases[] = {
      {put, joined({2, 0, 0x02, 0x01}, {0x7172737461626364})},
      {get, joined({3, 0, 0, 0}, {get.length})},
      {scatter, joined({8, 0, 0x02, 0x01}, {})},
      {atomic, joined({5, 7, 0, 0}, {atomic.operand, atomic.compare})},
      {refusal, joined({7, 0, 0, 0}, {refusal.length, refusal.operand, refusal.compare})},
  };
  for (const Case& tested : cases) {
    std::vector<std::byte> out(64, std::byte{0xcc});
    const uint32_t fields = encode_record(out.data(), tested.record);
    ASSERT_EQ(fields, tested.bytes.size());
    ASSERT_EQ(fields, record_fields(tested.record.type));
    for (size_t i = 0; i < fields; ++i) {
      EXPECT_EQ(std::to_integer<uint8_t>(out[i]), tested.bytes[i]) << "byte " << i;
    }
    EXPECT_EQ(out[fields], std::byte{0xcc});
  }
}

TEST(Wire, RecordsSurviveTheRoundTrip) {
  for (uint8_t type = 1; type <= 8; ++type) {
    Record in{};
    in.type = static_cast<RecordType>(type);
    const bool payload = in.type == RecordType::kPut || in.type == RecordType::kGetData ||
                         in.type == RecordType::kScatter;
    in.bytes = payload ? 5 : 0;
    in.key = in.before = 3;
    in.op = 4;
    in.address = in.offset = 5;
    in.length = 10;
    in.operand = 7;
    in.compare = 8;
    std::byte bytes[64] = {};
    const uint32_t fields = encode_record(bytes, in);
    Record out{};
    ASSERT_EQ(parse_record(bytes, fields + in.bytes, out), Reject::kNone) << int{type};
    EXPECT_EQ(out.type, in.type);
    EXPECT_EQ(out.bytes, in.bytes);
    EXPECT_EQ(out.fields, fields);
    if (in.type == RecordType::kAtomicResult) {
      EXPECT_EQ(out.operand, 7u);
    }
    if (in.type == RecordType::kGetData) {
      EXPECT_EQ(out.offset, 5u);
    }
    if (in.type == RecordType::kRefusal) {
      EXPECT_EQ(out.compare, 8u);
    }
    // One byte fewer, at any length, is refused.
    for (uint32_t left = 0; left < fields + in.bytes; ++left) {
      EXPECT_EQ(parse_record(bytes, left, out), Reject::kRecord) << int{type} << " " << left;
    }
  }
}

TEST(Wire, MessagesInAFrameAreAligned) {
  uint32_t at = kRecordsOffset;
  for (const uint32_t bytes : {8u, 0u, 16u, 100u, 1u}) {
    EXPECT_EQ((at + kMessageHeaderBytes) % 16, 8u);
    at += record_stride(kMessageHeaderBytes, bytes);
  }
}

TEST(Wire, ParsesWhatItEncodes) {
  Frame frame = sample_frame();
  FrameHeader header;
  ASSERT_EQ(parse(frame, header), Reject::kNone);
  EXPECT_EQ(header.flow(), Flow::kReply);
  EXPECT_EQ(header.flags & kAckNow, kAckNow);
  EXPECT_EQ(header.credit, 0x1234);
  EXPECT_EQ(header.source, 0x01020304u);
  EXPECT_EQ(header.sequence, 0xfffffffeu);
  EXPECT_EQ(header.acks[2], 0x33333333u);
  EXPECT_EQ(header.record_bytes, 16);
  EXPECT_EQ(header.host_delay, 0x4567);
  EXPECT_TRUE(header.is_quiet);
}

/// An acknowledgement may say several things at once.
TEST(Wire, EachFlagOfAnAcknowledgementIsABitOfItsOwn) {
  uint32_t bits = kAckNow | kProbeAnswer;
  for (const Flow flow : {Flow::kRequest, Flow::kReply, Flow::kOneSided}) {
    for (const uint8_t flag : {room_flag(flow), refusal_flag(flow)}) {
      EXPECT_TRUE(std::has_single_bit(flag)) << uint32_t{flag};
      EXPECT_EQ(bits & flag, 0u) << uint32_t{flag};
      bits |= flag;
    }
  }
  EXPECT_EQ(bits, kFlagsOfAcks);
}

/// The payload or the record that follows the fields is aligned like them.
TEST(Wire, TheFieldsOfRecordsAreWholeWords) {
  for (const RecordType type :
       {RecordType::kMessage, RecordType::kPut, RecordType::kGet, RecordType::kGetData,
        RecordType::kAtomic, RecordType::kAtomicResult, RecordType::kRefusal,
        RecordType::kScatter}) {
    EXPECT_EQ(record_fields(type) % 8, 0u) << static_cast<uint32_t>(type);
    EXPECT_GT(record_fields(type), 0u) << static_cast<uint32_t>(type);
  }
}

TEST(Wire, TheNumberOfAFrameHas64Bits) {
  FrameHeader header;
  header.number = 0x89abcdef;
  header.number_high = 0x01234567;
  EXPECT_EQ(header.number_64(), 0x0123456789abcdefu);
}

TEST(Wire, PaddingOfShortFramesIsIgnored) {
  Frame frame = sample_frame();
  frame.count = 128;  // as a switch that pads would deliver it
  FrameHeader header;
  EXPECT_EQ(parse(frame, header), Reject::kNone);
}

TEST(Wire, EveryFlippedBitIsNoticed) {
  // Only fields that a router may change, or that nobody reads, may differ.
  const auto ignored = [](uint32_t byte) {
    return byte < 12 ||                  // MAC addresses
           byte == 15 ||                 // type of service
           (byte >= 18 && byte < 20) ||  // identification
           byte == 22 ||                 // time to live
           (byte >= 24 && byte < 36) ||  // IP checksum, addresses, source port
           (byte >= 40 && byte < 42);    // UDP checksum, where all bytes are hashed
  };
  FrameHeader header;
  for (uint32_t byte = 0; byte < 112; ++byte) {
    for (uint32_t bit = 0; bit < 8; ++bit) {
      Frame frame = sample_frame();
      frame.bytes[byte] ^= std::byte{1} << bit;
      const bool dont_fragment = byte == 20 && bit == 6;
      const bool harmless = ignored(byte) || dont_fragment;
      EXPECT_EQ(parse(frame, header) == Reject::kNone, harmless) << byte << " " << bit;
    }
  }
}

TEST(Wire, EveryTruncationIsNoticed) {
  FrameHeader header;
  for (uint32_t count = 0; count < 112; ++count) {
    Frame frame = sample_frame();
    frame.count = count;
    EXPECT_EQ(parse(frame, header), Reject::kRunt) << count;
  }
}

TEST(Wire, StrangersAreToldApart) {
  FrameHeader header;
  Frame frame = sample_frame();
  EXPECT_EQ(parse(frame, header, 8), Reject::kTag);                           // for another rank
  EXPECT_EQ(parse(frame, header, 7, kDefaultUdpPort + 2), Reject::kNotOurs);  // for another port
  const FrameKeys other(FrameKey(kJobKey + 1, 1));
  EXPECT_EQ(parse_with(frame.rx(), other, other.tag.job_tag(), 7, kDefaultUdpPort + 1, header),
            Reject::kJob);
  EXPECT_EQ(parse_with(frame.rx(), other, kJobTag, 7, kDefaultUdpPort + 1, header), Reject::kTag);
  frame.bytes[42] = std::byte{0x30};
  EXPECT_EQ(parse(frame, header), Reject::kVersion);
}

/// The sample frame with a message whose last 8 bytes are the body.
Frame frame_with_body(uint8_t flags = 0, uint32_t number = 0) {
  FrameHeader header = sample_header();
  header.head_bytes = 8;
  header.flags |= flags;
  header.number = number;
  return sample_frame(header);
}

TEST(Wire, ABodyIsUnderAHashOfItsOwn) {
  Frame frame = frame_with_body();
  FrameHeader header;
  ASSERT_EQ(parse(frame, header), Reject::kNone);
  EXPECT_TRUE(header.has_hashed_body());
  EXPECT_EQ(header.body_bytes(), 8u);
  for (uint32_t bit = 0; bit < 64; ++bit) {
    Frame altered = frame;
    altered.bytes[104 + bit / 8] ^= std::byte{1} << bit % 8;
    // The tag is right, so that the records are believed; the body is not.
    ASSERT_EQ(parse_header(altered.rx(), kJobTag, kDefaultUdpPort + 1, header), Reject::kNone);
    EXPECT_EQ(verify_head(altered.rx(), kKeys, 7, header), Reject::kNone);
    EXPECT_EQ(parse(altered, header), Reject::kTag) << bit;
    altered = frame;
    altered.bytes[80 + bit / 8] ^= std::byte{1} << bit % 8;  // the field with the body's hash
    EXPECT_EQ(verify_head(altered.rx(), kKeys, 7, header), Reject::kTag) << bit;
  }
}

/// The hash itself must not be seen: two bodies' hashes would betray the secret point.
TEST(Wire, TheHashOfABodyIsMaskedAnewInEveryFrame) {
  const auto field = [](const Frame& frame) { return load_little<uint64_t>(frame.bytes + 80); };
  const Frame first = frame_with_body(0, 1);
  const Frame again = frame_with_body(0, 2);
  const uint64_t hash = kKeys.hash.of(kBodyContext, first.bytes + 104, 8);
  EXPECT_NE(field(first), field(again));
  EXPECT_NE(field(first), hash);
  EXPECT_NE(field(again), hash);
  EXPECT_EQ(field(sample_frame()), 0u);
}

/// The same of the tag: one mask for both would betray their sum.
TEST(Wire, TheTagIsMaskedByAnotherThanTheBody) {
  const Frame frame = frame_with_body(0, 1);
  const auto word = [&frame](uint32_t at) { return load_little<uint64_t>(frame.bytes + at); };
  const uint64_t body = kKeys.hash.of(kBodyContext, frame.bytes + 104, 8);
  const uint64_t head = hash_head(kKeys.hash, 7, frame.bytes + kRecordsOffset, 8);
  const uint64_t header = kKeys.header.of_words({word(42), word(50), word(58), word(66), word(80)});
  const uint64_t body_mask = word(80) ^ body, tag_mask = word(88) ^ head ^ header;
  EXPECT_NE(tag_mask, body_mask);
  EXPECT_NE(tag_mask, 0u);
  EXPECT_NE(kKeys.hash.powers().point(), kKeys.header.powers().point());
}

TEST(Wire, ABodyThatIsNotHashedNeedsAnothersWord) {
  FrameHeader out;
  Frame frame = frame_with_body(kBodyUnhashed);
  EXPECT_EQ(load_little<uint64_t>(frame.bytes + 80), 0u);
  EXPECT_EQ(parse(frame, out), Reject::kNone);  // its sender's port makes no UDP checksum
  store_network<uint16_t>(frame.bytes + 40, 0x1234);
  EXPECT_EQ(parse(frame, out), Reject::kChecksum);
  RxFrame good = frame.rx();
  good.checksum_good = true;
  EXPECT_EQ(parse_with(good, kKeys, kJobTag, 7, kDefaultUdpPort + 1, out), Reject::kNone);

  // With a UDP checksum in the frame, software verifies it.
  uint32_t sum = 17 + 78;
  for (uint32_t i = 26; i < 112; i += 2) {
    if (i != 40) sum += load_network<uint16_t>(frame.bytes + i);
  }
  while (sum >> 16) sum = (sum & 0xffff) + (sum >> 16);
  store_network<uint16_t>(frame.bytes + 40, static_cast<uint16_t>(~sum));
  EXPECT_EQ(parse(frame, out), Reject::kNone);
  frame.bytes[111] ^= std::byte{1};
  EXPECT_EQ(parse(frame, out), Reject::kChecksum);
}

TEST(Wire, LengthPatchEqualsEncodingAfresh) {
  Frame frame = sample_frame();
  for (const uint32_t count : {112u, 96u, 1514u, 9000u, 60u, 14000u}) {
    patch_length(frame.bytes, count);
    Frame fresh;
    encode_encapsulation(fresh.bytes, kFrom, kTo, count);
    EXPECT_EQ(0, std::memcmp(frame.bytes, fresh.bytes, kEncapsulationBytes)) << count;
  }
}

TEST(Wire, TheParsersSurviveNoise) {
  Random random(99);
  FrameHeader header;
  Record record;
  for (int round = 0; round < 200'000; ++round) {
    Frame frame = round % 2 ? sample_frame() : Frame{};
    frame.count = static_cast<uint32_t>(random.below(sizeof frame.bytes + 1));
    for (uint64_t i = random.below(20) + 1; i > 0; --i) {
      frame.bytes[random.below(sizeof frame.bytes)] = static_cast<std::byte>(random.next());
    }
    const Reject answer = parse(frame, header);
    ASSERT_LT(static_cast<int>(answer), static_cast<int>(Reject::kCount));
    if (answer == Reject::kNone) {
      ASSERT_LE(kRecordsOffset + header.record_bytes, frame.count);
    }
    const auto left = static_cast<uint32_t>(random.below(64));
    if (parse_record(frame.bytes + kRecordsOffset, left, record) == Reject::kNone) {
      ASSERT_LE(record.fields + record.bytes, left);
    }
  }
}

TEST(Wire, EveryReasonHasAName) {
  for (int i = 0; i < static_cast<int>(Reject::kCount); ++i) {
    for (int j = 0; j < i; ++j) {
      EXPECT_STRNE(reject_name(static_cast<Reject>(i)), reject_name(static_cast<Reject>(j)));
    }
  }
}

}  // namespace
}  // namespace pinwire
