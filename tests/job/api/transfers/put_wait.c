/* GASNET_BLOCKUNTIL on a word that a peer's put writes, in the wait modes that sleep. C1-161 leaves
 * such conditions out, and real clients have them: nobody tells a sleeper of the put, so it looks
 * again soon (GASNET_LOOK_US), and sleeps long where that is 0. The library's own waits, which
 * whoever ends them announces, sleep long all the same. With 2 ranks. */
#include <time.h>

#include "../job_test.h"

enum {
  kHops = 40,
  kHopsOfLongSleeps = 3,
  kLateMs = 3,
  kLongMs = 400,
  kShortNaps = 50,
  kNapsOfBarrier = 20,
  kSpins = 2000 /* more than GASNET_WAIT_SPINBLOCK polls before it sleeps */
};

static void sleep_ms(int ms) {
  const struct timespec pause = {ms / 1000, ms % 1000 * 1000000L};
  nanosleep(&pause, NULL);
}
static uint64_t now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

struct rest {
  uint64_t sleeps, naps;
};
static struct rest rest_until_now(void) {
  const struct rest rest = {statistic("waits.sleeps"), statistic("waits.naps")};
  return rest;
}
static void add_since(struct rest *sum, struct rest before) {
  const struct rest now = rest_until_now();
  sum->sleeps += now.sleeps - before.sleeps;
  sum->naps += now.naps - before.naps;
}

static long *word_of(gasnet_node_t rank) { return segments[rank].addr; }
static long last = 0; /* of the values that were put, the same in both ranks */

/* How this rank rested until its peer had put `value`. */
static void await(long value, struct rest *sum) {
  const struct rest before = rest_until_now();
  GASNET_BLOCKUNTIL(__atomic_load_n(word_of(me), __ATOMIC_ACQUIRE) == value);
  add_since(sum, before);
}

/* How long a rank spins before it sleeps: a poll takes microseconds under a sanitizer. */
static int ms_of_spins(void) {
  const uint64_t since_ms = now_ms();
  for (int i = 0; i < kSpins; ++i) gasnet_AMPoll();
  return (int)(now_ms() - since_ms);
}

/* Each rank puts in turn, so late that the other does not spin any more. */
static struct rest hop(int hops) {
  struct rest sum = {0, 0};
  const int late_ms = kLateMs + ms_of_spins();
  for (int i = 0; i < hops; ++i) {
    ++last;
    if (me == 1) await(last, &sum);
    sleep_ms(late_ms);
    gasnet_put(1 - me, word_of(1 - me), &last, sizeof last);
    if (me == 0) await(last, &sum);
  }
  barrier();
  return sum;
}

/* Rank 0 waits, and rank 1 comes late: naps become longer. */
static void wait_long(void) {
  struct rest sum = {0, 0};
  ++last;
  barrier();
  if (me == 1) {
    sleep_ms(kLongMs);
    gasnet_put(0, word_of(0), &last, sizeof last);
  } else {
    const uint64_t since_ms = now_ms();
    await(last, &sum);
    EXPECT(sum.naps <= now_ms() - since_ms + kShortNaps);
  }
  barrier();
}

/* Over a driver whose arrivals wake, where no other thread uses its lanes. */
static void expect_long_sleeps_in_library(void) {
  struct rest sum = {0, 0};
  barrier();
  if (me == 1) sleep_ms(kLongMs);
  const struct rest before = rest_until_now();
  barrier();
  add_since(&sum, before);
  if (me != 0) return;
  EXPECT(sum.sleeps != 0);
  EXPECT(sum.naps <= kNapsOfBarrier);
}

static int is_set(const char *name, const char *value) {
  const char *is = getenv(name);
  return is != NULL && strcmp(is, value) == 0;
}

int main(int argc, char **argv) {
  start_job(&argc, &argv, NULL, 0, GASNET_PAGESIZE);
  EXPECT_EQ(nodes, 2);
  *word_of(me) = 0;
  barrier();
  const char *look = getenv("GASNET_LOOK_US");
  const int looks = look == NULL || atoi(look) != 0;
  const int arrivals_wake = is_set("GASNET_DRIVER", "shm") && is_set("GASNET_DISPATCH", "poll");
  for (int mode = GASNET_WAIT_BLOCK; mode <= GASNET_WAIT_SPINBLOCK; ++mode) {
    EXPECT_EQ(gasnet_set_waitmode(mode), GASNET_OK);
    const struct rest rest = hop(looks ? kHops : kHopsOfLongSleeps);
    if (looks) {
      EXPECT_EQ(rest.sleeps, 0);
      EXPECT(rest.naps != 0);
      wait_long();
    } else {
      EXPECT(rest.sleeps != 0);
    }
    if (arrivals_wake) expect_long_sleeps_in_library();
  }
  end_job("put_wait");
}
