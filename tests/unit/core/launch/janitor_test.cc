// Whom a janitor kills: those that carry the job's directory in their environment, unless the
// launcher has seen to them; and whom it does not even look at.
#include "core/launch/janitor.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include <filesystem>

#include "core/launch/job_dir.h"
#include "core/launch/signals.h"
#include "tests/unit/core/launch/start_program.h"

namespace pinwire::launch {
namespace {

class JanitorTest : public testing::Test {
 protected:
  void SetUp() override {
    auto made = make_job_dir(testing::TempDir());
    ASSERT_TRUE(made.ok()) << made.sentence();
    dir_ = std::move(*made);
  }
  void start_rank() {
    auto started = start_program({.path = "/bin/sleep",
                                  .arguments = {"sleep", "1000"},
                                  .environment = {"GASNET_JOB_DIR=" + dir_.path}});
    ASSERT_TRUE(started.ok()) << started.sentence();
    rank_ = std::move(*started);
    loop_.watch_children_of(
        this, [this](pid_t process) { return process == rank_.number() && rank_.reap(); });
  }
  void TearDown() override {
    remove_tree(dir_.path);
    if (rank_.number() < 0) return;
    rank_.signal(SIGKILL);
    rank_.wait();
  }
  bool rank_lives() { return !rank_.reap() && rank_.number() > 0; }
  /// It was killed; it may take a while to die.
  bool rank_dies() {
    return loop_.turn_until([this] { return rank_.number() < 0; }, 30'000);
  }
  JobDir dir_;
  const bool signals_are_blocked_ = (block_signals(), true);
  SupervisorLoop loop_;
  ChildProcess rank_;
};

TEST_F(JanitorTest, KillsWhoCarriesTheDirectory) {
  start_rank();
  kill_processes_of(dir_.path + "-of-another-job");
  EXPECT_TRUE(rank_lives());
  kill_processes_of(dir_.path);
  EXPECT_TRUE(rank_dies());
}

TEST_F(JanitorTest, DoesNotLookAtWhoWasThereBefore) {
  start_rank();
  kill_processes_of(dir_.path, UINT64_MAX);
  EXPECT_TRUE(rank_lives());
}

TEST_F(JanitorTest, KillsWhoWasBornAfterIt) {
  auto janitor = Janitor::hire(dir_.path, dir_.lock.get(), false);
  ASSERT_TRUE(janitor.ok()) << janitor.sentence();
  start_rank();
  janitor->dismiss(loop_, false);
  EXPECT_TRUE(rank_dies());
  EXPECT_FALSE(std::filesystem::exists(dir_.path));
}

TEST_F(JanitorTest, LooksAtNobodyIfTheLauncherHasSeenToIt) {
  auto janitor = Janitor::hire(dir_.path, dir_.lock.get(), false);
  ASSERT_TRUE(janitor.ok()) << janitor.sentence();
  start_rank();
  janitor->dismiss(loop_, true);
  EXPECT_TRUE(rank_lives());
  EXPECT_FALSE(std::filesystem::exists(dir_.path));
}

TEST_F(JanitorTest, OneThatWasKilledLeavesTheDirectoryToItsLauncher) {
  for (const bool keep : {true, false}) {
    auto janitor = Janitor::hire(dir_.path, dir_.lock.get(), keep);
    ASSERT_TRUE(janitor.ok()) << janitor.sentence();
    HeldProcess(janitor->number()).signal(SIGKILL);
    janitor->dismiss(loop_, true);
    EXPECT_EQ(std::filesystem::exists(dir_.path), keep);
  }
}

TEST_F(JanitorTest, OneThatSomebodyStoppedSweepsNevertheless) {
  auto janitor = Janitor::hire(dir_.path, dir_.lock.get(), false);
  ASSERT_TRUE(janitor.ok()) << janitor.sentence();
  const HeldProcess process(janitor->number());
  process.signal(SIGSTOP);
  int told = 0;
  ASSERT_EQ(::waitpid(process.number(), &told, WUNTRACED), process.number());
  janitor->dismiss(loop_, true);
  EXPECT_FALSE(std::filesystem::exists(dir_.path));
}

}  // namespace
}  // namespace pinwire::launch
