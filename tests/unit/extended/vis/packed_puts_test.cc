// Which pieces of a put go together, what the driver is given for them, and when.
#include "extended/vis/packed_puts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "am/handlers/handlers.h"
#include "am/poll/poll.h"
#include "extended/rma/ops.h"
#include "extended/vis/transfer.h"
#include "tests/unit/am/one_peer.h"

namespace pinwire::vis {
namespace {

constexpr Rank kPeer = test::kOnePeer;
constexpr uint32_t kKey = 77;

class PackedPutsTest : public test::WithOnePeer {
 protected:
  static constexpr size_t kWords = 1024;

  void SetUp() override {
    driver.all_caps.put_bytes_max = driver.all_caps.copied_bytes_max = 1 << 20;
    driver.all_caps.send_bytes_max = 8192;
    driver.all_caps.inline_bytes_max = 256;
    driver.all_caps.scatter_bytes_max = 8000;
    WithOnePeer::SetUp();
    std::iota(source_.begin(), source_.end(), 1u);
    routes[kPeer].region_key = kKey;
    routes[kPeer].segment_base = address(0);
    routes[kPeer].publish(8 * kWords);
    pinwire_reach_before_ = pinwire_reach;
    pinwire_reach = reach_;
  }
  void TearDown() override {
    pinwire_reach = pinwire_reach_before_;
    WithOnePeer::TearDown();
  }
  void set_list_max(uint64_t bytes) {
    driver.all_caps.scatter_bytes_max = bytes;
    engine.drivers[0].caps = driver.all_caps;
  }

  uint64_t address(size_t word) const { return reinterpret_cast<uint64_t>(&target_[word]); }
  static const std::byte* bytes_of(const uint64_t* word) {
    return reinterpret_cast<const std::byte*>(word);
  }
  /// Puts `bytes` bytes from the same place of the source.
  void put(PackedPuts& puts, size_t word, size_t bytes = 8) {
    puts.put(bytes_of(&source_[word]), reinterpret_cast<std::byte*>(&target_[word]), bytes);
  }
  /// The pieces of all lists that the driver took, carried out on the target.
  size_t carry_out() {
    size_t count = 0;
    for (size_t i = 0; i < driver.lists.size(); ++i) {
      const auto& list = driver.lists[i];
      ScatterReader pieces(list.remote, list.bytes.data(),
                           static_cast<uint32_t>(list.bytes.size()));
      for (ScatterPiece piece; pieces.next(piece); ++count)
        piece.copy_to(reinterpret_cast<std::byte*>(piece.remote));
      EXPECT_TRUE(pieces.is_at_end());
    }
    return count;
  }
  void expect_finished(uint32_t completions) {
    EXPECT_EQ(op_.started, completions);
    EXPECT_EQ(driver.moved.size(), completions);
    EXPECT_EQ(op_.finished(), completions == 0);
    poll();
    EXPECT_TRUE(op_.finished());
  }

