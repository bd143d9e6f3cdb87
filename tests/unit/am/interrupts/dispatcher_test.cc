// The thread that finds what arrives while the client computes. It is started once in a process, so
// each test has one of its own, which exits with 0 or says what went wrong.
#include "am/interrupts/dispatcher.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <memory>
#include <thread>

#include "am/handlers/handlers.h"
#include "am/interrupts/dispatcher_bell.h"
#include "am/interrupts/interrupts.h"
#include "am/message/message.h"
#include "am/poll/poll.h"
#include "am/wait/sleep.h"
#include "am/wait/wait.h"
#include "am/wake/sleepers.h"
#include "core/base/clock.h"
#include "core/base/descriptors/event_fd.h"
#include "core/base/threads/membarrier.h"
#include "tests/support/idle_driver.h"
#include "tests/support/stat_map.h"

namespace pinwire {
namespace {

#ifdef __SANITIZE_THREAD__
constexpr bool kSignalsComeLate = true;
#else
constexpr bool kSignalsComeLate = false;
#endif
constexpr const char* kWhyLate =
    "ThreadSanitizer runs a signal's handler once the thread calls the C library, or its call ends";

constexpr Rank kSender = 1;
constexpr uint8_t kCounts = 203;

std::atomic<uint32_t> handled{0};
std::atomic<pid_t> handled_by{0};
std::atomic<uint32_t> handled_on_lane{0};  ///< the lane of the thread, not of the message
void count_message(pinwire_token*) {
  errno = EDOM;  // as a call that fails may
  handled_by.store(gettid());
  handled_on_lane.store(this_thread.lane);
  handled.fetch_add(1);
}

/// Messages of rank 1, put there by the test; the event fd tells of them while the lane is armed.
class Mailbox final : public test::IdleDriver {
 public:
  std::atomic<uint32_t> waiting{0}, turns{0}, arms{0}, disarms{0};
  std::atomic<bool> is_armed{false}, is_broken{false}, is_flooded{false};
  std::atomic<Armed> when_armed{Armed::kArmed};

  void put() noexcept {
    put_unseen();
    if (is_armed.exchange(false)) ring_event_fd(fd_);
  }
  /// As where another thread has taken the event.
  void put_unseen() noexcept { waiting.fetch_add(1); }

  Caps caps() const noexcept override { return {.event_fd = true}; }
  uint32_t recv(uint32_t, RecvFilter, std::span<Recv> out) noexcept override {
    turns.fetch_add(1);
    if (out.empty() || waiting.load() == 0) return 0;
    if (!is_flooded.load()) waiting.fetch_sub(1);
    AmHead head;
    const uint32_t bytes = build_head(head, Category::kShort, kCounts, 0, nullptr, 0, 0);
    std::memcpy(buffer_ + 8, &head, bytes);
    out[0] = {buffer_ + 8, bytes, kSender, 0, MessageClass::kRequest};
    return 1;
  }
  bool idle(uint32_t) const noexcept override { return waiting.load() == 0; }
  bool has_arrivals(uint32_t) const noexcept override { return waiting.load() != 0; }
  int event_fd(uint32_t) const noexcept override { return fd_; }
  Armed arm(uint32_t) noexcept override {
    arms.fetch_add(1);
    drain_event_fd(fd_);
    is_armed.store(true);
    if (waiting.load() == 0) return when_armed.load();
    is_armed.store(false);
    return Armed::kBusy;
  }
  bool disarm(uint32_t) noexcept override {
    disarms.fetch_add(1);
    return is_armed.exchange(false);
  }
  const Failure* failure() const noexcept override {
    static constexpr Failure kBroken{kSender, WorkStatus::kUnreachable, "its cable was pulled"};
    return is_broken.load() ? &kBroken : nullptr;
  }

