#include "core/launch/job/ending.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>

namespace pinwire::launch {
namespace {

constexpr int64_t kTimeoutMs = 1000;
int exited(int code) { return code << 8; }

/// Plays the job: what was ordered, in words.
class EndingTest : public testing::Test, public EndingOrders {
 protected:
  void signal_rank(Rank rank, int number) override { orders.emplace_back(rank, number); }
  void say(const std::string& sentence) override { said += sentence + "\n"; }
  std::string describe(Rank rank) const override { return "rank " + std::to_string(rank); }
  int count(int number) const {
    return static_cast<int>(std::count_if(orders.begin(), orders.end(),
                                          [&](auto& one) { return one.second == number; }));
  }
  void all_join() {
    for (Rank rank = 0; rank < 4; ++rank) ending.joined(rank, 0);
  }
  std::string why_not_killed(Rank rank) const override {
    return rank == unkillable ? "it is stuck" : "";
  }
  std::vector<std::pair<Rank, int>> orders;
  std::optional<Rank> unkillable;
  std::string said;
  Ending ending{4, kTimeoutMs, *this};
};

TEST_F(EndingTest, ACollectiveExitSeesNoSignal) {
  all_join();
  for (Rank rank = 0; rank < 4; ++rank) ending.left(rank, 3, 10 + rank);
  for (Rank rank = 0; rank < 4; ++rank) ending.ended(rank, exited(3), 20 + rank);
  ending.due(1 << 20);
  EXPECT_TRUE(ending.over());
  EXPECT_EQ(ending.exit_code(), 3);
  EXPECT_TRUE(orders.empty());
  EXPECT_EQ(said, "");
}

TEST_F(EndingTest, ARankThatHangsUpAndLivesIsNamedOnce) {
  all_join();
  ending.hung_up(1, 100);
  ending.hung_up(3, 200);
  ending.ended(3, exited(0), 201);  // that was why
  ending.due(200 + kHungUpMs - 1);
  EXPECT_EQ(said, "");
  Ending other{4, kTimeoutMs, *this};
  for (Rank rank = 0; rank < 4; ++rank) other.joined(rank, 0);
  other.hung_up(1, 100);
  other.due(100 + kHungUpMs - 1);
  EXPECT_EQ(said, "");
  EXPECT_EQ(other.deadline_ms(), 100 + kHungUpMs);
  other.due(100 + kHungUpMs);
  other.due(100 + 2 * kHungUpMs);
  EXPECT_EQ(said.find("rank 1 lives"), 0U) << said;
  EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1) << said;
  EXPECT_TRUE(orders.empty());
  EXPECT_FALSE(other.deadline_ms());
}

TEST_F(EndingTest, NobodyIsNamedInAJobThatEndsOrThatItNeverJoined) {
  ending.hung_up(0, 100);
  EXPECT_FALSE(ending.deadline_ms());
  all_join();
  ending.hung_up(1, 100);
  ending.left(2, 0, 150);
  ending.hung_up(2, 160);
  EXPECT_EQ(ending.deadline_ms(), 150 + kTimeoutMs);
  ending.due(100 + kHungUpMs);
  EXPECT_EQ(said, "");
}

TEST_F(EndingTest, C1_103_C1_108_OneThatLeavesGivesTheOthersTheExitTimeoutThenSigquitThenSigkill) {
  all_join();
  ending.left(2, 7, 100);
  ending.ended(2, exited(7), 101);
  EXPECT_EQ(ending.deadline_ms(), 100 + kTimeoutMs);
  ending.due(100 + kTimeoutMs - 1);
  EXPECT_TRUE(orders.empty());
  ending.due(100 + kTimeoutMs);
  EXPECT_EQ(count(SIGQUIT), 3);
  EXPECT_EQ(ending.deadline_ms(), 100 + kTimeoutMs + kQuitGraceMs);
  ending.due(100 + kTimeoutMs + kQuitGraceMs);
  EXPECT_EQ(count(SIGKILL), 3);
  for (Rank rank : {0U, 1U, 3U}) ending.ended(rank, SIGKILL, 3000);
  EXPECT_TRUE(ending.over());
  EXPECT_EQ(ending.exit_code(), 7);
  EXPECT_EQ(said, "") << "these deaths are no surprise";
}

TEST_F(EndingTest, EachRankThatLeavesGivesTheRestMoreTime) {
  all_join();
  ending.left(0, 0, 100);
  ending.left(1, 0, 900);
  EXPECT_EQ(ending.deadline_ms(), 900 + kTimeoutMs);
}

TEST_F(EndingTest, C1_105_ACrashQuitsTheOthersAtOnce) {
  all_join();
  ending.ended(1, SIGSEGV, 50);
  EXPECT_EQ(count(SIGQUIT), 3);
  EXPECT_EQ(ending.deadline_ms(), 50 + kQuitGraceMs);
  EXPECT_EQ(ending.exit_code(), 128 + SIGSEGV);
  EXPECT_NE(said.find("rank 1 was killed by signal 11"), std::string::npos) << said;
}

TEST_F(EndingTest, AllThatIsDoneWithinTwoSecondsOfACrash) { EXPECT_LT(kQuitGraceMs, 2000); }

TEST_F(EndingTest, AnExitWithoutAWordAndAFailureCodeIsACrash) {
  all_join();
  ending.ended(3, exited(5), 50);
  EXPECT_EQ(count(SIGQUIT), 3);
  EXPECT_EQ(ending.exit_code(), 5);
}

TEST_F(EndingTest, C1_106_AnExitWithoutAWordAndCode0IsAsGasnetExit0) {
  all_join();
  ending.ended(3, exited(0), 50);
  EXPECT_TRUE(orders.empty());
  EXPECT_EQ(ending.deadline_ms(), 50 + kTimeoutMs);
}

TEST_F(EndingTest, ProgramsThatNeverJoinEndWhenTheyLike) {
  ending.ended(0, exited(0), 50);
  ending.due(1 << 20);
  EXPECT_TRUE(orders.empty());
  for (Rank rank : {1U, 2U, 3U}) ending.ended(rank, exited(0), 100000);
  EXPECT_TRUE(ending.over());
  EXPECT_EQ(ending.exit_code(), 0);
}

TEST_F(EndingTest, ARankThatJoinsAfterOneEndedSilentlyDoesNotWaitForEver) {
  ending.ended(0, exited(0), 50);
  ending.joined(1, 60);
  EXPECT_EQ(ending.deadline_ms(), 60 + kTimeoutMs);
}

TEST_F(EndingTest, C1_101_AFailureBeatsSuccess) {
  all_join();
  ending.left(0, 0, 10);
  ending.left(1, 9, 11);
  ending.left(2, 8, 12);
  EXPECT_EQ(ending.exit_code(), 9);
}

TEST_F(EndingTest, ARankThatCannotBeKilledIsNamedAndLeftAlone) {
  all_join();
  unkillable = 2;
  ending.interrupted(SIGQUIT, false, 0);
  for (const Rank rank : {0U, 1U}) ending.ended(rank, SIGQUIT, 10);
  int64_t now = 0;
  const auto wait = [&] { ending.due(now = *ending.deadline_ms()); };
  for (int i = 0; i < kKillsMax; ++i) wait();
  EXPECT_EQ(said, "") << "it may be on its way";
  wait();
  EXPECT_EQ(said, "rank 2 cannot be killed, and is left alone: it is stuck\n");
  EXPECT_FALSE(ending.over()) << "rank 3 may be on its way";
  ending.ended(3, SIGKILL, now);
  EXPECT_TRUE(ending.over());
  EXPECT_EQ(ending.exit_code(), 128 + SIGQUIT);
  ending.ended(2, SIGKILL, now);  // after all
  EXPECT_TRUE(ending.over());
}

/// It reads or writes whenever it is looked at, and gets on with that.
TEST_F(EndingTest, ARankIsLeftAloneOnlyIfEachOfManyLooksFindsItStuck) {
  all_join();
  ending.interrupted(SIGQUIT, false, 0);
  for (const Rank rank : {0U, 1U, 3U}) ending.ended(rank, SIGQUIT, 10);
  const auto look = [&](bool is_stuck) {
    unkillable = is_stuck ? std::optional<Rank>(2) : std::nullopt;
    ending.due(*ending.deadline_ms());
  };
  look(true);  // it has had SIGQUIT
  for (int round = 0; round < 3; ++round) {
    for (int i = 1; i < kKillsMax; ++i) look(true);
    look(false);
  }
  for (int i = 1; i < kKillsMax; ++i) look(true);
  EXPECT_EQ(said, "");
  look(true);
  EXPECT_EQ(said, "rank 2 cannot be killed, and is left alone: it is stuck\n");
}

TEST_F(EndingTest, AnAnswerToSigquitIsNoCause) {
  all_join();
  ending.ended(0, SIGKILL, 10);
  ending.left(1, 55, 20);
  ending.ended(1, exited(55), 21);
  EXPECT_EQ(ending.exit_code(), 128 + SIGKILL);
  EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1);
}

