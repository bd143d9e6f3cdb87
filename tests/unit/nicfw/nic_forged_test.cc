// Frames that nobody should have sent: they change nothing, and each is counted under its reason.
#include <gtest/gtest.h>

#include <cstring>
#include <functional>

#include "tests/support/frame_forger.h"

namespace pinwire {
namespace {

struct Memory {
  uint64_t words[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  Region region{};
};

Record message(uint16_t bytes, uint32_t before = 0) {
  Record record{};
  record.type = RecordType::kMessage;
  record.bytes = bytes;
  record.before = before;
  return record;
}
Record put(const Memory& memory, uint16_t bytes) {
  Record record{};
  record.type = RecordType::kPut;
  record.bytes = bytes;
  record.key = memory.region.remote_key;
  record.address = memory.region.base;
  record.length = bytes;
  return record;
}
Record of_type(RecordType type, const Memory& memory) {
  Record record = put(memory, 0);
  record.type = type;
  record.length = 8;
  record.op = 1 << 16;
  return record;
}

const uint64_t kPayload[8] = {90, 91, 92, 93, 94, 95, 96, 97};

struct Forgery {
  const char* name;
  const char* counter;
  std::function<void(FrameForger&, const Memory&)> forge;
};

class NicForged : public testing::TestWithParam<Forgery> {};

TEST_P(NicForged, ChangesNothingAndIsCounted) {
  NicGroup group({});
  Memory memory;
  memory.region = group.pin(1, memory.words, sizeof memory.words);
  FrameForger forger(group);
  GetParam().forge(forger, memory);
  const std::string counter = std::string("rx_drop_") + GetParam().counter;
  EXPECT_TRUE(group.run(5, 1).empty());
  EXPECT_EQ(group.stat(1, counter.c_str()), 1u);
  const Memory untouched{};
  EXPECT_EQ(0, std::memcmp(memory.words, untouched.words, sizeof untouched.words));
  EXPECT_EQ(group.port(1).free_buffers(), 256u);
  EXPECT_EQ(group.nic(1).failure(), nullptr);
  // And the true rank 0 is still served.
  const uint64_t word = 5;
  ASSERT_TRUE(group.post(0, send_work(1, MessageClass::kRequest, &word, 8)));
  EXPECT_EQ(group.run(60, 1, 50'000), std::vector<uint64_t>{5});
}

void plain(FrameForger& f) { f.add(message(8), kPayload); }

INSTANTIATE_TEST_SUITE_P(
    Each, NicForged,
    testing::Values(Forgery{"WrongJobKeyAndTag", "job",
                            [](FrameForger& f, const Memory&) {
                              f.key = FrameKey(99, 0);
                              f.job_tag = f.key.job_tag();
                              plain(f);
                              f.inject();
                            }},
                    Forgery{"WrongJobKey", "tag",
                            [](FrameForger& f, const Memory&) {
                              f.key = FrameKey(99, 0);
                              plain(f);
                              f.inject();
                            }},
                    Forgery{"ForAnotherRank", "tag",
                            [](FrameForger& f, const Memory&) {
                              f.destination = 0;
                              plain(f);
                              f.inject();
                            }},
                    Forgery{"ForAnotherLane", "tag",
                            [](FrameForger& f, const Memory&) {
                              f.key = FrameKey(NicGroup::kJobKey, 1);
                              plain(f);
                              f.inject();
                            }},
                    Forgery{"Truncated", "runt",
                            [](FrameForger& f, const Memory&) {
                              plain(f);
                              f.inject(1);
                            }},
                    Forgery{"FromARankThatDoesNotExist", "source",
                            [](FrameForger& f, const Memory&) {
                              f.header.source = 2;
                              plain(f);
                              f.inject();
                            }},
                    Forgery{"AcknowledgesWhatWasNeverSent", "ack",
                            [](FrameForger& f, const Memory&) {
                              f.header.acks[1] = 1;
                              plain(f);
                              f.inject();
                            }},
                    Forgery{"SequenceBeyondTheWindow", "sequence",
                            [](FrameForger& f, const Memory&) {
                              f.header.sequence = kWindowFramesMax;
                              plain(f);
                              f.inject();
                            }},
                    Forgery{"SequenceOfThePast", "duplicate",
                            [](FrameForger& f, const Memory&) {
                              f.header.sequence = 0xffffffff;
                              plain(f);
                              f.inject();
                            }},
                    Forgery{"NoRecords", "record",
                            [](FrameForger& f, const Memory&) { f.inject(); }},
                    Forgery{"UnknownRecord", "record",
                            [](FrameForger& f, const Memory&) {
                              plain(f);
                              f.records()[0] = std::byte{99};
                              f.inject();
                            }},
                    Forgery{"RecordLongerThanTheFrame", "record",
                            [](FrameForger& f, const Memory&) {
                              f.add(message(8), kPayload);
                              f.records()[2] = std::byte{9};
                              f.inject();
                            }},
                    Forgery{"GoodPutBeforeABadRecord", "record",
                            [](FrameForger& f, const Memory& m) {
                              f.header.flags = static_cast<uint8_t>(Flow::kOneSided);
                              f.add(put(m, 64), kPayload);
                              f.add(message(8), kPayload);  // messages do not travel in this flow
                              f.inject();
                            }},
                    Forgery{"PutThatIsLongerThanItSays", "record",
                            [](FrameForger& f, const Memory& m) {
                              Record record = put(m, 16);
                              record.length = 8;
                              f.add(record, kPayload);
                              f.inject();
                            }},
                    Forgery{"PutWhoseOffsetWrapsAround", "record",
                            [](FrameForger& f, const Memory& m) {
                              Record record = put(m, 8);
                              record.address = 8;
                              record.offset = 16;
                              record.length = 32;
                              f.add(record, kPayload);
                              f.inject();
                            }},
                    Forgery{"GetInTheReplyFlow", "record",
                            [](FrameForger& f, const Memory& m) {
                              f.header.flags = static_cast<uint8_t>(Flow::kReply);
                              f.add(of_type(RecordType::kGet, m));
                              f.inject();
                            }},
                    Forgery{"GetOfNothing", "record",
                            [](FrameForger& f, const Memory& m) {
                              f.header.flags = static_cast<uint8_t>(Flow::kOneSided);
                              Record record = of_type(RecordType::kGet, m);
                              record.length = 0;
                              f.add(record);
                              f.inject();
                            }},
                    Forgery{"UnknownAtomic", "record",
                            [](FrameForger& f, const Memory& m) {
                              f.header.flags = static_cast<uint8_t>(Flow::kOneSided);
                              Record record = of_type(RecordType::kAtomic, m);
                              record.code = 9;
                              f.add(record);
                              f.inject();
                            }},
                    Forgery{"DataOfAGetThatNobodyPosted", "operation",
                            [](FrameForger& f, const Memory& m) {
                              f.header.flags = static_cast<uint8_t>(Flow::kReply);
                              Record record = of_type(RecordType::kGetData, m);
                              record.bytes = 8;
                              f.add(record, kPayload);
                              f.inject();
                            }},
                    Forgery{"ResultOfAnAtomicThatNobodyPosted", "operation",
                            [](FrameForger& f, const Memory& m) {
                              f.header.flags = static_cast<uint8_t>(Flow::kReply);
                              f.add(of_type(RecordType::kAtomicResult, m));
                              f.inject();
                            }},
                    Forgery{"MoreAsksThanOneFrameMayCarry", "record",
                            [](FrameForger& f, const Memory& m) {
                              f.header.flags = static_cast<uint8_t>(Flow::kOneSided);
                              for (uint32_t i = 0; i <= kAsksPerFrameMax; ++i) {
                                f.add(of_type(RecordType::kGet, m));
                              }
                              f.inject();
                            }},
                    Forgery{"AckOfAWrongSize", "record",
                            [](FrameForger& f, const Memory&) {
                              f.header.kind = FrameKind::kAckSack;
                              f.raw(kSackBytes - 8);
                              f.inject();
                            }},
                    Forgery{"PieceOfNoFrame", "record",
                            [](FrameForger& f, const Memory&) {
                              f.header.kind = FrameKind::kPiece;
                              plain(f);
                              f.inject();
                            }},
                    Forgery{"FlowThatDoesNotExist", "version",
                            [](FrameForger& f, const Memory&) {
                              f.header.flags = 3;
                              plain(f);
                              f.inject();
                            }}),
    [](const auto& tested) { return std::string(tested.param.name); });

TEST(NicForgedMore, AReplayedFrameIsADuplicate) {
  NicGroup group({});
  uint64_t word = 5;
  ASSERT_TRUE(group.post(0, send_work(1, MessageClass::kRequest, &word, 8)));
  const auto frame = group.port(1).peek();
  const std::vector<std::byte> recorded(frame.begin(), frame.end());
  EXPECT_EQ(group.run(3, 1).size(), 1u);
  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE(group.port(1).inject(recorded.data(), static_cast<uint32_t>(recorded.size())));
    EXPECT_EQ(group.run(2, 1).size(), 0u);
  }
  EXPECT_EQ(group.stat(1, "rx_drop_duplicate"), 10u);
}

TEST(NicForgedMore, DataBeyondAGetIsRefused) {
  NicGroup group({});
  struct {
    uint64_t wanted = 0;
    uint64_t guard = 77;
  } local;
  uint64_t remote = 5;
  const Region region = group.pin(0, &remote, 8);
  Work work = get_work(0, &local.wanted, 8, &remote, region.remote_key);
  ASSERT_EQ(group.nic(1).post(0, {&work, 1}), 1u);
  for (const uint64_t offset : {uint64_t{8}, uint64_t{1}, ~uint64_t{0} - 7}) {
    FrameForger forger(group);  // rank 0 turned bad: it knows the key
    forger.header.flags = static_cast<uint8_t>(Flow::kReply);
    Record record{};
    record.type = RecordType::kGetData;
    record.bytes = 8;
    record.op = 0;
    record.offset = offset;
    forger.add(record, kPayload);
    forger.inject();
    group.poll(1);
  }
  EXPECT_EQ(group.stat(1, "rx_drop_operation"), 3u);
  EXPECT_EQ(local.wanted, 0u);
  EXPECT_EQ(local.guard, 77u);
  group.run(5);
  EXPECT_EQ(local.wanted, 5u);
}

TEST(NicForgedMore, NoiseOfEveryKindIsSurvived) {
  // Frames of a true conversation, damaged at random, some with a tag that is right: what a peer
  // with a bug, or a malicious one with the key, could send.
  NicGroup group({});
  Memory memory;
  memory.region = group.pin(1, memory.words, sizeof memory.words);
  Random random(5);
  for (int round = 0; round < 30'000; ++round) {
    FrameForger forger(group);
    forger.header.flags = static_cast<uint8_t>(random.below(16));
    forger.header.sequence = static_cast<uint32_t>(random.below(300));
    forger.header.kind = static_cast<FrameKind>(random.below(3));
    std::byte noise[200];
    for (auto& byte : noise) byte = static_cast<std::byte>(random.next());
    forger.raw(random.below(200));
    std::memcpy(forger.records(), noise, sizeof noise);
    forger.records()[0] = static_cast<std::byte>(random.below(9));
    forger.records()[3] = std::byte{0};
    if (random.chance(0.5)) store_little<uint32_t>(forger.records() + 4, memory.region.remote_key);
    forger.inject();
    group.poll(1);
    group.poll(0);
  }
  // Messages that wait for data that never comes keep some buffers; requests have half at most.
  EXPECT_GE(group.port(1).free_buffers(), 32u);
}

}  // namespace
}  // namespace pinwire
