/* Barriers (3.5). Misuse, which is fatal: misuse.c. */
#include <limits.h>

#include "gasnet1.h"

enum { kAnonymous = GASNET_BARRIERFLAG_ANONYMOUS, kMismatch = GASNET_BARRIERFLAG_MISMATCH };

static int wait_by(int by_try, int id, int flags) {
  int result;
  if (!by_try) return gasnet_barrier_wait(id, flags);
  do {
    result = gasnet_barrier_try(id, flags);
  } while (result == GASNET_ERR_NOT_READY);
  return result;
}

static void phase(int by_try, int id, int flags, int wait_id, int wait_flags, int expected) {
  gasnet_barrier_notify(id, flags);
  EXPECT_EQ(wait_by(by_try, wait_id, wait_flags), expected);
}
/* After whatever happened, the next one works: named and anonymous. */
static void next_ones_work(int by_try) {
  phase(by_try, 99, 0, 99, 0, GASNET_OK);
  phase(by_try, 0, kAnonymous, 0, kAnonymous, GASNET_OK);
}

static const int ids[] = {0, 1, -1, 2, INT_MIN, INT_MAX, INT_MIN + 1, 42, 0x7ffffffe};

CASE(any_id, "C1-048 C1-263 C1-266 C1-273") {
  for (int by_try = 0; by_try < 2; ++by_try)
    for (unsigned i = 0; i < sizeof ids / sizeof *ids; ++i)
      phase(by_try, ids[i], 0, ids[i], 0, GASNET_OK);
}

CASE(anonymous_ignores_ids, "C1-266") {
  for (int by_try = 0; by_try < 2; ++by_try)
    phase(by_try, (int)me, kAnonymous, (int)me + 7, kAnonymous, GASNET_OK);
}

/* (a) and (c): the wait differs from this node's notify; a matter of this node alone. */
CASE(wait_that_differs_from_notify, "C1-268 C1-269 C1-272") {
  for (int by_try = 0; by_try < 2; ++by_try) {
    for (gasnet_node_t odd = 0; odd < nodes; ++odd) {
      const int is_odd = me == odd;
      const int expected = is_odd ? GASNET_ERR_BARRIER_MISMATCH : GASNET_OK;
      phase(by_try, 5, 0, is_odd ? 6 : 5, 0, expected);
      next_ones_work(by_try);
      phase(by_try, 5, 0, 5, is_odd ? kAnonymous : 0, expected);
      next_ones_work(by_try);
      phase(by_try, 5, kAnonymous, 5, is_odd ? 0 : kAnonymous, expected);
      next_ones_work(by_try);
      phase(by_try, 5, 0, 5, is_odd ? kMismatch : 0, expected);
      next_ones_work(by_try);
    }
  }
}

/* (b): one node's flag is everybody's result. */
CASE(one_mismatch_flag_is_everybodys, "C1-266 C1-268 C1-269") {
  for (int by_try = 0; by_try < 2; ++by_try) {
    for (gasnet_node_t odd = 0; odd < nodes; ++odd) {
      const int flags = me == odd ? kMismatch : 0, others = me == odd ? kMismatch : kAnonymous;
      phase(by_try, 5, flags, 5, flags, GASNET_ERR_BARRIER_MISMATCH);
      next_ones_work(by_try);
      phase(by_try, 5, others, 5, others, GASNET_ERR_BARRIER_MISMATCH);
      next_ones_work(by_try);
    }
    phase(by_try, 5, kMismatch, 5, kMismatch, GASNET_ERR_BARRIER_MISMATCH);
    next_ones_work(by_try);
  }
}

/* (d): two named values that differ, whatever they are. */
CASE(names_that_differ, "C1-268 C1-269 C1-273") {
  if (nodes < 2) NOT_HERE("one rank agrees with itself");
  for (int by_try = 0; by_try < 2; ++by_try) {
    for (unsigned i = 0; i < sizeof ids / sizeof *ids; ++i) {
      for (unsigned j = 0; j < sizeof ids / sizeof *ids; ++j) {
        const int id = me == nodes - 1 ? ids[i] : ids[j];
        phase(by_try, id, 0, id, 0, i == j ? GASNET_OK : GASNET_ERR_BARRIER_MISMATCH);
      }
    }
    next_ones_work(by_try);
  }
}