TEST_F(EndingTest, AKillIsTheCauseWhoeverIsHeardFirst) {
  ending.left(0, 1, 10);  // its peer was gone
  ending.ended(1, SIGKILL, 11);
  EXPECT_EQ(ending.exit_code(), 128 + SIGKILL);
  EXPECT_NE(said.find("rank 1 was killed by signal 9"), std::string::npos) << said;
}

TEST_F(EndingTest, AKillThatIsHeardOfAfterAnExitWithoutAWordIsTheCauseToo) {
  ending.ended(0, 3 << 8, 10);
  EXPECT_EQ(count(SIGQUIT), 3);
  ending.ended(1, SIGKILL, 11);
  EXPECT_EQ(ending.exit_code(), 128 + SIGKILL);
  ending.ended(2, SIGSEGV, 12);  // of the SIGQUIT, perhaps
  EXPECT_EQ(ending.exit_code(), 128 + SIGKILL);
}

TEST_F(EndingTest, AKillThatIsHeardOfAfterAnAbortIsTheCauseToo) {
  ending.ended(0, SIGABRT, 10);  // it met a peer that was gone, perhaps
  ending.ended(1, SIGKILL, 11);
  EXPECT_EQ(ending.exit_code(), 128 + SIGKILL);
  ending.ended(2, SIGKILL, 12);
  EXPECT_EQ(ending.exit_code(), 128 + SIGKILL);
}