 private:
  const int fd_ = open_event_fd();
  alignas(16) std::byte buffer_[64];
};

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "wrong: %s\n", what);
  _exit(1);
}
/// Comes to be so; other threads see to that.
template <typename Condition>
bool comes(Condition&& condition) {
  constexpr double kPatienceS = 20;
  const double until_s = monotonic_s() + kPatienceS;
  while (!condition()) {
    if (monotonic_s() > until_s) return false;
    usleep(50);
  }
  return true;
}
bool comes_to_handle(uint32_t count) {
  return comes([&] { return handled.load() == count; });
}

/// Without a call of any library; SIGALRM ends a test that waits in vain.
void compute_until_handled(uint32_t count) {
  constexpr unsigned kPatienceS = 20;
  alarm(kPatienceS);
  while (handled.load() < count) {
  }
  alarm(0);
}

/// For a client that computes, in its own text. The signal for a message that another has brought
/// already may find it later, in a library.
uint64_t handed_over_until_now() { return interrupt_counters.handed_over; }

std::map<std::string, uint64_t> dispatch_stats() {
  StatMap map;
  report_dispatch(map);
  return map.values;
}
bool comes_to_count(const char* stat, uint64_t count) {
  return comes([&] { return dispatch_stats()[stat] >= count; });
}

int64_t us_of_clock() { return static_cast<int64_t>(monotonic_us()); }

/// In a child process, whose first thread is the client's.
Mailbox& begin(DispatchMode mode, uint32_t watchdog_us = 0) {
  static Mailbox mailbox;
  handler_table[kCounts] =
      reinterpret_cast<HandlerFunction>(reinterpret_cast<void*>(count_message));
  engine.drivers[0].driver = &mailbox;
  engine.drivers[0].caps = mailbox.caps();
  engine.driver_count = 1;
  std::construct_at(&engine.drivers[0].lanes[0]);  // which the client of other tests has owned
  has_dispatcher = true;
  only_dispatcher_polls = mode == DispatchMode::kNicproc;
  engine.thread();
  register_client_thread();
  const bool interrupts = mode == DispatchMode::kInterrupt || mode == DispatchMode::kWatchdog;
  if (interrupts) require(prepare_interrupts().ok(), "a signal is free");
  require(start_dispatcher(mode, watchdog_us, {}).ok(), "the dispatcher starts");
  return mailbox;
}

/// For a signal handler of the client's.
Mailbox* mailbox_of_handler = nullptr;

class DispatcherThread : public testing::Test {
 protected:
  template <typename Scenario>
  static void run(Scenario&& scenario) {
    const auto child = [&] {
      scenario();
      _exit(0);
    };
    EXPECT_EXIT(child(), testing::ExitedWithCode(0), "");
  }
};

TEST_F(DispatcherThread, RunsHandlersWhileTheClientComputesAndSleepsBetween) {
  run([] {
    Mailbox& mailbox = begin(DispatchMode::kThread);
    constexpr uint32_t kMessages = 3;
    for (uint32_t i = 1; i <= kMessages; ++i) {
      require(comes([&] { return mailbox.is_armed.load(); }), "it arms the lane");
      mailbox.put();
      require(comes_to_handle(i), "the handler runs");
      require(handled_by.load() != gettid(), "it runs beside the client");
    }
    require(comes_to_count("found_beside", kMessages), "it found each by itself");
    auto stats = dispatch_stats();
    require(stats["wakes"] >= kMessages, "each message has woken it");
    require(stats["sleeps"] >= stats["wakes"], "it slept before");
  });
}

/// The first lanes are the client threads'; what its handlers start goes by the last one.
TEST_F(DispatcherThread, RunsHandlersAsAThreadOfTheLastLane) {
  run([] {
    constexpr uint32_t kLanes = 3;
    engine.lane_count = kLanes;
    Mailbox& mailbox = begin(DispatchMode::kThread);
    mailbox.put();
    require(comes_to_handle(1), "the handler runs");
    require(handled_on_lane == kLanes - 1, "its thread has the last lane");
    require(engine.thread().lane == 0, "the client has the first");
  });
}

