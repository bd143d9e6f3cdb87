// A message arrives, and its signal comes, after every single instruction of what keeps handlers
// off and lets them in again (PA-031): the production code of a child is stepped through by ptrace.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <thread>

#include "am/interrupts/dispatcher_bell.h"
#include "am/interrupts/hsl.h"
#include "am/interrupts/interrupts.h"
#include "am/poll/poll.h"
#include "core/base/clock.h"
#include "core/debug/error_policy.h"

namespace pinwire {
namespace {

/// Memory that child and parent both see.
struct Shared {
  int published, handled;
  int is_in_section;
  int is_over;  ///< the stretch that is stepped through
  int asks_again;
  int64_t own_work_ns;  ///< that the client has for itself before
  int is_flooded;
  const char* wrong;
  void* words;  ///< of the child's thread: its reasons, and whether messages have arrived
  int signal_number;
};
volatile Shared* shared = nullptr;
volatile bool is_handling = false;

void blame(const char* what) { shared->wrong = what; }

}  // namespace

// The functions that am/interrupts/interrupts.cc asks of other units.
uint32_t poll_everything() noexcept {
  if (shared->is_flooded) return 1;
  if (shared->handled == shared->published) return 0;
  if (shared->is_in_section) blame("a handler ran in a section");
  if (is_handling) blame("a handler interrupted a handler");
  is_handling = true;
  shared->handled = shared->published;
  is_handling = false;
  return 1;
}
/// Outside the stretch, in raise(), the signal finds no text of the client's.
void wake_dispatcher() noexcept {
  if (take_handed_over()) shared->handled = shared->published;
}
void wake_dispatcher_later(int64_t own_work_ns) noexcept {
  shared->own_work_ns = own_work_ns;
  shared->asks_again = 1;
}

namespace {

// The stretches.

void section() {
  disable_interrupts(Reason::kSection);
  shared->is_in_section = 1;
  shared->is_in_section = 0;
  enable_interrupts(Reason::kSection);
}
void lock() {
  static uint32_t word = 0;
  disable_interrupts(Reason::kLock);
  hsl_lock(word);
  shared->is_in_section = 1;
  shared->is_in_section = 0;
  hsl_unlock(word);
  enable_interrupts(Reason::kLock);
}
void call() {
  const LibraryCall inside;
  shared->is_in_section = 1;
  shared->is_in_section = 0;
}
void lock_in_section() {
  disable_interrupts(Reason::kSection);
  shared->is_in_section = 1;
  static uint32_t word = 0;
  disable_interrupts(Reason::kLock);
  hsl_lock(word);
  hsl_unlock(word);
  enable_interrupts(Reason::kLock);
  shared->is_in_section = 0;
  enable_interrupts(Reason::kSection);
}

int number_of_signal() {
  for (int number = SIGRTMIN; number <= SIGRTMAX; ++number) {
    struct sigaction now {};
    if (sigaction(number, nullptr, &now) == 0 && now.sa_handler != SIG_DFL) return number;
  }
  return 0;
}

[[noreturn]] void run_child(void (*stretch)()) {
  ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
  has_dispatcher = true;
  if (!prepare_interrupts().ok()) _exit(1);
  {
    const LibraryCall first;  // registers this thread
  }
  stretch();
  shared->signal_number = number_of_signal();
  shared->words = &this_client.handshake;
  for (;;) {
    raise(SIGSTOP);
    stretch();
    // Computes: what has arrived and is not handled by now was lost.
    for (int i = 0; i < 100'000 && shared->handled != shared->published; ++i) {
      // A drain that is stepped through takes long.
      if (shared->asks_again == 0) continue;
      shared->asks_again = 0;
      if (this_client.handshake.arrive() == Arrival::kSignal) raise(shared->signal_number);
    }
    shared->is_over = 1;
  }
}

/// The child; between two calls of run() it stands at its raise(SIGSTOP).
class Stepper {
 public:
  /// `sends_always`: as where the kernel passes no barriers.
  Stepper(void (*stretch)(), bool sends_always) : child_(fork()), sends_always_(sends_always) {
    if (child_ == 0) run_child(stretch);
    EXPECT_EQ(wait_for_stop(), SIGSTOP);
  }
  ~Stepper() {
    kill(child_, SIGKILL);
    waitpid(child_, nullptr, 0);
  }

  /// One run, with messages after so many steps of it. False: it was over before the last of them.
  bool run(uint32_t first, uint32_t second) {
    shared->published = 0;
    shared->handled = 0;
    shared->is_over = 0;
    int due = 0;
    for (uint32_t step = 1; step <= second && shared->is_over == 0; ++step) {
      resume(PTRACE_SINGLESTEP, due, SIGTRAP);
      due = 0;
      if (step == first || step == second) due = arrive();
    }
    const bool was_in_time = shared->is_over == 0;
    resume(PTRACE_CONT, due, SIGSTOP);
    return was_in_time;
  }

