/* Named and anonymous barriers, every kind of mismatch, try, reuse: C1-262...275. */
#include <limits.h>

#include "../job_test.h"

static int wait_by_try(int id, int flags) {
  for (;;) {
    const int result = gasnet_barrier_try(id, flags);
    if (result != GASNET_ERR_NOT_READY) return result;
  }
}

/* One phase with this rank's own notify and wait; expects `result` here. */
static void phase(int id, int flags, int wait_id, int wait_flags, int by_try, int result) {
  gasnet_barrier_notify(id, flags);
  const int got = by_try ? wait_by_try(wait_id, wait_flags) : gasnet_barrier_wait(wait_id, wait_flags);
  EXPECT_EQ(got, result);
}

int main(int argc, char **argv) {
  static const int ids[] = {0, 1, -1, 2, INT_MIN, INT_MAX, 42};
  const int anonymous = GASNET_BARRIERFLAG_ANONYMOUS, mismatch = GASNET_BARRIERFLAG_MISMATCH;
  start_job(&argc, &argv, NULL, 0, 4096);
  for (int by_try = 0; by_try < 2; ++by_try) {
    for (unsigned i = 0; i < sizeof ids / sizeof *ids; ++i) {
      phase(ids[i], 0, ids[i], 0, by_try, GASNET_OK); /* C1-273 */
    }
    phase(3, anonymous, 4, anonymous, by_try, GASNET_OK);
    /* Anonymous matches every name: C1-270. */
    phase(5, me % 2 ? anonymous : 0, 5, me % 2 ? anonymous : 0, by_try, GASNET_OK);
    if (nodes > 1) {
      /* Different names: everywhere, and the next phase works: C1-268d, C1-269. */
      phase(me == 0 ? 7 : 8, 0, me == 0 ? 7 : 8, 0, by_try, GASNET_ERR_BARRIER_MISMATCH);
      phase(9, 0, 9, 0, by_try, GASNET_OK);
      /* One rank forces it: C1-268b. */
      const int flags = me == nodes - 1 ? mismatch : 0;
      phase(10, flags, 10, flags, by_try, GASNET_ERR_BARRIER_MISMATCH);
      phase(11, 0, 11, 0, by_try, GASNET_OK);
      /* Wait differs from notify: on that rank alone: C1-268a, c. */
      phase(12, 0, me == 0 ? 13 : 12, 0, by_try, me == 0 ? GASNET_ERR_BARRIER_MISMATCH : GASNET_OK);
      phase(12, 0, 12, me == 0 ? anonymous : 0, by_try,
            me == 0 ? GASNET_ERR_BARRIER_MISMATCH : GASNET_OK);
    }
    for (int i = 0; i < 200; ++i) phase(i, 0, i, 0, by_try, GASNET_OK);
  }
  end_job("barrier_matrix");
}
