// The list of a client's threads, above all when one of them ends.
#include "core/interrupts/client_threads.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <thread>

namespace pinwire {
namespace {

int signalled = 0;
pid_t signalled_last = 0;
bool count_signal(const ClientThread& thread) {
  ++signalled;
  signalled_last = thread.thread_id;
  return true;
}

/// Runs `ends` in a thread that is listed until then.
template <typename Ends>
void in_listed_thread(Ends&& ends) {
  std::thread([&] {
    register_client_thread();
    ends();
  }).join();
}

TEST(ClientThreads, OneThatIsListedIsSignalled) {
  in_listed_thread([] {
    register_client_thread();  // no second time
    signalled = 0;
    EXPECT_TRUE(notify_client(false, count_signal).is_signalled);
    EXPECT_EQ(signalled, 1);
    EXPECT_EQ(signalled_last, gettid());
    forget_client_thread();
  });
}

TEST(ClientThreads, OneThatEndsIsListedNoMore) {
  in_listed_thread([] {
    forget_client_thread();
    signalled = 0;
    EXPECT_FALSE(notify_client(false, count_signal).is_signalled);
    EXPECT_EQ(signalled, 0);
    EXPECT_FALSE(every_client_blocks(SIGUSR1)) << "there is none";
  });
}

TEST(ClientThreads, OthersStayListedWhenOneEnds) {
  in_listed_thread([] {
    const pid_t first = gettid();
    in_listed_thread([] { forget_client_thread(); });
    EXPECT_TRUE(notify_client(false, count_signal).is_signalled);
    EXPECT_EQ(signalled_last, first);
    forget_client_thread();
  });
}

/// A signal may be on its way to it.
TEST(ClientThreads, OneThatEndsRunsNoHandlersAnyMore) {
  in_listed_thread([] {
    int drained = 0;
    const auto drain = [&drained] { return ++drained > 0; };
    const auto nobody = [] {};
    EXPECT_EQ(this_client.handshake.arrive(), Arrival::kSignal);
    this_client.handshake.on_signal(drain, nobody);
    EXPECT_EQ(drained, 1);
    EXPECT_EQ(this_client.handshake.arrive(), Arrival::kSignal);
    forget_client_thread();
    this_client.handshake.on_signal(drain, nobody);
    EXPECT_EQ(drained, 1);
  });
}

/// A thread that may not run handlers where it is leaves them to another, but what it drains itself
/// at the end of a section.
TEST(ClientThreads, OneInASectionHandsNothingOver) {
  in_listed_thread([] {
    auto& handshake = this_client.handshake;
    int given = 0, drained = 0;
    const auto give = [&given] { ++given; };
    EXPECT_EQ(handshake.arrive(), Arrival::kSignal);
    handshake.disable(Reason::kSection);
    handshake.hand_over(give);
    EXPECT_EQ(given, 0);
    handshake.enable(
        Reason::kSection, [&drained] { return ++drained > 0; }, [] {});
    EXPECT_EQ(drained, 1);
    EXPECT_EQ(handshake.arrive(), Arrival::kSignal);
    handshake.hand_over(give);
    handshake.hand_over(give);
    EXPECT_EQ(given, 1);
    forget_client_thread();
  });
}

/// A sum that shrinks, or grows without a poll, would look like progress.
TEST(ClientThreads, ThePollsOfOneThatEndsStayInTheSum) {
  const uint64_t before = count_polls();
  in_listed_thread([before] {
    this_client.polls += 3;
    EXPECT_EQ(count_polls(), before + 3);
    forget_client_thread();
    EXPECT_EQ(count_polls(), before + 3);
  });
  EXPECT_EQ(count_polls(), before + 3);
}

TEST(ClientThreads, ASignalThatAllBlockIsBlocked) {
  in_listed_thread([] {
    EXPECT_FALSE(every_client_blocks(SIGUSR1));
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &set, nullptr);
    EXPECT_TRUE(every_client_blocks(SIGUSR1));
    EXPECT_FALSE(every_client_blocks(SIGUSR2));
    in_listed_thread([&set] {
      pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
      EXPECT_FALSE(every_client_blocks(SIGUSR1)) << "one of two";
      forget_client_thread();
    });
    EXPECT_TRUE(every_client_blocks(SIGUSR1));
    forget_client_thread();
  });
}

TEST(ClientThreads, LostSignalsAreSentAgain) {
  in_listed_thread([] {
    signalled = 0;
    EXPECT_TRUE(notify_client(false, count_signal).is_signalled);
    notify_client(false, count_signal);
    EXPECT_EQ(signalled, 1) << "it is waited for";
    resend_signals();
    notify_client(false, count_signal);
    EXPECT_EQ(signalled, 2);
    forget_client_thread();
  });
}

}  // namespace
}  // namespace pinwire
