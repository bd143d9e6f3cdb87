// Puts of many small pieces as one record (Op::kScatter).
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/support/frame_forger.h"
#include "tests/support/scatter_list.h"

namespace pinwire {
namespace {

class NicScatter : public testing::Test {
 protected:
  static constexpr size_t kWords = 4096;

  void open(const NicGroup::Options& options = {}) {
    group_ = std::make_unique<NicGroup>(options);
    region_ = group_->pin(1, target_.data(), kWords * 8);
    list_.emplace(static_cast<uint32_t>(group_->nic(0).caps().scatter_bytes_max));
  }
  /// As many words as one list takes, each second one of the target from `first` on.
  size_t fill(size_t first) {
    size_t count = 0;
    while (list_->add(&target_[first + 2 * count], &source_[count], 8)) ++count;
    return count;
  }
  Work work(uint64_t cookie = 11) {
    Work work = list_->work(1, region_.remote_key);
    work.cookie = cookie;
    return work;
  }
  void expect_words(size_t first, size_t count) {
    for (size_t i = 0; i < kWords; ++i) {
      const bool is_target = i >= first && i < first + 2 * count && (i - first) % 2 == 0;
      ASSERT_EQ(target_[i], is_target ? source_[(i - first) / 2] : 0) << i;
    }
  }
  void expect_done(WorkStatus status = WorkStatus::kOk, uint64_t cookie = 11) {
    const auto dones = group_->dones(0);
    ASSERT_EQ(dones.size(), 1u);
    EXPECT_EQ(dones[0].status, status);
    EXPECT_EQ(dones[0].cookie, cookie);
  }
  static std::vector<uint64_t> numbered() {
    std::vector<uint64_t> words(kWords);
    for (size_t i = 0; i < kWords; ++i) words[i] = 1 + i * 0x9e3779b97f4a7c15;
    return words;
  }

