#include "driver/shm/ring.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include "core/base/random.h"

namespace pinwire::shm {
namespace {

/// A ring in ordinary memory, set up as an inbox sets it up.
struct Ring {
  explicit Ring(uint32_t slots) : slots_(new Slot[slots]()), room_(new Line[slots]()) {
    const Extent empty{slots, slots};
    control.tail = empty.packed();
    control.head = empty.packed();
    view = {&control, slots_.get(), room_[0].bytes, slots};
  }
  struct alignas(kSlotBytes) Line {
    std::byte bytes[kSlotBytes];
  };
  RingControl control{};
  std::unique_ptr<Slot[]> slots_;
  std::unique_ptr<Line[]> room_;
  RingView view;
};

bool send(RingProducer& producer, uint32_t source, const std::vector<uint8_t>& bytes) {
  const auto count = static_cast<uint32_t>(bytes.size());
  Extent place;
  if (!producer.reserve(count, count % 2 == 0, place)) return false;
  if (count != 0) std::memcpy(producer.body(place, count), bytes.data(), count);
  producer.publish(place, source, count);
  producer.own_next_lines(place, count);
  return true;
}

std::vector<uint8_t> pattern(uint32_t source, uint32_t number, size_t bytes) {
  std::vector<uint8_t> out(bytes,
                           0xff);  // 0xff: looks like a word wherever it may be mistaken for one
  Random random((uint64_t{source} << 32) + number);
  for (auto& byte : out) {
    if (random.chance(0.5)) byte = static_cast<uint8_t>(random.next());
  }
  return out;
}

TEST(Ring, FreshRingHasNoMessage) {
  Ring ring(32);
  RingConsumer consumer(ring.view);
  EXPECT_FALSE(consumer.has_message());
  EXPECT_EQ(consumer.next().data, nullptr);
}

TEST(Ring, AMessageOf56BytesLiesInItsSlot) {
  EXPECT_EQ(lines_for(0), 0u);
  EXPECT_EQ(lines_for(56), 0u);
  EXPECT_EQ(lines_for(57), 2u);
  EXPECT_EQ(lines_for(8 + 512), 1 + 512 / 64u) << "a payload behind a bare head fills its lines";
}

TEST(Ring, DataStartsAtEightModuloSixteen) {
  for (const size_t bytes : {size_t{3}, size_t{56}, size_t{57}, size_t{500}}) {
    Ring ring(32);
    RingProducer producer(ring.view, false);
    RingConsumer consumer(ring.view);
    ASSERT_TRUE(send(producer, 1, std::vector<uint8_t>(bytes)));
    const RingConsumer::Message message = consumer.next();
    EXPECT_EQ(message.bytes, bytes);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(message.data) % 16, 8u) << bytes;
  }
}

// Positions wrap in the one word that holds them both: slots late, lines soon.
TEST(Ring, AnExtentCountsAcrossItsWrap) {
  const Extent before{(uint64_t{1} << 47) - 1, Extent::kLineMask - 1};
  const Extent after = Extent::of(Extent{before.slots + 2, before.lines + 5}.packed());
  EXPECT_EQ(Extent::of(before.packed()).slots, before.slots);
  EXPECT_EQ(after.slots_since(before), 2u);
  EXPECT_EQ(after.lines_since(before), 5u);
  EXPECT_GT(before.lines_since(after), kSlotCountMax) << "an old tail shows no room";
}

TEST(Ring, AWordWithAnAbsurdLengthEndsTheJob) {
  Ring ring(32);
  RingConsumer consumer(ring.view);
  ring.view.slots[0].word = Word::make(1, 0, message_bytes_max(32) + 1);
  EXPECT_DEATH(consumer.next(), "absurd length");
}

class RingShapes : public testing::TestWithParam<std::tuple<uint32_t, bool>> {};

// Any sizes in any order, through hundreds of laps: everything arrives once, in order, unharmed,
// though the inside of long messages looks like words.
TEST_P(RingShapes, EverythingArrivesInOrder) {
  const auto [slots, is_shared] = GetParam();
  Ring ring(slots);
  RingProducer producer(ring.view, is_shared);
  RingConsumer consumer(ring.view);
  Random random(slots);
  uint32_t sent = 0, received = 0, held = 0;
  constexpr uint32_t kMessages = 3000;
  std::vector<size_t> sizes;
  while (received < kMessages) {
    if (sent < kMessages && random.chance(0.6)) {
      const size_t bytes = random.below(message_bytes_max(slots) + 1);
      if (send(producer, sent & 0xffff, pattern(1, sent, bytes))) {
        sizes.push_back(bytes);
        ++sent;
      }
    } else if (held > 0 && random.chance(0.5)) {
      consumer.free_next();
      --held;
    } else {
      const RingConsumer::Message message = consumer.next();
      if (message.data == nullptr) {
        while (held > 0) consumer.free_next(), --held;
        continue;
      }
      ASSERT_EQ(message.source, received & 0xffff);
      ASSERT_EQ(message.bytes, sizes[received]);
      const auto expected = pattern(1, received, message.bytes);
      if (!expected.empty()) {  // memcmp takes no null pointer
        ASSERT_EQ(std::memcmp(message.data, expected.data(), message.bytes), 0) << received;
      }
      ++received;
      ++held;
    }
  }
  EXPECT_EQ(sent, received);
}
INSTANTIATE_TEST_SUITE_P(Slots, RingShapes,
                         testing::Combine(testing::Values(32u, 64u, 1024u), testing::Bool()));

/// A word's lap has 12 bits: of a ring of 32 slots it wraps after 131,072 messages.
TEST(Ring, LapsCountPastTheirWrap) {
  for (const bool is_shared : {false, true}) {
    Ring ring(32);
    RingProducer producer(ring.view, is_shared);
    RingConsumer consumer(ring.view);
    for (uint32_t number = 0; number < 2 * 4096 * 32 + 100; ++number) {
      ASSERT_FALSE(consumer.has_message()) << number;
      std::vector<uint8_t> bytes(4 + number % 3 * 40);
      std::memcpy(bytes.data(), &number, sizeof number);
      ASSERT_TRUE(send(producer, 0, bytes));
      const RingConsumer::Message message = consumer.next();
      ASSERT_EQ(message.bytes, bytes.size());
      ASSERT_EQ(std::memcmp(message.data, bytes.data(), bytes.size()), 0) << number;
      consumer.free_next();
    }
  }
}

TEST(Ring, FullSaysSoAndRecovers) {
  Ring ring(32);
  RingProducer producer(ring.view, true);
  RingConsumer consumer(ring.view);
  uint32_t sent = 0;
  while (send(producer, 0, std::vector<uint8_t>(8))) ++sent;
  EXPECT_EQ(sent, 32u);
  for (uint32_t i = 0; i < sent; ++i) {
    ASSERT_NE(consumer.next().data, nullptr);
    consumer.free_next();
  }
  EXPECT_TRUE(send(producer, 0, std::vector<uint8_t>(message_bytes_max(32))));
}

/// A receiver that has run dry gives each message back by itself.
TEST(Ring, AFullRingTakesOneMoreForEachMessageThatIsGivenBack) {
  for (const bool is_shared : {false, true}) {
    Ring ring(32);
    RingProducer producer(ring.view, is_shared);
    RingConsumer consumer(ring.view);
    while (send(producer, 0, std::vector<uint8_t>(8))) {
    }
    while (consumer.next().data != nullptr) {
    }
    for (uint32_t i = 0; i < 32; ++i) {
      consumer.free_next();
      EXPECT_TRUE(send(producer, 0, std::vector<uint8_t>(8))) << i;
      EXPECT_FALSE(send(producer, 0, std::vector<uint8_t>(8))) << i;
      ASSERT_NE(consumer.next().data, nullptr) << i;
    }
  }
}

/// The receiver's side of going to sleep: it must not sleep over a message that is there, and
/// whoever sends to it while it sleeps must wake it.
TEST(Ring, AReceiverSleepsOnlyWhileNoMessageIsThere) {
  Ring ring(32);
  ring.control.sleeps = 1;
  RingProducer producer(ring.view, false);
  RingConsumer consumer(ring.view);
  Extent place;
  for (uint32_t i = 0; i < 3 * 32; ++i) {
    EXPECT_TRUE(consumer.await()) << "nothing is there";
    EXPECT_TRUE(consumer.await()) << "it said so before";
    ASSERT_TRUE(producer.reserve(8, false, place));
    EXPECT_TRUE(producer.publish(place, 1, 8)) << "it sleeps";
    EXPECT_FALSE(consumer.await()) << "a message is there";
    ASSERT_TRUE(producer.reserve(8, false, place));
    EXPECT_FALSE(producer.publish(place, 2, 8)) << "it is awake";
    for (const uint32_t source : {1u, 2u}) {
      const RingConsumer::Message message = consumer.next();
      ASSERT_NE(message.data, nullptr);
      EXPECT_EQ(message.source, source);
      consumer.free_next();
    }
  }
}

/// The lines that a lone sender has fetched while it waits: those of its next message, and of no
/// other.
TEST(Ring, ALoneSenderFetchesLinesThatItsNextMessageTakes) {
  constexpr uint32_t kSlots = 256, kBytes = 5000;
  Ring ring(kSlots);
  RingProducer producer(ring.view, false);
  RingConsumer consumer(ring.view);
  Extent place;
  uint32_t fetched = 0;
  for (uint32_t i = 0; i < 20; ++i) {
    ASSERT_TRUE(producer.reserve(kBytes, false, place));
    producer.publish(place, 0, kBytes);
    const auto lines = producer.next_lines(place, kBytes);
    if (!lines.empty()) {
      ++fetched;
      ASSERT_TRUE(producer.reserve(kBytes, false, place));
      EXPECT_EQ(lines.data() + kRoomSkip, producer.body(place, kBytes)) << i;
      EXPECT_LE(lines.size(), size_t{lines_for(kBytes)} * kSlotBytes) << i;
      producer.publish(place, 0, kBytes);
    }
    while (consumer.next().data != nullptr) consumer.free_next();
  }
  EXPECT_GT(fetched, 0u);
}

TEST(Ring, NobodyFetchesLinesThatAreFewOrThatOthersMayUse) {
  constexpr uint32_t kSlots = 256;
  Ring ring(kSlots);
  RingProducer producer(ring.view, false);
  Extent place;
  for (const uint32_t bytes : {8u, 56u, 57u, 1000u}) {
    ASSERT_TRUE(producer.reserve(bytes, false, place));
    EXPECT_TRUE(producer.next_lines(place, bytes).empty()) << bytes;
  }
  Ring full(kSlots);
  RingProducer filling(full.view, false);
  const uint32_t half = message_bytes_max(kSlots);
  ASSERT_TRUE(filling.reserve(half, false, place));
  EXPECT_FALSE(filling.next_lines(place, half).empty());
  ASSERT_TRUE(filling.reserve(half, false, place));
  EXPECT_TRUE(filling.next_lines(place, half).empty()) << "the receiver may read them";
  Ring shared(kSlots);
  RingProducer one_of_several(shared.view, true);
  ASSERT_TRUE(one_of_several.reserve(half, false, place));
  EXPECT_TRUE(one_of_several.next_lines(place, half).empty()) << "another may write them";
}

TEST(Ring, AFullRoomLetsShortMessagesPass) {
  Ring ring(32);
  RingProducer producer(ring.view, true);
  RingConsumer consumer(ring.view);
  const std::vector<uint8_t> longest(message_bytes_max(32));
  ASSERT_TRUE(send(producer, 0, longest));
  ASSERT_TRUE(send(producer, 0, longest));
  EXPECT_FALSE(send(producer, 0, std::vector<uint8_t>(57)));
  EXPECT_TRUE(send(producer, 0, std::vector<uint8_t>(56)));
  ASSERT_NE(consumer.next().data, nullptr);
  consumer.free_next();
  EXPECT_TRUE(send(producer, 0, longest)) << "half of the room came back";
}

TEST(Ring, TheLongestMessageAlwaysFitsAnEmptyRing) {
  for (uint32_t before = 0; before < 32; ++before) {
    Ring ring(32);
    RingProducer producer(ring.view, true);
    RingConsumer consumer(ring.view);
    for (uint32_t i = 0; i < before; ++i) {
      ASSERT_TRUE(send(producer, 0, std::vector<uint8_t>(57)));
      ASSERT_NE(consumer.next().data, nullptr);
      consumer.free_next();
    }
    ASSERT_TRUE(send(producer, 0, std::vector<uint8_t>(message_bytes_max(32)))) << before;
  }
}

// Several producers in threads: each one's messages in order, none lost or torn. Yields, so that it
// also ends on one core.
TEST(Ring, ManyProducersOneConsumer) {
  constexpr uint32_t kProducers = 3, kEach = 5000;
  Ring ring(64);
  std::vector<std::thread> threads;
  for (uint32_t p = 0; p < kProducers; ++p) {
    threads.emplace_back([&, p] {
      RingProducer producer(ring.view, true);
      Random random(p + 1);
      for (uint32_t i = 0; i < kEach; ++i) {
        std::vector<uint8_t> bytes(4 + random.below(200), static_cast<uint8_t>(i));
        std::memcpy(bytes.data(), &i, 4);
        while (!send(producer, p, bytes)) std::this_thread::yield();
      }
    });
  }
  RingConsumer consumer(ring.view);
  std::vector<uint32_t> next(kProducers, 0);
  for (uint32_t total = 0; total < kProducers * kEach;) {
    const RingConsumer::Message message = consumer.next();
    if (message.data == nullptr) {
      std::this_thread::yield();
      continue;
    }
    uint32_t number;
    std::memcpy(&number, message.data, 4);
    ASSERT_LT(message.source, kProducers);
    ASSERT_EQ(number, next[message.source]++);
    for (uint32_t at = 4; at < message.bytes; ++at) {
      ASSERT_EQ(static_cast<uint8_t>(message.data[at]), static_cast<uint8_t>(number));
    }
    consumer.free_next();
    ++total;
  }
  for (auto& thread : threads) thread.join();
}

}  // namespace
}  // namespace pinwire::shm
