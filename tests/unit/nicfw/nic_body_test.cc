// Frames with a large payload: the records are verified before the payload is read, the payload
// while it is copied. Until both are right, nothing is delivered, acknowledged or remembered.
#include <gtest/gtest.h>

#include <algorithm>

#include "nicfw/wire/wire.h"
#include "tests/support/frame_forger.h"
#include "tests/support/nic_group.h"
#include "tests/unit/nicfw/nic_words.h"

namespace pinwire {
namespace {

constexpr uint32_t kBytes = 1200;  // one frame
constexpr uint64_t kPauseNs = 200'000;

std::vector<std::byte> captured(NicGroup& group, uint32_t rank, uint32_t index = 0) {
  const auto frame = group.port(rank).peek(index);
  return {frame.begin(), frame.end()};
}
bool inject(NicGroup& group, uint32_t rank, const std::vector<std::byte>& frame) {
  return group.port(rank).inject(frame.data(), static_cast<uint32_t>(frame.size()));
}
uint32_t head_bytes(const std::vector<std::byte>& frame) {
  return load_little<uint16_t>(frame.data() + 70);
}
uint32_t record_bytes(const std::vector<std::byte>& frame) {
  return load_little<uint16_t>(frame.data() + 68);
}
void flip_last(std::vector<std::byte>& frame) { frame.back() ^= std::byte{1}; }

/// The record of a put of `bytes` that one frame carries, `offset` into a region.
Record put_record(const Region& region, uint64_t offset, uint16_t bytes) {
  Record record{};
  record.type = RecordType::kPut;
  record.bytes = bytes;
  record.key = region.remote_key;
  record.address = region.base + offset;
  record.length = bytes;
  return record;
}

/// Rank 0 puts kBytes to rank 1; the frame waits at rank 1.
struct Put {
  explicit Put(const NicGroup::Options& options = {}) : group(options) {
    region = group.pin(1, target.data(), target.size());
    post();
  }
  void post() {
    EXPECT_TRUE(
        group.post(0, put_work(1, source.data(), source.size(), target.data(), region.remote_key)));
  }
  bool is_done() { return !group.dones(0).empty(); }
  void run_until_done() {
    bool done = is_done();
    for (int round = 0; round < 1000 && !done; ++round) {
      group.run(1, 1, kPauseNs);
      done = is_done();
    }
    EXPECT_TRUE(done);
  }

