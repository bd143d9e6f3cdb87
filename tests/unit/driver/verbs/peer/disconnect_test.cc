// One end of the agreement to close a connection, message by message. The work of two ends together
// is explored by tests/models/worlds/verbs_disconnect_test.cc.
#include "driver/verbs/peer/disconnect.h"

#include <gtest/gtest.h>

namespace pinwire::verbs {
namespace {

using Kind = DisconnectMessage::Kind;
constexpr Traffic kMine{3, 2}, kTheirs{2, 3};

DisconnectMessage ask_of_peer(uint64_t round, uint64_t epoch = 0) {
  return {Kind::kAsk, epoch, round, kTheirs};
}
/// The answer, which there must be.
Kind answer_to(Disconnect& end, const DisconnectMessage& question, bool is_quiet = true) {
  const auto heard = end.hear(question, is_quiet, kMine);
  EXPECT_TRUE(heard.answer.has_value());
  EXPECT_EQ(heard.answer->epoch, question.epoch);
  EXPECT_EQ(heard.answer->round, question.round);
  return heard.answer->kind;
}

TEST(Disconnect, AQuietEndAgreesAndClosesOnce) {
  Disconnect end;
  const auto heard = end.hear(ask_of_peer(1), true, kMine);
  EXPECT_TRUE(heard.is_closed);
  EXPECT_EQ(heard.answer->kind, Kind::kAgree);
  EXPECT_EQ(end.epoch(), 1u);
  const auto again = end.hear(ask_of_peer(1), true, {});
  EXPECT_FALSE(again.is_closed);
  EXPECT_EQ(again.answer->kind, Kind::kAgree) << "the first agreement may be lost";
  EXPECT_EQ(end.epoch(), 1u);
}

TEST(Disconnect, ABusyEndRefusesAndStaysByIt) {
  Disconnect end;
  EXPECT_EQ(answer_to(end, ask_of_peer(1), false), Kind::kRefuse);
  EXPECT_EQ(answer_to(end, ask_of_peer(1)), Kind::kRefuse) << "the asker may have sent since";
  EXPECT_EQ(answer_to(end, ask_of_peer(2)), Kind::kAgree);
}

TEST(Disconnect, WhatIsOnItsWayEitherWayIsAReasonToRefuse) {
  Disconnect end;
  EXPECT_EQ(answer_to(end, {Kind::kAsk, 0, 1, {kTheirs.sent + 1, kTheirs.received}}),
            Kind::kRefuse);
  EXPECT_EQ(answer_to(end, {Kind::kAsk, 0, 2, {kTheirs.sent, kTheirs.received - 1}}),
            Kind::kRefuse);
}

TEST(Disconnect, AWithdrawalEndsItsRoundWhateverTheOtherEndDoes) {
  Disconnect end;
  EXPECT_EQ(answer_to(end, {Kind::kWithdraw, 0, 1, kTheirs}), Kind::kRefuse);
  EXPECT_EQ(answer_to(end, ask_of_peer(1)), Kind::kRefuse) << "the ask came after it";
}

TEST(Disconnect, AWithdrawalAfterTheAgreementIsTooLate) {
  Disconnect end;
  EXPECT_EQ(answer_to(end, ask_of_peer(1)), Kind::kAgree);
  EXPECT_EQ(answer_to(end, {Kind::kWithdraw, 0, 1, {}}, false), Kind::kAgree);
}

TEST(Disconnect, AnAskIsRepeatedUntilItsOwnAnswerComes) {
  Disconnect end;
  EXPECT_EQ(end.ask(kMine), (DisconnectMessage{Kind::kAsk, 0, 1, kMine}));
  EXPECT_EQ(end.question(), (DisconnectMessage{Kind::kAsk, 0, 1, kMine}));
  end.withdraw();
  EXPECT_EQ(end.question(), (DisconnectMessage{Kind::kWithdraw, 0, 1, {}}));
  end.hear({Kind::kRefuse, 0, 1, {}}, true, kMine);
  EXPECT_FALSE(end.has_asked());
  EXPECT_EQ(end.ask(kMine), (DisconnectMessage{Kind::kAsk, 0, 2, kMine}));
  end.hear({Kind::kRefuse, 0, 1, {}}, true, kMine);
  EXPECT_TRUE(end.has_asked()) << "that was the answer of before";
  EXPECT_TRUE(end.hear({Kind::kAgree, 0, 2, {}}, true, kMine).is_closed);
  EXPECT_FALSE(end.has_asked());
  EXPECT_FALSE(end.hear({Kind::kAgree, 0, 2, {}}, true, {}).is_closed);
  EXPECT_EQ(end.epoch(), 1u);
}

TEST(Disconnect, AnswersToNothingChangeNothing) {
  Disconnect end;
  EXPECT_FALSE(end.hear({Kind::kAgree, 0, 0, {}}, true, kMine).is_closed);
  EXPECT_FALSE(end.hear({Kind::kRefuse, 0, 0, {}}, true, kMine).answer.has_value());
  EXPECT_FALSE(end.hear(ask_of_peer(1, 1), true, kMine).answer.has_value()) << "of a later epoch";
  EXPECT_EQ(end, Disconnect());
}

TEST(Disconnect, AGreetingOfTheNextEpochIsTheAgreement) {
  Disconnect end;
  EXPECT_EQ(end.greeted(0), Disconnect::Epoch::kCurrent);
  EXPECT_EQ(end.greeted(1), Disconnect::Epoch::kStale) << "no ask of this end is out";
  end.ask(kMine);
  EXPECT_EQ(end.greeted(2), Disconnect::Epoch::kStale);
  EXPECT_EQ(end.greeted(1), Disconnect::Epoch::kAhead);
  EXPECT_FALSE(end.has_asked());
  EXPECT_EQ(end.greeted(1), Disconnect::Epoch::kCurrent);
  EXPECT_EQ(end.greeted(0), Disconnect::Epoch::kStale);
}

TEST(Disconnect, AsksThatCrossCloseBothEnds) {
  Disconnect left, right;
  const auto of_left = left.ask(kMine), of_right = right.ask(kTheirs);
  const auto at_right = right.hear(of_left, true, kTheirs);
  const auto at_left = left.hear(of_right, true, kMine);
  EXPECT_TRUE(at_right.is_closed && at_left.is_closed);
  EXPECT_FALSE(left.hear(*at_right.answer, true, {}).is_closed);
  EXPECT_FALSE(right.hear(*at_left.answer, true, {}).is_closed);
  EXPECT_EQ(left, right);
}

}  // namespace
}  // namespace pinwire::verbs