TEST_F(EndingTest, AnAbortAfterAnotherRankLeftMayFollowFromThat) {
  all_join();
  ending.left(0, 42, 10);
  ending.ended(1, SIGABRT, 11);  // its connection to rank 0 broke
  EXPECT_EQ(ending.exit_code(), 42);
}

TEST_F(EndingTest, AnAbortAfterAnotherRankLeftInPeaceIsAFailure) {
  all_join();
  ending.left(0, 0, 10);
  ending.ended(1, SIGABRT, 11);
  EXPECT_EQ(ending.exit_code(), 128 + SIGABRT);
}

TEST_F(EndingTest, ACrashIsTheCauseWhateverIsKilledLater) {
  ending.ended(0, SIGSEGV, 10);
  ending.ended(1, SIGKILL, 11);
  EXPECT_EQ(ending.exit_code(), 128 + SIGSEGV);
}

TEST_F(EndingTest, ACrashWhileLeavingShowsInTheCode) {
  all_join();
  for (Rank rank = 0; rank < 4; ++rank) ending.left(rank, 0, 10);
  ending.ended(2, SIGABRT, 20);
  EXPECT_EQ(ending.exit_code(), 128 + SIGABRT);
  EXPECT_NE(said.find("while it left"), std::string::npos);
}

TEST_F(EndingTest, RanksThatHangAfterTheyLeftAreKilled) {
  all_join();
  for (Rank rank = 0; rank < 4; ++rank) ending.left(rank, 0, 10);
  ending.due(10 + kTeardownMs);
  EXPECT_EQ(count(SIGQUIT), 0);
  EXPECT_EQ(count(SIGKILL), 4);
}

TEST_F(EndingTest, SigtermIsPassedOnThenPressed) {
  all_join();
  ending.interrupted(SIGTERM, false, 100);
  EXPECT_EQ(count(SIGTERM), 4);
  ending.due(100 + kTimeoutMs);
  EXPECT_EQ(count(SIGQUIT), 4);
  ending.due(100 + kTimeoutMs + kQuitGraceMs);
  EXPECT_EQ(count(SIGKILL), 4);
  EXPECT_EQ(ending.exit_code(), 128 + SIGTERM);
  EXPECT_EQ(ending.ended_by(), SIGTERM);
}

TEST_F(EndingTest, C1_104_RanksThatDieOfWhatTheUserSentAreNoSurprise) {
  all_join();
  ending.interrupted(SIGTERM, false, 100);
  for (Rank rank = 0; rank < 4; ++rank) ending.ended(rank, SIGQUIT, 110 + rank);
  EXPECT_EQ(said, "");
  EXPECT_EQ(ending.exit_code(), 128 + SIGTERM);
}

TEST_F(EndingTest, TheFirstSigintIsTheRanksOwnTheSecondKills) {
  all_join();
  ending.interrupted(SIGINT, true, 100);
  EXPECT_TRUE(orders.empty()) << "the terminal has told them";
  EXPECT_EQ(ending.deadline_ms(), std::nullopt);
  EXPECT_EQ(ending.ended_by(), 0);
  ending.interrupted(SIGINT, true, 200);
  EXPECT_EQ(count(SIGKILL), 4);
  EXPECT_EQ(ending.exit_code(), 128 + SIGINT);
  EXPECT_EQ(ending.ended_by(), SIGINT);
}

