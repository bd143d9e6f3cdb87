// The NIC as its user sees it, on a good wire.
#include <gtest/gtest.h>

#include <cstring>
#include <numeric>

#include "tests/support/nic_group.h"

namespace pinwire {
namespace {

std::vector<uint8_t> pattern(size_t bytes, uint8_t start = 1) {
  std::vector<uint8_t> data(bytes);
  for (size_t i = 0; i < bytes; ++i) data[i] = static_cast<uint8_t>(start + i * 7 + i / 251);
  return data;
}

/// Polls `rank` once and gives everything back; the messages' first words.
std::vector<uint64_t> poll(NicGroup& group, uint32_t rank, RecvFilter filter = RecvFilter::kAll) {
  Recv out[64];
  std::vector<uint64_t> words;
  const uint32_t count = group.nic(rank).recv(0, filter, out);
  for (uint32_t i = 0; i < count; ++i) {
    EXPECT_EQ(reinterpret_cast<uintptr_t>(out[i].data) % 16, 8u);
    uint64_t word = 0;
    std::memcpy(&word, out[i].data, sizeof word);
    words.push_back(word);
  }
  group.nic(rank).give_back(0, std::span(out, count));
  return words;
}

uint32_t drain_done(NicGroup& group, uint32_t rank, WorkStatus expected = WorkStatus::kOk) {
  Done done[64];
  uint32_t total = 0;
  while (const uint32_t count = group.nic(rank).done(0, done)) {
    for (uint32_t i = 0; i < count; ++i) EXPECT_EQ(done[i].status, expected);
    total += count;
  }
  return total;
}

TEST(Nic, ALoneMessageGoesAtOnceAndIsAcknowledged) {
  NicGroup group({});
  uint64_t word = 42;
  Work work = send_work(1, MessageClass::kRequest, &word, 8);
  work.flags = 0;
  work.cookie = 7;
  ASSERT_EQ(group.nic(0).post(0, {&work, 1}), 1u);
  EXPECT_EQ(group.port(1).waiting(), 1u);
  EXPECT_EQ(poll(group, 1), std::vector<uint64_t>{42});
  EXPECT_EQ(poll(group, 1), std::vector<uint64_t>{});  // the second poll acknowledges
  poll(group, 0);
  Done done[4];
  ASSERT_EQ(group.nic(0).done(0, done), 1u);
  EXPECT_EQ(done[0].cookie, 7u);
  EXPECT_EQ(group.nic(0).arm(0), Armed::kArmed);
}

TEST(Nic, PutOfManyFramesLandsAndIsZeroCopy) {
  NicGroup group({});
  const auto source = pattern(300'001);
  std::vector<uint8_t> target(source.size() + 2, 0xee);
  const auto local = group.nic(0).pin(const_cast<uint8_t*>(source.data()), source.size(), -1, 0);
  const auto remote = group.nic(1).pin(target.data() + 1, source.size(), -1, 0);
  ASSERT_TRUE(local.ok() && remote.ok());
  Work work = put_work(1, source.data(), source.size(), target.data() + 1,
                       Result<Region>(remote).value().remote_key);
  work.local_key = Result<Region>(local).value().local_key;
  ASSERT_EQ(group.nic(0).post(0, {&work, 1}), 1u);
  uint32_t done = 0;
  for (int i = 0; i < 2000 && done == 0; ++i) {
    poll(group, 1);
    poll(group, 0);
    done += drain_done(group, 0);
  }
  EXPECT_EQ(done, 1u);
  EXPECT_EQ(0, std::memcmp(source.data(), target.data() + 1, source.size()));
  EXPECT_EQ(target.front(), 0xee);
  EXPECT_EQ(target.back(), 0xee);
  EXPECT_EQ(group.stat(0, "tx_zero_copy_bytes"), source.size());
  EXPECT_EQ(group.stat(0, "tx_copied_bytes"), 0u);
  EXPECT_EQ(group.stat(1, "rx_placed_bytes"), source.size());
  EXPECT_EQ(group.stat(0, "retransmits"), 0u);
}

TEST(Nic, GetOfManyFrames) {
  NicGroup group({});
  auto source = pattern(100'003);
  std::vector<uint8_t> target(source.size() + 1, 0xee);
  const Region region = group.nic(1).pin(source.data(), source.size(), -1, 0).value();
  Work work = put_work(1, target.data(), source.size(), source.data(), region.remote_key);
  work.op = Op::kGet;
  ASSERT_EQ(group.nic(0).post(0, {&work, 1}), 1u);
  uint32_t done = 0;
  for (int i = 0; i < 2000 && done == 0; ++i) {
    poll(group, 1);
    poll(group, 0);
    done += drain_done(group, 0);
  }
  EXPECT_EQ(done, 1u);
  EXPECT_EQ(0, std::memcmp(source.data(), target.data(), source.size()));
  EXPECT_EQ(target.back(), 0xee);
}

TEST(Nic, PutSendDeliversAfterTheData) {
  for (const size_t bytes : {8ul, 1000ul, 1400ul, 1500ul, 5000ul}) {
    NicGroup group({});
    const auto source = pattern(bytes);
    std::vector<uint8_t> target(bytes);
    const Region region = group.nic(1).pin(target.data(), bytes, -1, 0).value();
    Work work = put_work(1, source.data(), bytes, target.data(), region.remote_key);
    uint64_t head[12] = {99};
    work.op = Op::kPutSend;
    work.cls = MessageClass::kRequest;
    work.head = head;
    work.head_bytes = sizeof head;
    ASSERT_EQ(group.nic(0).post(0, {&work, 1}), 1u);
    std::vector<uint64_t> words;
    for (int i = 0; i < 10 && words.empty(); ++i) {
      words = poll(group, 1);
      poll(group, 0);
    }
    ASSERT_EQ(words, std::vector<uint64_t>{99}) << bytes;
    EXPECT_EQ(source, target);
    for (int i = 0; i < 4; ++i) poll(group, 1), poll(group, 0);
    EXPECT_EQ(drain_done(group, 0), 1u);
  }
}

TEST(Nic, FloodBothClassesBothWaysUnderLoss) {
  NicGroup group({});
  group.set_faults(
      {.loss = 0.3, .duplicate = 0.1, .reorder = 0.3, .corrupt = 0.01, .truncate = 0.01});
  constexpr uint64_t kCount = 5000;
  std::vector<int> seen[2] = {std::vector<int>(kCount * 2), std::vector<int>(kCount * 2)};
  uint64_t posted[2] = {};
  uint64_t got[2] = {};
  for (int round = 0; round < 4'000'000 && got[0] + got[1] < 4 * kCount; ++round) {
    for (uint32_t r = 0; r < 2; ++r) {
      while (posted[r] < 2 * kCount) {
        const auto cls = posted[r] % 2 ? MessageClass::kReply : MessageClass::kRequest;
        const Work work = send_work(1 - r, cls, &posted[r], 8);
        if (group.nic(r).post(0, {&work, 1}) == 0) break;
        ++posted[r];
      }
      for (const uint64_t word : poll(group, r)) {
        ASSERT_LT(word, 2 * kCount);
        ++seen[r][word];
        ++got[r];
      }
    }
    group.clock().advance(1000);
  }
  for (uint32_t r = 0; r < 2; ++r) {
    for (uint64_t i = 0; i < 2 * kCount; ++i) ASSERT_EQ(seen[r][i], 1) << r << " " << i;
  }
  EXPECT_GT(group.stat(1, "rx_drop_tag"), 0u);
  EXPECT_EQ(group.nic(0).failure(), nullptr);
}

}  // namespace
}  // namespace pinwire
