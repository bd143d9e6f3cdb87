// Jobs on a host whose line can be cut.
#include <signal.h>
#include <unistd.h>

#include <fstream>
#include <optional>

#include "tests/job/launch/held_program.h"
#include "tests/job/launch/ssh_fixture.h"

namespace pinwire_test {
namespace {

/// A job of one rank on the host "far", whose line can be cut.
class Far : public Ssh {
 protected:
  static constexpr int kLimitS = 4;
  static constexpr double kHangS = 60;
  std::vector<std::string> far_command(const std::vector<std::string>& words) const {
    return command(1, words, {"--hosts", "far"});
  }
  std::vector<std::string> far_environment() const {
    return environment(with_ssh({"GASNET_SSH_TIMEOUT=" + std::to_string(kLimitS),
                                 "FAKE_RELAYS=" + notes_.path() + "/relays"}));
  }
  void signal_line(int number) const {
    std::ifstream list(notes_.path() + "/relays");
    int count = 0;
    for (int relay = 0; list >> relay; ++count) ASSERT_EQ(::kill(relay, number), 0);
    ASSERT_EQ(count, 2);
  }
  /// Stops the launcher and cuts the line. True once `rank` has ended nevertheless.
  bool ends_by_itself(const Running& job, int rank) const {
    ::kill(job.process(), SIGSTOP);
    EXPECT_TRUE(comes_into_state(job.process(), 'T'));
    signal_line(SIGSTOP);
    for (const double until = now_s() + kHangS; now_s() < until; ::usleep(5000))
      if (::kill(rank, 0) != 0) return true;
    return false;
  }

 private:
  Folder notes_;
};

/// The launcher is stopped, and can neither end the connection nor kill anybody.
TEST_F(Far, RanksThatTheLauncherNoLongerReachesEndByThemselves) {
  Running job(far_command({rank_, "wait"}), far_environment());
  ASSERT_TRUE(job.wait_for("waiting", 1));
  const int rank = std::atoi(job.out().c_str() + job.out().find("waiting ") + 8);
  ASSERT_GT(rank, 1);
  EXPECT_TRUE(ends_by_itself(job, rank));
  signal_line(SIGCONT);
  ::kill(job.process(), SIGCONT);
  const auto outcome = job.wait();
  EXPECT_EQ(outcome.code, 1);
  EXPECT_EQ(count_of(outcome.err, "host far: nothing was heard of the launcher for 4 s"), 1)
      << outcome.err;
}

/// Its agent has much to say that nobody takes any more.
TEST_F(Far, RanksThatWriteAndAreNoLongerReachedEndByThemselves) {
  Running job(far_command({"sh", "-c", "echo waiting $$; exec yes"}), far_environment());
  ASSERT_TRUE(job.wait_for("y\n", 1));
  const int rank = std::atoi(job.out().c_str() + job.out().find("waiting ") + 8);
  ASSERT_GT(rank, 1);
  EXPECT_TRUE(ends_by_itself(job, rank));
  ::kill(job.process(), SIGCONT);
  EXPECT_EQ(job.wait().code, 1);
}

/// Its agent waits for it, and hears nobody meanwhile.
TEST_F(Far, AProgramThatDoesNotStartEndsWithItsLauncher) {
  const HeldProgram program;
  if (!program.is_held()) GTEST_SKIP() << "no lease on a file here";
  Running job(far_command({program.path()}), far_environment());
  ASSERT_TRUE(program.is_asked_for());
  ::kill(job.process(), SIGKILL);
  EXPECT_TRUE(gone(mark_, HeldProgram::kHeldS));
  EXPECT_TRUE(empty_within(folder_.path(), kGoneSeconds));
}

/// The process of that name in this test's jobs; waits until there is one other than `before`.
int helper(const std::string& mark, const std::string& name, int before = 0, double limit_s = 60) {
  for (const double until = now_s() + limit_s; now_s() < until; ::usleep(5000)) {
    for (const int process : processes_with(mark)) {
      std::ifstream facts("/proc/" + std::to_string(process) + "/comm");
      std::string word;
      if (facts >> word && word == name && process != before) return process;
    }
  }
  return 0;
}

/// A job whose rank waits, and the process that speaks for its launcher. It ends by SIGTERM.
class FarPulse : public Far {
 protected:
  void SetUp() override {
    job_.emplace(far_command({rank_, "wait"}), far_environment());
    ASSERT_TRUE(job_->wait_for("waiting", 1));
    pulse_ = helper(mark_, "pinwire-pulse");
    ASSERT_GT(pulse_, 1);
  }
  void TearDown() override {
    ::kill(job_->process(), SIGTERM);
    EXPECT_EQ(job_->wait().code, 128 + SIGTERM);
    Far::TearDown();
  }
  std::optional<Running> job_;
  int pulse_ = 0;
};

TEST_F(FarPulse, WhoeverKillsTheProcessThatSpeaksForTheLauncherGetsAnother) {
  ASSERT_EQ(::kill(pulse_, SIGKILL), 0);
  EXPECT_GT(helper(mark_, "pinwire-pulse", pulse_), 1);
}

TEST_F(FarPulse, WhoeverStopsTheProcessThatSpeaksForTheLauncherStopsNothing) {
  ASSERT_EQ(::kill(pulse_, SIGSTOP), 0);
  EXPECT_TRUE(comes_into_state(pulse_, 'S', kGoneSeconds)) << "nobody lets it go on";
}

}  // namespace
}  // namespace pinwire_test