/// A client that has handled messages for long leaves the rest to it.
TEST_F(DispatcherThread, IsWokenWhenItShallAskLater) {
  run([] {
    Mailbox& mailbox = begin(DispatchMode::kThread);
    require(comes([&] { return mailbox.is_armed.load(); }), "it arms the lane");
    const uint64_t wakes = dispatch_stats()["wakes"];
    wake_dispatcher_later(0);
    require(comes_to_count("wakes", wakes + 1), "an event has woken it, not the time");
  });
}

TEST_F(DispatcherThread, ArmsTheLanesAgainOnceTheClientPollsNoMore) {
  run([] {
    Mailbox& mailbox = begin(DispatchMode::kThread);
    require(comes([&] { return mailbox.is_armed.load(); }), "it arms the lane");
    for (int i = 0; i < 100; ++i) poll();
    const uint32_t before = mailbox.arms;
    require(comes([&] { return mailbox.arms >= before + 2; }), "it arms the lanes");
  });
}

/// And takes no core from it: it sleeps between two looks, without arming anything.
TEST_F(DispatcherThread, SleepsWhileTheClientPolls) {
  run([] {
    Mailbox& mailbox = begin(DispatchMode::kThread);
    const auto sleeps_unarmed = [&mailbox] {
      constexpr int64_t kBurstUs = 10'000;
      const uint32_t arms = mailbox.arms;
      const uint64_t sleeps = dispatch_stats()["sleeps"];
      for (const int64_t begin_us = us_of_clock(); us_of_clock() < begin_us + kBurstUs;) poll();
      return mailbox.arms == arms && dispatch_stats()["sleeps"] >= sleeps + 3;
    };
    require(comes(sleeps_unarmed), "it sleeps several times while the client polls");
  });
}

TEST_F(DispatcherThread, IsCalledOffByAClientThatWaitsButNotByOneThatArmsTheLanesItself) {
  run([] {
    Mailbox& mailbox = begin(DispatchMode::kThread);
    require(comes([&] { return mailbox.is_armed.load(); }), "it arms the lane");
    let_waits_sleep(true);
    uint32_t empty_polls = 0;
    for (int i = 0; i < 1000; ++i) after_empty_poll(empty_polls);
    require(mailbox.disarms == 0, "the lane stays armed");
    let_waits_sleep(false);
    const uint64_t wakes = dispatch_stats()["wakes"];
    const auto waits = [&] {
      for (int i = 0; i < 100; ++i) after_empty_poll(empty_polls);
      return mailbox.disarms != 0;
    };
    require(comes(waits), "the lane is disarmed");
    require(comes_to_count("wakes", wakes + 1), "it is woken, and arms the lane again later");
  });
}

uint64_t wait_stat(const char* name) {
  StatMap map;
  report_waits(map);
  return map.values[name];
}

/// Their lanes are disarmed, so that nothing else wakes them. They fell asleep while waits slept.
TEST_F(DispatcherThread, IsCalledOffAndWithItAllThatSleepOverTheSameLanes) {
  run([] {
    Mailbox& mailbox = begin(DispatchMode::kThread);
    sleep_us_max = 3'600'000'000;
    set_wait_mode(WaitMode::kBlock);
    std::thread caller([&] {
      require(comes([] { return wait_stat("sleeps") != 0; }), "the client sleeps");
      let_waits_sleep(false);
      const auto rings = [] {
        call_off_dispatcher();
        return wait_stat("rings") != 0;
      };
      require(comes(rings), "it is rung");
      mailbox.put();
    });
    wait_until([] { return handled.load() == 1; });
    caller.join();
  });
}

TEST_F(DispatcherThread, ArmsTheLanesAgainOnlyWhereNothingHappenedForLong) {
  run([] {
    constexpr int64_t kSleepUs = 100'000;
    constexpr uint32_t kArmsOfItsBeginning = 5;
    Mailbox& mailbox = begin(DispatchMode::kThread);
    require(comes([&] { return mailbox.is_armed.load(); }), "it arms the lane");
    const uint32_t before = mailbox.arms;
    const int64_t begin_us = us_of_clock();
    usleep(3 * kSleepUs);
    const uint32_t arms = mailbox.arms - before;
    require(arms <= (us_of_clock() - begin_us) / kSleepUs + kArmsOfItsBeginning, "it sleeps");
  });
}