TEST_F(EndingTest, ASigintFromAnotherProcessIsPassedOn) {
  all_join();
  ending.interrupted(SIGINT, false, 100);
  EXPECT_EQ(count(SIGINT), 4);
  // They may take it well and end as they like.
  for (Rank rank = 0; rank < 4; ++rank) ending.left(rank, 0, 300);
  for (Rank rank = 0; rank < 4; ++rank) ending.ended(rank, exited(0), 310);
  EXPECT_EQ(ending.exit_code(), 0);
  EXPECT_EQ(ending.ended_by(), 0) << "the job has ended by itself";
}

TEST_F(EndingTest, TheUserEndsAJobWhoseRankDiesOfASigint) {
  all_join();
  ending.interrupted(SIGINT, true, 100);
  ending.ended(0, SIGINT, 110);
  EXPECT_EQ(ending.ended_by(), SIGINT);
}

TEST_F(EndingTest, ARankThatDiesOfAReaderThatIsGoneIsNoSurprise) {
  all_join();
  ending.reader_gone();
  ending.ended(1, SIGPIPE, 50);
  EXPECT_EQ(said, "");
  EXPECT_EQ(count(SIGQUIT), 3);
  EXPECT_EQ(ending.exit_code(), 128 + SIGPIPE);
}

TEST_F(EndingTest, ARankThatDiesOtherwiseIsNamedAlthoughTheReaderIsGone) {
  all_join();
  ending.reader_gone();
  ending.ended(1, SIGTERM, 50);
  EXPECT_NE(said.find("rank 1 was killed by signal 15"), std::string::npos) << said;
  EXPECT_EQ(ending.exit_code(), 128 + SIGTERM);
}

TEST_F(EndingTest, ASigpipeWhileTheReaderIsThereIsASurprise) {
  all_join();
  ending.ended(1, SIGPIPE, 50);
  EXPECT_NE(said.find("rank 1 was killed by signal 13"), std::string::npos) << said;
}

TEST_F(EndingTest, TimeInWhichTheJobStoodStillDoesNotCount) {
  all_join();
  ending.postpone(500);
  EXPECT_EQ(ending.deadline_ms(), std::nullopt);
  ending.left(0, 0, 100);
  ending.postpone(500);
  EXPECT_EQ(ending.deadline_ms(), 600 + kTimeoutMs);
}

TEST_F(EndingTest, AStopWithoutASignalShowsInAWaitThatTookTooLong) {
  all_join();
  ending.waited(60'000, std::nullopt);
  EXPECT_EQ(ending.deadline_ms(), std::nullopt);
  ending.left(0, 0, 100);
  const auto deadline = ending.deadline_ms();
  ASSERT_EQ(deadline, 100 + kTimeoutMs);
  ending.waited(kTickMs + kStoppedMs, deadline);
  EXPECT_EQ(ending.deadline_ms(), deadline) << "a busy machine";
  ending.waited(60'000 + kTickMs, deadline);
  EXPECT_EQ(ending.deadline_ms(), *deadline + 60'000);
}

TEST_F(EndingTest, ADeadlineSetAfterTheStopStands) {
  all_join();
  const auto before = ending.deadline_ms();
  ending.left(0, 0, 60'000);
  ending.waited(59'000, before);
  EXPECT_EQ(ending.deadline_ms(), 60'000 + kTimeoutMs);
}

TEST_F(EndingTest, ARankThatCannotStartKillsTheOthersAtOnce) {
  ending.not_started(2, "rank 1: it cannot be executed", 100);
  EXPECT_EQ(count(SIGKILL), 4);
  EXPECT_EQ(count(SIGQUIT), 0);
  ending.not_started(2, "rank 2: it cannot be executed", 101);
  EXPECT_EQ(said, "rank 1: it cannot be executed\n");
  for (Rank rank = 0; rank < 4; ++rank) ending.ended(rank, rank == 1 ? exited(127) : SIGKILL, 200);
  EXPECT_EQ(ending.exit_code(), 2);
}

TEST_F(EndingTest, AFailureOfTheJobItselfQuitsAll) {
  all_join();
  ending.failed(1, "host n3 is lost", 10);
  EXPECT_EQ(said, "host n3 is lost\n");
  EXPECT_EQ(count(SIGQUIT), 4);
  EXPECT_EQ(ending.exit_code(), 1);
}

TEST_F(EndingTest, NothingIsSaidOfTheEndOfARankWhoseHostIsLost) {
  all_join();
  ending.ended(2, exited(0), 5);
  ending.failed(1, "host n3 is lost", 10);
  for (Rank rank = 0; rank < 3; ++rank) ending.lost(rank);  // one had ended before
  EXPECT_FALSE(ending.over());
  ending.ended(3, exited(1), 20);
  EXPECT_TRUE(ending.over());
  EXPECT_EQ(said, "host n3 is lost\n");
  EXPECT_EQ(ending.exit_code(), 1);
}

}  // namespace
}  // namespace pinwire::launch
