// The end of a launcher kills what is the job's, and leaves other children alone.
#include "core/launch/sweep.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/launch/job_dir.h"
#include "tests/unit/core/launch/start_program.h"

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
  pid_t start(std::vector<std::string> environment = {}) {
    auto made = start_program(
        {.path = "/bin/sleep", .arguments = {"sleep", "1000"}, .environment = environment});
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

 private:
  std::vector<pid_t> started_;
  std::vector<ChildProcess> programs_;
};

TEST_F(KillChildren, AllGoWhereNoneWasInherited) {
  const auto inherited = InheritedChildren::now();
  EXPECT_FALSE(inherited.any());
  const pid_t marked = start(marked_), other = start();
  EXPECT_TRUE(kill_children(nullptr, inherited, kJobDir));
  EXPECT_FALSE(lives(marked));
  EXPECT_FALSE(lives(other));
}

TEST_F(KillChildren, TheInheritedStayAndWhatMayBeOfTheirs) {
  const pid_t monitor = start(marked_);
  const auto inherited = InheritedChildren::now();
  EXPECT_TRUE(inherited.contains(monitor));
  const pid_t marked = start(marked_), other = start();
  EXPECT_FALSE(inherited.contains(marked));
  EXPECT_TRUE(kill_children(nullptr, inherited, kJobDir));
  EXPECT_TRUE(lives(monitor));
  EXPECT_TRUE(lives(other));
  EXPECT_FALSE(lives(marked));
}

TEST_F(KillChildren, TheJanitorStays) {
  const auto inherited = InheritedChildren::now();
  block_signals();
  SupervisorLoop loop;
  auto janitor = Janitor::hire(testing::TempDir(), false);
  ASSERT_TRUE(janitor.ok()) << janitor.sentence();
  const pid_t child = janitor->number();  // it may not have its name yet
  EXPECT_TRUE(kill_children(&*janitor, inherited, janitor->job_dir()));
  EXPECT_EQ(::waitpid(child, nullptr, WNOHANG), 0);
  janitor->dismiss(loop, true);
}

}  // namespace
}  // namespace pinwire::launch