  std::vector<uint64_t> source_ = std::vector<uint64_t>(kWords);
  std::vector<uint64_t> target_ = std::vector<uint64_t>(kWords);
  struct pinwire_reach reach_[2] = {};
  struct pinwire_reach* pinwire_reach_before_ = nullptr;
  pinwire_op op_{};
};

TEST_F(PackedPutsTest, SmallPiecesGoTogetherWhenThereAreNoMore) {
  PackedPuts puts(kPeer, op_);
  for (const size_t word : {3u, 9u, 1u}) put(puts, word);
  EXPECT_TRUE(driver.moved.empty());
  EXPECT_EQ(op_.started, 0u);
  puts.finish();
  ASSERT_EQ(driver.moved.size(), 1u);
  const Work& work = driver.moved[0];
  EXPECT_EQ(work.op, Op::kScatter);
  EXPECT_EQ(work.cls, MessageClass::kRequest);
  EXPECT_EQ(work.flags, kWorkCopied);
  EXPECT_EQ(work.remote_key, kKey);
  EXPECT_EQ(work.cookie, cookie_of(op_.done));
  EXPECT_EQ(carry_out(), 3u);
  for (const size_t word : {3u, 9u, 1u}) EXPECT_EQ(target_[word], source_[word]);
  EXPECT_EQ(std::accumulate(target_.begin(), target_.end(), uint64_t{0}), 4u + 10 + 2);
  expect_finished(1);
}

TEST_F(PackedPutsTest, LargerPiecesGoAloneAndAtOnce) {
  PackedPuts puts(kPeer, op_);
  put(puts, 0, PackedPuts::kPieceBytesMax + 1);
  ASSERT_EQ(driver.moved.size(), 1u);
  EXPECT_EQ(driver.moved[0].op, Op::kPut);
  EXPECT_EQ(driver.moved[0].bytes, PackedPuts::kPieceBytesMax + 1);
  put(puts, 100, PackedPuts::kPieceBytesMax);
  EXPECT_EQ(driver.moved.size(), 1u);
  puts.finish();
  puts.finish();
  ASSERT_EQ(driver.moved.size(), 2u);
  EXPECT_EQ(driver.moved[1].op, Op::kScatter);
  expect_finished(2);
}

TEST_F(PackedPutsTest, AFullListGoesAndAnotherBegins) {
  PackedPuts puts(kPeer, op_);
  for (size_t word = 0; word < 1000; ++word) put(puts, word);
  EXPECT_EQ(driver.lists.size(), 3u);
  puts.finish();
  ASSERT_EQ(driver.lists.size(), 4u);
  EXPECT_EQ(driver.lists[0].bytes.size(), PackedPuts::kListBytesMax);
  EXPECT_EQ(carry_out(), 1000u);
  EXPECT_TRUE(std::equal(target_.begin(), target_.begin() + 1000, source_.begin()));
  expect_finished(4);
}

TEST_F(PackedPutsTest, AListIsNoLongerThanTheDriverTakes) {
  set_list_max(scatter_stride(PackedPuts::kPieceBytesMax));
  PackedPuts puts(kPeer, op_);
  for (size_t word = 0; word < 20; ++word) put(puts, word);
  put(puts, 100, PackedPuts::kPieceBytesMax);
  puts.finish();
  ASSERT_EQ(driver.lists.size(), 4u);
  for (const auto& list : driver.lists) EXPECT_LE(list.bytes.size(), 136u);
  EXPECT_EQ(carry_out(), 21u);
  expect_finished(4);
}

TEST_F(PackedPutsTest, WithoutListsOrWithTooShortOnesEachGoesAlone) {
  for (const uint64_t list_max : {0u, 135u}) {
    set_list_max(list_max);
    driver.moved.clear();
    PackedPuts puts(kPeer, op_);
    for (size_t word = 0; word < 3; ++word) put(puts, word);
    EXPECT_EQ(driver.moved.size(), 3u);
    puts.finish();
    EXPECT_EQ(driver.moved.size(), 3u);
    EXPECT_TRUE(driver.lists.empty());
  }
}

/// No list reaches from one end of the address space to the other.
TEST_F(PackedPutsTest, PlacesThatAreFarApartAreInListsOfTheirOwn) {
  routes[kPeer].segment_base = 0;
  routes[kPeer].publish(~uint64_t{0});
  PackedPuts puts(kPeer, op_);
  put(puts, 1);
  puts.put(bytes_of(&source_[2]), reinterpret_cast<std::byte*>(address(2) ^ uint64_t{1} << 62), 8);
  EXPECT_EQ(driver.lists.size(), 1u);
  puts.finish();
  ASSERT_EQ(driver.lists.size(), 2u);
  EXPECT_EQ(driver.lists[1].remote, address(2) ^ uint64_t{1} << 62);
  expect_finished(2);
}

TEST_F(PackedPutsTest, WhatIsMappedIsCopiedAtOnce) {
  reach_[kPeer] = {address(0), 8 * kWords, 0};
  PackedPuts puts(kPeer, op_);
  put(puts, 5);
  EXPECT_EQ(target_[5], source_[5]);
  puts.finish();
  expect_finished(0);
}

TEST_F(PackedPutsTest, OnesOwnMemoryToo) {
  routes[0].segment_base = address(0);
  routes[0].publish(8 * kWords);
  PackedPuts puts(0, op_);
  put(puts, 5);
  EXPECT_EQ(target_[5], source_[5]);
  puts.finish();
  expect_finished(0);
}

/// The CPU at the other end moves these, and finds them in messages.
TEST_F(PackedPutsTest, MemoryWithoutAKeyGetsMessages) {
  routes[kPeer].reach = Reach::kMessages;
  PackedPuts puts(kPeer, op_);
  put(puts, 5);
  puts.finish();
  EXPECT_EQ(driver.messages.size(), 1u);
  EXPECT_TRUE(driver.lists.empty());
}

/// Either end may be a device's, which no CPU touches.
TEST_F(PackedPutsTest, WhereThereAreDevicesNothingIsPacked) {
  engine.has_devices.store(true);
  PackedPuts puts(kPeer, op_);
  put(puts, 5);
  puts.finish();
  engine.has_devices.store(false);
  EXPECT_TRUE(driver.lists.empty());
  ASSERT_EQ(driver.moved.size(), 1u);
  EXPECT_EQ(driver.moved[0].op, Op::kPut);
}

TEST_F(PackedPutsTest, WaitsForRoom) {
  driver.has_room = false;
  driver.at_poll = [this] { driver.has_room = true; };
  PackedPuts puts(kPeer, op_);
  put(puts, 5);
  puts.finish();
  EXPECT_EQ(carry_out(), 1u);
  EXPECT_EQ(target_[5], source_[5]);
}

TEST_F(PackedPutsTest, APieceOutsideTheSegmentEndsTheJob) {
  PackedPuts puts(kPeer, op_);
  routes[kPeer].publish(8 * 10);
  EXPECT_DEATH(put(puts, 10),
               "a (put by rank 0 of|piece of a put:) 8 bytes at .* segment .*C1-(209|295)");
}

/// Whole transfers: what is contiguous on both sides is one piece.
TEST_F(PackedPutsTest, ATransposeIsAListOfItsElements) {
  constexpr size_t kSide = 16;
  const ptrdiff_t there[] = {8, 8 * kSide}, here[] = {8 * kSide, 8};
  const size_t count[] = {kSide, kSide};
  start_put_box(kPeer, reinterpret_cast<std::byte*>(target_.data()),
                reinterpret_cast<const std::byte*>(source_.data()), Box(8, here, there, count, 2),
                op_);
  ASSERT_EQ(driver.lists.size(), 1u);
  EXPECT_EQ(carry_out(), kSide * kSide);
  for (size_t i = 0; i < kSide * kSide; ++i)
    EXPECT_EQ(target_[i], source_[i % kSide * kSide + i / kSide]) << i;
  expect_finished(1);
}

/// Half of the peer's words is mapped here, a little behind where the peer has them.
class MappedPeer : public PackedPutsTest {
 protected:
  static constexpr size_t kMapped = kWords / 2;
  using List = VectorPieces<gex_Memvec_t, &gex_Memvec_t::gex_addr, &gex_Memvec_t::gex_len>;

