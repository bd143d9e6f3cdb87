// The launcher stops when it is told to, unless it is told to go on already.
#include "core/launch/loop/signals.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

namespace pinwire::launch {
namespace {

/// Both wait to be read, as those of a launcher do.
void block_stops() {
  sigset_t stops;
  ::sigemptyset(&stops);
  ::sigaddset(&stops, SIGTSTP);
  ::sigaddset(&stops, SIGCONT);
  ::sigprocmask(SIG_BLOCK, &stops, nullptr);
}
/// Runs in a child, in a group of its own, whose parent is in the same session: else the kernel
/// stops nobody by SIGTSTP. Returns the first that waitpid() tells of it.
template <typename Body>
int first_word_of_child(Body&& body) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::setpgid(0, 0);
    body();
    ::_exit(0);
  }
  int told = -1;
  EXPECT_EQ(::waitpid(child, &told, WUNTRACED), child);
  if (!WIFSTOPPED(told)) return told;
  ::kill(child, SIGCONT);
  int end = -1;
  EXPECT_EQ(::waitpid(child, &end, 0), child);
  EXPECT_EQ(end, 0) << "it did not go on";
  return told;
}

TEST(StopUntilContinued, StopsTheProcess) {
  const int told = first_word_of_child([] {
    block_stops();
    stop_until_continued();
  });
  EXPECT_TRUE(WIFSTOPPED(told));
}

TEST(StopUntilContinued, DoesNotStopOneThatIsToGoOnAlready) {
  const int told = first_word_of_child([] {
    block_stops();
    ::raise(SIGCONT);
    stop_until_continued();
    sigset_t waiting;
    ::sigpending(&waiting);
    if (::sigismember(&waiting, SIGCONT) != 1) ::_exit(1);  // the ranks are to hear of it
  });
  EXPECT_FALSE(WIFSTOPPED(told));
  EXPECT_EQ(told, 0);
}

/// Perhaps in a system call that no loop sees.
TEST(EndsBySignal, OneThatComesEndsTheProcess) {
  for (const bool is_early : {true, false}) {
    const int told = first_word_of_child([is_early] {
      ::signal(SIGTERM, SIG_DFL);
      block_signals();
      if (is_early) ::raise(SIGTERM);
      const EndsBySignal here;
      ::raise(SIGTERM);
    });
    EXPECT_TRUE(WIFSIGNALED(told) && WTERMSIG(told) == SIGTERM) << told;
  }
}

TEST(EndsBySignal, OthersAndLaterOnesWait) {
  const int told = first_word_of_child([] {
    ::signal(SIGTERM, SIG_DFL);
    block_signals();
    {
      const EndsBySignal here;
      ::raise(SIGUSR1);
    }
    ::raise(SIGTERM);
    if (end_was_asked() != SIGTERM) ::_exit(1);
  });
  EXPECT_EQ(told, 0);
}

/// Programs would inherit the blocked mask of the first call.
TEST(BlockSignals, ProgramsGetWhatWasBeforeTheFirstCall) {
  const int told = first_word_of_child([] {
    block_signals();
    block_signals();
    restore_signals();
    sigset_t blocked;
    ::sigprocmask(SIG_BLOCK, nullptr, &blocked);
    struct sigaction of_alarm {};
    ::sigaction(SIGALRM, nullptr, &of_alarm);
    if (::sigismember(&blocked, SIGTERM) == 1 || of_alarm.sa_handler != SIG_DFL) ::_exit(1);
  });
  EXPECT_EQ(told, 0);
}

}  // namespace
}  // namespace pinwire::launch