CASE(anonymous_matches_every_name, "C1-270") {
  for (int by_try = 0; by_try < 2; ++by_try) {
    for (unsigned i = 0; i < sizeof ids / sizeof *ids; ++i) {
      for (gasnet_node_t odd = 0; odd < nodes; ++odd) {
        const int flags = me == odd ? kAnonymous : 0;
        phase(by_try, ids[i], flags, ids[i], flags, GASNET_OK);
      }
    }
    if (nodes >= 3) { /* 5, anonymous, 6 */
      const int flags = me == 1 ? kAnonymous : 0, id = me == 0 ? 5 : 6;
      phase(by_try, id, flags, id, flags, GASNET_ERR_BARRIER_MISMATCH);
      next_ones_work(by_try);
    }
  }
}

/* Both at once: named and a local difference, another node's flag. */
CASE(local_and_global_differences_together, "C1-268 C1-269") {
  if (nodes < 2) NOT_HERE("one rank agrees with itself");
  for (int by_try = 0; by_try < 2; ++by_try) {
    const int flags = me == 1 ? kMismatch : 0;
    phase(by_try, 5, flags, me == 0 ? 6 : 5, flags, GASNET_ERR_BARRIER_MISMATCH);
    next_ones_work(by_try);
    phase(by_try, (int)me, 0, (int)me + 1, 0, GASNET_ERR_BARRIER_MISMATCH);
    next_ones_work(by_try);
  }
}

/* ---- split phase --------------------------------------------------------------------------------
 */

static _Atomic int go, answers;
static void on_answer(gasnet_token_t token) {
  (void)token;
  ++answers;
}
HANDLER(on_answer);
static void on_go(gasnet_token_t token) {
  ++go;
  gasnet_AMReplyShort0(token, on_answer_index);
}
HANDLER(on_go);

/* Rank 1 notifies only after a message that rank 0 sends after its own notify and failed tries. */
CASE(notify_and_try_do_not_block, "C1-264 C1-271 C1-272") {
  if (nodes < 2) NOT_HERE("one rank has nobody to wait for");
  for (int round = 0; round < 20; ++round) {
    go = answers = 0;
    barrier();
    if (me != 1) {
      gasnet_barrier_notify(8, 0);
      if (me == 0) {
        for (int i = 0; i < 50; ++i) EXPECT_EQ(gasnet_barrier_try(8, 0), GASNET_ERR_NOT_READY);
        /* No side effect, not even of one that differs. */
        EXPECT_EQ(gasnet_barrier_try(9, kAnonymous), GASNET_ERR_NOT_READY);
        gasnet_AMRequestShort0(1, on_go_index);
        GASNET_BLOCKUNTIL(answers == 1);
      }
    } else {
      GASNET_BLOCKUNTIL(go == 1);
      gasnet_barrier_notify(8, 0);
    }
    EXPECT_EQ(wait_by(round % 2, 8, 0), GASNET_OK);
  }
}

/* Nobody leaves before all have come. */
CASE(nobody_leaves_before_all_have_come, "C1-263 C1-267") {
  static const int kRounds = 300;
  /* One of two marks is written while the other may still be read. */
  int *const mine = segments[me].addr;
  for (int round = 1; round <= kRounds; ++round) {
    mine[round % 2] = round;
    phase(round % 2, round, 0, round, 0, GASNET_OK);
    for (gasnet_node_t k = 0; k < nodes; ++k) {
      int theirs = 0;
      if (round % 16 && k != (me + 1) % nodes) continue;
      gasnet_get(&theirs, k, (int *)segments[k].addr + round % 2, sizeof theirs);
      EXPECT_EQ(theirs, round);
    }
  }
}

CASE(blocking_barrier, "C1-311") {
  EXPECT_EQ(gasnet_barrier(3, 0), GASNET_OK);
  EXPECT_EQ(gasnet_barrier(3, kAnonymous), GASNET_OK);
  EXPECT_EQ(gasnet_barrier(3, kMismatch), GASNET_ERR_BARRIER_MISMATCH);
  EXPECT_EQ(gasnet_barrier(3, 0), GASNET_OK);
}
