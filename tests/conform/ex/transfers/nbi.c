/* Implicit operations by category (GX-036), and their local completion (GX-037). */
#include "../ex.h"
#ifndef GASNET_SEQ
#include <pthread.h>
#endif

enum { kBytes = 500, kLarge = 100000, kRounds = 60 };
static unsigned char out[kLarge], in[kLarge];

/* Each way to combine the categories, as the bits of `subset` say. */
enum { kSubsets = 1 << 5 };
static gex_EC_t mask_of(unsigned subset) {
  static const gex_EC_t categories[] = {GEX_EC_GET, GEX_EC_PUT, GEX_EC_AM, GEX_EC_LC, GEX_EC_RMW};
  gex_EC_t mask = 0;
  for (int i = 0; i < 5; ++i)
    if (subset & 1u << i) mask |= categories[i];
  return mask;
}

CASE(nothing_outstanding_succeeds, "GX-032 GX-036") {
  for (unsigned subset = 0; subset < kSubsets; ++subset) {
    EXPECT_EQ(gex_NBI_Test(mask_of(subset), 0), 0);
    gex_NBI_Wait(mask_of(subset), 0);
  }
  EXPECT_EQ(gex_NBI_Test(GEX_EC_ALL, 0), 0);
  gex_NBI_Wait(GEX_EC_ALL, 0);
}

static void wait_by(int test, gex_EC_t mask) {
  if (!test) gex_NBI_Wait(mask, 0);
  while (test && gex_NBI_Test(mask, 0) != 0) gasnet_AMPoll();
}

CASE(puts_and_gets, "GX-036 GX-037") {
  for (unsigned i = 0; i < kRounds; ++i) {
    const gex_Rank_t to = (me + i) % nodes;
    fill(out, kBytes, i);
    EXPECT_EQ(
        gex_RMA_PutNBI(team, to, part(to), out, kBytes, i % 3 ? GEX_EVENT_DEFER : GEX_EVENT_NOW, 0),
        0);
    if (i % 3 == 0) memset(out, 0, kBytes); /* NOW: the source is free */
    wait_by(i % 2, i % 5 ? GEX_EC_PUT : GEX_EC_ALL);
    memset(in, 0, kBytes);
    EXPECT_EQ(gex_RMA_GetNBI(team, in, to, part(to), kBytes, 0), 0);
    wait_by(i % 2, i % 5 ? GEX_EC_GET : GEX_EC_GET | GEX_EC_PUT);
    EXPECT(holds(in, kBytes, i));
  }
}

/* After GEX_EC_LC the sources are free, after GEX_EC_PUT the bytes are there. */
CASE(local_completion_of_puts, "GX-036 GX-037") {
  const gex_Rank_t to = (me + 1) % nodes;
  for (unsigned i = 0; i < 20; ++i) {
    const size_t bytes = i % 2 ? kLarge : kBytes;
    fill(out, bytes, i);
    EXPECT_EQ(gex_RMA_PutNBI(team, to, part(to), out, bytes, GEX_EVENT_GROUP, 0), 0);
    wait_by(i % 4 < 2, GEX_EC_LC);
    memset(out, 0xcc, bytes);
    wait_by(i % 4 < 2, GEX_EC_PUT);
    gex_RMA_GetBlocking(team, in, to, part(to), bytes, 0);
    EXPECT(holds(in, bytes, i));
  }
}

/* ---- messages -------------------------------------------------------------------------------- */

static _Atomic int arrived, damaged;
static void on_payload(gex_Token_t token, void *buf, size_t nbytes, gex_AM_Arg_t seed) {
  (void)token;
  if (!holds(buf, nbytes, (unsigned)seed)) ++damaged;
  ++arrived;
}
EX_HANDLER(on_payload, GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_MEDLONG, 1);

/* The way of one message to local completion: by category, by an event, at once. */
static void send(gex_Rank_t to, unsigned round, unsigned char *source, size_t bytes,
                 gex_Event_t *lc_opt) {
  const gex_AM_Arg_t seed = (gex_AM_Arg_t)round;
  fill(source, bytes, round);
  if (round % 2)
    gex_AM_RequestMedium1(team, to, on_payload_index, source, bytes, lc_opt, 0, seed);
  else
    gex_AM_RequestLong1(team, to, on_payload_index, source, bytes, part(to) + round * 8192, lc_opt,
                        0, seed);
}
CASE(local_completion_of_messages, "GX-036 GX-037") {
  const gex_Rank_t to = (me + 1) % nodes;
  arrived = damaged = 0;
  barrier();
  for (unsigned i = 0; i < kRounds; ++i) {
    gex_Event_t event = GEX_EVENT_NO_OP;
    const size_t bytes = i % 4 ? kBytes : 8000;
    const int is_long = i % 2 == 0;
    send(to, i, out, is_long ? bytes : kBytes,
         i % 6 < 2   ? GEX_EVENT_GROUP
         : i % 6 < 4 ? &event
                     : GEX_EVENT_NOW);
    if (i % 6 < 2) wait_by(i % 4 == 0, i % 5 ? GEX_EC_AM : GEX_EC_ALL);
    if (i % 6 >= 2 && i % 6 < 4) gex_Event_Wait(event);
    memset(out, 0x3c, sizeof out);
  }
  AWAIT(arrived, kRounds);
  EXPECT_EQ(damaged, 0);
  barrier();
}

