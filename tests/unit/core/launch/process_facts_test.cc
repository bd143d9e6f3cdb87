// Tests of what /proc tells of processes, and that it tells nothing where it is another PID
// namespace's.
#include "core/launch/process_facts.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <functional>
#include <iterator>

#include "core/base/number_file.h"
#include "tests/support/scratch_dir.h"

namespace pinwire::launch {
namespace {

constexpr int kNoNamespace = 77;

/// A child that does `deed`, and is killed with this.
class Child {
 public:
  explicit Child(const std::function<void()>& deed) : number_(::fork()) {
    if (number_ != 0) return;
    deed();
    ::_exit(1);
  }
  ~Child() {
    ::kill(number_, SIGKILL);
    ::waitpid(number_, nullptr, 0);
  }
  Child(const Child&) = delete;
  pid_t number() const { return number_; }
  /// False after some 30 s.
  static bool comes(const std::function<bool()>& about) {
    for (int tries = 0; tries < 30'000; ++tries, ::usleep(1000))
      if (about()) return true;
    return false;
  }

 private:
  const pid_t number_;
};

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

/// The parent of a vfork(2) is in state D until its child executes a program.
TEST(ProcessFacts, OneThatWaitsInTheKernelSaysSo) {
  const Child waits([] {
    if (::vfork() == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      for (;;) ::pause();
    }
  });
  EXPECT_TRUE(Child::comes([&] {
    return why_not_killed(waits.number()).starts_with("it waits in the kernel (state D)");
  }));
}

/// Its parent cannot reap it before the tracer does, which may be stopped.
TEST(ProcessFacts, OneThatADebuggerKeepsSaysSo) {
  const Child ends([] { ::pause(); });
  const Child debugger([&ends] {
    if (::ptrace(PTRACE_SEIZE, ends.number(), nullptr, nullptr) == 0) ::pause();
  });
  const auto status = "/proc/" + std::to_string(ends.number()) + "/status";
  const auto is_traced = [&] {
    return number_in(status.c_str(), "TracerPid:") == static_cast<uint64_t>(debugger.number());
  };
  if (!Child::comes(is_traced)) GTEST_SKIP() << "no process may be traced here";
  EXPECT_TRUE(Child::comes([&] { return why_not_killed(ends.number()).empty(); }));
  ::kill(ends.number(), SIGKILL);
  EXPECT_TRUE(Child::comes([&] { return activity_of(ends.number()).state == 'Z'; }));
  EXPECT_EQ(why_not_killed(ends.number()), "it has ended, but a debugger (process " +
                                               std::to_string(debugger.number()) +
                                               ") traces it, and has not let it go");
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
