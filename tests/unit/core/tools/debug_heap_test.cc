// The heap of gasnett_debug_malloc, which clients have in debug builds, and its library always.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/time.h>

#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "gasnet_tools.h"

namespace {

#define HERE __FILE__, __LINE__

volatile int handled = 0;
void allocate_in_handler(int) {
  pinwire_debug_free(pinwire_debug_malloc(64, HERE), HERE);
  handled = handled + 1;
}

/// A message interrupts the library's own text as it does the client's.
TEST(DebugHeap, ASignalsHandlerMayUseIt) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP()
      << "ThreadSanitizer refuses malloc in any signal handler, also where it interrupts no malloc";
#endif
  constexpr int kSignals = 50, kBlocks = 2'000;
  std::vector<void*> blocks;
  for (int i = 0; i < kBlocks; ++i) blocks.push_back(pinwire_debug_malloc(8, HERE));
  struct sigaction before {
  }, mine{};
  mine.sa_handler = allocate_in_handler;
  ASSERT_EQ(sigaction(SIGALRM, &mine, &before), 0);
  const itimerval often{{0, 500}, {0, 500}}, never{};
  ASSERT_EQ(setitimer(ITIMER_REAL, &often, nullptr), 0);
  while (handled < kSignals) pinwire_debug_memcheck_all(HERE);
  setitimer(ITIMER_REAL, &never, nullptr);
  sigaction(SIGALRM, &before, nullptr);
  for (void* block : blocks) pinwire_debug_free(block, HERE);
}

TEST(DebugHeap, BlocksAreMemory) {
  auto* text = static_cast<char*>(pinwire_debug_malloc(5, HERE));
  std::strcpy(text, "pins");
  text = static_cast<char*>(pinwire_debug_realloc(text, 100, HERE));
  EXPECT_STREQ(text, "pins");
  std::memset(text, 'x', 100);
  text = static_cast<char*>(pinwire_debug_realloc(text, 2, HERE));
  EXPECT_EQ(text[1], 'x');
  auto* zeros = static_cast<uint64_t*>(pinwire_debug_calloc(30, sizeof(uint64_t), HERE));
  EXPECT_EQ(reinterpret_cast<uintptr_t>(zeros) % 16, 0u);
  for (int i = 0; i < 30; ++i) EXPECT_EQ(zeros[i], 0u);
  char* copy = pinwire_debug_strdup("wire", HERE);
  char* part = pinwire_debug_strndup("wire", 2, HERE);
  EXPECT_STREQ(copy, "wire");
  EXPECT_STREQ(part, "wi");
  pinwire_debug_memcheck(copy, HERE);
  for (int i = 0; i < 7; ++i) pinwire_debug_memcheck_one(HERE);
  pinwire_debug_memcheck_all(HERE);
  for (void* block : {static_cast<void*>(text), static_cast<void*>(zeros), static_cast<void*>(copy),
                      static_cast<void*>(part), static_cast<void*>(nullptr)})
    pinwire_debug_free(block, HERE);
}

TEST(DebugHeap, WhatIsTooMuchIsNull) {
  constexpr size_t kMost = std::numeric_limits<size_t>::max();
  EXPECT_EQ(pinwire_debug_malloc(kMost - 8, HERE), nullptr);
  EXPECT_EQ(pinwire_debug_calloc(kMost / 2, 4, HERE), nullptr);
}

void write_behind(char* block) { *static_cast<volatile char*>(block + 10) = 1; }

TEST(DebugHeapDeathTest, AWriteBehindTheEndIsFoundByEachCheck) {
  EXPECT_DEATH(
      {
        auto* block = static_cast<char*>(pinwire_debug_malloc(10, "source.c", 77));
        write_behind(block);
        pinwire_debug_free(block, HERE);
      },
      "10 bytes of source.c:77, was written to behind its end");
  EXPECT_DEATH(
      {
        auto* block = static_cast<char*>(pinwire_debug_malloc(10, HERE));
        write_behind(block);
        pinwire_debug_memcheck(block, HERE);
      },
      "behind its end");
  EXPECT_DEATH(
      {
        write_behind(static_cast<char*>(pinwire_debug_malloc(10, HERE)));
        pinwire_debug_memcheck_all(HERE);
      },
      "behind its end");
  EXPECT_DEATH(
      {
        pinwire_debug_malloc(10, HERE);
        write_behind(static_cast<char*>(pinwire_debug_malloc(10, HERE)));
        pinwire_debug_memcheck_one(HERE);
        pinwire_debug_memcheck_one(HERE);
      },
      "behind its end");
}

TEST(DebugHeapDeathTest, APointerThatIsNoBlockEndsTheProgram) {
  EXPECT_DEATH(
      {
        auto* block = static_cast<char*>(pinwire_debug_malloc(64, HERE));
        pinwire_debug_free(block + 16, HERE);
      },
      "is no block of gasnett_debug_malloc");
}

}  // namespace
