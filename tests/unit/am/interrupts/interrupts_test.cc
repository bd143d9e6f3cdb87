// The signal that interrupts client threads: the library takes one that the client has left alone.
// The handler in a client's thread is tested by dispatcher_test.cc and interrupts_step_test.cc.
#include "am/interrupts/interrupts.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>

namespace pinwire {
namespace {

void be_the_clients(int) {}
bool is_the_clients(int number) {
  struct sigaction now {};
  return sigaction(number, nullptr, &now) == 0 && now.sa_handler == be_the_clients;
}

/// In a process of its own; its exit code is the number of the signal that was taken, 0 if none.
[[noreturn]] void prepare_where_all_are_taken_but(int left) {
  for (int number = SIGRTMIN; number <= SIGRTMAX; ++number) {
    if (number != left) signal(number, be_the_clients);
  }
  const Status prepared = prepare_interrupts();
  if (!prepared) std::fputs(prepared.sentence().c_str(), stderr);
  int taken = 0;
  for (int number = SIGRTMIN; number <= SIGRTMAX; ++number) {
    if (!is_the_clients(number)) taken = number;
  }
  _exit(prepared.ok() ? taken : 0);
}

TEST(InterruptSignal, IsTheOneThatTheClientLeaves) {
  for (const int left : {SIGRTMIN + 1, SIGRTMIN + 2, SIGRTMAX - 1}) {
    EXPECT_EXIT(prepare_where_all_are_taken_but(left), testing::ExitedWithCode(left), "");
  }
}

/// The one that the library handles; 0: none.
int taken_signal() {
  for (int number = SIGRTMIN; number <= SIGRTMAX; ++number) {
    struct sigaction now {};
    const bool is_known = sigaction(number, nullptr, &now) == 0;
    if (is_known && now.sa_handler != SIG_DFL && !is_the_clients(number)) return number;
  }
  return 0;
}

TEST(InterruptSignal, IsTheOneThatClientsTakeLast) {
  EXPECT_EXIT(
      {
        const Status prepared = prepare_interrupts();
        _exit(prepared.ok() ? taken_signal() : 0);
      },
      testing::ExitedWithCode(SIGRTMAX), "");
}

[[noreturn]] void lose_a_signal() {
  if (!prepare_interrupts().ok() || keep_signal()) _exit(1);
  signal(SIGRTMAX, be_the_clients);
  if (!keep_signal() || taken_signal() != SIGRTMAX - 1) _exit(2);
  _exit(keep_signal() || !is_the_clients(SIGRTMAX) ? 3 : 0);
}
TEST(InterruptSignal, IsAnotherOnceTheClientTakesIt) {
  EXPECT_EXIT(lose_a_signal(), testing::ExitedWithCode(0), "has taken signal 64.*by signal 63 now");
}

[[noreturn]] void lose_all_signals() {
  if (!prepare_interrupts().ok()) _exit(1);
  for (int number = SIGRTMIN; number <= SIGRTMAX; ++number) signal(number, be_the_clients);
  signal(SIGURG, be_the_clients);
  ClientThread self;
  self.thread_id = gettid();
  if (!keep_signal() || keep_signal() || send_interrupt(self)) _exit(2);
  signal(SIGRTMIN + 3, SIG_DFL);
  if (!keep_signal() || taken_signal() != SIGRTMIN + 3 || !send_interrupt(self)) _exit(3);
  _exit(0);
}
TEST(InterruptSignal, IsWaitedForWhereTheClientTakesAll) {
  EXPECT_EXIT(lose_all_signals(), testing::ExitedWithCode(0), "leave one, or say");
}

TEST(InterruptSignal, IsNotLookedOutForUntilOneIsTaken) {
  EXPECT_FALSE(interrupts_clients) << "calls cost one test of a flag where nothing interrupts them";
}

TEST(InterruptSignal, IsAskedForWhereTheClientLeavesNone) {
  EXPECT_EXIT(prepare_where_all_are_taken_but(0), testing::ExitedWithCode(0),
              "handles all real-time signals itself; leave one");
}

}  // namespace
}  // namespace pinwire
