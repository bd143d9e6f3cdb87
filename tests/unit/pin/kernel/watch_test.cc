// The watch by itself, on this kernel.
#include "pin/kernel/watch.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <thread>

namespace pinwire {
namespace {

constexpr uint64_t kPageBytes = 4096;
constexpr int kPrivate = MAP_PRIVATE | MAP_ANONYMOUS;

uint64_t map(uint64_t pages, int protection = PROT_READ | PROT_WRITE, int flags = kPrivate) {
  void* base = mmap(nullptr, pages * kPageBytes, protection, flags, -1, 0);
  check(base != MAP_FAILED, "no memory", errno);
  return reinterpret_cast<uint64_t>(base);
}
void* pointer(uint64_t at) { return reinterpret_cast<void*>(at); }

class WatchTest : public testing::Test {
 protected:
  void SetUp() override {
    const Status opened = watch_.open(8);
    if (!opened) GTEST_SKIP() << opened.sentence();
  }
  bool watch(uint32_t slot, uint64_t from, uint64_t pages) {
    return watch_.watch(slot, from, from + pages * kPageBytes);
  }
  /// However long the reader is off its core.
  void settle() {
    while (!watch_.settle()) ASSERT_FALSE(watch_.is_broken());
  }
  bool is_stale(uint32_t slot) {
    settle();
    return watch_.is_stale(slot);
  }
  Watch watch_;
};

TEST_F(WatchTest, WhatIsUnmappedIsStaleAndItsNeighboursAreNot) {
  const uint64_t base = map(6);
  ASSERT_TRUE(watch(0, base, 2));
  ASSERT_TRUE(watch(1, base + 2 * kPageBytes, 2));
  ASSERT_TRUE(watch(2, base + 4 * kPageBytes, 2));
  ASSERT_TRUE(watch(3, base, 6));
  EXPECT_FALSE(is_stale(0) || is_stale(1) || is_stale(2) || is_stale(3));
  munmap(pointer(base + 3 * kPageBytes), kPageBytes);
  EXPECT_FALSE(is_stale(0));
  EXPECT_TRUE(is_stale(1));
  EXPECT_FALSE(is_stale(2));
  EXPECT_TRUE(is_stale(3));
  EXPECT_GE(watch_.events(), 1u);
  ASSERT_TRUE(watch(1, base, 1));
  EXPECT_FALSE(is_stale(1)) << "a slot that is used anew";
  munmap(pointer(base), 6 * kPageBytes);
}

TEST_F(WatchTest, EachUserHasRangesOfItsOwn) {
  EXPECT_EQ(watch_.take_slots(3), 0u);
  EXPECT_EQ(watch_.take_slots(5), 3u);
}

TEST_F(WatchTest, NothingFaultsAndTheMappingStaysOne) {
  const uint64_t base = map(64);
  ASSERT_TRUE(watch(0, base + 16 * kPageBytes, 4));
  for (uint64_t page = 0; page < 64; ++page) {
    *static_cast<volatile char*>(pointer(base + page * kPageBytes)) = 1;
  }
  // In parts it could not be moved at once before Linux 6.17.
  void* moved = mremap(pointer(base), 64 * kPageBytes, 128 * kPageBytes, MREMAP_MAYMOVE);
  ASSERT_NE(moved, MAP_FAILED);
  EXPECT_EQ(static_cast<char*>(moved)[63 * kPageBytes], 1);
  munmap(moved, 128 * kPageBytes);
}

TEST_F(WatchTest, OnlyPrivateMemoryThatMayBeWrittenIsWatched) {
  const uint64_t shared = map(4, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS);
  const uint64_t constant = map(4, PROT_READ);
  const uint64_t gap = map(4);
  munmap(pointer(gap + kPageBytes), kPageBytes);
  EXPECT_FALSE(watch(0, shared, 4));
  EXPECT_FALSE(watch(0, constant, 4));
  EXPECT_FALSE(watch(0, gap, 4));
  EXPECT_TRUE(watch(0, gap + 2 * kPageBytes, 2));
  EXPECT_TRUE(watch(1, reinterpret_cast<uint64_t>(&shared) & ~(kPageBytes - 1), 1)) << "the stack";
  munmap(pointer(shared), 4 * kPageBytes);
  munmap(pointer(constant), 4 * kPageBytes);
  munmap(pointer(gap), 4 * kPageBytes);
}

TEST_F(WatchTest, WhoeverUnmapsIsNotHeldUp) {
  for (int i = 0; i < 50; ++i) {
    const uint64_t base = map(4);
    ASSERT_TRUE(watch(0, base, 4));
    std::thread other([&] { munmap(pointer(base), kPageBytes); });
    munmap(pointer(base + kPageBytes), 3 * kPageBytes);
    other.join();
    EXPECT_TRUE(is_stale(0));
  }
}

/// With its reader gone nobody waits for it.
TEST_F(WatchTest, AfterItsEndMemoryIsUnmappedAsEver) {
  const uint64_t base = map(4);
  ASSERT_TRUE(watch(0, base, 4));
  watch_.close();
  EXPECT_EQ(munmap(pointer(base), 4 * kPageBytes), 0);
}

TEST_F(WatchTest, MemoryOfAnEarlierWatchIsWatchedAgain) {
  const uint64_t base = map(4);
  ASSERT_TRUE(watch(0, base, 4));
  watch_.close();
  Watch another;
  ASSERT_TRUE(another.open(1).ok());
  ASSERT_TRUE(another.watch(0, base, base + 4 * kPageBytes));
  munmap(pointer(base), 4 * kPageBytes);
  while (!another.settle()) ASSERT_FALSE(another.is_broken());
  EXPECT_TRUE(another.is_stale(0));
}

uint64_t watched_at_exit = 0;

/// A process that ends with the watch open: in exit handlers its reader still reads.
TEST(WatchDeathTest, ExitHandlersMayUnmap) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        alarm(60);
        auto* watch = new Watch;
        if (watch->open(1)) {
          watched_at_exit = map(4);
          watch->watch(0, watched_at_exit, watched_at_exit + 4 * kPageBytes);
        }
        std::atexit([] { munmap(pointer(watched_at_exit), 4 * kPageBytes); });
        std::exit(7);
      },
      testing::ExitedWithCode(7), "");
}