/// Which it does not do without a pause either.
TEST_F(DispatcherThread, SleepsForShortTimesBesideADriverThatCannotBeArmed) {
  run([] {
    constexpr uint32_t kSleeps = 400;  // of one that believes it is armed: ten in a second
    Mailbox& mailbox = begin(DispatchMode::kThread);
    mailbox.when_armed = Armed::kBusy;
    require(comes_to_count("sleeps", kSleeps), "it looks again soon");
  });
}

TEST_F(DispatcherThread, GivesADriverWhoseTimersRunTurnsAllTheTime) {
  run([] {
    Mailbox& mailbox = begin(DispatchMode::kThread);
    mailbox.when_armed = Armed::kTimed;
    constexpr uint32_t kTurns = 400;  // of a sleeper: ten in a second
    require(comes([&] { return mailbox.turns >= kTurns; }), "it has its turns");
  });
}

/// How often this thread has slept: a test that waits for the dispatcher sleeps between two looks.
long voluntary_switches() {
  rusage usage;
  getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_nvcsw;
}

TEST_F(DispatcherThread, EndsBeforeNobodyWaitsForItAnyMore) {
  run([] {
    Mailbox& mailbox = begin(DispatchMode::kThread);
    require(comes([&] { return mailbox.is_armed.load(); }), "it arms the lane");
    const long before = voluntary_switches();
    stop_dispatcher();
    require(voluntary_switches() - before < 1000, "its end is seen");
    const uint32_t turns = mailbox.turns;
    mailbox.put();
    for (int i = 0; i < 100; ++i) usleep(100);
    require(mailbox.turns == turns && handled == 0, "nobody polls any more");
  });
}

TEST_F(DispatcherThread, AloneDrivesTheLanesInNicproc) {
  run([] {
    Mailbox& mailbox = begin(DispatchMode::kNicproc);
    mailbox.put();
    require(comes_to_handle(1), "the handler runs");
    require(handled_by.load() != gettid(), "it runs beside the client");
    require(poll() == 0, "the client finds nothing");
  });
}

TEST_F(DispatcherThread, NoticesInNicprocThatADriverHasFailed) {
  const auto child = [] {
    Mailbox& mailbox = begin(DispatchMode::kNicproc);
    mailbox.put();
    require(comes_to_handle(1), "the handler runs");
    mailbox.is_broken = true;
    comes([] { return false; });
    _exit(0);
  };
  EXPECT_DEATH(child(), "driver idle: its cable was pulled");
}

TEST_F(DispatcherThread, InterruptsAClientThatComputes) {
  if (kSignalsComeLate) GTEST_SKIP() << kWhyLate;
  run([] {
    Mailbox& mailbox = begin(DispatchMode::kInterrupt);
    require(comes([&] { return mailbox.is_armed.load(); }), "it arms the lane");
    std::atomic<bool> computes{false};
    std::thread sender([&] {
      while (!computes.load()) {
      }
      mailbox.put();
    });
    computes.store(true);
    compute_until_handled(1);
    const uint64_t handed_over = handed_over_until_now();
    sender.join();
    require(handled_by.load() == gettid(), "it runs in the client's thread");
    require(comes_to_count("signals", 1), "signals are counted");
    auto stats = dispatch_stats();
    require(stats["signals_handled"] >= 1, "handled ones, too");
    require(stats["found_in_signals"] == 1, "and what they found");
    require(handed_over + stats["found_beside"] == 0, "the dispatcher runs no handler");
    require(stats["asks"] >= 1, "it has asked");
    require(comes_to_count("wakes", 2), "it is told that the message is handled");
  });
}

