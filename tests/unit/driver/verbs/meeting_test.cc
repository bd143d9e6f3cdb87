// Connections on first use: over datagrams that are lost, come twice and cross.
#include <poll.h>
#include <time.h>

#include "driver/verbs/connect/greeting.h"
#include "tests/unit/driver/verbs/two_hosts.h"

namespace pinwire {
namespace {

class Meeting : public TwoHosts {
 protected:
  explicit Meeting(uint64_t seed = 1) : TwoHosts(seed) {}
  /// Posts one message from each of these ranks as soon as it can be, and waits for all.
  void exchange(std::initializer_list<Rank> senders) {
    std::vector<Rank> unsent(senders);
    uint64_t expected[2] = {arrived(0, MessageClass::kRequest), arrived(1, MessageClass::kRequest)};
    for (const Rank rank : unsent) ++expected[1 - rank];
    turn_until(
        [&] {
          std::erase_if(unsent, [&](Rank rank) {
            Work work = message(MessageClass::kRequest);
            work.peer = 1 - rank;
            return at(rank).post(0, {&work, 1}) == 1;
          });
          return arrived(0, MessageClass::kRequest) == expected[0] &&
                 arrived(1, MessageClass::kRequest) == expected[1];
        },
        20 * kTurnsMax);
    EXPECT_TRUE(unsent.empty());
  }
  size_t connections(const std::string& device) {
    const auto live = fabric_.live();
    return static_cast<size_t>(std::count_if(
               live.begin(), live.end(),
               [&](const auto& object) { return object.find("qp " + device) == 0; })) -
           1;  // that of the greetings
  }
};

TEST_F(Meeting, NothingIsMadeBeforeTheFirstWork) {
  open();
  for (int i = 0; i < 1000; ++i) {
    turn(0);
    turn(1);
  }
  EXPECT_EQ(connections("left"), 0u);
  EXPECT_EQ(connections("right"), 0u);
  exchange({0});
  EXPECT_EQ(connections("left"), 2u);
  EXPECT_EQ(connections("right"), 2u);
}

TEST_F(Meeting, TheFirstWorkIsHeldBackUntilThePeerListens) {
  open();
  const Work work = message(MessageClass::kRequest);
  EXPECT_EQ(at(0).post(0, {&work, 1}), 0u);
  EXPECT_EQ(at(0).post(0, {&work, 1}), 0u);
  EXPECT_EQ(at(0).arm(0), Armed::kBusy) << "nothing would wake who slept now";
  exchange({0});
  EXPECT_EQ(stat(0, "greetings_sent"), 2u) << "a hello, a ready";
  EXPECT_EQ(stat(1, "greetings_sent"), 1u) << "an answer";
  EXPECT_EQ(fabric_.counters().lost, 0u) << "nobody sends to who does not listen yet";
  turn_until([&] { return at(0).arm(0) == Armed::kArmed; });
}

TEST_F(Meeting, WhoMeetsByBeingGreetedAnswersByItsConnections) {
  open();
  exchange({0});
  exchange({1});
  EXPECT_EQ(connections("left"), 2u);
  EXPECT_EQ(connections("right"), 2u);
}

TEST_F(Meeting, OneSidedWorkMakesConnectionsToo) {
  open();
  const uint64_t value = 77;
  const Work work = put(&value, sizeof value, kNoRegion);
  turn_until([&] { return at(0).post(0, {&work, 1}) == 1; });
  turn_until([&] { return done_.size() == 1; });
  EXPECT_EQ(std::memcmp(memory_[1].data(), &value, sizeof value), 0);
}

TEST_F(Meeting, AStrangerIsAnsweredWhateverTheReceiverSendsItself) {
  // Request and reply: the reply is the receiver's first work.
  open();
  const Work request = message(MessageClass::kRequest);
  turn_until([&] { return at(0).post(0, {&request, 1}) == 1; });
  turn_until([&] { return arrived(1, MessageClass::kRequest) == 1; });
  Work reply = message(MessageClass::kReply);
  reply.peer = 0;
  turn_until([&] { return at(1).post(0, {&reply, 1}) == 1; });
  turn_until([&] { return arrived(0, MessageClass::kReply) == 1; });
}

TEST_F(Meeting, TheWindowOfRequestsHoldsFromTheFirstOn) {
  open();
  send_requests(20 * kDepth);
  EXPECT_EQ(fabric_.counters("right").rnr_naks, 0u);
}

TEST_F(Meeting, ARankThatIsNeverAnsweredIsGivenUpWithASentence) {
  VerbsOptions options = options_of(0);
  options.connect_timeout_s = 1;
  open(options);
  const Work work = message(MessageClass::kRequest);
  for (uint32_t turns = 0; at(0).failure() == nullptr; ++turns) {
    ASSERT_LT(turns, 10 * kTurnsMax);
    EXPECT_EQ(at(0).post(0, {&work, 1}), 0u);
    turn(0);
  }
  EXPECT_EQ(at(0).failure()->peer, 1u);
  EXPECT_NE(std::string(at(0).failure()->sentence).find("rank 1 does not answer rank 0"),
            std::string::npos)
      << at(0).failure()->sentence;
  std::printf("%s\n", at(0).failure()->sentence);
}

TEST_F(Meeting, ADeviceThatMakesNoMoreConnectionsIsNamedWithItsLimit) {
  open();
  fabric_.fail(fake_verbs::Call::kCreateQp, ENOMEM, 1, 100);
  const Work work = message(MessageClass::kRequest);
  for (uint32_t turns = 0; at(0).failure() == nullptr; ++turns) {
    ASSERT_LT(turns, kTurnsMax);
    at(0).post(0, {&work, 1});
    turn(0);
  }
  EXPECT_NE(std::string(at(0).failure()->sentence).find("has 1024 queue pairs"), std::string::npos)
      << at(0).failure()->sentence;
  std::printf("%s\n", at(0).failure()->sentence);
}

TEST_F(Meeting, ADeviceWithoutDatagramsConnectsAtStart) {
  fabric_.deny_datagrams("left");
  fabric_.deny_datagrams("right");
  open();
  EXPECT_EQ(connections("left") + 1, 2u);
  const Work work = message(MessageClass::kRequest);
  EXPECT_EQ(at(0).post(0, {&work, 1}), 1u);
  turn_until([&] { return arrived(1, MessageClass::kRequest) == 1; });
  exchange({1});
}

TEST_F(Meeting, OfTwoDevicesBothOrNoneHaveDatagrams) {
  fabric_.deny_datagrams("left");
  auto left = make_verbs_driver(options_of(0));
  auto right = make_verbs_driver(options_of(1));
  ASSERT_TRUE((*left)->open({.rank = 0, .rank_count = 2}).ok());
  ASSERT_TRUE((*right)->open({.rank = 1, .rank_count = 2}).ok());
  const Status mixed = (*left)->connect(1, (*right)->address());
  ASSERT_FALSE(mixed.ok());
  EXPECT_NE(mixed.sentence().find("no datagrams"), std::string::npos) << mixed.sentence();
}

TEST_F(Meeting, LateOrForgedGreetingsChangeNothing) {
  // Those of another job, of no rank, and from another place than that rank's.
  open();
  VerbsOptions other = options_of(0);
  auto stranger = make_verbs_driver(other);
  ASSERT_TRUE((*stranger)->open({.rank = 0, .rank_count = 2, .job_key = 0x7654321}).ok());
  ASSERT_TRUE((*stranger)->connect(1, at(1).address()).ok());
  auto cousin = make_verbs_driver(other);  // has the key, but is not where rank 0 is
  ASSERT_TRUE((*cousin)->open({.rank = 0, .rank_count = 2, .job_key = 0x1234567}).ok());
  ASSERT_TRUE((*cousin)->connect(1, at(1).address()).ok());
  for (Driver* intruder : {stranger->get(), cousin->get()}) {
    const Work work = message(MessageClass::kRequest);
    Recv none[1];
    for (int i = 0; i < 5000; ++i) {
      EXPECT_EQ(intruder->post(0, {&work, 1}), 0u);
      intruder->recv(0, RecvFilter::kAll, none);
      turn(1);
    }
  }
  EXPECT_EQ(connections("right"), 0u);
  EXPECT_GT(stat(1, "greetings_ignored"), 0u);
  exchange({0, 1});
}

/// Each seed is another network.
class MeetingBySeed : public testing::WithParamInterface<uint64_t>, public Meeting {
 protected:
  MeetingBySeed() : Meeting(GetParam()) {}
};

TEST_P(MeetingBySeed, BothAtOnceOverDatagramsOfWhichHalfAreLost) {
  fake_verbs::Timing timing;
  timing.ud_loss = 0.5;
  fabric_.set_timing(timing);
  open();
  exchange({0, 1});
  EXPECT_EQ(connections("left"), 2u);
  EXPECT_EQ(connections("right"), 2u);
  EXPECT_EQ(fabric_.counters().lost, 0u);
  exchange({1, 0});
}

TEST_P(MeetingBySeed, OneOfTwoOverDatagramsOfWhichTwoThirdsAreLost) {
  fake_verbs::Timing timing;
  timing.ud_loss = 0.66;
  fabric_.set_timing(timing);
  open();
  exchange({static_cast<Rank>(GetParam() % 2)});
  exchange({0, 1});
  EXPECT_EQ(fabric_.counters().lost, 0u);
}

TEST_P(MeetingBySeed, OverDatagramsThatComeTwice) {
  fake_verbs::Timing timing;
  timing.ud_loss = 0.2;
  timing.ud_twice = 0.7;
  fabric_.set_timing(timing);
  open();
  exchange({0, 1});
  exchange({0, 1});
  EXPECT_EQ(connections("left"), 2u);
}

INSTANTIATE_TEST_SUITE_P(Seeds, MeetingBySeed, testing::Range<uint64_t>(1, 13));

/// With the thread, as in production: the ranks only poll.
TEST_F(Meeting, TheThreadConnectsARankThatComputes) {
  VerbsOptions options[2] = {options_of(0), options_of(1)};
  for (Rank rank = 0; rank < 2; ++rank) {
    options[rank].connects_in_polls = false;
    auto made = make_verbs_driver(options[rank]);
    ASSERT_TRUE(made.ok());
    drivers_[rank] = make_checked(std::move(*made));
    ASSERT_TRUE(
        drivers_[rank]->open({.rank = rank, .rank_count = 2, .network_depth = kDepth}).ok());
  }
  for (Rank rank = 0; rank < 2; ++rank) {
    ASSERT_TRUE(at(rank).connect(1 - rank, at(1 - rank).address()).ok());
  }
  const Work work = message(MessageClass::kRequest);
  for (uint32_t waited_ms = 0; at(0).post(0, {&work, 1}) == 0; ++waited_ms) {
    ASSERT_LT(waited_ms, 60'000u) << "no connection";
    fabric_.step(20);  // the network moves; rank 1 does nothing at all
    const timespec one_ms{0, 1'000'000};
    nanosleep(&one_ms, nullptr);
  }
  EXPECT_EQ(connections("right"), 2u);
  turn_until([&] { return arrived(1, MessageClass::kRequest) == 1; });
}

TEST_F(Meeting, WhatAPeerCosts) {
  open();
  const uint64_t apart = stat(0, "unmet_peer_bytes");
  const uint64_t together = stat(0, "met_peer_bytes");
  std::printf("a peer that was not met: %llu bytes; one that was: %llu and two queue pairs\n",
              static_cast<unsigned long long>(apart), static_cast<unsigned long long>(together));
  EXPECT_LE(apart, 32u);
  EXPECT_LE(together, 256u);
  EXPECT_EQ(stat(0, "met_peer_send_queue_bytes"), 32u << 10) << "of depth 32, as the test wants";
}

}  // namespace
}  // namespace pinwire
