/* GASNet's tools: atomic integers, of one thread; tool_atomics_threads.c has several at once. */
#include <limits.h>

#include "../ex.h"

/* Fences that flags may ask for are distinct, and the others are made of them. */
CASE(flags, "GX-174") {
  static const int kinds[] = {GASNETT_ATOMIC_RMB_PRE,          GASNETT_ATOMIC_WMB_PRE,
                              GASNETT_ATOMIC_RMB_POST,         GASNETT_ATOMIC_WMB_POST,
                              GASNETT_ATOMIC_RMB_POST_IF_TRUE, GASNETT_ATOMIC_RMB_POST_IF_FALSE};
  int all = 0;
  for (int i = 0; i < 6; ++i) {
    EXPECT(kinds[i] != 0 && (all & kinds[i]) != kinds[i]);
    all |= kinds[i];
  }
  EXPECT_EQ(GASNETT_ATOMIC_NONE, 0);
  EXPECT((GASNETT_ATOMIC_MB_PRE & ~all) == 0 && GASNETT_ATOMIC_MB_PRE != 0);
  EXPECT((GASNETT_ATOMIC_MB_POST & ~all) == 0 && GASNETT_ATOMIC_MB_POST != 0);
  EXPECT(GASNETT_ATOMIC_REL != 0 && GASNETT_ATOMIC_ACQ != 0);
  EXPECT(GASNETT_ATOMIC_ACQ_IF_TRUE != GASNETT_ATOMIC_ACQ_IF_FALSE);
  EXPECT_EQ(GASNETT_ATOMIC_REL & GASNETT_ATOMIC_ACQ, 0);
}

static const int flag_sets[] = {GASNETT_ATOMIC_NONE,
                                GASNETT_ATOMIC_RMB_PRE,
                                GASNETT_ATOMIC_WMB_PRE,
                                GASNETT_ATOMIC_MB_PRE,
                                GASNETT_ATOMIC_RMB_POST,
                                GASNETT_ATOMIC_WMB_POST,
                                GASNETT_ATOMIC_MB_POST,
                                GASNETT_ATOMIC_REL,
                                GASNETT_ATOMIC_ACQ,
                                GASNETT_ATOMIC_REL | GASNETT_ATOMIC_ACQ,
                                GASNETT_ATOMIC_MB_PRE | GASNETT_ATOMIC_MB_POST};
/* Flags of operations that tell whether the test was true. */
static const int test_flags[] = {GASNETT_ATOMIC_NONE,
                                 GASNETT_ATOMIC_RMB_POST_IF_TRUE,
                                 GASNETT_ATOMIC_RMB_POST_IF_FALSE,
                                 GASNETT_ATOMIC_REL | GASNETT_ATOMIC_ACQ_IF_TRUE,
                                 GASNETT_ATOMIC_REL | GASNETT_ATOMIC_ACQ_IF_FALSE,
                                 GASNETT_ATOMIC_MB_PRE | GASNETT_ATOMIC_MB_POST};
enum {
  kFlagSets = sizeof flag_sets / sizeof *flag_sets,
  kTestFlags = sizeof test_flags / sizeof *test_flags
};

/* Each operation of one type, whose values are of VALUE and up to LARGEST. */
#define ATOMIC_TYPE(NAME, VALUE, LARGEST)                                                   \
  static NAME##_t NAME##_variable = NAME##_init(7);                                         \
  static void NAME##_sums(NAME##_t *p, int flags) {                                         \
    NAME##_set(p, 5, flags);                                                                \
    EXPECT(NAME##_read(p, flags) == 5);                                                     \
    NAME##_increment(p, flags);                                                             \
    EXPECT(NAME##_read(p, flags) == 6);                                                     \
    NAME##_decrement(p, flags);                                                             \
    NAME##_decrement(p, flags);                                                             \
    EXPECT(NAME##_read(p, flags) == 4);                                                     \
    EXPECT(NAME##_add(p, 100, flags) == 104);                                               \
    EXPECT(NAME##_subtract(p, 24, flags) == 80);                                            \
    EXPECT(NAME##_read(p, flags) == 80);                                                    \
    EXPECT(NAME##_swap(p, 9, flags) == 80);                                                 \
    EXPECT(NAME##_read(p, flags) == 9);                                                     \
    NAME##_set(p, (VALUE)(LARGEST), flags);                                                 \
    EXPECT(NAME##_read(p, flags) == (VALUE)(LARGEST));                                      \
    EXPECT(NAME##_subtract(p, 1, flags) == (VALUE)(LARGEST)-1);                             \
    EXPECT(NAME##_swap(p, 0, flags) == (VALUE)(LARGEST)-1);                                 \
  }                                                                                         \
  static void NAME##_tests(NAME##_t *p, int flags) {                                        \
    NAME##_set(p, 2, 0);                                                                    \
    EXPECT(!NAME##_decrement_and_test(p, flags));                                           \
    EXPECT(NAME##_decrement_and_test(p, flags));                                            \
    EXPECT(NAME##_read(p, 0) == 0);                                                         \
    EXPECT(!NAME##_compare_and_swap(p, 1, 2, flags));                                       \
    EXPECT(NAME##_read(p, 0) == 0);                                                         \
    EXPECT(NAME##_compare_and_swap(p, 0, (VALUE)(LARGEST), flags));                         \
    EXPECT(NAME##_compare_and_swap(p, (VALUE)(LARGEST), 3, flags));                         \
    EXPECT(NAME##_read(p, 0) == 3);                                                         \
  }                                                                                         \
  CASE(NAME, "GX-174") {                                                                    \
    NAME##_t automatic = NAME##_init(8);                                                    \
    EXPECT(NAME##_read(&NAME##_variable, 0) == 7 || NAME##_read(&NAME##_variable, 0) == 3); \
    EXPECT(NAME##_read(&automatic, 0) == 8);                                                \
    for (int i = 0; i < kFlagSets; ++i) NAME##_sums(&automatic, flag_sets[i]);              \
    for (int i = 0; i < kTestFlags; ++i) NAME##_tests(&NAME##_variable, test_flags[i]);     \
  }                                                                                         \
  typedef int NAME##_is_a_case
ATOMIC_TYPE(gasnett_atomic, gasnett_atomic_val_t, 0xffffff);
ATOMIC_TYPE(gasnett_atomic32, uint32_t, UINT32_MAX);
ATOMIC_TYPE(gasnett_atomic64, uint64_t, UINT64_MAX);
ATOMIC_TYPE(gasnett_strongatomic, gasnett_atomic_val_t, 0xffffff);
ATOMIC_TYPE(gasnett_strongatomic32, uint32_t, UINT32_MAX);
ATOMIC_TYPE(gasnett_strongatomic64, uint64_t, UINT64_MAX);

CASE(fixed_widths, "GX-174") {
  _Static_assert(sizeof(gasnett_atomic32_t) == 4 && sizeof(gasnett_strongatomic32_t) == 4, "");
  _Static_assert(sizeof(gasnett_atomic64_t) == 8 && sizeof(gasnett_strongatomic64_t) == 8, "");
  _Static_assert(sizeof(gasnett_atomic_val_t) * CHAR_BIT >= 24, "24 bits at least");
}