TEST_F(DispatcherThread, InterruptsNoCallThatBlocks) {
  if (kSignalsComeLate) GTEST_SKIP() << kWhyLate;
  run([] {
    Mailbox& mailbox = begin(DispatchMode::kInterrupt);
    constexpr uint32_t kCalls = 20;  // to be in most of them when the signal comes
    int pipe_fds[2];
    require(pipe(pipe_fds) == 0, "there is a pipe");
    std::thread sender([&] {
      for (uint32_t i = 1; i <= kCalls; ++i) {
        mailbox.put();
        require(comes_to_handle(i), "the handler runs");
        require(write(pipe_fds[1], "", 1) == 1, "the pipe has room");
      }
    });
    for (uint32_t i = 1; i <= kCalls; ++i) {
      char byte;
      require(read(pipe_fds[0], &byte, 1) == 1, "the call goes on after the signal");
    }
    sender.join();
    auto stats = dispatch_stats();
    require(stats["handed_over"] != 0, "a signal has found it in the call");
    require(stats["found_beside"] != 0, "and so the dispatcher ran the handler");
    require(stats["found_beside"] + stats["found_in_signals"] == kCalls, "each ran once");
  });
}

/// Which locks that library holds nobody knows.
TEST_F(DispatcherThread, PA_020_RunsTheHandlersOfAClientThatIsInALibrary) {
  run([] {
    Mailbox& mailbox = begin(DispatchMode::kInterrupt);
    for (uint32_t i = 1; i <= 3; ++i) {
      std::thread sender([&] {
        usleep(1000);
        mailbox.put();
      });
      sender.join();  // in which this thread sleeps
      require(comes_to_handle(i), "the handler runs");
      require(handled_by.load() != gettid(), "it runs beside the client");
      require(comes_to_count("handed_over", i), "which is counted");
    }
  });
}
/// It holds none: its text is the client's.
TEST_F(DispatcherThread, PA_020_InterruptsAClientThatIsInTheLibraryOfMathematics) {
  if (kSignalsComeLate) GTEST_SKIP() << kWhyLate;
  run([] {
    Mailbox& mailbox = begin(DispatchMode::kInterrupt);
    constexpr uint32_t kMessages = 50;
    std::atomic<bool> computes{false};
    std::thread sender([&] {
      require(comes([&] { return computes.load(); }), "the client computes");
      for (uint32_t i = 1; i <= kMessages; ++i) {
        mailbox.put();
        require(comes_to_handle(i), "the handler runs");
      }
    });
    volatile double x = 0.5;
    const auto compute = [&x] { x = std::tgamma(1 + std::pow(x, 0.3)) / 3; };
    compute();  // the first calls find the functions, in the dynamic linker: not the client's text
    computes = true;
    while (handled.load() < kMessages) compute();
    const uint64_t handed_over = handed_over_until_now();
    sender.join();
    require(handed_over == 0, "no signal has found the client where it could run no handler");
    require(dispatch_stats()["found_in_signals"] != 0, "signals have come");
  });
}
TEST_F(DispatcherThread, RunsNoneWhereHandlersMayInterruptAnywhere) {
  run([] {
    interrupts_anywhere = true;
    Mailbox& mailbox = begin(DispatchMode::kInterrupt);
    std::thread sender([&] {
      usleep(1000);
      mailbox.put();
      require(comes_to_handle(1), "the handler runs");
    });
    sender.join();
    require(handled_by.load() == gettid(), "it runs in the client's thread, which sleeps");
    require(dispatch_stats()["handed_over"] == 0, "nothing is left to the dispatcher");
  });
}

void handle_while_blocked() {
  static volatile bool has_run;
  struct sigaction own {};
  own.sa_handler = [](int) {
    mailbox_of_handler->put();
    compute_until_handled(1);
    has_run = true;
  };
  require(sigaction(SIGUSR1, &own, nullptr) == 0 && raise(SIGUSR1) == 0, "a signal comes");
  require(has_run, "its handler runs");
}
/// It may have interrupted malloc.
TEST_F(DispatcherThread, PA_020_RunsTheHandlersOfAClientThatIsInItsOwnSignalHandler) {
  if (kSignalsComeLate) GTEST_SKIP() << kWhyLate;
  run([] {
    mailbox_of_handler = &begin(DispatchMode::kInterrupt);
    handle_while_blocked();
    require(handled_by.load() != gettid(), "it runs beside the client");
  });
}

