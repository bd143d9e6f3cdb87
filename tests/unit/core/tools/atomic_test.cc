#include <gtest/gtest.h>

#include <limits>
#include <thread>
#include <vector>

#include "gasnet_tools.h"

namespace {

constexpr int kAllFlags[] = {GASNETT_ATOMIC_NONE,
                             GASNETT_ATOMIC_REL,
                             GASNETT_ATOMIC_ACQ,
                             GASNETT_ATOMIC_MB_PRE | GASNETT_ATOMIC_MB_POST,
                             GASNETT_ATOMIC_RMB_PRE | GASNETT_ATOMIC_WMB_POST,
                             GASNETT_ATOMIC_ACQ_IF_TRUE,
                             GASNETT_ATOMIC_ACQ_IF_FALSE};

/// Every operation of one type, under every flag, against what it says.
#define ATOMIC_TEST(NAME, VALUE)                                   \
  TEST(Atomic, NAME) {                                             \
    static NAME##_t word = NAME##_init(-2);                        \
    const VALUE top = std::numeric_limits<VALUE>::max();           \
    EXPECT_EQ(NAME##_read(&word, 0), static_cast<VALUE>(-2));      \
    EXPECT_EQ(sizeof(word), sizeof(VALUE));                        \
    EXPECT_EQ(alignof(NAME##_t), alignof(VALUE));                  \
    for (int flags : kAllFlags) {                                  \
      NAME##_set(&word, 5, flags);                                 \
      NAME##_increment(&word, flags);                              \
      EXPECT_EQ(NAME##_read(&word, flags), VALUE{6});              \
      NAME##_decrement(&word, flags);                              \
      EXPECT_EQ(NAME##_add(&word, 10, flags), VALUE{15});          \
      EXPECT_EQ(NAME##_subtract(&word, 14, flags), VALUE{1});      \
      EXPECT_NE(NAME##_decrement_and_test(&word, flags), 0);       \
      EXPECT_EQ(NAME##_decrement_and_test(&word, flags), 0);       \
      EXPECT_EQ(NAME##_read(&word, flags), top);                   \
      EXPECT_EQ(NAME##_add(&word, 1, flags), VALUE{0});            \
      EXPECT_EQ(NAME##_swap(&word, top, flags), VALUE{0});         \
      EXPECT_EQ(NAME##_compare_and_swap(&word, 0, 1, flags), 0);   \
      EXPECT_EQ(NAME##_read(&word, flags), top);                   \
      EXPECT_NE(NAME##_compare_and_swap(&word, top, 1, flags), 0); \
      EXPECT_EQ(NAME##_read(&word, flags), VALUE{1});              \
    }                                                              \
  }

ATOMIC_TEST(gasnett_atomic, gasnett_atomic_val_t)
ATOMIC_TEST(gasnett_atomic32, uint32_t)
ATOMIC_TEST(gasnett_atomic64, uint64_t)
ATOMIC_TEST(gasnett_strongatomic, gasnett_atomic_val_t)
ATOMIC_TEST(gasnett_strongatomic32, uint32_t)
ATOMIC_TEST(gasnett_strongatomic64, uint64_t)

TEST(Atomic, SignedValuesWrap) {
  gasnett_atomic_t word = gasnett_atomic_init(0);
  gasnett_atomic_decrement(&word, 0);
  EXPECT_EQ(gasnett_atomic_read(&word, 0), GASNETT_ATOMIC_MAX);
  EXPECT_EQ(gasnett_atomic_signed(gasnett_atomic_read(&word, 0)), -1);
  gasnett_atomic_set(&word, static_cast<gasnett_atomic_val_t>(GASNETT_ATOMIC_SIGNED_MIN), 0);
  gasnett_atomic_decrement(&word, 0);
  EXPECT_EQ(gasnett_atomic_signed(gasnett_atomic_read(&word, 0)), GASNETT_ATOMIC_SIGNED_MAX);
}

TEST(Atomic, FixedWidthsLieOverIntegersAndFloats) {
  double real = 0;
  gasnett_atomic64_set((gasnett_atomic64_t*)&real, 0x3ff0000000000000, 0);
  EXPECT_EQ(real, 1.0);
  int32_t whole = 0;
  gasnett_atomic32_set((gasnett_atomic32_t*)&whole, 7, 0);
  EXPECT_EQ(whole, 7);
}

/// The strong ones count right in every mode, the others where threads are allowed.
TEST(Atomic, ThreadsLoseNothing) {
  constexpr int kThreads = 4, kRounds = 20000;
  gasnett_strongatomic64_t strong = gasnett_strongatomic64_init(0);
  gasnett_atomic_t weak = gasnett_atomic_init(0);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < kRounds; ++i) {
        gasnett_strongatomic64_increment(&strong, 0);
        uint64_t before = 0;
        do {
          before = gasnett_strongatomic64_read(&strong, 0);
        } while (!gasnett_strongatomic64_compare_and_swap(&strong, before, before + 1, 0));
        if (PINWIRE_TOOLS_THREADS) gasnett_atomic_increment(&weak, 0);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(gasnett_strongatomic64_read(&strong, 0), uint64_t{2} * kThreads * kRounds);
  EXPECT_EQ(gasnett_atomic_read(&weak, 0), PINWIRE_TOOLS_THREADS ? kThreads * kRounds : 0u);
}

}  // namespace
