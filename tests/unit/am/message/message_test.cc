#include "am/message/message.h"

#include <gtest/gtest.h>

#include "am/handlers/handlers.h"

namespace pinwire {
namespace {

TEST(Message, HeadFitsForEveryShape) {
  for (auto category :
       {Category::kShort, Category::kMedium, Category::kLong, Category::kCarriedLong}) {
    for (uint32_t argc = 0; argc <= kAmArgsMax; ++argc) {
      EXPECT_LE(am_head_bytes(category, argc), kHeadBytesMax);
      EXPECT_EQ(am_head_bytes(category, argc) % 8, 0u);
    }
  }
}

TEST(Message, MediumPayloadStartsSixteenByteAligned) {  // C1-140
  for (uint32_t argc = 0; argc <= kAmArgsMax; ++argc) {
    EXPECT_EQ((8 + am_head_bytes(Category::kMedium, argc)) % 16, 0u);
  }
}

TEST(Message, AShortOfTwelveArgumentsIsOneCacheLine) {
  EXPECT_LE(8 + am_head_bytes(Category::kShort, 12), kCacheLineBytes);
}

TEST(Message, ArgumentsLieInOrder) {
  int32_t args[kAmArgsMax];
  for (int32_t i = 0; i < 16; ++i) args[i] = (i + 1) * (i % 2 ? -1001 : 1001);
  for (uint32_t argc = 0; argc <= kAmArgsMax; ++argc) {
    AmHead head;
    build_head(head, Category::kLong, 200, argc, args, 77, 0xabcdef);
    const auto header = std::bit_cast<AmHeader>(head.words[0]);
    EXPECT_EQ(header.handler, 200);
    EXPECT_EQ(header.argc(), argc);
    EXPECT_EQ(header.category(), Category::kLong);
    EXPECT_EQ(header.payload_bytes, 77u);
    EXPECT_EQ(head.words[1], 0xabcdefu);
    EXPECT_EQ(std::memcmp(&head.words[2], args, argc * 4), 0) << argc;
    if (argc % 2 != 0) {
      EXPECT_EQ(head.words[2 + argc / 2] >> 32, 0u) << "what lies behind them stays here";
    }
  }
}

TEST(Message, BothEndpointsAreNamed) {
  AmHead head;
  for (const auto category :
       {Category::kShort, Category::kMedium, Category::kLong, Category::kCarriedLong}) {
    const uint32_t payload_bytes = category == Category::kShort ? 0 : ~0u;
    build_head(head, category, 255, 0, nullptr, payload_bytes, 0, {kEndpointsMax - 1, 17});
    head.words[0] |= uint64_t{kMarkMustReply} << 16;
    const auto header = std::bit_cast<AmHeader>(head.words[0]);
    EXPECT_EQ(header.endpoint, kEndpointsMax - 1);
    EXPECT_EQ(header.from_endpoint, 17);
    EXPECT_EQ(header.category(), category);
    EXPECT_EQ(header.argc(), 0u);
    EXPECT_EQ(header.payload_bytes, payload_bytes);
    EXPECT_EQ(header.function(), function_index(kEndpointsMax - 1, 255));
  }
}

TEST(Message, ACarriedLongIsShapedLikeAnyLong) {
  const int32_t args[] = {1, 2, 3};
  AmHead plain, carried;
  const uint32_t bytes = build_head(plain, Category::kLong, 200, 3, args, 77, 0xabcdef);
  ASSERT_EQ(build_head(carried, Category::kCarriedLong, 200, 3, args, 77, 0xabcdef), bytes);
  EXPECT_EQ(std::memcmp(&plain.words[1], &carried.words[1], bytes - 8), 0);
  EXPECT_EQ(std::bit_cast<AmHeader>(carried.words[0]).category(), Category::kCarriedLong);
}

TEST(Message, AWordSurvivesItsHalves) {
  for (const uint64_t word :
       {uint64_t{0}, ~uint64_t{0}, uint64_t{0x1ffffffff}, uint64_t{0xffffffff80000000}}) {
    EXPECT_EQ(join_halves(low_half(word), high_half(word)), word);
  }
}

}  // namespace
}  // namespace pinwire