  void SetUp() override {
    PackedPutsTest::SetUp();
    const uint64_t behind = reinterpret_cast<uint64_t>(mapped_.data()) - address(0);
    reach_[kPeer] = {address(0), 8 * kMapped, behind};
  }
  std::vector<uint64_t> mapped_ = std::vector<uint64_t>(kMapped);
};

TEST_F(MappedPeer, HasItsListsCopiedAtOnce_VIS_007) {
  const gex_Memvec_t here[] = {{&source_[5], 16}, {nullptr, 0}, {&source_[1], 8}};
  const gex_Memvec_t there[] = {{&target_[2], 16}, {nullptr, 0}, {&target_[9], 8}};
  start_put_of("a test", kPeer, List(here, 3), List(there, 3), op_);
  EXPECT_TRUE(driver.moved.empty());
  EXPECT_EQ(mapped_[2], source_[5]);
  EXPECT_EQ(mapped_[3], source_[6]);
  EXPECT_EQ(mapped_[9], source_[1]);
  EXPECT_EQ(std::accumulate(mapped_.begin(), mapped_.end(), uint64_t{0}),
            source_[5] + source_[6] + source_[1]);
  mapped_[9] = 77;
  start_get_of("a test", kPeer, List(here, 3), List(there, 3), op_);
  EXPECT_TRUE(driver.moved.empty());
  EXPECT_EQ(source_[1], 77u);
  EXPECT_EQ(source_[2], 3u);
}

TEST_F(MappedPeer, HasPiecesThatAreCutOtherwiseCopiedByTheByte_VIS_007) {
  void* const here[] = {&source_[0], &source_[4]};
  void* const there[] = {&target_[8], &target_[10], &target_[12], &target_[14]};
  start_put_of("a test", kPeer, IndexedPieces(here, 2, 16), IndexedPieces(there, 4, 8), op_);
  EXPECT_TRUE(driver.moved.empty());
  for (size_t i = 0; i < 4; ++i) EXPECT_EQ(mapped_[8 + 2 * i], source_[i < 2 ? i : i + 2]) << i;
  EXPECT_EQ(mapped_[9], 0u);
}

/// From the first piece that is not mapped on, the driver moves them; none goes twice.
TEST_F(MappedPeer, HasTheRestOfAListGoByTheDriver) {
  void* const here[] = {&source_[0], &source_[1], &source_[2]};
  void* const there[] = {&target_[3], &target_[kMapped + 3], &target_[kMapped + 8]};
  start_put_of("a test", kPeer, IndexedPieces(here, 3, 8), IndexedPieces(there, 3, 8), op_);
  EXPECT_EQ(mapped_[3], source_[0]);
  EXPECT_EQ(carry_out(), 2u);
  EXPECT_EQ(target_[3], 0u);
  EXPECT_EQ(target_[kMapped + 3], source_[1]);
  EXPECT_EQ(target_[kMapped + 8], source_[2]);
}

TEST_F(MappedPeer, HasABoxCopiedIfAllOfItIsMapped_GX_136) {
  const ptrdiff_t back[] = {-16}, on[] = {8};
  const size_t count[] = {3};
  auto* at = reinterpret_cast<std::byte*>(&target_[4]);
  start_put_box(kPeer, at, bytes_of(&source_[0]), Box(8, on, back, count, 1), op_);
  EXPECT_TRUE(driver.moved.empty());
  EXPECT_EQ(mapped_[4], source_[0]);
  EXPECT_EQ(mapped_[2], source_[1]);
  EXPECT_EQ(mapped_[0], source_[2]);

  at = reinterpret_cast<std::byte*>(&target_[kMapped + 2]);
  start_put_box(kPeer, at, bytes_of(&source_[0]), Box(8, on, back, count, 1), op_);
  EXPECT_EQ(mapped_[kMapped - 2], source_[2]);  // each piece by itself
  EXPECT_EQ(carry_out(), 2u);
  EXPECT_EQ(target_[kMapped], source_[1]);
}

}  // namespace
}  // namespace pinwire::vis
