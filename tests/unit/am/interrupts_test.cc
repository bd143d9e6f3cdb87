// The signal that interrupts client threads: the library takes one that the client has left alone.
// What the handler does in a client's thread is tested by dispatcher_test.cc and
// interrupts_step_test.cc.
#include "am/interrupts.h"

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

TEST(InterruptSignal, IsNotLookedOutForUntilOneIsTaken) {
  EXPECT_FALSE(interrupts_clients) << "calls cost one test of a flag where nothing interrupts them";
}

TEST(InterruptSignal, IsAskedForWhereTheClientLeavesNone) {
  EXPECT_EXIT(prepare_where_all_are_taken_but(0), testing::ExitedWithCode(0),
              "handles all real-time signals itself; leave one");
}

}  // namespace
}  // namespace pinwire