 private:
  /// Until it stops again by itself.
  void resume(__ptrace_request how, int signal_number, int stop) {
    int why = signal_number;
    do {
      EXPECT_EQ(ptrace(how, child_, nullptr, static_cast<long>(why)), 0);
      why = wait_for_stop();
    } while (why == shared->signal_number);  // one that it blocked until now
    EXPECT_EQ(why, stop);
  }
  int wait_for_stop() {
    int status = 0;
    EXPECT_EQ(waitpid(child_, &status, 0), child_);
    EXPECT_TRUE(WIFSTOPPED(status)) << status;
    return WSTOPSIG(status);
  }

  /// The work of a dispatcher while the child stands still, which is a barrier. The signal that it
  /// sends, or 0.
  int arrive() {
    constexpr unsigned long kArrived = 1ul << 32;
    static_assert(sizeof this_client.handshake == sizeof kArrived);
    shared->published = shared->published + 1;
    const auto words =
        static_cast<unsigned long>(ptrace(PTRACE_PEEKDATA, child_, shared->words, nullptr));
    EXPECT_EQ(ptrace(PTRACE_POKEDATA, child_, shared->words, words | kArrived), 0);
    const bool is_told = words == 0 || (sends_always_ && (words & kArrived) == 0);
    return is_told ? shared->signal_number : 0;
  }

