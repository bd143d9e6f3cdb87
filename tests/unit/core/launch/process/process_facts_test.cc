// Tests of what /proc tells of processes, and that it tells nothing where it is another PID
// namespace's.
#include "core/launch/process/process_facts.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <iterator>

#include "tests/support/scratch_dir.h"
#include "tests/unit/core/launch/traced_child.h"
#include "tests/unit/core/launch/wait_in_kernel.h"

namespace pinwire::launch {
namespace {

constexpr int kNoNamespace = 77;

bool shown_environment_is_own() {
  std::ifstream file("/proc/self/environ", std::ios::binary);
  const std::string whole{std::istreambuf_iterator<char>(file), {}};
  const auto shown = shown_environment();
  return shown.size() == whole.size() && std::string(shown.data(), shown.size()) == whole;
}

TEST(ProcessFacts, TheShownEnvironmentIsWhatProcShows) { EXPECT_TRUE(shown_environment_is_own()); }

/// Has a forked child work in a namespace of its own: 0 is success, kNoNamespace that there is
/// none.
template <typename Work>
void expect_in_child(const char* without, Work work) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(work());
  int status = -1;
  ::waitpid(child, &status, 0);
  if (WIFEXITED(status) && WEXITSTATUS(status) == kNoNamespace) GTEST_SKIP() << without;
  EXPECT_EQ(status, 0);
}

/// It is so under `unshare -p -f` without --mount-proc: /proc/1 is not this process, which is 1.
TEST(ProcessFacts, WhereProcIsAnotherNamespacesNothingIsKnownOfStrangers) {
  expect_in_child("no PID namespaces here (they need root)", [] {
    if (::unshare(CLONE_NEWPID) != 0) return kNoNamespace;
    const pid_t first = ::fork();
    if (first == 0)
      ::_exit(::getpid() == 1 && shown_environment_is_own() && name_of(1).empty() ? 0 : 1);
    int status = 0;
    ::waitpid(first, &status, 0);
    return status == 0 ? 0 : 1;
  });
}

TEST(ProcessFacts, OneThatWaitsInTheKernelSaysSo) {
  const Child waits([] { wait_in_kernel(); });
  EXPECT_TRUE(Child::comes([&] {
    return why_not_killed(waits.number()).starts_with("it waits in the kernel (state D)");
  }));
}

/// Its parent cannot reap it before the tracer does, which may be stopped.
TEST(ProcessFacts, OneThatADebuggerKeepsSaysSo) {
  const Child ends([] { ::pause(); });
  const StoppedDebugger debugger(ends.number());
  if (!debugger.traces()) GTEST_SKIP() << "no process may be traced here";
  EXPECT_TRUE(Child::comes([&] { return why_not_killed(ends.number()).empty(); }));
  EXPECT_FALSE(held_end_of(ends.number()).has_value()) << "it lives";
  ::kill(ends.number(), SIGKILL);
  EXPECT_TRUE(Child::comes([&] { return activity_of(ends.number()).state == 'Z'; }));
  EXPECT_EQ(why_not_killed(ends.number()), "it has ended, but a debugger (process " +
                                               std::to_string(debugger.number()) +
                                               ") traces it, and has not let it go");
  const auto held = held_end_of(ends.number());
  ASSERT_TRUE(held.has_value());
  EXPECT_EQ(held->tracer, debugger.number());
  EXPECT_EQ(held->wait_status, SIGKILL);
}

/// Only a process that the kernel lets trace another one reads how that ended.
TEST(ProcessFacts, HowAStrangersProcessEndedIsNotKnown) {
  if (::geteuid() != 0) GTEST_SKIP() << "another user's process needs root";
  constexpr uid_t kStranger = 54321;
  const Child ends([] { ::pause(); });
  const StoppedDebugger debugger(ends.number());
  if (!debugger.traces()) GTEST_SKIP() << "no process may be traced here";
  ::kill(ends.number(), SIGKILL);
  EXPECT_TRUE(Child::comes([&] { return activity_of(ends.number()).state == 'Z'; }));
  expect_in_child("", [&ends] {
    if (::setresuid(kStranger, kStranger, kStranger) != 0) return 1;
    const auto held = held_end_of(ends.number());
    return held && !held->wait_status ? 0 : 2;
  });
}

/// Its parent reaps it.
TEST(ProcessFacts, NothingHoldsAZombieThatNobodyTraces) {
  const Child ends([] {});
  EXPECT_TRUE(Child::comes([&] { return activity_of(ends.number()).state == 'Z'; }));
  EXPECT_FALSE(held_end_of(ends.number()).has_value());
}

TEST(ProcessFacts, NothingHoldsOneThatSleeps) {
  const Child sleeps([] { ::pause(); });
  // A young one may wait for its memory for a moment.
  EXPECT_TRUE(Child::comes([&] { return why_not_killed(sleeps.number()).empty(); }));
  EXPECT_FALSE(has_ended(sleeps.number()));
}

TEST(ProcessFacts, ItIsKnownWhetherAProcessGetsOn) {
  const Child sleeps([] { ::pause(); }), runs([] {
    for (volatile bool goes_on = true; goes_on;) {
    }
  });
  EXPECT_TRUE(Child::comes([&] { return activity_of(sleeps.number()).state == 'S'; }));
  EXPECT_TRUE(Child::comes([&] { return activity_of(runs.number()).processor_ticks > 10; }));
  ::kill(runs.number(), SIGSTOP);
  EXPECT_TRUE(Child::comes([&] { return activity_of(runs.number()).state == 'T'; }));
}

/// Some sandboxes show fewer fields than Linux does.
TEST(ProcessFacts, AShortStatTellsWhatIsInIt) {
  const Child sleeps([] { ::pause(); });
  const test::ScratchDir scratch;
  const auto file = scratch.path() + "/stat",
             shown = "/proc/" + std::to_string(sleeps.number()) + "/stat";
  std::ofstream(file) << sleeps.number() << " (a ) b) S 1 2 3";
  expect_in_child("no mount namespaces here (they need root)", [&] {
    if (::unshare(CLONE_NEWNS) != 0 ||
        ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        ::mount(file.c_str(), shown.c_str(), nullptr, MS_BIND, nullptr) != 0)
      return kNoNamespace;
    return !has_ended(sleeps.number()) && birth_ticks(sleeps.number()) == 0 ? 0 : 1;
  });
}

/// The first process of a namespace, with a rank that ends with code 3 once `go` says so.
int find_a_rank_that_an_unseen_debugger_holds(int go) {
  if (::unshare(CLONE_NEWNS) != 0 ||
      ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
      ::mount("proc", "/proc", "proc", 0, nullptr) != 0)
    return kNoNamespace;
  const pid_t rank = ::fork();
  if (rank == 0) {
    char word;
    ::_exit(::read(go, &word, 1) == 1 ? 3 : 4);
  }
  if (!Child::comes([&] { return has_ended(rank); })) return 1;
  const auto held = held_end_of(rank);
  return held && held->tracer == 0 && held->wait_status == 3 << 8 ? 0 : 1;
}

/// The only child of a process, or 0 if it has ended.
pid_t child_of(pid_t process) {
  const auto number = std::to_string(process);
  pid_t child = 0;
  Child::comes([&] {
    return (std::ifstream("/proc/" + number + "/task/" + number + "/children") >> child) ||
           has_ended(process);
  });
  return child;
}

/// A debugger of the host, and a launcher in a container: the kernel shows the launcher no tracer.
TEST(ProcessFacts, ADebuggerOfAnotherNamespaceHoldsARankToo) {
  expect_in_child("no PID namespaces here (they need root), or nothing may be traced", [] {
    int go[2], verdict[2];
    if (::pipe(go) != 0 || ::pipe(verdict) != 0 || ::unshare(CLONE_NEWPID) != 0)
      return kNoNamespace;
    const pid_t first = ::fork();
    if (first == 0) {
      const char word = static_cast<char>(find_a_rank_that_an_unseen_debugger_holds(go[0]));
      ::_exit(::write(verdict[1], &word, 1) == 1 ? 0 : 1);
    }
    const pid_t rank = child_of(first);
    if (rank == 0 || ::ptrace(PTRACE_SEIZE, rank, nullptr, nullptr) != 0) {
      ::kill(first, SIGKILL);
      return kNoNamespace;
    }
    char word = 1;
    if (::write(go[1], "g", 1) != 1 || ::read(verdict[0], &word, 1) != 1) word = 1;
    ::waitpid(rank, nullptr, 0);  // the kernel ends no namespace before its processes are reaped
    ::waitpid(first, nullptr, 0);
    return static_cast<int>(word);
  });
}

TEST(ProcessFacts, AProcessLivesAsLongAsOneOfItsThreads) {
  const Child lives([] {
    pthread_t thread;
    ::pthread_create(
        &thread, nullptr,
        [](void*) -> void* {
          for (;;) ::pause();
        },
        nullptr);
    ::syscall(SYS_exit, 0);  // of this thread alone
  });
  const auto first_has_ended = [&] {
    std::ifstream status("/proc/" + std::to_string(lives.number()) + "/status");
    const std::string whole{std::istreambuf_iterator<char>(status), {}};
    return whole.find("State:\tZ") != std::string::npos;
  };
  ASSERT_TRUE(Child::comes(first_has_ended));
  EXPECT_FALSE(has_ended(lives.number()));
  ::kill(lives.number(), SIGKILL);
  EXPECT_TRUE(Child::comes([&] { return has_ended(lives.number()); }));
}

}  // namespace
}  // namespace pinwire::launch
