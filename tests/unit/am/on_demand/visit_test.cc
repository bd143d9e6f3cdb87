// Memory that its owner pins for one transfer of a peer: what either asks, answers and gives back.
#include "am/on_demand/visit.h"

#include <gtest/gtest.h>

#include "am/handlers/handlers.h"
#include "tests/unit/am/one_peer.h"

namespace pinwire {
namespace {

constexpr uint32_t kVisitKey = 70, kVisitPlace = 12;

class Visits : public test::WithOnePeer {
 protected:
  void SetUp() override {
    WithOnePeer::SetUp();
    if (handler_table[kHandlerVisit] == nullptr) register_visits();
    engine.own_bytes = ~uint64_t{0};
    driver.remote_key = kVisitKey;
    demand.own.open(driver, {.alone_bytes = 1 << 20}, 2, 0, 0);
  }
  void TearDown() override {
    engine.own_bytes = 0;
    WithOnePeer::TearDown();
  }
  /// The peer asks for this memory; where it is pinned, if it is.
  Visit ask(uint64_t bytes) {
    constexpr int32_t kAnswerLow = 3, kAnswerHigh = -4;
    const auto address = reinterpret_cast<uint64_t>(memory_);
    arrive(MessageClass::kRequest, kHandlerVisit,
           {kAnswerLow, kAnswerHigh, low_half(address), high_half(address), low_half(bytes),
            high_half(bytes)});
    EXPECT_EQ(driver.handlers.back(), kHandlerVisitAnswer);
    EXPECT_EQ(driver.last_args.size(), 4u);
    EXPECT_EQ(driver.last_args[0], kAnswerLow);
    EXPECT_EQ(driver.last_args[1], kAnswerHigh);
    return {static_cast<uint32_t>(driver.last_args[2]), static_cast<uint32_t>(driver.last_args[3])};
  }
  void end(uint32_t place) {
    arrive(MessageClass::kRequest, kHandlerVisitEnd, {static_cast<int32_t>(place)});
  }

  std::byte memory_[64];
};

TEST_F(Visits, BeginWithTheOwnersAnswerAndEndWithAMessage) {
  driver.at_poll = [&] {
    ASSERT_EQ(driver.last_args.size(), 6u);
    arrive(MessageClass::kReply, kHandlerVisitAnswer,
           {driver.last_args[0], driver.last_args[1], kVisitKey, kVisitPlace});
  };
  const Visit visit = begin_visit(test::kOnePeer, 0x123456789a, 0x200000007);
  EXPECT_EQ(driver.handlers, std::vector<uint8_t>{kHandlerVisit});
  EXPECT_EQ(join_halves(driver.last_args[2], driver.last_args[3]), 0x123456789au);
  EXPECT_EQ(join_halves(driver.last_args[4], driver.last_args[5]), 0x200000007u);
  EXPECT_EQ(visit.key, kVisitKey);
  EXPECT_EQ(visit.place, kVisitPlace);
  end_visit(test::kOnePeer, visit);
  EXPECT_EQ(driver.handlers.back(), kHandlerVisitEnd);
  EXPECT_EQ(driver.last_args, std::vector<int32_t>{kVisitPlace});
}

TEST_F(Visits, HaveTheirMemoryPinnedUntilTheyEnd) {
  const Visit visit = ask(sizeof memory_);
  EXPECT_EQ(visit.key, kVisitKey);
  EXPECT_EQ(driver.pins, 1u);
  end(visit.place);
  EXPECT_EQ(driver.pins, 0u);
  end(ask(1).place);
  EXPECT_EQ(driver.pins, 0u) << "of a byte, too";
}

TEST_F(Visits, AreRefusedWhereNothingCanBePinned) {
  EXPECT_EQ(ask(0).key, kNoRegion);
  driver.can_pin = false;
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(ask(sizeof memory_).key, kNoRegion);
  driver.can_pin = true;
  const Visit visit = ask(sizeof memory_);
  EXPECT_EQ(visit.key, kVisitKey) << "who is refused takes no place";
  end(visit.place);
  demands[0] = nullptr;
  EXPECT_EQ(ask(sizeof memory_).key, kNoRegion);
}

TEST_F(Visits, AreRefusedWhileAllPlacesAreTaken) {
  std::vector<Visit> visits;
  for (Visit visit; visits.size() < 10'000; visits.push_back(visit)) {
    visit = ask(sizeof memory_);
    if (visit.key == kNoRegion) break;
    for (const Visit& other : visits) ASSERT_NE(visit.place, other.place);
  }
  ASSERT_GE(visits.size(), 100u);
  ASSERT_LT(visits.size(), 10'000u);
  EXPECT_EQ(driver.pins, visits.size());
  for (const size_t which : {size_t{5}, size_t{3}, visits.size() - 1}) {
    end(visits[which].place);
    const Visit visit = ask(sizeof memory_);
    EXPECT_EQ(visit.key, kVisitKey);
    EXPECT_EQ(visit.place, visits[which].place);
  }
  end(visits[5].place);
  end(visits[3].place);
  EXPECT_EQ(ask(sizeof memory_).key, kVisitKey);
  EXPECT_EQ(ask(sizeof memory_).key, kVisitKey);
  EXPECT_EQ(ask(sizeof memory_).key, kNoRegion);
  for (const Visit& visit : visits) end(visit.place);
  EXPECT_EQ(driver.pins, 0u);
}

using VisitsDeath = Visits;

TEST_F(VisitsDeath, WhoEndsOneThatItDidNotBeginEndsTheJob) {
  const Visit visit = ask(sizeof memory_);
  for (const uint32_t place : {visit.place + 1, 1u << 20}) {
    EXPECT_DEATH(end(place), "rank 1 ended a transfer that it never began");
  }
  end(visit.place);
  EXPECT_DEATH(end(visit.place), "rank 1 ended a transfer that it never began");
}

TEST_F(VisitsDeath, WhoAsksForMemoryOutsideTheSegmentEndsTheJob) {
  engine.own_bytes = 1;
  EXPECT_DEATH(ask(sizeof memory_),
               "rank 1 asked for a transfer of 64 bytes at 0x[0-9a-f]+, outside");
}

}  // namespace
}  // namespace pinwire
