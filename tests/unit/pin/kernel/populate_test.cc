#include "pin/kernel/populate.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstring>
#include <string>
#include <vector>

#include "tests/unit/pin/kernel/told_kernel.h"

namespace pinwire {
namespace {

constexpr uint64_t kPageBytes = 4096;

uint64_t present_pages(std::byte* base, uint64_t bytes) {
  std::vector<unsigned char> present(bytes / kPageBytes);
  EXPECT_EQ(mincore(base, bytes, present.data()), 0);
  uint64_t count = 0;
  for (const unsigned char one : present) count += one & 1;
  return count;
}

class Mapping {
 public:
  explicit Mapping(uint64_t size)
      : bytes(size),
        base(static_cast<std::byte*>(
            mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0))) {}
  ~Mapping() { munmap(base, bytes); }
  const uint64_t bytes;
  std::byte* const base;
};

TEST(Populate, MakesEveryPageAndChangesNone) {
  // More than two chunks, and a rest: two threads have something to do.
  Mapping memory((uint64_t{130} << 20) + 3 * kPageBytes);
  std::memset(memory.base + 5 * kPageBytes, 0x5a, kPageBytes);
  ASSERT_LT(present_pages(memory.base, memory.bytes), memory.bytes / kPageBytes);
  const Status done = populate(memory.base, memory.bytes, 2);
  ASSERT_TRUE(done.ok()) << done.sentence();
  EXPECT_EQ(present_pages(memory.base, memory.bytes), memory.bytes / kPageBytes);
  EXPECT_EQ(memory.base[5 * kPageBytes + 17], std::byte{0x5a});
  EXPECT_EQ(memory.base[6 * kPageBytes], std::byte{0});
}

/// Returns the notes on how far it is, where each part of a segment takes so long.
std::string said_with(uint64_t seconds_of_a_part, uint32_t threads, uint64_t mib = 130) {
  Mapping memory(mib << 20);
  test::ToldKernel kernel;
  kernel.ns_between_looks = seconds_of_a_part * 1'000'000'000;
  testing::internal::CaptureStderr();
  EXPECT_TRUE(populate(memory.base, memory.bytes, threads).ok());
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_FALSE(kernel.is_clock_of_others) << "whoever asked for it tells";
  return said;
}
uint64_t notes_with(uint64_t seconds_of_a_part, uint32_t threads) {
  const std::string said = said_with(seconds_of_a_part, threads);
  uint64_t notes = 0;
  for (size_t at = 0; (at = said.find("making the segment's pages", at)) != said.npos; ++at) {
    ++notes;
  }
  return notes;
}

TEST(Populate, SaysEveryFewSecondsHowFarItIs) {
  EXPECT_EQ(notes_with(1, 1), 0u);
  EXPECT_EQ(notes_with(10, 1), 3u);
  EXPECT_EQ(notes_with(5, 1), 3u) << "five seconds are a few";
  notes_with(10, 2);
  EXPECT_NE(said_with(10, 1, 192).find("0.2 of 0.2 GiB"), std::string::npos);
}

/// A thread that were left alone would go on with chunks that are no longer there.
TEST(Populate, WaitsForEveryThreadThatHelps) {
  Mapping memory(uint64_t{258} << 20);
  const test::ToldKernel kernel;
  EXPECT_TRUE(populate(memory.base, memory.bytes, 3).ok());
  EXPECT_EQ(kernel.joins, 2u);
}

TEST(Populate, AHoleGetsASentence) {
  Mapping memory(64 * kPageBytes);
  ASSERT_EQ(munmap(memory.base + 8 * kPageBytes, kPageBytes), 0);
  const Status done = populate(memory.base, memory.bytes, 4);
  ASSERT_FALSE(done.ok());
  EXPECT_NE(done.sentence().find("GASNET_MAX_SEGSIZE"), std::string::npos);
}

}  // namespace
}  // namespace pinwire
