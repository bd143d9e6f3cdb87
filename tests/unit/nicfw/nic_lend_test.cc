// Memory that a lane lends for payloads: it comes back whatever becomes of it.
#include <gtest/gtest.h>

#include <cstring>

#include "tests/support/nic_group.h"

namespace pinwire {
namespace {

class NicLend : public testing::Test {
 protected:
  /// All that rank 0 lends at once.
  std::vector<Lent> borrow_all() {
    std::vector<Lent> all;
    for (;;) {
      const Lent lent = group_.nic(0).lend(0, 1, 1'000);
      if (lent.payload == nullptr) return all;
      all.push_back(lent);
    }
  }
  void return_all(const std::vector<Lent>& all) {
    for (const Lent& lent : all) group_.nic(0).take_back(0, lent);
  }
  /// Posts a payload of so many bytes, all of them `fill`, from lent memory.
  bool post(const Lent& lent, uint64_t bytes, int fill, MessageClass cls = MessageClass::kReply) {
    std::memset(lent.payload, fill, bytes);
    Work work = send_work(1, cls, &kHead, sizeof kHead);
    work.flags |= kWorkLent;
    work.local = lent.payload;
    work.bytes = bytes;
    work.lent = lent.name;
    return group_.post(0, work);
  }
  void expect_payload(uint64_t bytes, uint8_t fill) {
    Recv out[2];
    ASSERT_EQ(group_.nic(1).recv(0, RecvFilter::kRepliesOnly, out), 1u);
    ASSERT_EQ(out[0].bytes, sizeof kHead + bytes);
    const std::vector<uint8_t> wanted(bytes, fill);
    EXPECT_EQ(std::memcmp(out[0].data + sizeof kHead, wanted.data(), bytes), 0);
    group_.nic(1).give_back(0, std::span(out, 1));
  }

  static constexpr uint64_t kHead = 5;
  NicGroup group_{{.config = {.coalesce = false}}};
};

TEST_F(NicLend, WhatIsTakenBackIsLentAgain) {
  const auto all = borrow_all();
  EXPECT_GE(all.size(), 16u);
  return_all(all);
  const auto again = borrow_all();
  EXPECT_EQ(again.size(), all.size());
  return_all(again);
}

/// Small payloads are copied into the frame, large ones leave from where they lie.
TEST_F(NicLend, WhatIsSentIsLentAgainOnceItIsAcknowledged) {
  const size_t lendable = [&] {
    const auto all = borrow_all();
    return_all(all);
    return all.size();
  }();
  for (const uint64_t bytes : {8u, 256u, 257u, 1'000u}) {
    for (int i = 0; i < 3; ++i) {
      const Lent lent = group_.nic(0).lend(0, 1, bytes);
      ASSERT_NE(lent.payload, nullptr);
      ASSERT_TRUE(post(lent, bytes, i + 1));
      expect_payload(bytes, static_cast<uint8_t>(i + 1));
      group_.run(3);
    }
  }
  const auto all = borrow_all();
  EXPECT_EQ(all.size(), lendable);
  return_all(all);
}

/// The payload of a refused post stays the client's, which may offer it again.
TEST_F(NicLend, WhatIsRefusedIsStillLent) {
  fill_with_requests(group_);
  if (HasFatalFailure()) return;
  const auto all = borrow_all();
  ASSERT_FALSE(all.empty());
  EXPECT_FALSE(post(all[0], 1'000, 7, MessageClass::kRequest));
  EXPECT_TRUE(borrow_all().empty());
  EXPECT_TRUE(post(all[0], 1'000, 7));
  expect_payload(1'000, 7);
  return_all({all.begin() + 1, all.end()});
}

}  // namespace
}  // namespace pinwire