sigset_t block_all_signals() {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  return before;
}
/// From here on the dispatcher knows that all client threads block the signal.
void be_asked_in_vain(Mailbox& mailbox) {
  mailbox.put();
  require(comes_to_handle(1), "the handler runs");
}
/// The client has one thread, and takes its signals with sigwait() now and then.
TEST_F(DispatcherThread, PA_020_RunsTheHandlersOfAClientThatBlocksItsSignals) {
  run([] {
    Mailbox& mailbox = begin(DispatchMode::kInterrupt);
    const sigset_t before = block_all_signals();
    for (uint32_t i = 1; i <= 3; ++i) {
      mailbox.put();
      require(comes_to_handle(i), "the handler runs");
      require(handled_by.load() != gettid(), "it runs beside the client");
    }
    require(dispatch_stats()["signals"] == 1, "who was signalled in vain is not signalled again");
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    const LibraryCall inside;
  });
}
/// Its polls tell nothing of its signals. One that unblocks them is interrupted again.
TEST_F(DispatcherThread, PA_020_KnowsAClientThatBlocksItsSignalsAndPollsNowAndThen) {
  if (kSignalsComeLate) GTEST_SKIP() << kWhyLate;
  run([] {
    Mailbox& mailbox = begin(DispatchMode::kInterrupt);
    const sigset_t before = block_all_signals();
    be_asked_in_vain(mailbox);
    auto stats = dispatch_stats();
    const uint64_t again = stats["asks_again"];
    require(again != 0 && stats["signals"] == 1, "once the signal was in vain");
    for (uint32_t i = 2; i <= 10; ++i) {
      {
        const LibraryCall inside;
        poll();
      }
      mailbox.put();
      require(comes_to_handle(i), "the handler runs");
      require(handled_by.load() != gettid(), "it runs beside the client");
    }
    stats = dispatch_stats();
    require(stats["asks_again"] == again, "at once");
    require(stats["signals"] == 1, "and it is not signalled again");
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    mailbox.put();
    require(comes_to_handle(11), "the signal that waited may leave it to the dispatcher");
    mailbox.put();
    compute_until_handled(12);
    require(comes_to_count("signals", 2), "a thread that unblocks the signal gets one");
  });
}
TEST_F(DispatcherThread, PA_026_LeavesASectionOfAClientThatBlocksItsSignalsAlone) {
  if (kSignalsComeLate) GTEST_SKIP() << kWhyLate;
  run([] {
    Mailbox& mailbox = begin(DispatchMode::kInterrupt);
    const sigset_t before = block_all_signals();
    be_asked_in_vain(mailbox);
    disable_interrupts(Reason::kSection);
    enable_interrupts(Reason::kSection);  // takes back that something has arrived
    disable_interrupts(Reason::kSection);
    mailbox.put();
    // Two questions follow; the second at least began after the message was there.
    const uint64_t held_off = dispatch_stats()["threads_held_off"];
    require(comes_to_count("threads_held_off", held_off + 2), "it asks the client");
    require(handled == 1, "no handler runs in a section");
    enable_interrupts(Reason::kSection);
    require(comes_to_handle(2), "at its end one does");  // here, or beside: it is asked meanwhile
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    const LibraryCall inside;
  });
}
/// Where its locks may be none, nobody runs handlers beside it.
TEST_F(DispatcherThread, RunsNoneOfAClientThatBlocksItsSignalsWhereHandlersMayInterruptAnywhere) {
  if (kSignalsComeLate) GTEST_SKIP() << kWhyLate;
  run([] {
    interrupts_anywhere = true;
    Mailbox& mailbox = begin(DispatchMode::kInterrupt);
    const sigset_t before = block_all_signals();
    mailbox.put();
    require(comes_to_count("asks_again", 3), "it asks in vain");
    require(handled == 0, "no handler has run");
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    require(comes_to_handle(1), "the signal that waited runs it");
  });
}

