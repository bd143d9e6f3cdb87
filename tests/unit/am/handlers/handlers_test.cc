#include "am/handlers/handlers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

namespace pinwire {
namespace {

std::vector<int32_t> args_seen;
size_t seen_bytes;

void on_three(pinwire_token*, int32_t a, int32_t b, int32_t c) { args_seen = {a, b, c}; }
void on_sixteen(pinwire_token*, void*, size_t bytes, int32_t a0, int32_t a1, int32_t a2, int32_t a3,
                int32_t a4, int32_t a5, int32_t a6, int32_t a7, int32_t a8, int32_t a9, int32_t a10,
                int32_t a11, int32_t a12, int32_t a13, int32_t a14, int32_t a15) {
  seen_bytes = bytes;
  args_seen = {a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15};
}
void nothing() {}

TEST(Handlers, ArgumentsArriveInOrder_C1_127) {
  const int32_t three[] = {1, -2, 3};
  call_short(reinterpret_cast<HandlerFunction>(on_three), nullptr, 3, three);
  EXPECT_EQ(args_seen, (std::vector<int32_t>{1, -2, 3}));
  std::vector<int32_t> sixteen(16);
  std::iota(sixteen.begin(), sixteen.end(), -8);
  call_payload(reinterpret_cast<HandlerFunction>(on_sixteen), nullptr, nullptr, 99, 16,
               sixteen.data());
  EXPECT_EQ(args_seen, sixteen);
  EXPECT_EQ(seen_bytes, 99u);
}

TEST(Handlers, DontCareIndicesAreDistinctAndDeterministic_C1_077) {
  HandlerEntry table[] = {{0, nothing}, {255, nothing}, {0, nothing}, {253, nothing}, {0, nothing}};
  ASSERT_TRUE(register_client(0, table, 5).ok());
  EXPECT_EQ(table[0].index, 254);
  EXPECT_EQ(table[2].index, 252);
  EXPECT_EQ(table[4].index, 251);
}

TEST(Handlers, EachEndpointHasItsOwn_GX_085) {
  HandlerEntry table[] = {{0, nothing}, {200, nothing}};
  ASSERT_TRUE(register_client(7, table, 2).ok());
  EXPECT_EQ(table[0].index, 255);
  EXPECT_EQ(handler_table[function_index(7, 200)].load(), nothing);
  EXPECT_EQ(handler_table[function_index(6, 200)].load(), nullptr);
  EXPECT_FALSE(register_client(7, table, 2).ok());  // taken
  ASSERT_TRUE(register_client(6, table, 2).ok());
}

TEST(Handlers, AnEndpointHasRoomForAll128AndEachIsInstalled_C1_076) {
  constexpr uint32_t kEndpoint = 5;
  std::vector<HandlerEntry> all(128, HandlerEntry{0, nothing});
  ASSERT_TRUE(register_client(kEndpoint, all.data(), all.size()).ok());
  for (uint32_t index = kClientHandlersFirst; index < kHandlerCount; ++index) {
    EXPECT_EQ(handler_table[kEndpoint * kHandlerCount + index].load(), nothing) << index;
  }
}

TEST(Handlers, BadTablesAreRefusedWithASentence) {
  HandlerEntry reserved[] = {{127, nothing}};
  EXPECT_NE(register_client(0, reserved, 1).sentence().find("127 is reserved"), std::string::npos);
  HandlerEntry twice[] = {{200, nothing}, {200, nothing}};
  EXPECT_NE(register_client(0, twice, 2).sentence().find("twice"), std::string::npos);
  HandlerEntry null[] = {{200, nullptr}};
  EXPECT_FALSE(register_client(0, null, 1).ok());
  std::vector<HandlerEntry> many(129, HandlerEntry{0, nothing});
  EXPECT_FALSE(register_client(0, many.data(), many.size()).ok());
}

}  // namespace
}  // namespace pinwire
