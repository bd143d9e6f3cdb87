// The end of a launcher kills what is the job's, and leaves other children alone.
#include "core/launch/sweep/sweep.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "core/launch/loop/signals.h"
#include "core/launch/process/process_facts.h"
#include "core/launch/sweep/janitor.h"
#include "core/launch/sweep/janitor_mark.h"
#include "tests/support/scratch_dir.h"
#include "tests/unit/core/launch/start_program.h"
#include "tests/unit/core/launch/traced_child.h"

namespace pinwire::launch {
namespace {

constexpr const char* kJobDir = "/nowhere/pinwire-job-sweeps";

class KillChildren : public testing::Test {
 protected:
  void TearDown() override {
    for (const pid_t one : started_) {
      ::kill(one, SIGKILL);
      ::waitpid(one, nullptr, 0);
    }
  }
  /// A program, so that it has an environment of its own.
  pid_t start(std::vector<std::string> environment = {}, const std::string& path = "/bin/sleep") {
    auto made =
        start_program({.path = path, .arguments = {"sleep", "1000"}, .environment = environment});
    if (!made) return -1;
    programs_.push_back(std::move(*made));
    return started_.emplace_back(programs_.back().number());
  }
  /// Forgets a child that is reaped.
  bool lives(pid_t child) {
    if (::waitpid(child, nullptr, WNOHANG) == 0) return true;
    std::erase(started_, child);
    return false;
  }
  std::vector<std::string> marked_ = {std::string("GASNET_JOB_DIR=") + kJobDir};

  const bool signals_are_blocked_ = (block_signals(), true);
  SupervisorLoop loop_;

 private:
  std::vector<pid_t> started_;
  std::vector<ChildProcess> programs_;
};

TEST_F(KillChildren, AllGoWhereNoneWasInherited) {
  const auto inherited = InheritedChildren::now();
  EXPECT_FALSE(inherited.any());
  const pid_t marked = start(marked_), other = start();
  EXPECT_TRUE(kill_children(loop_, -1, inherited, kJobDir));
  EXPECT_FALSE(lives(marked));
  EXPECT_FALSE(lives(other));
}

TEST_F(KillChildren, TheInheritedStayAndWhatMayBeOfTheirs) {
  const pid_t monitor = start(marked_);
  const auto inherited = InheritedChildren::now();
  EXPECT_TRUE(inherited.contains(monitor));
  const pid_t marked = start(marked_), other = start();
  EXPECT_FALSE(inherited.contains(marked));
  EXPECT_TRUE(kill_children(loop_, -1, inherited, kJobDir));
  EXPECT_TRUE(lives(monitor));
  EXPECT_TRUE(lives(other));
  EXPECT_FALSE(lives(marked));
}

/// Nobody but the debugger can reap it.
TEST_F(KillChildren, OneThatADebuggerHoldsIsNotWaitedFor) {
  const auto inherited = InheritedChildren::now();
  const pid_t held = start(marked_);
  const StoppedDebugger debugger(held);
  if (!debugger.traces()) GTEST_SKIP() << "no process may be traced here";
  EXPECT_TRUE(kill_children(loop_, debugger.number(), inherited, kJobDir));
  EXPECT_TRUE(has_ended(held));
}

TEST_F(KillChildren, TheJanitorStays) {
  const auto inherited = InheritedChildren::now();
  auto running = Janitor::start_and_wait(loop_, testing::TempDir(), false);
  ASSERT_TRUE(running.ok()) << running.sentence();
  Janitor& janitor = **running;
  const pid_t child = janitor.number();
  EXPECT_TRUE(kill_children(loop_, child, inherited, janitor.job_dir()));
  EXPECT_EQ(::waitpid(child, nullptr, WNOHANG), 0);
  janitor.stop(true);
}

TEST_F(KillChildren, AProcessWithItsNameIsNoJanitor) {
  const test::ScratchDir files;
  const auto program = files.path() + "/" + kJanitorName;
  std::filesystem::copy_file("/bin/sleep", program);
  const auto inherited = InheritedChildren::now();
  const pid_t child = start({}, program);
  while (name_of(child) != kJanitorName) ::usleep(1000);
  EXPECT_TRUE(kill_children(loop_, -1, inherited, kJobDir));
  EXPECT_FALSE(lives(child));
}

/// By the mark in a limit alone it would be known no more.
TEST_F(KillChildren, AnothersJanitorIsOneWhateverItsLimit) {
  auto running = Janitor::start_and_wait(loop_, testing::TempDir(), false);
  ASSERT_TRUE(running.ok()) << running.sentence();
  const pid_t janitor = (*running)->number();
  rlimit limit{};
  ASSERT_EQ(::prlimit(janitor, RLIMIT_RTTIME, nullptr, &limit), 0);
  limit.rlim_cur = 300'000;
  ASSERT_EQ(::prlimit(janitor, RLIMIT_RTTIME, &limit, nullptr), 0);
  EXPECT_TRUE(is_janitor(janitor));
  (*running)->stop(true);
}

/// Its launcher was killed, and this one has adopted it.
TEST_F(KillChildren, AnothersJanitorThatWasStoppedEndsItsWorkFirst) {
  const test::ScratchDir files;
  const auto inherited = InheritedChildren::now();
  {
    auto running = Janitor::start_and_wait(loop_, files.path(), false);
    ASSERT_TRUE(running.ok()) << running.sentence();
    const pid_t child = (*running)->number();
    ::kill(child, SIGSTOP);
    int told = 0;
    ASSERT_EQ(::waitpid(child, &told, WUNTRACED), child);
  }
  EXPECT_FALSE(std::filesystem::is_empty(files.path()));
  EXPECT_TRUE(kill_children(loop_, -1, inherited, kJobDir));
  EXPECT_TRUE(std::filesystem::is_empty(files.path()));
}

}  // namespace
}  // namespace pinwire::launch
