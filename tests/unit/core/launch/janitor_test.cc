// Whom a janitor kills: those that carry the job's directory in their environment, unless the
// launcher has seen to them; and whom it does not even look at.
#include "core/launch/janitor.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include <filesystem>

#include "core/base/remove_tree.h"
#include "core/launch/job_dir.h"
#include "core/launch/signals.h"
#include "tests/unit/core/launch/start_program.h"

namespace pinwire::launch {
namespace {

class JanitorTest : public testing::Test {
 protected:
  void start_rank() {
    auto started = start_program({.path = "/bin/sleep",
                                  .arguments = {"sleep", "1000"},
                                  .environment = {"GASNET_JOB_DIR=" + dir_}});
    ASSERT_TRUE(started.ok()) << started.sentence();
    rank_ = std::move(*started);
    loop_.watch_children_of(
        this, [this](pid_t process) { return process == rank_.number() && rank_.reap(); });
  }
  void TearDown() override {
    if (rank_.number() < 0) return;
    rank_.signal(SIGKILL);
    rank_.wait();
  }
  bool rank_lives() { return !rank_.reap() && rank_.number() > 0; }
  /// It was killed; it may take a while to die.
  bool rank_dies() {
    return loop_.turn_until([this] { return rank_.number() < 0; }, 30'000);
  }
  std::string dir_ = "/nowhere/pinwire-job-janits";
  const bool signals_are_blocked_ = (block_signals(), true);
  SupervisorLoop loop_;
  ChildProcess rank_;
};

TEST_F(JanitorTest, KillsWhoCarriesTheDirectory) {
  start_rank();
  kill_processes_of(dir_ + "-of-another-job");
  EXPECT_TRUE(rank_lives());
  kill_processes_of(dir_);
  EXPECT_TRUE(rank_dies());
}

TEST_F(JanitorTest, DoesNotLookAtWhoWasThereBefore) {
  start_rank();
  kill_processes_of(dir_, UINT64_MAX);
  EXPECT_TRUE(rank_lives());
}

TEST_F(JanitorTest, KillsWhoWasBornAfterIt) {
  auto janitor = Janitor::hire(testing::TempDir(), false);
  ASSERT_TRUE(janitor.ok()) << janitor.sentence();
  dir_ = janitor->job_dir();
  start_rank();
  janitor->dismiss(loop_, false);
  EXPECT_TRUE(rank_dies());
  EXPECT_FALSE(std::filesystem::exists(dir_));
}

TEST_F(JanitorTest, LooksAtNobodyIfTheLauncherHasSeenToIt) {
  auto janitor = Janitor::hire(testing::TempDir(), false);
  ASSERT_TRUE(janitor.ok()) << janitor.sentence();
  dir_ = janitor->job_dir();
  start_rank();
  janitor->dismiss(loop_, true);
  EXPECT_TRUE(rank_lives());
  EXPECT_FALSE(std::filesystem::exists(dir_));
}

TEST_F(JanitorTest, OneThatWasKilledLeavesTheDirectoryToItsLauncher) {
  for (const bool keep : {true, false}) {
    auto janitor = Janitor::hire(testing::TempDir(), keep);
    ASSERT_TRUE(janitor.ok()) << janitor.sentence();
    dir_ = janitor->job_dir();
    HeldProcess(janitor->number()).signal(SIGKILL);
    janitor->dismiss(loop_, true);
    EXPECT_EQ(std::filesystem::exists(dir_), keep);
    remove_tree(dir_);
  }
}

TEST_F(JanitorTest, OneThatWasKilledLeavesTheProcessesToItsLauncher) {
  auto janitor = Janitor::hire(testing::TempDir(), false);
  ASSERT_TRUE(janitor.ok()) << janitor.sentence();
  dir_ = janitor->job_dir();
  start_rank();
  HeldProcess(janitor->number()).signal(SIGKILL);
  janitor->dismiss(loop_, false);
  EXPECT_TRUE(rank_dies());
}

/// It is stuck before its program runs, and so has copies of all that is open.
TEST_F(JanitorTest, AChildThatHasNotExecutedItsProgramHoldsNobody) {
  auto janitor = Janitor::hire(testing::TempDir(), false);
  ASSERT_TRUE(janitor.ok()) << janitor.sentence();
  ChildProcess child(::fork());
  if (child.number() <= 0) {
    for (;;) ::pause();
  }
  janitor->dismiss(loop_, false);
  EXPECT_FALSE(std::filesystem::exists(janitor->job_dir()));
  child.signal(SIGKILL);
  child.wait();
}

TEST_F(JanitorTest, ADirectoryThatCannotBeMadeGetsASentence) {
  auto janitor = Janitor::hire("/nowhere", false);
  ASSERT_FALSE(janitor.ok());
  EXPECT_EQ(janitor.sentence().find("no directory for the job: cannot find the directory /nowhere"),
            0U)
      << janitor.sentence();
}

/// Without the lock another launcher would take it for one that is left over.
TEST_F(JanitorTest, TheDirectoryStaysLockedWhenTheJanitorIsKilled) {
  auto janitor = Janitor::hire(testing::TempDir(), false);
  ASSERT_TRUE(janitor.ok()) << janitor.sentence();
  HeldProcess(janitor->number()).signal(SIGKILL);
  siginfo_t ended{};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(janitor->number()), &ended, WEXITED | WNOWAIT), 0);
  remove_stale_job_dirs(testing::TempDir());
  EXPECT_TRUE(std::filesystem::exists(janitor->job_dir()));
  janitor->dismiss(loop_, true);
}

TEST_F(JanitorTest, OneThatSomebodyStoppedSweepsNevertheless) {
  auto janitor = Janitor::hire(testing::TempDir(), false);
  ASSERT_TRUE(janitor.ok()) << janitor.sentence();
  dir_ = janitor->job_dir();
  const HeldProcess process(janitor->number());
  process.signal(SIGSTOP);
  int told = 0;
  ASSERT_EQ(::waitpid(process.number(), &told, WUNTRACED), process.number());
  janitor->dismiss(loop_, true);
  EXPECT_FALSE(std::filesystem::exists(dir_));
}

}  // namespace
}  // namespace pinwire::launch
