// Nothing that starts, carries or ends a job asks what time of day it is: clocks are set, by hand
// or by a network, while jobs run.
#include <signal.h>

#include "tests/job/launch/launch_fixture.h"

namespace pinwire_test {
namespace {

class JumpingClock : public Launch {
 protected:
  void SetUp() override {
    if (clock_.empty()) GTEST_SKIP() << "a sanitizer has to be the first library";
  }
  std::vector<std::string> under(std::vector<std::string> more = {}) const {
    more.push_back("LD_PRELOAD=" + clock_);
    more.push_back(std::string("GASNET_SSH_CMD=") + std::getenv("FAKE_SSH"));
    return more;
  }
  const std::string clock_ = std::getenv("JUMPING_CLOCK");
  const std::string client_ = std::getenv("DPDK_CLIENT");
};

TEST_F(JumpingClock, JumpsByAYearBothWays) {
  constexpr long kAlmostAYearS = 300L * 24 * 3600;
  const auto outcome = run({"date", "+%s"}, {"LD_PRELOAD=" + clock_});
  const auto now = run({"date", "+%s"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_GT(std::abs(std::atol(outcome.out.c_str()) - std::atol(now.out.c_str())), kAlmostAYearS);
}

TEST_F(JumpingClock, JobsOfThisHostAndOfOthersRunAsEver) {
  for (const auto& options :
       {std::vector<std::string>{}, std::vector<std::string>{"--hosts", "n0,n1"}}) {
    const auto outcome = launch(4, {rank_, "barriers", "3"}, options, under());
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(count_of(outcome.out, "in order"), 4) << outcome.out;
    EXPECT_EQ(outcome.err, "");
  }
}

TEST_F(JumpingClock, TheOthersOfARankThatLeavesEndInTheirTime) {
  for (const auto& options :
       {std::vector<std::string>{}, std::vector<std::string>{"--hosts", "n0,n1"}}) {
    const auto outcome =
        launch(4, {rank_, "one", "2", "leave", "7"}, options, under({"GASNET_EXITTIMEOUT=1"}));
    EXPECT_EQ(outcome.code, 7) << outcome.err;
    EXPECT_EQ(count_of(outcome.out, "got SIGQUIT"), 3) << outcome.out;
  }
}

TEST_F(JumpingClock, ALeftDirectoryIsRemovedAndALiveOneIsNot) {
  Running first(command(1, {rank_, "wait"}), environment(under()));
  ASSERT_TRUE(first.wait_for("waiting", 1));
  EXPECT_EQ(launch(1, {"true"}, {}, under()).code, 0);
  EXPECT_EQ(entries(folder_.path(), "").size(), 1U) << "the first job's";
  ::kill(first.process(), SIGTERM);
  EXPECT_EQ(first.wait().code, 128 + SIGTERM);
}

TEST_F(JumpingClock, RanksMeetOverDpdkAndItsSwitch) {
  if (client_.empty()) GTEST_SKIP() << "built without DPDK";
  for (const int ranks : {2, 3}) {
    const auto outcome =
        launch(ranks, {client_}, {},
               under({kPatience, "GASNET_DRIVER=dpdk", "GASNET_DPDK_HUGEPAGES=never"}));
    EXPECT_EQ(outcome.code, 0) << outcome.err;
  }
}

}  // namespace
}  // namespace pinwire_test
