// The stack of interrupts: where handlers run, whatever stack the signal finds.
#include "core/interrupts/signal_stack.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <cstddef>
#include <thread>
#include <vector>

namespace pinwire {
namespace {

const std::byte* ran_at = nullptr;
uint32_t runs = 0;

void use_much_stack() {
  volatile std::byte room[kSignalStackBytes / 2];
  for (size_t at = 0; at < sizeof room; at += 1024) room[at] = std::byte{1};
  ran_at = const_cast<const std::byte*>(&room[0]);
  ++runs;
}
void on_signal(int) { run_on_signal_stack(use_much_stack); }

void take_signals() {
  struct sigaction mine {};
  mine.sa_handler = on_signal;
  mine.sa_flags = signal_stack_flags;
  ASSERT_EQ(sigaction(SIGUSR1, &mine, nullptr), 0);
}

stack_t alternate() {
  stack_t now{};
  EXPECT_EQ(sigaltstack(nullptr, &now), 0);
  return now;
}

/// In a thread of its own, whose stack it is.
template <typename Body>
void in_a_thread(Body&& body) {
  take_signals();
  runs = 0;
  std::thread([&] {
    body();
    take_signal_stack();
  }).join();
}

TEST(SignalStack, IsWhereHandlersRun) {
  in_a_thread([] {
    give_signal_stack();
    give_signal_stack();  // once
    const stack_t given = alternate();
    ASSERT_EQ(given.ss_flags & SS_DISABLE, 0);
    for (uint32_t i = 1; i <= 3; ++i) {
      raise(SIGUSR1);
      EXPECT_EQ(runs, i);
    }
    const auto* base = static_cast<const std::byte*>(given.ss_sp);
    EXPECT_TRUE(ran_at >= base && ran_at < base + given.ss_size);
  });
}

TEST(SignalStack, LeavesTheClientsOwnToIt) {
  in_a_thread([] {
    std::vector<std::byte> small(static_cast<size_t>(sysconf(_SC_MINSIGSTKSZ)) + 4096);
    stack_t own{};
    own.ss_sp = small.data();
    own.ss_size = small.size();
    ASSERT_EQ(sigaltstack(&own, nullptr), 0);
    give_signal_stack();
    EXPECT_EQ(alternate().ss_sp, small.data());
    for (uint32_t i = 1; i <= 3; ++i) {
      raise(SIGUSR1);
      EXPECT_EQ(runs, i) << "more than the client's has, so elsewhere";
    }
    EXPECT_FALSE(ran_at >= small.data() && ran_at < small.data() + small.size());
    take_signal_stack();
    EXPECT_EQ(alternate().ss_sp, small.data());
    own.ss_flags = SS_DISABLE;
    sigaltstack(&own, nullptr);
  });
}

uint32_t client_runs = 0;
void on_clients_signal(int) {
  volatile std::byte room[4096];
  for (volatile std::byte& at : room) at = std::byte{0x5a};
  ++client_runs;
}
void raise_clients_signal() {
  raise(SIGUSR2);
  EXPECT_EQ(client_runs, 0u) << "on the stack where the frame of the first signal is";
  use_much_stack();
}

/// The kernel takes an alternate stack that was left for a free one.
TEST(SignalStack, AnotherSignalWaitsUntilTheWayBack) {
  in_a_thread([] {
    std::vector<std::byte> clients(65'536);
    stack_t own{};
    own.ss_sp = clients.data();
    own.ss_size = clients.size();
    ASSERT_EQ(sigaltstack(&own, nullptr), 0);
    give_signal_stack();
    struct sigaction theirs {};
    theirs.sa_handler = on_clients_signal;
    theirs.sa_flags = SA_ONSTACK;
    ASSERT_EQ(sigaction(SIGUSR2, &theirs, nullptr), 0);
    struct sigaction mine {};
    mine.sa_handler = [](int) { run_on_signal_stack(raise_clients_signal); };
    mine.sa_flags = signal_stack_flags;
    ASSERT_EQ(sigaction(SIGUSR1, &mine, nullptr), 0);
    raise(SIGUSR1);
    EXPECT_EQ(runs, 1u);
    EXPECT_EQ(client_runs, 1u);
    own.ss_flags = SS_DISABLE;
    sigaltstack(&own, nullptr);
  });
}

std::byte* stack_base = nullptr;

/// Descends until a frame lies below the stack, by less than the page that guards it.
[[gnu::noinline]] void overflow() {
  volatile std::byte room[256];
  room[0] = std::byte{1};
  if (&room[0] >= stack_base) overflow();
  room[1] = std::byte{2};  // after the call, which so needs a frame of its own
}
void overflow_on_signal_stack() {
  give_signal_stack();
  stack_base = static_cast<std::byte*>(alternate().ss_sp);
  run_on_signal_stack(overflow);
  _exit(0);  // it came back: what lies below the stack was written
}

TEST(SignalStackDeathTest, OverflowsIntoItsGuardAndNotIntoOtherMemory) {
  EXPECT_EXIT(overflow_on_signal_stack(), testing::KilledBySignal(SIGSEGV), "");
}

/// The thread is on its way out, or never was a client's.
TEST(SignalStack, IsNoLongerThereOnceItIsTaken) {
  in_a_thread([] {
    take_signal_stack();
    give_signal_stack();
    take_signal_stack();
    EXPECT_NE(alternate().ss_flags & SS_DISABLE, 0);
    raise(SIGUSR1);
    EXPECT_EQ(runs, 1u) << "on the thread's own stack";
  });
}

}  // namespace
}  // namespace pinwire