TEST_F(DispatcherThread, LeavesErrnoAsItWasToAClientThatComputes) {
  run([] {
    Mailbox& mailbox = begin(DispatchMode::kInterrupt);
    mailbox.put();
    errno = ENOENT;
    while (handled.load() == 0) {
    }
    require(errno == ENOENT, "what a handler does with it is unseen");
  });
}

TEST_F(DispatcherThread, AsksAClientAgainThatHoldsASection) {
  run([] {
    Mailbox& mailbox = begin(DispatchMode::kInterrupt);
    disable_interrupts(Reason::kSection);
    mailbox.put();
    require(comes_to_count("asks_again", 2), "it asks again");
    auto stats = dispatch_stats();
    require(stats["asks"] > stats["asks_again"], "the first time it did not ask again");
    require(stats["threads_held_off"] >= 2, "each time it was held off");
    require(handled == 0, "no handler runs in a section");
    const bool is_left_alone = stats["signals"] == 0 || !register_thread_barriers();
    require(is_left_alone, "no signal comes, either, where the kernel passes barriers");
    enable_interrupts(Reason::kSection);
    require(handled == 1, "at its end one does");
    require(dispatch_stats()["found_after_sections"] == 1, "which is counted");
  });
}

/// Here an hour of it.
TEST_F(DispatcherThread, AsksNoClientThatHasItsOwnWorkForAWhile) {
  run([] {
    Mailbox& mailbox = begin(DispatchMode::kInterrupt);
    disable_interrupts(Reason::kSection);
    wake_dispatcher_later(3'600'000'000'000);
    mailbox.put();
    const uint32_t turns_before = mailbox.turns;
    require(comes([&] { return mailbox.turns >= turns_before + 1000; }), "it serves the lane");
    require(dispatch_stats()["asks"] == 0, "and leaves the client alone");
    wake_dispatcher_later(0);
    require(comes_to_count("asks", 1), "until the time is over");
    enable_interrupts(Reason::kSection);
    require(handled == 1, "the handler runs");
  });
}

/// Its peers send faster than it handles, for ever.
TEST_F(DispatcherThread, LeavesAFloodedClientTimeForItsOwnWork) {
  run([] {
    Mailbox& mailbox = begin(DispatchMode::kInterrupt);
    constexpr unsigned kPatienceS = 60;
    constexpr int kTurns = 20;
    alarm(kPatienceS);  // a client that is kept for ever
    mailbox.is_flooded = true;
    disable_interrupts(Reason::kSection);
    mailbox.put();
    require(comes_to_count("threads_held_off", 1), "it asks the client");
    enable_interrupts(Reason::kSection);
    require(handled > 0, "the section's end runs handlers, and ends");
    for (int i = 0; i < kTurns; ++i) {
      const uint32_t before = handled;
      require(comes([&] { return handled > before; }), "a signal runs handlers, and ends");
      const LibraryCall inside;
    }
  });
}

TEST_F(DispatcherThread, WaitsBeforeItInterruptsForTheWatchdog) {
  if (kSignalsComeLate) GTEST_SKIP() << kWhyLate;
  run([] {
    constexpr uint32_t kWatchdogUs = 200'000;
    Mailbox& mailbox = begin(DispatchMode::kWatchdog, kWatchdogUs);
    require(comes([&] { return mailbox.is_armed.load(); }), "it arms the lane");
    const int64_t put_us = us_of_clock();
    mailbox.put();
    compute_until_handled(1);
    require(us_of_clock() - put_us >= kWatchdogUs, "it waited for the client to poll");
    require(handled_by.load() == gettid(), "it runs in the client's thread");
  });
}

constexpr uint32_t kHourUs = 3'600'000'000;
/// Until the first one is handled, no longer.
void end_the_watchdogs_wait() {
  constexpr useconds_t kBetweenWakesUs = 30'000;  // longer than it waits for a signalled client
  const auto is_over = [] {
    if (handled.load() != 0) return true;
    wake_dispatcher();
    usleep(kBetweenWakesUs);
    return false;
  };
  require(comes(is_over), "it does not wait any more");
}
/// More than it handles in the two turns that such wakes may begin.
bool comes_to_handle_many() {
  return comes([] { return handled.load() > 20 * 64; });
}

