#include "am/message.h"

#include <gtest/gtest.h>

namespace pinwire {
namespace {

TEST(Message, HeadFitsForEveryShape) {
  for (auto category : {Category::kShort, Category::kMedium, Category::kLong}) {
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
    EXPECT_EQ(header.argc, argc);
    EXPECT_EQ(header.category, Category::kLong);
    EXPECT_EQ(header.payload_bytes, 77u);
    EXPECT_EQ(head.words[1], 0xabcdefu);
    EXPECT_EQ(std::memcmp(&head.words[2], args, argc * 4), 0) << argc;
  }
}

}  // namespace
}  // namespace pinwire