/// Killed while a thread unmaps.
TEST(WatchDeathTest, AThreadThatUnmapsDoesNotKeepAProcessAlive) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        alarm(60);
        auto* watch = new Watch;
        const bool is_open = watch->open(1).ok();
        std::thread([watch, is_open] {
          for (;;) {
            const uint64_t base = map(4);
            if (is_open) watch->watch(0, base, base + 4 * kPageBytes);
            munmap(pointer(base), 4 * kPageBytes);
          }
        }).detach();
        for (int i = 0; i < 1000; ++i) std::this_thread::yield();
        kill(getpid(), SIGKILL);
      },
      testing::KilledBySignal(SIGKILL), "");
}

TEST_F(WatchTest, AChildThatWasForkedIsNotHeldUp) {
  const uint64_t base = map(4);
  ASSERT_TRUE(watch(0, base, 4));
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);  // a child that hangs dies by that
    munmap(pointer(base), 4 * kPageBytes);
    _exit(0);
  }
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_FALSE(is_stale(0)) << "the parent's memory is where it was";
  munmap(pointer(base), 4 * kPageBytes);
}

/// From a handler on top of one that asks or watches: the reader waits for neither.
TEST_F(WatchTest, ASignalHandlerMayUnmap) {
  static std::atomic<uint64_t> given{0};
  struct sigaction action {};
  action.sa_handler = [](int) {
    const uint64_t base = given.exchange(0);
    if (base != 0) munmap(pointer(base), 4 * kPageBytes);
  };
  sigaction(SIGUSR1, &action, nullptr);
  std::atomic<bool> is_over{false};
  const pthread_t here = pthread_self();
  std::thread sender([&] {
    while (!is_over.load()) {
      if (given.load() != 0) pthread_kill(here, SIGUSR1);
    }
  });
  for (int i = 0; i < 100; ++i) {
    const uint64_t base = map(4);
    ASSERT_TRUE(watch(0, base, 4));
    given.store(base);
    while (given.load() != 0) settle();
    EXPECT_TRUE(is_stale(0));
  }
  is_over.store(true);
  sender.join();
  signal(SIGUSR1, SIG_DFL);
}

}  // namespace
}  // namespace pinwire