  std::unique_ptr<NicGroup> group_;
  std::vector<uint64_t> source_ = numbered();
  std::vector<uint64_t> target_ = std::vector<uint64_t>(kWords);
  Region region_{};
  std::optional<ScatterList> list_;
};

TEST_F(NicScatter, AListIsOneFrameAndOneOperation) {
  open();
  const size_t count = fill(3);
  EXPECT_EQ(count, (1514u - kRecordsOffset - 24) / 16);
  ASSERT_TRUE(group_->post(0, work()));
  EXPECT_EQ(group_->port(1).waiting(), 1u);
  EXPECT_TRUE(group_->dones(0).empty());
  EXPECT_TRUE(group_->poll(1).empty()) << "no message";
  expect_words(3, count);
  group_->run(3);
  expect_done();
  EXPECT_EQ(group_->stat(0, "operations_high_water"), 1u);
  EXPECT_EQ(group_->stat(0, "tx_copied_bytes"), count * 16);
  EXPECT_EQ(group_->stat(1, "rx_placed_bytes"), count * 8);
  EXPECT_TRUE(group_->nic(0).drained(0));
}

TEST_F(NicScatter, SourceAndListAreFreeWhenPostReturns) {
  open();
  const size_t count = fill(0);
  ASSERT_TRUE(group_->post(0, work()));
  std::memset(list_->bytes(), 0xee, list_->writer().bytes());
  group_->run(3);
  expect_words(0, count);
}

TEST_F(NicScatter, PiecesOfAnyLengthAndAlignment) {
  open();
  auto* target = reinterpret_cast<uint8_t*>(target_.data());
  const auto data = byte_pattern(700);
  std::vector<uint8_t> wanted(kWords * 8);
  uint32_t at = 0, place = 20'000;
  for (const uint32_t bytes : {1u, 7u, 8u, 9u, 64u, 127u, 128u, 300u}) {
    place -= bytes + 3;
    ASSERT_TRUE(list_->add(target + place, &data[at], bytes));
    std::memcpy(&wanted[place], &data[at], bytes);
    at += bytes;
  }
  ASSERT_TRUE(group_->post(0, work()));
  group_->run(3);
  EXPECT_EQ(0, std::memcmp(target, wanted.data(), wanted.size()));
  expect_done();
}

/// Work that others post meanwhile rides in the same frame.
TEST_F(NicScatter, SharesAFrameWithOtherRecords) {
  open({.frame_bytes_max = 9014});
  ASSERT_TRUE(list_->add(&target_[9], &source_[0], 8));
  const uint64_t value = 77;
  for (int i = 0; i < 6; ++i) ASSERT_TRUE(group_->post(0, work()));
  for (int i = 0; i < 6; ++i)
    ASSERT_TRUE(group_->post(0, put_work(1, &value, 8, &target_[20], region_.remote_key)));
  group_->run(5);
  EXPECT_EQ(target_[9], source_[0]);
  EXPECT_EQ(target_[20], 77u);
  EXPECT_EQ(group_->dones(0).size(), 12u);
  EXPECT_LT(group_->stat(0, "frames_sent"), 12u);
}

TEST_F(NicScatter, WhatIsLostIsRepeatedAndPlacedAgainOnlyOnce) {
  open();
  const size_t count = fill(0);
  ASSERT_TRUE(group_->post(0, work()));
  group_->port(1).lose_waiting();
  group_->run(200, 0, 100'000);
  expect_words(0, count);
  expect_done();
  EXPECT_EQ(group_->stat(1, "rx_placed_bytes"), count * 8);
}

/// The path carries less than both ports: the frame goes in parts.
TEST_F(NicScatter, OverANarrowPathAListGoesInParts) {
  open({.frame_bytes_max = 9014, .config = {.path_bytes = 1514}});
  group_->port(1).set_path_bytes(1514);
  const size_t count = fill(0);
  ASSERT_TRUE(group_->post(0, work()));
  group_->run(200, 0, 100'000);
  expect_words(0, count);
  expect_done();
  EXPECT_GT(group_->stat(0, "frames_in_pieces"), 0u);
}

/// All or nothing, and the sentence names the piece.
TEST_F(NicScatter, OnePieceOutsideTheRegionRefusesAll) {
  for (const bool is_above : {false, true}) {
    target_.assign(kWords, 0);
    open();
    region_ = group_->pin(1, &target_[100], 800);
    uint64_t* outside = is_above ? &target_[199] + 1 : &target_[99];
    ASSERT_TRUE(list_->add(&target_[100], &source_[0], 8));
    ASSERT_TRUE(list_->add(outside, &source_[1], 8));
    ASSERT_TRUE(list_->add(&target_[199], &source_[2], 8));
    ASSERT_TRUE(group_->post(0, work()));
    group_->run(20, 1, 5'000);
    EXPECT_EQ(target_, std::vector<uint64_t>(kWords));
    expect_done(WorkStatus::kRemoteAccess);
    ASSERT_NE(group_->nic(0).failure(), nullptr);
    char words[64];
    std::snprintf(words, sizeof words, "access to 8 bytes at 0x%llx: outside",
                  static_cast<unsigned long long>(reinterpret_cast<uint64_t>(outside)));
    const std::string sentence = group_->nic(0).failure()->sentence;
    EXPECT_NE(sentence.find(words), std::string::npos) << sentence;
    EXPECT_GT(group_->stat(1, "rx_drop_access"), 0u);
    list_.reset();
  }
}

TEST_F(NicScatter, APieceAcrossTheEndOfTheRegionIsRefused) {
  open();
  region_ = group_->pin(1, &target_[100], 800);
  ASSERT_TRUE(list_->add(reinterpret_cast<std::byte*>(&target_[199]) + 1, &source_[0], 8));
  ASSERT_TRUE(group_->post(0, work()));
  group_->run(20, 1, 5'000);
  EXPECT_EQ(target_, std::vector<uint64_t>(kWords));
  expect_done(WorkStatus::kRemoteAccess);
}

TEST_F(NicScatter, AWrongKeyIsRefused) {
  open();
  ASSERT_TRUE(list_->add(&target_[0], &source_[0], 8));
  Work wrong = work();
  wrong.remote_key ^= 0x10000;
  ASSERT_TRUE(group_->post(0, wrong));
  group_->run(20, 1, 5'000);
  EXPECT_EQ(target_[0], 0u);
  expect_done(WorkStatus::kRemoteAccess);
}

/// A region of all memory has no end that an address could be beyond, but the addresses wrap.
TEST_F(NicScatter, ExposedMemoryTakesPiecesToo) {
  open();
  const Region all = group_->nic(1).expose(nullptr, ~uint64_t{0}).value();
  ASSERT_TRUE(list_->add(&target_[5], &source_[0], 8));
  Work to_all = work();
  to_all.remote_key = all.remote_key;
  ASSERT_TRUE(group_->post(0, to_all));
  group_->run(3);
  EXPECT_EQ(target_[5], source_[0]);
}

/// Forged by a peer that has the key: counted, and nothing changes.
class NicScatterForged : public NicScatter {
 protected:
  void SetUp() override {
    open();
    forger_.emplace(*group_);
    forger_->header.flags = static_cast<uint8_t>(Flow::kOneSided);
    record_.type = RecordType::kScatter;
    record_.key = region_.remote_key;
    record_.address = region_.base;
    words_ = {uint64_t{8} << 48, 5, uint64_t{8} << 48 | 8, 6};
  }
  void forge() {
    record_.bytes = static_cast<uint16_t>(words_.size() * 8);
    forger_->add(record_, words_.data());
    forger_->inject();
    group_->run(5, 1);
  }
  void expect_dropped() {
    EXPECT_EQ(group_->stat(1, "rx_drop_record"), 1u);
    EXPECT_EQ(target_, std::vector<uint64_t>(kWords));
  }
  std::optional<FrameForger> forger_;
  Record record_{};
  std::vector<uint64_t> words_;
};

TEST_F(NicScatterForged, ARightOneIsPlaced) {
  forge();
  EXPECT_EQ(target_[0], 5u);
  EXPECT_EQ(target_[1], 6u);
}
TEST_F(NicScatterForged, AListThatEndsInTheMidstOfAPieceChangesNothing) {
  words_.pop_back();
  forge();
  expect_dropped();
}
TEST_F(NicScatterForged, APieceOfNoBytesChangesNothing) {
  words_[2] = 8;
  forge();
  expect_dropped();
}
TEST_F(NicScatterForged, AListTravelsInTheOneSidedFlowOnly) {
  forger_->header.flags = static_cast<uint8_t>(Flow::kReply);
  forge();
  expect_dropped();
}
/// The places would be looked at before the body is known to be its sender's.
TEST_F(NicScatterForged, AListInTheBodyIsRefused) {
  forger_->body_bytes = 32;
  forge();
  expect_dropped();
}
TEST_F(NicScatterForged, AListWithoutPiecesIsRefused) {
  words_.clear();
  forge();
  expect_dropped();
}

}  // namespace
}  // namespace pinwire
