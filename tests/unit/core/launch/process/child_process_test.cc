// A child is reaped by its object alone, and a signal through an object reaches its process or
// none.
#include "core/launch/process/child_process.h"

#include <errno.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/core/launch/start_program.h"

namespace pinwire::launch {
namespace {

pid_t fork_exiting(int code) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(code);
  return child;
}

pid_t fork_sleeping() {
  const pid_t child = ::fork();
  if (child == 0)
    for (;;) ::pause();
  return child;
}

void wait_until_it_has_ended(pid_t child) {
  siginfo_t ended{};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT), 0);
}

TEST(HeldProcess, ASignalToOneThatIsGoneReachesNobody) {
  const pid_t child = fork_sleeping();
  const HeldProcess held(child);
  EXPECT_EQ(held.number(), child);
  EXPECT_TRUE(held.signal(SIGKILL));
  ::waitpid(child, nullptr, 0);
  EXPECT_FALSE(held.signal(SIGKILL));
  EXPECT_EQ(HeldProcess(child).number(), -1);
}

TEST(ChildProcess, ForgetsItsNumberWhenItIsReaped) {
  ChildProcess child(fork_exiting(7));
  EXPECT_EQ(end_of(child), 7 << 8);
  EXPECT_EQ(child.number(), -1);
  EXPECT_FALSE(child.reap());
}

TEST(ChildProcess, IsNotReapedBeforeItHasEnded) {
  ChildProcess child(fork_sleeping());
  EXPECT_FALSE(child.reap());
  EXPECT_NE(child.number(), -1);
  child.signal(SIGTERM);
  EXPECT_EQ(end_of(child), SIGTERM);
}

TEST(ChildProcess, IsKilledByTheEndOfItsObject) {
  const pid_t first = fork_sleeping(), second = fork_sleeping();
  {
    ChildProcess child{first};
    child = ChildProcess{second};
    wait_until_it_has_ended(first);
  }
  for (const pid_t one : {first, second}) {
    int wait_status = 0;
    EXPECT_EQ(::waitpid(one, &wait_status, 0), one);
    EXPECT_EQ(wait_status, SIGKILL);
  }
}

TEST(HowItEnded, IsSaidInWords) {
  EXPECT_EQ(how_it_ended(SIGKILL), "was killed by signal 9 (Killed)");
  EXPECT_EQ(how_it_ended(3 << 8), "ended with code 3");
  EXPECT_EQ(how_it_ended(0), "ended with code 0");
}

TEST(ReapChildren, LeavesEachToItsObjectAndReapsTheOthers) {
  ChildProcess own(fork_exiting(3));
  const pid_t adopted = fork_exiting(4);
  wait_until_it_has_ended(own.number());
  wait_until_it_has_ended(adopted);
  std::optional<int> wait_status;
  reap_children([&](pid_t process) {
    if (process == own.number()) wait_status = own.reap();
    return wait_status && own.number() < 0 && process != adopted;
  });
  EXPECT_EQ(wait_status, 3 << 8);
  EXPECT_EQ(::waitpid(adopted, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
}

}  // namespace
}  // namespace pinwire::launch