/* ---- remote atomics -------------------------------------------------------------------------- */

static void forget(gex_AD_t domain) {
  barrier();
  gex_AD_Destroy(domain);
  barrier();
}
CASE(remote_atomics, "GX-036") {
  gex_AD_t domain;
  gex_AD_Create(&domain, team, GEX_DT_I64, GEX_OP_SET | GEX_OP_FADD, 0);
  barrier();
  for (gex_Rank_t to = 0; to < nodes; ++to) {
    int64_t old = -1;
    gex_Event_Wait(gex_AD_OpNB_I64(domain, NULL, to, part(to), GEX_OP_SET, 40, 0, 0));
    for (int i = 0; i < 10; ++i) {
      EXPECT_EQ(gex_AD_OpNBI_I64(domain, &old, to, part(to), GEX_OP_FADD, 1, 0, 0), 0);
      wait_by(i % 2, i % 3 ? GEX_EC_RMW : GEX_EC_ALL);
      EXPECT_EQ(old, 40 + i);
    }
  }
  forget(domain);
}

/* ---- while rank 1 makes no GASNet call ------------------------------------------------------- */

/* All masks that contain `category` fail, and what failed is still outstanding. 0: none fails. */
static void expect_only(gex_EC_t category) {
  for (int again = 0; again < 2; ++again)
    for (unsigned subset = 1; subset < kSubsets; ++subset) {
      const gex_EC_t mask = mask_of(subset);
      if (category != 0 && (mask & category) == category)
        EXPECT(gex_NBI_Test(mask, 0) != 0);
      else
        EXPECT_EQ(gex_NBI_Test(mask, 0), 0);
    }
  EXPECT_EQ(gex_NBI_Test(GEX_EC_ALL, 0) != 0, category != 0);
}
CASE(a_put_is_in_one_category, "GX-036") {
  SOMETHING_STAYS_UNDER_WAY();
  if (freeze_rank_1()) {
    gex_RMA_PutNBI(team, 1, part(1), out, kBytes, GEX_EVENT_DEFER, 0);
    expect_only(GEX_EC_PUT);
    thaw_rank_1();
    gex_NBI_Wait(GEX_EC_PUT, 0);
    expect_only(0);
  }
}
CASE(a_get_is_in_one_category, "GX-036") {
  SOMETHING_STAYS_UNDER_WAY();
  if (freeze_rank_1()) {
    gex_RMA_GetNBI(team, in, 1, part(1), kBytes, 0);
    expect_only(GEX_EC_GET);
    thaw_rank_1();
    gex_NBI_Wait(GEX_EC_ALL, 0);
    expect_only(0);
  }
}
CASE(an_atomic_is_in_one_category, "GX-036") {
  gex_AD_t domain;
  int64_t old = 0;
  SOMETHING_STAYS_UNDER_WAY();
  gex_AD_Create(&domain, team, GEX_DT_I64, GEX_OP_FADD, 0);
  if (freeze_rank_1()) {
    gex_AD_OpNBI_I64(domain, &old, 1, part(1), GEX_OP_FADD, 1, 0, 0);
    expect_only(GEX_EC_RMW);
    thaw_rank_1();
    gex_NBI_Wait(GEX_EC_RMW, 0);
    expect_only(0);
  }
  forget(domain);
}
/* Explicit operations, and those without implicit local completion, are in none. */
CASE(explicit_operations_are_in_none, "GX-036 GX-037") {
  SOMETHING_STAYS_UNDER_WAY();
  if (freeze_rank_1()) {
    gex_Event_t leaf;
    const gex_Event_t put = gex_RMA_PutNB(team, 1, part(1), out, kBytes, &leaf, 0);
    const gex_Event_t get = gex_RMA_GetNB(team, in, 1, part(1), kBytes, 0);
    expect_only(0);
    thaw_rank_1();
    gex_Event_Wait(put);
    gex_Event_Wait(get);
  }
}

#ifndef GASNET_SEQ
static void *has_nothing(void *unused) {
  expect_only(0);
  gex_NBI_Wait(GEX_EC_ALL, 0);
  return unused;
}
#endif
CASE(each_thread_has_its_own, "GX-036") {
#ifdef GASNET_SEQ
  NOT_HERE("SEQ has one client thread");
#else
  SOMETHING_STAYS_UNDER_WAY();
  if (freeze_rank_1()) {
    pthread_t other;
    gex_RMA_PutNBI(team, 1, part(1), out, kBytes, GEX_EVENT_DEFER, 0);
    if (pthread_create(&other, NULL, has_nothing, NULL) != 0) abort();
    pthread_join(other, NULL);
    expect_only(GEX_EC_PUT);
    thaw_rank_1();
    gex_NBI_Wait(GEX_EC_PUT, 0);
  }
#endif
}
