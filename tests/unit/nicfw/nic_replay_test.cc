// A stranger on the segment has no job key, but sees frames, and sends them again, longer, later or
// to another lane. None of it is accepted, and nothing that a replay says is taken.
#include <gtest/gtest.h>

#include <set>

#include "nicfw/wire/wire.h"
#include "tests/support/nic_group.h"
#include "tests/unit/nicfw/nic_words.h"

namespace pinwire {
namespace {

std::vector<std::byte> captured(NicGroup& group, uint32_t rank, uint32_t index = 0) {
  const auto frame = group.port(rank).peek(index);
  return {frame.begin(), frame.end()};
}

bool inject(NicGroup& group, uint32_t rank, const std::vector<std::byte>& frame) {
  return group.port(rank).inject(frame.data(), static_cast<uint32_t>(frame.size()));
}

void make_udp_checksum(std::vector<std::byte>& frame) {
  constexpr uint32_t kUdpAt = 34;
  const auto udp_bytes = static_cast<uint32_t>(frame.size() - kUdpAt);
  store_network<uint16_t>(&frame[kUdpAt + 6], 0);
  frame.resize(frame.size() + 1);  // an odd byte counts as the upper one of a word
  uint32_t sum = 17 + udp_bytes;
  for (size_t at = kUdpAt - 8; at + 1 < frame.size(); at += 2) {
    sum += load_network<uint16_t>(&frame[at]);
  }
  frame.pop_back();
  while (sum >> 16) sum = (sum & 0xffff) + (sum >> 16);
  store_network<uint16_t>(&frame[kUdpAt + 6], static_cast<uint16_t>(~sum));
}

TEST(NicReplay, AFrameCannotBeExtendedWithoutTheJobKey_R6) {
  NicGroup group({});
  uint64_t memory[2] = {1, 2};
  const Region region = group.pin(1, memory, sizeof memory);
  ASSERT_TRUE(group.post(0, send_work(1, kRequest, &kWord, 8)));
  auto frame = captured(group, 1);
  group.port(1).lose_waiting();
  // The stranger appends a put and a message, lets the header say so, and makes the UDP checksum
  // right, which vouches for bytes that are not checked.
  Record put{};
  put.type = RecordType::kPut;
  put.bytes = 8;
  put.key = region.remote_key;
  put.address = region.base + 8;
  put.length = 8;
  Record message{};
  message.type = RecordType::kMessage;
  message.bytes = 8;
  for (const Record& record : {put, message}) {
    const size_t at = (frame.size() + 15) & ~size_t{15};
    frame.resize(at + record_fields(record.type) + 8, std::byte{0xee});
    encode_record(frame.data() + at, record);
  }
  patch_length(frame.data(), static_cast<uint32_t>(frame.size()));
  store_little<uint16_t>(frame.data() + 68, static_cast<uint16_t>(frame.size() - kRecordsOffset));
  make_udp_checksum(frame);
  ASSERT_TRUE(inject(group, 1, frame));
  EXPECT_TRUE(group.poll(1).empty());
  EXPECT_EQ(group.stat(1, "rx_drop_tag"), 1u);
  EXPECT_EQ(memory[1], 2u);
}

TEST(NicReplay, NoBitOfAHeaderMayChange_R6) {
  NicGroup group({});
  for (uint32_t bit = 0; bit < kFrameHeaderBytes * 8; ++bit) {
    ASSERT_TRUE(group.post(0, send_work(1, kRequest, &kWord, 8)));
    auto frame = captured(group, 1);
    group.port(1).lose_waiting();
    auto altered = frame;
    altered[kEncapsulationBytes + bit / 8] ^= std::byte{1} << bit % 8;
    ASSERT_TRUE(inject(group, 1, altered));
    EXPECT_TRUE(group.poll(1).empty()) << "bit " << bit;
    ASSERT_TRUE(inject(group, 1, frame));
    EXPECT_EQ(group.poll(1).size(), 1u) << "bit " << bit;
    group.run(3, 0, 1'000);
  }
}

TEST(NicReplay, KeysOfRegionsDifferFromJobToJob_R7) {
  for (uint32_t rank = 0; rank < 4; ++rank) {
    std::set<uint32_t> keys;
    Random random(rank);
    uint64_t memory[8] = {};
    for (int job = 0; job < 200; ++job) {
      const uint64_t job_key = random.next();
      ManualClock clock;
      LoopPort port(1);
      auto nic =
          make_nic(port, clock, {.seed = job_key + rank});  // as extended/drivers/dpdk.cc does
      OpenInfo info;
      info.rank = rank;
      info.rank_count = 4;
      info.job_key = job_key;
      ASSERT_TRUE(nic->open(info).ok());
      keys.insert(nic->pin(memory, sizeof memory, -1, 0)->remote_key);
    }
    EXPECT_GE(keys.size(), 198u) << "rank " << rank;
  }
}

/// An acknowledgement of rank 1 that says that there is room again: for gets, of which rank 0 has
/// asked for more than rank 1 may owe. Empty: none came.
std::vector<std::byte> room_again(NicGroup& group) {
  static std::vector<uint8_t> source(1 << 20);
  static std::vector<uint8_t> fetched(1 << 20);
  const Region region = group.pin(1, source.data(), source.size());
  for (int round = 0; round < 3000; ++round) {
    for (int i = 0; i < 8 && round < 200; ++i) {
      group.post(0, get_work(1, fetched.data(), fetched.size(), source.data(), region.remote_key));
    }
    group.poll(1);
    for (uint32_t i = 0; i < group.port(0).waiting(); ++i) {
      const auto frame = group.port(0).peek(i);
      const bool is_ack = (std::to_integer<int>(frame[42]) & 15) != 0;
      if (is_ack && (std::to_integer<int>(frame[43]) & kRoomForOneSided))
        return captured(group, 0, i);
    }
    group.poll(0);
    group.dones(0);
    group.clock().advance(2'000);
  }
  return {};
}

TEST(NicReplay, AReplayOfRoomAgainRepeatsNothing_R8) {
  NicGroup group({.rx_buffers = 64, .network_depth = 256, .config = {.coalesce = false}});
  const auto frame = room_again(group);
  ASSERT_FALSE(frame.empty());
  for (int i = 0; i < 20'000 && !group.nic(0).drained(0); ++i) {
    group.run(1, 0, 10'000);
    group.dones(0);
  }
  ASSERT_TRUE(group.nic(0).drained(0));
  const auto source = byte_pattern(1 << 20);
  std::vector<uint8_t> target(source.size());
  const Region region = group.pin(1, target.data(), target.size());
  const uint64_t sent_before = group.stat(0, "bytes_sent");
  Work put = put_work(1, source.data(), source.size(), target.data(), region.remote_key);
  put.cookie = 1;
  ASSERT_TRUE(group.post(0, put));
  const auto is_put_done = [&] {  // gets may still be under way
    for (const Done& done : group.dones(0)) {
      if (done.cookie == put.cookie) return true;
    }
    return false;
  };
  int rounds = 0;
  for (; !is_put_done() && rounds < 20'000; ++rounds) {
    if (rounds % 20 == 0) group.poll(1);  // rank 1 computes 100 us between polls
    inject(group, 0, frame);
    group.poll(0);
    group.clock().advance(5'000);
  }
  EXPECT_LT(rounds, 20'000);
  EXPECT_GT(group.stat(0, "rx_drop_duplicate"), 50u);
  EXPECT_LT(group.stat(0, "bytes_sent") - sent_before, 3u << 20);
}

TEST(NicReplay, ReplaysDoNotKeepADeadPeerAlive_R8b) {
  for (const bool of_records : {true, false}) {
    NicGroup group({.config = {.peer_timeout_ns = 50'000'000}});
    ASSERT_TRUE(group.post(of_records ? 1 : 0, send_work(of_records ? 0 : 1, kRequest, &kWord, 8)));
    while (group.port(0).waiting() == 0) group.poll(1);
    const auto frame = captured(group, 0);
    group.run(10);
    ASSERT_TRUE(group.post(0, send_work(1, kRequest, &kWord, 8)));
    for (int round = 0; round < 100'000 && group.nic(0).failure() == nullptr; ++round) {
      if (round % 100 == 0) inject(group, 0, frame);
      group.poll(0);
      group.port(1).lose_waiting();
      group.clock().advance(100'000);
    }
    EXPECT_NE(group.nic(0).failure(), nullptr) << "records: " << of_records;
  }
}

TEST(NicReplay, CreditOfAnOldFrameIsNotTaken_R12) {
  NicGroup group({.rx_buffers = 64, .network_depth = 4, .config = {.coalesce = false}});
  std::vector<std::byte> frame;
  for (int round = 0; round < 36'000; ++round) {
    group.post(0, send_work(1, kRequest, &kWord, 8));
    group.poll(1);
    if (frame.empty() && round > 100 && group.port(0).waiting()) frame = captured(group, 0);
    group.poll(0);
    group.clock().advance(1'000);
  }
  ASSERT_FALSE(frame.empty());
  ASSERT_GT(group.stat(1, "messages_received"), 33'000u);  // the credit of the frame seems new
  const auto fill = [&] {
    uint32_t taken = 0;
    for (int i = 0; i < 500; ++i) {
      taken += group.post(0, send_work(1, kRequest, &kWord, 8));
      group.poll(1, RecvFilter::kRepliesOnly);
      group.poll(0);
      group.clock().advance(1'000);
    }
    return taken;
  };
  fill();
  const uint32_t without = fill();
  ASSERT_TRUE(inject(group, 0, frame));
  EXPECT_LE(fill(), without + 4);
}

TEST(NicReplay, ReplaysAreAnsweredByAtMostOneAckAPoll_R23) {
  NicGroup group({});
  ASSERT_TRUE(group.post(0, send_work(1, kRequest, &kWord, 8)));
  const auto frame = captured(group, 1);
  group.run(10);
  const uint64_t before = group.stat(1, "acks_sent");
  for (uint32_t poll = 1; poll <= 1000; ++poll) {
    for (int i = 0; i < 16; ++i) ASSERT_TRUE(inject(group, 1, frame));
    EXPECT_TRUE(group.poll(1).empty());
    EXPECT_LE(group.stat(1, "acks_sent") - before, poll);
    group.poll(0);
    group.clock().advance(1'000);
  }
  EXPECT_EQ(group.stat(1, "rx_drop_duplicate"), 16'000u);
}

TEST(NicReplay, AFrameOf4GiFramesAgoIsAStrangers_R8) {
  constexpr uint64_t kEpoch = uint64_t{1} << 32;
  NicGroup then({.config = {.first_number = 7}});
  NicGroup now({.config = {.first_number = kEpoch + 7}});
  ASSERT_TRUE(then.post(0, send_work(1, kRequest, &kWord, 8)));
  const auto message = captured(then, 1);
  then.poll(1);
  while (then.port(0).waiting() == 0) then.poll(1);
  const auto acknowledgement = captured(then, 0);
  ASSERT_TRUE(inject(now, 1, message));
  ASSERT_TRUE(inject(now, 0, acknowledgement));
  EXPECT_TRUE(now.poll(1).empty());
  now.poll(0);
  EXPECT_EQ(now.stat(1, "rx_drop_tag"), 1u);
  EXPECT_EQ(now.stat(0, "rx_drop_tag"), 1u);
  ASSERT_TRUE(now.post(0, send_work(1, kRequest, &kWord, 8)));
  EXPECT_EQ(now.run(3, 1).size(), 1u);
}

}  // namespace
}  // namespace pinwire