/// The watchdog has waited for a client to poll, which did not: the rest does not wait once more.
TEST_F(DispatcherThread, GoesOnWithoutTheWatchdogWhereItLeftMessagesOfAClientThatIsInALibrary) {
  run([] {
    Mailbox& mailbox = begin(DispatchMode::kWatchdog, kHourUs);
    mailbox.is_flooded = true;
    std::thread sender([&] {
      mailbox.put();
      end_the_watchdogs_wait();
      require(comes_to_handle_many(), "it asks the client again at once");
    });
    sender.join();  // in which this thread sleeps
    require(handled_by.load() != gettid(), "the handlers run beside the client");
  });
}
/// Each wait of the watchdog is a sleep.
TEST_F(DispatcherThread, GoesOnWithoutTheWatchdogWhereItLeftMessagesOfAClientThatBlocksItsSignals) {
  run([] {
    constexpr uint32_t kWatchdogUs = 1000, kTurns = 20;
    Mailbox& mailbox = begin(DispatchMode::kWatchdog, kWatchdogUs);
    const sigset_t before = block_all_signals();
    mailbox.is_flooded = true;
    mailbox.put();
    require(comes([] { return handled.load() != 0; }),
            "it knows that the client blocks its signals");
    const uint64_t sleeps = dispatch_stats()["sleeps"];
    const uint32_t begin = handled;
    require(comes([&] { return handled.load() > begin + kTurns * 64; }), "it goes on");
    require(dispatch_stats()["sleeps"] < sleeps + kTurns / 2, "at once");
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    const LibraryCall inside;
  });
}

/// The event of the message has woken the dispatcher, so that nothing else wakes the client.
TEST_F(DispatcherThread, WakesAClientThatSleepsInAWait) {
  run([] {
    Mailbox& mailbox = begin(DispatchMode::kInterrupt);
    sleep_us_max = 3'600'000'000;
    set_wait_mode(WaitMode::kBlock);
    std::thread sender([&] {
      require(comes([] { return wait_stat("sleeps") != 0; }), "the client sleeps");
      mailbox.put_unseen();
      wake_dispatcher();
      require(comes_to_handle(1), "it is woken");
    });
    const LibraryCall wait;
    wait_until([] { return handled.load() == 1; });
    sender.join();
    require(handled_by.load() == gettid(), "it polls by itself");
  });
}

TEST_F(DispatcherThread, ThatDoesNotStartIsReportedAndNotWaitedFor) {
  run([] {
    pthread_attr_t endless;
    pthread_attr_init(&endless);
    require(pthread_attr_setstacksize(&endless, size_t{1} << 47) == 0, "stacks may be that large");
    require(pthread_setattr_default_np(&endless) == 0, "all may be");
    has_dispatcher = true;
    const Status started = start_dispatcher(DispatchMode::kNicproc, 0, {});
    require(!started.ok(), "there is no room for a stack");
    require(started.sentence().find("cannot start the thread") != std::string::npos, "it says so");
    const long before = voluntary_switches();
    stop_dispatcher();
    require(voluntary_switches() - before < 100, "nobody waits for its end");
  });
}

TEST(DispatcherReport, SaysNothingWhereThereIsNoneAndElseAll) {
  EXPECT_TRUE(dispatch_stats().empty());
  has_dispatcher = true;
  const auto stats = dispatch_stats();
  has_dispatcher = false;
  for (const char* name : {"asks", "asks_again", "signals", "threads_held_off", "sleeps", "wakes",
                           "found_beside", "signals_handled", "handed_over", "found_in_signals",
                           "found_after_sections", "found_after_calls"}) {
    EXPECT_TRUE(stats.contains(name)) << name;
  }
}

}  // namespace
}  // namespace pinwire
