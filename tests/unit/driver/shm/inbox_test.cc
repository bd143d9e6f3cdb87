#include "driver/shm/inbox.h"

#include <gtest/gtest.h>

namespace pinwire::shm {
namespace {

TEST(Inbox, APeerSeesWhatTheOwnerWrites) {
  auto own = Inbox::create(2, 64);
  ASSERT_TRUE(own.ok()) << own.sentence();
  auto peer = Inbox::map(own->address());
  ASSERT_TRUE(peer.ok()) << peer.sentence();
  own->header().probe_to_write = 7;
  EXPECT_EQ(peer->header().probe_to_write, 7u);
  const RingView mine = own->ring(1, MessageClass::kReply);
  const RingView theirs = peer->ring(1, MessageClass::kReply);
  mine.slots[63].word.store(42);
  EXPECT_EQ(theirs.slots[63].word.load(), 42u);
  EXPECT_NE(mine.slots, theirs.slots);
}

TEST(Inbox, RingsDoNotOverlap) {
  auto inbox = Inbox::create(3, 32);
  ASSERT_TRUE(inbox.ok());
  std::vector<std::pair<const std::byte*, const std::byte*>> spans;
  for (uint32_t lane = 0; lane < 3; ++lane) {
    for (auto cls : {MessageClass::kRequest, MessageClass::kReply}) {
      const RingView ring = inbox->ring(lane, cls);
      const auto* begin = reinterpret_cast<const std::byte*>(ring.control);
      const auto* end = ring.room + uint64_t{ring.slot_count} * kSlotBytes;
      EXPECT_EQ(reinterpret_cast<uintptr_t>(begin) % 64, 0u);
      EXPECT_EQ(ring.room, reinterpret_cast<const std::byte*>(ring.slots + ring.slot_count));
      for (const auto& other : spans) EXPECT_TRUE(end <= other.first || begin >= other.second);
      spans.emplace_back(begin, end);
    }
  }
}

TEST(Inbox, BadAddressesGetASentence) {
  auto own = Inbox::create(1, 32);
  ASSERT_TRUE(own.ok());
  InboxAddress wrong = own->address();
  wrong.magic = 1;
  EXPECT_FALSE(Inbox::map(wrong).ok());
  wrong = own->address();
  wrong.slot_count = 33;
  EXPECT_FALSE(Inbox::map(wrong).ok());
  wrong = own->address();
  auto other = Inbox::create(1, 32);
  ASSERT_TRUE(other.ok());
  wrong.fd = other->address().fd;
  EXPECT_FALSE(Inbox::map(wrong).ok()) << "that file is another's";
  wrong.fd = 9999;
  auto missing = Inbox::map(wrong);
  ASSERT_FALSE(missing.ok());
  EXPECT_NE(missing.sentence().find("one user"), std::string::npos);
}

}  // namespace
}  // namespace pinwire::shm
