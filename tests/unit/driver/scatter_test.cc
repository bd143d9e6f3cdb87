// Lists of pieces: what is written is read, whatever was written before, and a list that nobody
// wrote is read without harm.
#include "driver/scatter.h"

#include <gtest/gtest.h>

#include <vector>

#include "core/base/random.h"
#include "tests/support/scatter_list.h"

namespace pinwire {
namespace {

constexpr uint64_t kFar = uint64_t{1} << 47;

struct Read {
  uint64_t remote;
  std::vector<std::byte> data;
  bool operator==(const Read&) const = default;
};

std::vector<Read> read_all(uint64_t base, const std::byte* list, uint32_t bytes, bool& is_at_end) {
  ScatterReader reader(base, list, bytes);
  std::vector<Read> all;
  ScatterPiece piece;
  while (reader.next(piece)) {
    std::vector<std::byte> data(piece.bytes);
    piece.copy_to(data.data());
    all.push_back({piece.remote, data});
  }
  is_at_end = reader.is_at_end();
  return all;
}
std::vector<Read> read_all(ScatterList& list) {
  bool is_at_end = false;
  auto all = read_all(list.writer().base(), list.bytes(), list.writer().bytes(), is_at_end);
  EXPECT_TRUE(is_at_end);
  return all;
}

TEST(Scatter, PiecesOfAnyLengthAndPlaceComeBackInOrder) {
  Random random(5);
  ScatterList list(64 << 10);
  std::vector<Read> wanted;
  std::vector<std::byte> data(300);
  for (auto& byte : data) byte = static_cast<std::byte>(random.next());
  for (;;) {
    const auto bytes = static_cast<uint32_t>(1 + random.below(200));
    const std::byte* from = data.data() + random.below(100);
    const uint64_t remote = kFar + random.below(2 * kFar - 1) / 2;
    if (!list.add(reinterpret_cast<void*>(remote), from, bytes)) break;
    wanted.push_back({remote, {from, from + bytes}});
  }
  EXPECT_GT(wanted.size(), 400u);
  EXPECT_EQ(read_all(list), wanted);
}

TEST(Scatter, AWordTakesSixteenBytesAndOneByteAsMany) {
  ScatterList list(40);
  const uint64_t word = ~uint64_t{0};
  EXPECT_TRUE(list.add(&word, &word, 8));
  EXPECT_EQ(list.writer().bytes(), 16u);
  EXPECT_TRUE(list.add(&word, &word, 1));
  EXPECT_EQ(list.writer().bytes(), 32u);
  EXPECT_FALSE(list.add(&word, &word, 1)) << "8 bytes are left";
  EXPECT_EQ(list.writer().bytes(), 32u);
}

/// The bytes behind a piece may leave this machine with the list.
TEST(Scatter, FillsUpWithZeros) {
  ScatterList list(64);
  for (int i = 0; i < 64; ++i) list.bytes()[i] = std::byte{0xee};
  const uint64_t words[] = {~uint64_t{0}, ~uint64_t{0}};
  ASSERT_TRUE(list.add(words, words, 11));
  for (uint32_t i = 8; i < 24; ++i)
    EXPECT_EQ(list.bytes()[i], i < 19 ? std::byte{0xff} : std::byte{0}) << i;
  EXPECT_EQ(list.bytes()[24], std::byte{0xee});
}

TEST(Scatter, PiecesThatLieTooFarFromTheFirstAreNotTaken) {
  const uint64_t word = 7, base = 3 * kFar;
  const auto at = [](uint64_t address) { return reinterpret_cast<void*>(address); };
  ScatterList list(256);
  ASSERT_TRUE(list.add(at(base), &word, 8));
  EXPECT_FALSE(list.add(at(base + kFar), &word, 8));
  EXPECT_FALSE(list.add(at(base - kFar - 1), &word, 8));
  EXPECT_TRUE(list.add(at(base + kFar - 1), &word, 8));
  EXPECT_TRUE(list.add(at(base - kFar), &word, 8));
  const auto all = read_all(list);
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[1].remote, base + kFar - 1);
  EXPECT_EQ(all[2].remote, base - kFar);
}

TEST(Scatter, AClearedListBeginsAnew) {
  ScatterList list(64);
  std::byte memory[32];
  ScatterWriter writer(list.bytes(), 64);
  const uint64_t word = 7;
  const auto* data = reinterpret_cast<const std::byte*>(&word);
  EXPECT_TRUE(writer.is_empty());
  ASSERT_TRUE(writer.add(1000, data, 8));
  EXPECT_FALSE(writer.is_empty());
  writer.clear();
  EXPECT_TRUE(writer.is_empty());
  ASSERT_TRUE(writer.add(reinterpret_cast<uint64_t>(memory), data, 8));
  EXPECT_EQ(writer.base(), reinterpret_cast<uint64_t>(memory));
  EXPECT_EQ(writer.bytes(), 16u);
}

TEST(Scatter, AListThatMakesNoSenseEndsEarly) {
  const auto word = [](uint64_t bytes) { return bytes << 48; };
  const struct {
    const char* what;
    std::vector<uint64_t> words;
    size_t good;
  } kLists[] = {{"a piece of no bytes", {word(8), 1, word(0), 2}, 1},
                {"longer than the list", {word(8), 1, word(17), 2, 3}, 1},
                {"as long as can be", {word(UINT16_MAX), 1}, 0},
                {"no data", {word(8), 1, word(8)}, 1}};
  for (const auto& list : kLists) {
    bool is_at_end = true;
    const auto* bytes = reinterpret_cast<const std::byte*>(list.words.data());
    const auto count = static_cast<uint32_t>(8 * list.words.size());
    EXPECT_EQ(read_all(0, bytes, count, is_at_end).size(), list.good) << list.what;
    EXPECT_FALSE(is_at_end) << list.what;
  }
  bool is_at_end = true;
  const uint64_t words[] = {word(8), 1, 2};
  EXPECT_EQ(read_all(0, reinterpret_cast<const std::byte*>(words), 20, is_at_end).size(), 1u);
  EXPECT_FALSE(is_at_end) << "half a word is left";
}

/// The reader stays inside the list, whatever stands there.
TEST(Scatter, RandomListsAreReadWithoutHarm) {
  Random random(9);
  for (int round = 0; round < 20'000; ++round) {
    const auto bytes = static_cast<uint32_t>(random.below(100));
    const auto list = std::make_unique<std::byte[]>(bytes);
    for (uint32_t i = 0; i < bytes; ++i)
      list[i] = static_cast<std::byte>(random.chance(0.6) ? 0 : random.below(20));
    ScatterReader reader(random.next(), list.get(), bytes);
    ScatterPiece piece;
    const std::byte* end = list.get() + bytes;
    while (reader.next(piece)) {
      ASSERT_GE(piece.data, list.get() + kScatterWordBytes);
      ASSERT_GT(piece.bytes, 0u);
      ASSERT_LE(piece.bytes, static_cast<size_t>(end - piece.data));
    }
  }
}

}  // namespace
}  // namespace pinwire
