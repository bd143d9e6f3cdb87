#include "core/launch/job/job_hosts.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "core/launch/process/process.h"
#include "core/launch/process/process_facts.h"

namespace pinwire::launch {
namespace {

/// Writes down what it is asked for.
class NotedHost final : public Host {
 public:
  NotedHost(Rank first, bool is_near) : first_(first), is_near_(is_near) {}
  const std::string& name() const noexcept override { return name_; }
  Rank first() const noexcept override { return first_; }
  Rank count() const noexcept override { return 2; }
  bool shares_terminal() const noexcept override { return is_near_; }
  Status start() override {
    return starts ? success() : error("ranks from %u cannot be started", first_);
  }
  void send(Rank rank, FrameKind, uint32_t round, const SharedBytes&) override {
    notes += rank == kEveryRank ? "send " + std::to_string(round) + ";" : "?";
  }
  void signal_rank(Rank rank, int number) override { signals.emplace_back(rank, number); }
  std::string why_not_killed(Rank) override { return ""; }
  void pause_output(bool pause) override { notes += pause ? "pause;" : "go on;"; }
  void drain_output() override { notes += "drain;"; }
  void stop_output(int stream) override { notes += "stop " + std::to_string(stream) + ";"; }
  int pulse_fd() const override { return pulse; }
  int64_t deadline_ms() const override { return deadline; }
  void due(int64_t now_ms) override { notes += "due " + std::to_string(now_ms) + ";"; }
  bool reap(pid_t process) override { return process == served_by; }
  bool close() override {
    notes += "close;";
    return closes;
  }

  bool starts = true, closes = true;
  int pulse = -1;
  int64_t deadline = kNever;
  pid_t served_by = -1;
  std::string notes;
  std::vector<std::pair<Rank, int>> signals;

 private:
  const Rank first_;
  const bool is_near_;
  const std::string name_ = "n";
};

using Signals = std::vector<std::pair<Rank, int>>;

class JobHostsTest : public testing::Test {
 protected:
  void SetUp() override {
    auto near = std::make_unique<NotedHost>(0, true), far = std::make_unique<NotedHost>(2, false);
    near_ = near.get();
    far_ = far.get();
    hosts_.add(std::move(near));
    hosts_.add(std::move(far));
  }
  /// Gives the far host a pipe, of which the caller reads the other end.
  Fd give_pulse_pipe() {
    auto pipe = make_pipe();
    EXPECT_TRUE(pipe);
    for (const Fd* end : {&pipe->read, &pipe->write}) ::fcntl(end->get(), F_SETFL, O_NONBLOCK);
    pulse_end_ = std::move(pipe->write);
    far_->pulse = pulse_end_.get();
    return std::move(pipe->read);
  }
  static bool hears(const Fd& end) {
    pollfd one{end.get(), POLLIN, 0};
    FrameHeader header{};
    return ::poll(&one, 1, 10'000) > 0 && ::read(end.get(), &header, sizeof header) > 0 &&
           header.kind == FrameKind::kAlive;
  }
  /// The one child of this process that is none of those before; other tests leave some.
  static pid_t child_since(const std::vector<pid_t>& before) {
    auto children = children_now();
    std::erase_if(children, [&before](pid_t one) { return std::ranges::count(before, one) > 0; });
    EXPECT_EQ(children.size(), 1U);
    return children.empty() ? 0 : children[0];
  }
  static void empty(const Fd& end) {
    char bytes[4096];
    while (::read(end.get(), bytes, sizeof bytes) > 0) {
    }
  }

  Fd pulse_end_;
  JobHosts hosts_{200};
  NotedHost *near_ = nullptr, *far_ = nullptr;
};

TEST_F(JobHostsTest, EachRankIsOnTheHostThatRunsIt) {
  EXPECT_EQ(&hosts_.of(1), near_);
  EXPECT_EQ(&hosts_.of(2), far_);
}

TEST_F(JobHostsTest, EachHostIsAskedForTheSame) {
  hosts_.send_all(FrameKind::kGathered, 7, nullptr);
  hosts_.pause_output(true);
  hosts_.pause_output(false);
  hosts_.drain_output();
  hosts_.stop_output(2);
  hosts_.due(5);
  for (const auto* host : {near_, far_})
    EXPECT_EQ(host->notes, "send 7;pause;go on;drain;stop 2;due 5;");
}

TEST_F(JobHostsTest, TheFirstHostThatCannotStartTellsWhy) {
  far_->starts = false;
  auto started = hosts_.start();
  ASSERT_FALSE(started);
  EXPECT_EQ(started.sentence(), "ranks from 2 cannot be started");
}

TEST_F(JobHostsTest, TheEarliestDeadlineCounts) {
  EXPECT_EQ(hosts_.deadline_ms(), kNever);
  near_->deadline = 30;
  far_->deadline = 20;
  EXPECT_EQ(hosts_.deadline_ms(), 20);
}

/// The terminal has sent it to the ranks of this host already.
TEST_F(JobHostsTest, RanksOfThisTerminalGetItsSignalsOnce) {
  hosts_.pass_on(SIGINT, true);
  EXPECT_EQ(near_->signals, Signals{});
  EXPECT_EQ(far_->signals, (Signals{{2, SIGINT}, {3, SIGINT}}));
}

/// The kernel stops no orphaned process group by SIGTSTP.
TEST_F(JobHostsTest, RanksOfOtherHostsAreStoppedBySigstop) {
  hosts_.pass_on(SIGTSTP, false);
  EXPECT_EQ(near_->signals, (Signals{{0, SIGTSTP}, {1, SIGTSTP}}));
  EXPECT_EQ(far_->signals, (Signals{{2, SIGSTOP}, {3, SIGSTOP}}));
}

/// One that does not close must not keep the others from it.
TEST_F(JobHostsTest, AllHostsAreClosedThoughOneDoesNot) {
  near_->closes = false;
  EXPECT_FALSE(hosts_.close());
  EXPECT_EQ(far_->notes, "close;");
  near_->closes = true;
  EXPECT_TRUE(hosts_.close());
}

TEST_F(JobHostsTest, AHostReapsTheProcessThatServesIt) {
  far_->served_by = 4711;
  auto reaped = hosts_.reap(4711), other = hosts_.reap(4712);
  ASSERT_TRUE(reaped && other);
  EXPECT_TRUE(*reaped);
  EXPECT_FALSE(*other);
}

/// Its agents would take the launcher for lost.
TEST_F(JobHostsTest, APulseThatWasKilledBeatsAgain) {
  const Fd end = give_pulse_pipe();
  const auto others = children_now();
  ASSERT_TRUE(hosts_.start());
  const pid_t killed = child_since(others);
  ASSERT_GT(killed, 0);
  EXPECT_TRUE(hears(end));
  ::kill(killed, SIGKILL);
  siginfo_t ended{};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(killed), &ended, WEXITED | WNOWAIT), 0);
  auto reaped = hosts_.reap(killed);
  ASSERT_TRUE(reaped);
  EXPECT_TRUE(*reaped);
  empty(end);  // of the frames of the pulse that was killed
  EXPECT_TRUE(hears(end));
  const pid_t next = child_since(others);
  EXPECT_TRUE(hosts_.close());
  EXPECT_EQ(::waitpid(next, nullptr, 0), next) << "the end of a job leaves the pulse";
}

}  // namespace
}  // namespace pinwire::launch