  NicGroup group;
  std::vector<uint8_t> source = byte_pattern(kBytes);
  std::vector<uint8_t> target = std::vector<uint8_t>(kBytes);
  Region region{};
};

TEST(NicBody, ALargePayloadIsTheBodyAndASmallOneIsInTheHead) {
  Put large;
  const auto frame = captured(large.group, 1);
  EXPECT_EQ(record_bytes(frame) - head_bytes(frame), kBytes);
  EXPECT_NE(load_little<uint64_t>(frame.data() + 80), 0u);
  NicGroup group({});
  uint64_t word = 5;
  const Region region = group.pin(1, &word, sizeof word);
  const uint64_t value = 6;
  ASSERT_TRUE(group.post(0, put_work(1, &value, 8, &word, region.remote_key)));
  const auto small = captured(group, 1);
  EXPECT_EQ(record_bytes(small), head_bytes(small));
  EXPECT_EQ(load_little<uint64_t>(small.data() + 80), 0u);
}

TEST(NicBody, ACopiedPutHasABodyUntilAnotherRecordFollowsIt) {
  NicGroup group({.frame_bytes_max = 9014});
  std::vector<uint8_t> target(kBytes);
  const auto source = byte_pattern(kBytes);
  const Region region = group.pin(1, target.data(), target.size());
  Work put = put_work(1, source.data(), kBytes, target.data(), region.remote_key);
  put.flags = kWorkCopied;
  ASSERT_TRUE(group.post(0, put));
  const auto frame = captured(group, 1);
  EXPECT_EQ(record_bytes(frame) - head_bytes(frame), kBytes);
  for (int i = 0; i < 12; ++i) {
    // The first round trip has room for two frames.
    for (int round = 0; round < 10 && !group.post(0, put); ++round) group.run(1, 1, kPauseNs);
  }
  for (int round = 0; round < 100; ++round) group.run(1, 1, kPauseNs);
  EXPECT_EQ(target, source);
  EXPECT_EQ(group.dones(0).size(), 13u);
  EXPECT_EQ(group.stat(1, "rx_drop_tag"), 0u);
}

TEST(NicBody, ADamagedBodyIsNotAcceptedAndItsRepeatIs) {
  Put put;
  put.group.port(1).peek().back() ^= std::byte{1};
  put.group.run(5, 1);
  EXPECT_EQ(put.group.stat(1, "rx_drop_tag"), 1u);
  EXPECT_FALSE(put.is_done());
  put.run_until_done();
  EXPECT_EQ(put.target, put.source);
}

/// Nor is anything else of the frame taken: not its acknowledgements, not its number.
TEST(NicBody, AForgedBodyUnderACapturedHeaderChangesNothing) {
  Put put;
  const auto frame = captured(put.group, 1);
  put.group.port(1).lose_waiting();
  auto forged = frame;
  std::fill(forged.begin() + kRecordsOffset + head_bytes(frame), forged.end(), std::byte{0xee});
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(inject(put.group, 1, forged));
    put.group.poll(1);
    EXPECT_EQ(put.group.port(0).waiting(), 0u) << "it was acknowledged";
  }
  EXPECT_EQ(put.group.stat(1, "rx_drop_tag"), 20u);
  EXPECT_EQ(put.group.stat(1, "rx_placed_bytes"), 0u);
  ASSERT_TRUE(inject(put.group, 1, frame));  // the true frame, with the same number, is taken
  put.run_until_done();
  EXPECT_EQ(put.target, put.source);
  EXPECT_EQ(put.group.stat(0, "retransmits"), 0u);
}

TEST(NicBody, TheBodyOfOneFrameIsWrongInAnother) {
  Put put;
  auto first = captured(put.group, 1);
  put.source.assign(kBytes, 7);
  put.post();
  const auto second = captured(put.group, 1, 1);
  put.group.port(1).lose_waiting();
  const uint32_t body_at = kRecordsOffset + head_bytes(first);
  auto mixed = first;
  std::copy(second.begin() + body_at, second.end(), mixed.begin() + body_at);
  ASSERT_TRUE(inject(put.group, 1, mixed));
  // And with the masked hash that came with that body.
  std::copy(second.begin() + 80, second.begin() + 88, mixed.begin() + 80);
  ASSERT_TRUE(inject(put.group, 1, mixed));
  put.group.poll(1);
  EXPECT_EQ(put.group.stat(1, "rx_drop_tag"), 2u);
  EXPECT_EQ(put.group.stat(1, "rx_placed_bytes"), 0u);
}

/// A put that is complete is the client's: no copy of its frame, true or forged, may write there.
TEST(NicBody, ADuplicateDoesNotWrite) {
  Put put;
  const auto frame = captured(put.group, 1);
  put.run_until_done();
  const std::vector<uint8_t> clients(kBytes, 0x77);
  std::copy(clients.begin(), clients.end(), put.target.begin());  // the region stays
  auto forged = frame;
  flip_last(forged);
  for (const auto& copy : {frame, forged}) {
    ASSERT_TRUE(inject(put.group, 1, copy));
    put.group.poll(1);
  }
  // A repetition has a number of its own, and the sequence of the frame that arrived.
  FrameForger repeat(put.group);
  repeat.header.flags = static_cast<uint8_t>(Flow::kOneSided);
  const Record record = put_record(put.region, 0, 1000);
  repeat.add(record, put.source.data());
  repeat.body_bytes = 1000;
  repeat.inject();
  put.group.poll(1);
  EXPECT_EQ(put.target, clients);
  EXPECT_EQ(put.group.stat(1, "rx_drop_duplicate"), 3u);
}

TEST(NicBody, AFrameThatIsRefusedDoesNotWrite) {
  NicGroup group({});
  std::vector<uint8_t> memory(2048, 1);
  const Region region = group.pin(1, memory.data(), 1024);
  const std::vector<uint8_t> payload(1000, 9);
  for (const uint64_t beyond : {uint64_t{512}, uint64_t{2048}}) {
    FrameForger forger(group);
    forger.header.flags = static_cast<uint8_t>(Flow::kOneSided);
    forger.add(put_record(region, beyond, 1000), payload.data());
    forger.body_bytes = 1000;
    forger.inject();
  }
  group.poll(1);
  EXPECT_EQ(group.stat(1, "rx_drop_access"), 2u);
  EXPECT_EQ(memory, std::vector<uint8_t>(2048, 1));
}

/// The body is not verified yet when records are parsed: no record may begin or end there.
TEST(NicBody, RecordsMustLieInTheHead) {
  NicGroup group({});
  std::vector<uint8_t> memory(1024, 1);
  const Region region = group.pin(1, memory.data(), memory.size());
  const std::vector<uint8_t> payload(512, 9);
  Record put{};
  put.type = RecordType::kPut;
  put.bytes = 512;
  put.key = region.remote_key;
  put.address = region.base;
  put.length = 512;
  Record message{};
  message.type = RecordType::kMessage;
  message.bytes = 8;
  const auto forge = [&](bool with_put, bool with_message, size_t body_bytes) {
    FrameForger forger(group);
    if (with_put) forger.add(put, payload.data());
    if (with_message) forger.add(message, payload.data());
    forger.body_bytes = body_bytes;
    forger.inject();
    EXPECT_TRUE(group.poll(1).empty());
  };
  forge(true, false, 511);      // a byte of the payload in the head
  forge(true, false, 513);      // a byte of the fields in the body
  forge(true, false, 544);      // everything in the body
  forge(true, true, 512 + 16);  // a record behind the body
  forge(false, true, 12);       // a message's fields in part
  EXPECT_EQ(group.stat(1, "rx_drop_record"), 5u);
  EXPECT_EQ(memory, std::vector<uint8_t>(1024, 1));
  forge(true, false, 512);
  EXPECT_EQ(memory[511], 9);
}

TEST(NicBody, AnAcknowledgementHasNoBody) {
  NicGroup group({});
  FrameForger forger(group);
  forger.header.kind = FrameKind::kAckSack;
  forger.raw(kSackBytes);
  forger.body_bytes = kSackBytes;
  forger.inject();
  group.poll(1);
  EXPECT_EQ(group.stat(1, "rx_drop_record"), 1u);
}

TEST(NicBody, AMessageThatIsSentFromWhereItLiesIsVerifiedBeforeItIsDelivered) {
  NicGroup group({});
  const auto payload = byte_pattern(1000);
  Work work = send_work(1, kRequest, nullptr, 0);
  work.flags = 0;
  work.local = const_cast<uint8_t*>(payload.data());
  work.bytes = payload.size();
  ASSERT_TRUE(group.post(0, work));
  const auto frame = captured(group, 1);
  ASSERT_EQ(record_bytes(frame) - head_bytes(frame), payload.size());
  group.port(1).peek().back() ^= std::byte{1};
  EXPECT_TRUE(group.poll(1).empty());
  EXPECT_EQ(group.stat(1, "rx_drop_tag"), 1u);
  ASSERT_TRUE(inject(group, 1, frame));
  EXPECT_EQ(group.poll(1).size(), 1u);
}

TEST(NicBody, DataOfAGetIsVerifiedToo) {
  NicGroup group({});
  const auto source = byte_pattern(kBytes);
  std::vector<uint8_t> fetched(kBytes);
  const Region region = group.pin(1, const_cast<uint8_t*>(source.data()), kBytes);
  ASSERT_TRUE(group.post(0, get_work(1, fetched.data(), kBytes, source.data(), region.remote_key)));
  while (group.port(0).waiting() == 0) group.poll(1);
  group.port(0).peek().back() ^= std::byte{1};
  group.poll(0);
  EXPECT_EQ(group.stat(0, "rx_drop_tag"), 1u);
  EXPECT_TRUE(group.dones(0).empty());
  for (int round = 0; round < 1000 && fetched != source; ++round) group.run(1, 0, kPauseNs);
  EXPECT_EQ(fetched, source);
  EXPECT_EQ(group.dones(0).size(), 1u);
}

const NicGroup::Options kHeaderOnly{.config = {.auth = FrameAuth::kHeader}};

TEST(NicBody, HeaderModeLeavesTheBodyToTheChecksum) {
  Put put(kHeaderOnly);
  const auto frame = captured(put.group, 1);
  EXPECT_EQ(std::to_integer<int>(frame[43]) & kBodyUnhashed, kBodyUnhashed);
  EXPECT_EQ(load_little<uint64_t>(frame.data() + 80), 0u);
  put.run_until_done();
  EXPECT_EQ(put.target, put.source);
}

TEST(NicBody, HeaderModeStillVerifiesHeadersAndRecords) {
  Put put(kHeaderOnly);
  for (uint32_t at = kEncapsulationBytes; at < kRecordsOffset + 32; ++at) {
    auto altered = captured(put.group, 1);
    altered[at] ^= std::byte{1};
    put.group.port(1).lose_waiting();
    ASSERT_TRUE(inject(put.group, 1, altered));
    put.group.poll(1);
    EXPECT_EQ(put.group.stat(1, "rx_placed_bytes"), 0u) << "byte " << at;
    altered[at] ^= std::byte{1};
    ASSERT_TRUE(inject(put.group, 1, altered));
  }
}

/// The port alone reads it: a change between seal and port is what the port sends.
TEST(NicBody, HeaderModeDoesNotReadTheBodyToSendIt) {
  for (const FrameAuth auth : {FrameAuth::kHeader, FrameAuth::kFull}) {
    NicGroup group({.config = {.auth = auth}});
    group.port(0).set_tx_room(0);
    std::vector<uint8_t> source(kBytes, 1);
    std::vector<uint8_t> target(kBytes);
    const Region region = group.pin(1, target.data(), target.size());
    ASSERT_TRUE(
        group.post(0, put_work(1, source.data(), source.size(), target.data(), region.remote_key)));
    // The frame was sealed, and the port has not taken it: what a hash covers is fixed.
    source.assign(kBytes, 2);
    group.port(0).set_tx_room(~uint64_t{0});
    group.poll(0);
    group.poll(1);
    const bool taken = auth == FrameAuth::kHeader;
    EXPECT_EQ(group.stat(1, "rx_placed_bytes"), taken ? kBytes : 0u);
    EXPECT_EQ(group.stat(1, "rx_drop_tag"), taken ? 0u : 1u);
  }
}

TEST(NicBody, AWrongUdpChecksumIsRefusedInHeaderMode) {
  Put put(kHeaderOnly);
  store_network<uint16_t>(put.group.port(1).peek().data() + 40, 0x1234);
  put.group.poll(1);
  EXPECT_EQ(put.group.stat(1, "rx_drop_checksum"), 1u);
  put.run_until_done();
  EXPECT_EQ(put.target, put.source);
}

TEST(NicBody, ABodyThatIsNotHashedIsRefusedInFullMode) {
  NicGroup group({});
  std::vector<uint8_t> memory(1024, 1);
  const Region region = group.pin(1, memory.data(), memory.size());
  FrameForger forger(group);  // a peer with the key that has another mode
  forger.header.flags = static_cast<uint8_t>(Flow::kOneSided) | kBodyUnhashed;
  const Record record = put_record(region, 0, 512);
  const std::vector<uint8_t> payload(512, 9);
  forger.add(record, payload.data());
  forger.body_bytes = 512;
  forger.inject();
  group.poll(1);
  EXPECT_EQ(group.stat(1, "rx_drop_checksum"), 1u);
  EXPECT_EQ(memory, std::vector<uint8_t>(1024, 1));
}

TEST(NicBody, RanksOfDifferentModesDoNotConnect) {
  ManualClock clock;
  LoopPort ports[2] = {LoopPort(1), LoopPort(2)};
  auto full = make_nic(ports[0], clock, {});
  auto header = make_nic(ports[1], clock, {.auth = FrameAuth::kHeader});
  OpenInfo info;
  info.rank_count = 2;
  ASSERT_TRUE(full->open(info).ok());
  info.rank = 1;
  ASSERT_TRUE(header->open(info).ok());
  const Status refused = full->connect(1, header->address());
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().sentence,
            "nicfw: rank 1 has GASNET_DPDK_AUTH=header, this rank full; give all ranks the same "
            "value");
}

}  // namespace
}  // namespace pinwire
