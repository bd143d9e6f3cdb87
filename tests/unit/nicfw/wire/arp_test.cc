#include "nicfw/wire/arp.h"

#include <gtest/gtest.h>

#include <cstring>

#include "nicfw/wire/bytes.h"
#include "tests/support/nic_group.h"

namespace pinwire {
namespace {

constexpr ArpStation kRouter{{2, 9, 9, 9, 9, 9}, 0x0a010001};
constexpr ArpStation kSelf{{2, 0, 0, 0, 0, 1}, 0x0a010002};

TEST(Arp, GoldenQuestion) {
  constexpr uint8_t kGolden[kArpFrameBytes] = {
      0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2, 0,  0, 0, 0, 1, 8, 6, 0, 1, 8, 0,  6, 4, 0,
      1,    2,    0,    0,    0,    0,    1, 10, 1, 0, 2, 0, 0, 0, 0, 0, 0, 10, 1, 0, 1};
  std::byte frame[kArpFrameBytes];
  make_arp_question(frame, kSelf, kRouter.ipv4);
  EXPECT_EQ(std::memcmp(frame, kGolden, sizeof kGolden), 0);
}

TEST(Arp, GoldenAnswer) {
  constexpr uint8_t kGolden[kArpFrameBytes] = {2,  0, 0, 0, 0, 1, 2, 9, 9, 9, 9,  9, 8, 6,
                                               0,  1, 8, 0, 6, 4, 0, 2, 2, 9, 9,  9, 9, 9,
                                               10, 1, 0, 1, 2, 0, 0, 0, 0, 1, 10, 1, 0, 2};
  std::byte question[kArpFrameBytes], answer[kArpFrameBytes];
  make_arp_question(question, kSelf, kRouter.ipv4);
  ASSERT_TRUE(make_arp_answer(question, sizeof question, kRouter, answer));
  EXPECT_EQ(std::memcmp(answer, kGolden, sizeof kGolden), 0);
}

TEST(Arp, AQuestionIsAnsweredAndTheAnswerUnderstood) {
  std::byte question[kArpFrameBytes], answer[kArpFrameBytes];
  make_arp_question(question, kSelf, kRouter.ipv4);
  ASSERT_TRUE(make_arp_answer(question, sizeof question, kRouter, answer));
  EXPECT_EQ(std::memcmp(answer, kSelf.mac.data(), 6), 0) << "to the one who asked";
  MacAddress mac{};
  ASSERT_TRUE(find_arp_sender(answer, sizeof answer, kRouter.ipv4, mac));
  EXPECT_EQ(mac, kRouter.mac);
  EXPECT_FALSE(find_arp_sender(answer, sizeof answer, kRouter.ipv4 + 1, mac));
  EXPECT_FALSE(make_arp_answer(answer, sizeof answer, kSelf, question)) << "no question";
}

TEST(Arp, WhatIsShortOrForAnotherOrNoArpIsLeftAlone) {
  std::byte question[kArpFrameBytes], answer[kArpFrameBytes];
  make_arp_question(question, kRouter, kSelf.ipv4);
  MacAddress mac{};
  for (uint32_t bytes = 0; bytes < 42; ++bytes) {
    EXPECT_FALSE(make_arp_answer(question, bytes, kSelf, answer));
    EXPECT_FALSE(find_arp_sender(question, bytes, kRouter.ipv4, mac));
  }
  EXPECT_TRUE(make_arp_answer(question, 42, kSelf, answer));
  EXPECT_FALSE(make_arp_answer(question, 42, {kSelf.mac, kSelf.ipv4 + 1}, answer));
  for (const uint32_t at : {12u, 13u, 15u, 17u, 18u, 19u}) {
    question[at] ^= std::byte{1};
    EXPECT_FALSE(make_arp_answer(question, 42, kSelf, answer)) << at;
    question[at] ^= std::byte{1};
  }
  question[22] = std::byte{3};
  EXPECT_FALSE(find_arp_sender(question, 42, kRouter.ipv4, mac)) << "a multicast address";
}

/// Frames from a router reach a rank only if the rank answers its questions.
TEST(Arp, ANicAnswersForTheAddressThatItWasGivenAndForNoOther) {
  for (const uint32_t asked : {kSelf.ipv4, kSelf.ipv4 + 1}) {
    ManualClock clock;
    LoopPort port(1), router(9);
    router.join(port);
    const auto nic = make_nic(port, clock, {.ipv4 = kSelf.ipv4, .ipv4_prefix_bits = 24});
    ASSERT_TRUE(nic->open({.rank = 0, .rank_count = 2}).ok());
    std::byte question[kArpFrameBytes];
    make_arp_question(question, {{2, 0, 0, 0, 0, 9}, kRouter.ipv4}, asked);
    ASSERT_TRUE(port.inject(question, sizeof question));
    Recv out[1];
    EXPECT_EQ(nic->recv(0, RecvFilter::kAll, out), 0u);
    ASSERT_EQ(router.waiting(), asked == kSelf.ipv4 ? 1u : 0u);
    if (asked != kSelf.ipv4) continue;
    MacAddress mac{};
    ASSERT_TRUE(find_arp_sender(router.peek().data(), static_cast<uint32_t>(router.peek().size()),
                                kSelf.ipv4, mac));
    EXPECT_EQ(mac, port.facts().mac);
  }
}

}  // namespace
}  // namespace pinwire
