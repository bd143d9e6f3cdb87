/* Explicit events (GX-030 to GX-032), and what polls (GX-012). An incomplete operation is seen while rank 1 makes no
 * GASNet call. */
#include <unistd.h>

#include "../ex.h"

enum { kBlock = 256, kTries = 1000, kTryMicroseconds = 300 };
static unsigned char out[kBlock], in[kBlock];

CASE(calls_have_their_types, "GX-030") {
  int (*const test)(gex_Event_t) = gex_Event_Test;
  void (*const wait)(gex_Event_t) = gex_Event_Wait;
  int (*const test_many[])(gex_Event_t *, size_t, gex_Flags_t) = {gex_Event_TestSome,
                                                                  gex_Event_TestAll};
  void (*const wait_many[])(gex_Event_t *, size_t, gex_Flags_t) = {gex_Event_WaitSome,
                                                                   gex_Event_WaitAll};
  int (*const nbi_test)(gex_EC_t, gex_Flags_t) = gex_NBI_Test;
  void (*const nbi_wait)(gex_EC_t, gex_Flags_t) = gex_NBI_Wait;
  gex_Event_t (*const leaf)(gex_Event_t, gex_EC_t) = gex_Event_QueryLeaf;
  void (*const begin)(gex_Flags_t) = gex_NBI_BeginAccessRegion;
  gex_Event_t (*const end)(gex_Flags_t) = gex_NBI_EndAccessRegion;
  wait(GEX_EVENT_INVALID);
  wait_many[0](NULL, 0, 0);
  wait_many[1](NULL, 0, 0);
  nbi_wait(GEX_EC_ALL, 0);
  begin(0);
  wait(end(0));
  EXPECT_EQ(test(leaf(GEX_EVENT_INVALID, GEX_EC_LC)) + nbi_test(GEX_EC_ALL, 0), 0);
  EXPECT_EQ(test_many[0](NULL, 0, 0) + test_many[1](NULL, 0, 0), 0);
}

CASE(constants, "GX-030 GX-036") {
  const gex_Event_t none = GEX_EVENT_INVALID, no_op = GEX_EVENT_NO_OP;
  gex_Event_t *const options[] = {NULL, GEX_EVENT_NOW, GEX_EVENT_DEFER, GEX_EVENT_GROUP};
  const gex_EC_t categories[] = {GEX_EC_GET, GEX_EC_PUT, GEX_EC_AM, GEX_EC_LC, GEX_EC_RMW};
  EXPECT(!none && no_op && no_op != none);
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < i; ++j) EXPECT(options[i] != options[j]);
  for (int i = 0; i < 5; ++i) {
    EXPECT(categories[i] != 0 && (categories[i] & GEX_EC_ALL) == categories[i]);
    /* Local completion is one category here, whether of messages or of puts. */
    for (int j = 0; j < i; ++j)
      if (categories[i] != GEX_EC_LC || categories[j] != GEX_EC_AM) EXPECT(categories[i] != categories[j]);
  }
  EXPECT_EQ(GEX_EC_GET & (GEX_EC_PUT | GEX_EC_AM | GEX_EC_LC | GEX_EC_RMW), 0);
  EXPECT_EQ(GEX_EC_RMW & (GEX_EC_PUT | GEX_EC_AM | GEX_EC_LC | GEX_EC_GET), 0);
}

/* ---- tests and waits ------------------------------------------------------------------------- */

CASE(test_is_zero_at_the_end, "GX-031 GX-032") {
  for (gex_Rank_t to = 0; to < nodes; ++to) {
    gex_Event_t event;
    fill(out, kBlock, me + to);
    event = gex_RMA_PutNB(team, to, part(to), out, kBlock, GEX_EVENT_DEFER, 0);
    while (gex_Event_Test(event) != 0) gasnet_AMPoll();
    memset(in, 0, kBlock);
    event = gex_RMA_GetNB(team, in, to, part(to), kBlock, 0);
    gex_Event_Wait(event);
    EXPECT(holds(in, kBlock, me + to));
  }
}

CASE(test_is_not_zero_before, "GX-031 GX-032") {
  SOMETHING_STAYS_UNDER_WAY();
  if (freeze_rank_1()) {
    const gex_Event_t put = gex_RMA_PutNB(team, 1, part(1), out, kBlock, GEX_EVENT_DEFER, 0);
    const gex_Event_t get = gex_RMA_GetNB(team, in, 1, part(1), kBlock, 0);
    for (int i = 0; i < 100; ++i) {
      EXPECT(gex_Event_Test(put) != 0);
      EXPECT(gex_Event_Test(get) != 0);
      gasnet_AMPoll();
    }
    thaw_rank_1();
    gex_Event_Wait(put);
    gex_Event_Wait(get);
  }
}

static __thread volatile int is_testing;
static _Atomic int pings, pings_in_tests;
static void on_ping(gex_Token_t token) {
  (void)token;
  if (is_testing) ++pings_in_tests;
  ++pings;
}
EX_HANDLER(on_ping, GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_SHORT, 0);

