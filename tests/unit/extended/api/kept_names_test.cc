#include "extended/api/kept_names.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

#include "tests/support/count_allocations.h"

namespace pinwire {
namespace {

struct Names : testing::Test {
  std::array<char, 64> memory{};
  KeptNames names{memory};
};

TEST_F(Names, AreTheSameEachTime) {
  const char* first = names.keep("shm", "sent");
  const char* second = names.keep("shm", "got");
  EXPECT_STREQ(first, "shm.sent");
  EXPECT_STREQ(second, "shm.got");
  // In their order, in another one, and one of them twice.
  EXPECT_EQ(names.keep("shm", "sent"), first);
  EXPECT_EQ(names.keep("shm", "got"), second);
  EXPECT_EQ(names.keep("shm", "got"), second);
  EXPECT_EQ(names.keep("shm", "sent"), first);
  EXPECT_STREQ(first, "shm.sent");
}

TEST_F(Names, ThatBeginAlikeAreTold) {
  const char* longer = names.keep("dpdk_2", "sent_bytes");
  const char* shorter = names.keep("dpdk", "sent");
  EXPECT_STREQ(longer, "dpdk_2.sent_bytes");
  EXPECT_STREQ(shorter, "dpdk.sent");
  EXPECT_STREQ(names.keep("dpdk", "sent_bytes"), "dpdk.sent_bytes");
  EXPECT_EQ(names.keep("dpdk", "sent"), shorter);
  EXPECT_STREQ(names.keep("dpdk", "se"), "dpdk.se");
}

TEST_F(Names, AllocateNothing) {
  const uint64_t before = allocations;
  for (int turn = 0; turn < 2; ++turn) {
    names.keep("a_driver_with_a_long_name", "and_a_counter");
    names.keep("another", "one");
  }
  EXPECT_EQ(allocations, before);
}

TEST_F(Names, FillTheMemoryToItsEnd) {
  const std::string fits(61, 'x');  // with the owner, the point and the NUL 64
  EXPECT_EQ(names.keep("o", (fits + "x").c_str()), nullptr);
  const char* kept = names.keep("o", fits.c_str());
  EXPECT_EQ(kept, memory.data());
  EXPECT_EQ(names.keep("o", ""), nullptr);
  EXPECT_EQ(names.keep("o", fits.c_str()), kept);
}

}  // namespace
}  // namespace pinwire
