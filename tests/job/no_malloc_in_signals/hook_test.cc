// The hook, linked into this program: each way to memory ends it in a handler of a real-time
// signal, and nowhere else.
#include <gtest/gtest.h>
#include <malloc.h>
#include <signal.h>

#include <cstdlib>

extern "C" {
#include "tests/job/no_malloc_in_signals/hook.h"
}

namespace {

using Action = void (*)();
Action action = nullptr;
void* volatile memory = nullptr;

void on_signal(int, siginfo_t*, void*) { action(); }

void run_in_signal(int number, Action wanted) {
  action = wanted;
  struct sigaction mine {};
  mine.sa_sigaction = on_signal;
  mine.sa_flags = SA_SIGINFO;
  ASSERT_EQ(sigaction(number, &mine, nullptr), 0);
  ASSERT_EQ(raise(number), 0);
}

struct Way {
  const char* function;
  Action action;
};
const Way kWays[] = {
    {"malloc", [] { memory = std::malloc(8); }},
    {"malloc", [] { memory = new long; }},
    {"calloc", [] { memory = std::calloc(1, 8); }},
    {"realloc", [] { memory = std::realloc(memory, 16); }},
    {"free", [] { std::free(memory); }},
    {"memalign", [] { memory = memalign(64, 64); }},
    {"aligned_alloc", [] { memory = std::aligned_alloc(64, 64); }},
    {"posix_memalign",
     [] {
       void* aligned = nullptr;
       if (posix_memalign(&aligned, 64, 64) == 0) memory = aligned;
     }},
};

TEST(Hook, EndsEachWayToMemoryInSignalContext) {
  memory = std::malloc(8);
  for (const Way& way : kWays) {
    EXPECT_DEATH(run_in_signal(SIGRTMAX, way.action),
                 std::string("the library calls ") + way.function + " in signal context");
  }
  EXPECT_DEATH(run_in_signal(SIGURG, kWays[0].action), "the library calls malloc");
  std::free(memory);
}

TEST(Hook, LetsEveryOtherCallBe) {
  memory = std::malloc(8);
  for (const Way& way : kWays) {
    way.action();  // free() is in their midst
    if (std::string_view(way.function) == "free") memory = std::malloc(8);
  }
  run_in_signal(SIGRTMAX, [] { std::free(nullptr); });
  memory = std::malloc(8);  // the signal is over
  run_in_signal(SIGUSR1, kWays[0].action);
  ASSERT_NE(memory, nullptr);
}

TEST(Hook, LetsTheClientAllocateWhereItSaysSo) {
  run_in_signal(SIGRTMAX, [] {
    client_allocates_here(1);
    memory = std::malloc(8);
    client_allocates_here(-1);
  });
  ASSERT_NE(memory, nullptr);
  EXPECT_DEATH(run_in_signal(SIGRTMAX,
                             [] {
                               client_allocates_here(1);
                               client_allocates_here(-1);
                               memory = std::malloc(8);
                             }),
               "the library calls malloc");
}

TEST(Hook, TellsOfTheActionThatWasSet) {
  run_in_signal(SIGRTMAX, [] {});
  struct sigaction now {};
  ASSERT_EQ(sigaction(SIGRTMAX, nullptr, &now), 0);
  EXPECT_EQ(now.sa_sigaction, on_signal);
  struct sigaction usual {};
  usual.sa_handler = SIG_DFL;
  ASSERT_EQ(sigaction(SIGRTMAX, &usual, &now), 0);
  EXPECT_EQ(now.sa_sigaction, on_signal);
  ASSERT_EQ(sigaction(SIGRTMAX, nullptr, &now), 0);
  EXPECT_EQ(now.sa_handler, SIG_DFL);
}

}  // namespace