static int handlers_run_in_signals(void) {
  const char *const dispatch = getenv("GASNET_DISPATCH");
  return dispatch && (strcmp(dispatch, "interrupt") == 0 || strcmp(dispatch, "watchdog") == 0);
}
static void test_in_each_way(void) {
  gex_Event_t event = gex_RMA_PutNB(team, 1, part(1), out, kBlock, GEX_EVENT_DEFER, 0);
  gex_RMA_PutNBI(team, 1, part(1) + kBlock, out, kBlock, GEX_EVENT_DEFER, 0);
  for (int i = 0; i < 50; ++i) {
    gex_Event_t copies[2] = {event, GEX_EVENT_INVALID};
    is_testing = 1;
    if (event != GEX_EVENT_INVALID && gex_Event_Test(event) == 0) event = GEX_EVENT_INVALID;
    copies[0] = event;
    (void)gex_Event_TestAll(copies, 2, 0);
    (void)gex_Event_TestSome(copies, 2, 0);
    (void)gex_NBI_Test(GEX_EC_ALL, 0);
    is_testing = 0;
    event = copies[0];
    usleep(100);
  }
  gex_Event_Wait(event);
  gex_NBI_Wait(GEX_EC_ALL, 0);
}
/* No handler of a message that is there runs in a test. */
CASE(tests_never_poll, "GX-012 GX-032") {
  if (nodes < 2) NOT_HERE("one rank has nobody to send it anything");
  if (handlers_run_in_signals()) NOT_HERE("handlers run in the midst of any call");
  pings = pings_in_tests = 0;
  barrier();
  if (me == 1) {
    for (int i = 0; i < 20; ++i) gex_AM_RequestShort0(team, 0, on_ping_index, 0);
    for (int i = 0; i < 100; ++i) gasnet_AMPoll();
    leave_mark("pings_are_sent");
  } else if (me == 0) {
    while (!is_marked("pings_are_sent")) usleep(200);
    test_in_each_way();
    EXPECT_EQ(pings_in_tests, 0);
    AWAIT(pings, 20);
  }
  barrier();
}
/* Those of GASNet-1 do, whether or not there is anything to synchronise. */
static int try_in_way(int way) {
  gasnet_handle_t none = GASNET_INVALID_HANDLE;
  switch (way) {
    case 0:
      return gasnet_try_syncnb(none);
    case 1:
      return gasnet_try_syncnb_all(&none, 1);
    case 2:
      return gasnet_try_syncnb_some(&none, 1);
    case 3:
      return gasnet_try_syncnbi_gets();
    case 4:
      return gasnet_try_syncnbi_puts();
    default:
      return gasnet_try_syncnbi_all();
  }
}
/* The message is on its way before the tries, which nothing but they could let in. */
static int try_lets_in_a_ping(int way) {
  char sent[40], due[40];
  snprintf(sent, sizeof sent, "ping_%d_by_%u", way, (unsigned)me);
  snprintf(due, sizeof due, "ping_%d_by_%u", way, (unsigned)((me + nodes - 1) % nodes));
  gex_AM_RequestShort0(team, (me + 1) % nodes, on_ping_index, 0);
  leave_mark(sent);
  while (!is_marked(due)) usleep(kTryMicroseconds);
  for (int i = 0; i < kTries && pings <= way; ++i) {
    EXPECT_EQ(try_in_way(way), GASNET_OK);
    if (pings <= way) usleep(kTryMicroseconds);
  }
  return pings > way;
}
CASE(each_try_polls, "GX-012") {
  pings = 0;
  barrier();
  for (int way = 0; way < 6; ++way) {
    if (!try_lets_in_a_ping(way))
      fail_at(__FILE__, __LINE__, "a try with nothing to synchronise, in way %d, does not poll",
              way);
    barrier(); /* polls, too, and so must be apart */
  }
}

CASE(waits_poll, "GX-032") {
  SOMETHING_STAYS_UNDER_WAY();
  if (freeze_rank_1()) {
    const gex_Event_t put = gex_RMA_PutNB(team, 1, part(1), out, kBlock, GEX_EVENT_DEFER, 0);
    gex_RMA_GetNBI(team, in, 1, part(1), kBlock, 0);
    thaw_rank_1();
    usleep(1000);
    gex_Event_Wait(put); /* nothing else polls */
    gex_NBI_Wait(GEX_EC_GET, 0);
  }
}

/* Calls of GASNet-1, one after the other without any other call. */
CASE(tries_poll_for_what_is_under_way, "GX-012") {
  SOMETHING_STAYS_UNDER_WAY();
  if (freeze_rank_1()) {
    gasnet_handle_t put = gex_RMA_PutNB(team, 1, part(1), out, kBlock, GEX_EVENT_DEFER, 0);
    gex_RMA_GetNBI(team, in, 1, part(1), kBlock, 0);
    EXPECT(gasnet_try_syncnb(put) != 0);
    EXPECT(gasnet_try_syncnbi_all() != 0);
    thaw_rank_1();
    while (gasnet_try_syncnb_all(&put, 1) != 0) {
    }
    while (gasnet_try_syncnbi_gets() != 0) {
    }
    EXPECT(put == GASNET_INVALID_HANDLE);
  }
}