  pid_t child_;
  const bool sends_always_;
};

struct Stretch {
  const char* name;
  void (*run)();
};
class Interrupts : public testing::Test {
 protected:
  void SetUp() override {
    void* memory =
        mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(memory, MAP_FAILED);
    shared = new (memory) Shared{};
  }
  void TearDown() override { munmap(const_cast<Shared*>(shared), sizeof(Shared)); }
};
class EveryInstruction : public Interrupts, public testing::WithParamInterface<Stretch> {
 protected:
  /// With messages after each step, `apart` steps from one to the next; how many runs that were.
  static uint32_t run_all(void (*stretch)(), uint32_t apart, bool sends_always = false) {
    Stepper stepper(stretch, sends_always);
    uint32_t step = 1;
    while (stepper.run(step, step + apart)) {
      EXPECT_EQ(shared->handled, shared->published) << "lost after step " << step;
      EXPECT_STREQ(shared->wrong, nullptr) << "after step " << step;
      if (testing::Test::HasFailure()) break;
      ++step;
    }
    return step - 1;
  }
};

TEST_P(EveryInstruction, PA_031_AMessageThereIsHandledOnceAndInNoSection) {
  constexpr uint32_t kInstructionsMin = 20;
  EXPECT_GT(run_all(GetParam().run, 0), kInstructionsMin);
}
TEST_P(EveryInstruction, PA_031_AnotherOneSoonAfterToo) {
  constexpr uint32_t kInstructionsMin = 20;
  for (const uint32_t apart : {1u, 2u, 5u, 11u, 23u, 47u}) {
    EXPECT_GT(run_all(GetParam().run, apart), kInstructionsMin);
    if (HasFailure()) break;
  }
}
TEST_P(EveryInstruction, PA_031_NorWhereEachComesWithASignal) {
  constexpr uint32_t kInstructionsMin = 20;
  for (const uint32_t apart : {0u, 5u}) {
    EXPECT_GT(run_all(GetParam().run, apart, true), kInstructionsMin);
    if (HasFailure()) break;
  }
}
INSTANTIATE_TEST_SUITE_P(Stretches, EveryInstruction,
                         testing::Values(Stretch{"Section", section}, Stretch{"Lock", lock},
                                         Stretch{"Call", call},
                                         Stretch{"LockInSection", lock_in_section}),
                         [](const auto& at) { return std::string(at.param.name); });

bool is_handled_within_s(int count, int seconds) {
  const double until_s = monotonic_s() + seconds;
  while (shared->handled != count && monotonic_s() < until_s) {
  }
  return shared->handled == count;
}
/// A thread that computes, whose user may have no signal pending; another finds messages for it.
[[noreturn]] void compute_without_queue() {
  has_dispatcher = interrupts_anywhere = true;
  if (!prepare_interrupts().ok()) _exit(1);
  {
    const LibraryCall first;  // registers this thread
  }
  rlimit limit;
  if (getrlimit(RLIMIT_SIGPENDING, &limit) != 0) _exit(2);
  const rlimit none{0, limit.rlim_max};
  if (setrlimit(RLIMIT_SIGPENDING, &none) != 0) _exit(2);
  if (syscall(SYS_tgkill, getpid(), gettid(), number_of_signal()) == 0) _exit(3);
  constexpr int kMessages = 3, kPatienceS = 60;
  for (int i = 1; i <= kMessages; ++i) {
    std::thread finder([i] {
      shared->published = i;
      if (!notify_client(false, send_interrupt).is_signalled) _exit(4);
    });
    if (!is_handled_within_s(i, kPatienceS)) _exit(5);
    finder.join();
  }
  // The client takes SIGURG for itself: none is sent to it, and the thread stays to be asked.
  signal(SIGURG, [](int) { _exit(6); });
  shared->published = kMessages + 1;
  for (const bool again : {false, true}) {
    std::thread finder([again] {
      if (notify_client(again, send_interrupt).is_signalled) _exit(7);
    });
    finder.join();
  }
  if (setrlimit(RLIMIT_SIGPENDING, &limit) != 0) _exit(2);
  std::thread finder([] { notify_client(true, send_interrupt); });
  if (!is_handled_within_s(kMessages + 1, kPatienceS)) _exit(8);
  finder.join();
  _exit(0);
}
/// Runs it in a process of its own, whose exit code says what went wrong.
void expect_exit_0(void (*body)()) {
  const pid_t child = fork();
  if (child == 0) body();
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status)) << status;
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

/// A signal finds its thread in raise(), which is not the client's text: nobody else looks.
[[noreturn]] void be_found_in_a_library() {
  has_dispatcher = true;
  if (!prepare_interrupts().ok()) _exit(1);
  {
    const LibraryCall first;  // registers this thread
  }
  shared->published = 1;
  if (this_client.handshake.arrive() != Arrival::kSignal) _exit(2);
  raise(number_of_signal());
  _exit(shared->handled == 1 ? 0 : 3);
}
TEST_F(Interrupts, PA_020_WakeTheDispatcherWhereTheyHandOver) {
  expect_exit_0(be_found_in_a_library);
}

/// Peers send faster than it handles: the section's end goes on, and the dispatcher leaves it as
/// long as it was kept.
[[noreturn]] void end_a_section_under_a_flood() {
  has_dispatcher = true;
  if (!prepare_interrupts().ok()) _exit(1);
  {
    const LibraryCall first;  // registers this thread
  }
  disable_interrupts(Reason::kSection);
  shared->is_flooded = 1;
  if (this_client.handshake.arrive() == Arrival::kSignal) _exit(2);
  enable_interrupts(Reason::kSection);
  if (shared->asks_again != 1) _exit(3);
  constexpr int64_t kMillisecondNs = 1'000'000;
  _exit(shared->own_work_ns == kMillisecondNs ? 0 : 4);
}
TEST_F(Interrupts, PA_031_LeaveAFloodedClientAMillisecond) {
  expect_exit_0(end_a_section_under_a_flood);
}

/// The client takes the signal for itself when the thread has been signalled, and not looked yet.
[[noreturn]] void compute_while_the_signal_goes() {
  has_dispatcher = interrupts_anywhere = true;
  if (!prepare_interrupts().ok()) _exit(1);
  {
    const LibraryCall first;  // registers this thread
  }
  signal(number_of_signal(), SIG_IGN);
  shared->published = 1;
  std::thread finder([] {
    if (!notify_client(false, send_interrupt).is_signalled) _exit(2);  // in vain
    if (!keep_signal()) _exit(3);
    resend_signals();
    if (!notify_client(true, send_interrupt).is_signalled) _exit(4);
  });
  if (!is_handled_within_s(1, 60)) _exit(5);
  finder.join();
  _exit(0);
}
/// Which signals of the client's may come in the midst of an interrupt.
[[noreturn]] void look_at_mask() {
  asking_signals = SignalSet{1} << SIGUSR1;
  if (!prepare_interrupts().ok()) _exit(1);
  struct sigaction taken {};
  if (sigaction(number_of_signal(), nullptr, &taken) != 0) _exit(2);
  for (const int number : {SIGALRM, SIGINT, SIGUSR2, SIGVTALRM, SIGRTMIN, SIGRTMAX - 1})
    if (sigismember(&taken.sa_mask, number) != 1) _exit(3);
  for (const int number : {SIGTERM, SIGQUIT, SIGUSR1, SIGSEGV, SIGABRT})
    if (sigismember(&taken.sa_mask, number) != 0) _exit(4);
  _exit(0);
}

TEST_F(Interrupts, PA_052_AreNotLeftByAClientsSignalHandler) { expect_exit_0(look_at_mask); }

TEST_F(Interrupts, ComeAgainWhereTheirSignalWasTaken) {
  expect_exit_0(compute_while_the_signal_goes);
}

TEST_F(Interrupts, PA_052_ComeWhereTheQueueOfSignalsIsFull) {
  expect_exit_0(compute_without_queue);
}

}  // namespace
}  // namespace pinwire
