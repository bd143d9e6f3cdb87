// Every wait of a launcher or agent is turns of its loop: an end of a child or a signal ends it.
#include "core/launch/process/supervisor_loop.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/launch/loop/signals.h"
#include "core/launch/process/child_process.h"

namespace pinwire::launch {
namespace {

constexpr int64_t kHangMs = 60'000;

/// A shell's background job ignores some of them.
bool block_all_signals() {
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) ::signal(number, SIG_DFL);
  block_signals();
  return true;
}

class SupervisorLoopTest : public testing::Test {
 protected:
  const bool signals_are_blocked_ = block_all_signals();
  SupervisorLoop loop_;
};

TEST_F(SupervisorLoopTest, TheEndOfAChildEndsAWait) {
  const pid_t number = ::fork();
  if (number == 0) ::_exit(0);
  ChildProcess child(number);
  const auto watch = loop_.watch_children([&child](pid_t) { return child.reap().has_value(); });
  EXPECT_TRUE(loop_.turn_until([&child] { return child.number() < 0; }, kHangMs));
}

/// The callee is gone with the watch.
TEST_F(SupervisorLoopTest, AWatchOfChildrenThatEndsIsAskedForNone) {
  int asked = 0, asked_later = 0;
  {
    const auto first = loop_.watch_children([&asked](pid_t) { return ++asked > 0; });
  }
  const auto second = loop_.watch_children([&asked_later](pid_t process) {
    ++asked_later;
    return ::waitpid(process, nullptr, 0) == process;
  });
  if (::fork() == 0) ::_exit(0);
  EXPECT_TRUE(loop_.turn_until([&asked_later] { return asked_later > 0; }, kHangMs));
  EXPECT_EQ(asked, 0);
}

TEST_F(SupervisorLoopTest, ASignalThatAsksForTheEndEndsEveryWait) {
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
    SupervisorLoop loop;
    EXPECT_EQ(loop.end_asked(), 0);
    ::raise(SIGUSR1);  // asks for nothing
    ::raise(number);
    EXPECT_FALSE(loop.turn_until([] { return false; }, kHangMs));
    EXPECT_EQ(loop.end_asked(), number);
    EXPECT_FALSE(loop.turn_until([] { return false; }, kHangMs));
    EXPECT_TRUE(loop.turn_until([] { return true; }, kHangMs)) << "nothing to wait for";
  }
}

TEST_F(SupervisorLoopTest, SignalsThatCameBeforeSomebodyTakesThemAreNotLost) {
  ::raise(SIGUSR1);
  ::raise(SIGTERM);
  EXPECT_FALSE(loop_.turn_until([] { return false; }, kHangMs));
  std::vector<int> taken;
  loop_.hand_signals_to([&taken](int number, bool) { taken.push_back(number); });
  EXPECT_EQ(taken.size(), 2U);
  EXPECT_EQ(loop_.end_asked(), 0);
  ::raise(SIGTERM);
  EXPECT_TRUE(loop_.turn_until([&taken] { return taken.size() == 3; }, kHangMs));
  loop_.hand_signals_to({});
  ::raise(SIGHUP);
  EXPECT_FALSE(loop_.turn_until([] { return false; }, kHangMs));
  EXPECT_EQ(loop_.end_asked(), SIGHUP);
}

/// Words that wait for a reader wait no longer than the user does (patient_write.h).
TEST_F(SupervisorLoopTest, ASignalThatAsksForTheEndIsNotedUntilSomebodyTakesIt) {
  forget_end();
  ::raise(SIGTERM);
  EXPECT_FALSE(loop_.turn_until([] { return false; }, kHangMs));
  EXPECT_EQ(end_was_asked(), SIGTERM);
  loop_.hand_signals_to([](int, bool) {});
  EXPECT_EQ(end_was_asked(), 0) << "it is the ranks' affair";
}

TEST_F(SupervisorLoopTest, AWaitOfTheEndItselfGoesOn) {
  ::raise(SIGTERM);
  EXPECT_FALSE(loop_.turn_until([] { return false; }, kHangMs));
  int turns = 0;
  EXPECT_TRUE(loop_.turn_until_in_any_case([&turns] { return ++turns > 1; }, kHangMs));
  EXPECT_FALSE(loop_.turn_until_in_any_case([] { return false; }, 1));
}

/// A handler that takes so long stands for a stop.
TEST_F(SupervisorLoopTest, AStopDoesNotCount) {
  constexpr int64_t kLeftMs = 5000;
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  ::close(ends[1]);
  auto watch = loop_.loop().watch(ends[0], POLLIN,
                                  [](short) { ::usleep((kTickMs + 2 * kStoppedMs) * 1000); });
  EXPECT_EQ(loop_.loop().run_counted(kLeftMs), kLeftMs - kTickMs);
  watch.reset();
  ::close(ends[0]);
  EXPECT_LE(loop_.loop().run_counted(1), 0);
}

TEST_F(SupervisorLoopTest, AWaitHasALimit) {
  EXPECT_FALSE(loop_.turn_until([] { return false; }, 1));
  EXPECT_EQ(loop_.end_asked(), 0);
}

}  // namespace
}  // namespace pinwire::launch
