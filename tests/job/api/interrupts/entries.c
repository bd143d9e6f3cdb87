/* Messages interrupt a client that is inside calls which neither communicate nor wait, and their
 * handlers use what those calls use: the heap, the locks of statistics, pins and traces (PA-024).
 * Each such call keeps handlers off. For GASNET_DISPATCH=interrupt and watchdog, with a trace; in
 * thread, handlers run beside the client, and no signal comes. */
#include <time.h>

#include "gasnet_ratomic.h"
#include "gasnet_tools.h"
#include "gasnetex.h"
#include "../../no_malloc_in_signals/hook.h"
#include "../job_test.h"

enum { kStats = 512, kKept = 64, kSizes = 10, kSignals = 100 };

static gex_Client_t client;
static gex_EP_t endpoint;
static gex_TM_t team;
static volatile int over;
static int handled;
static pinwire_stat_t seen_in_handlers[kStats];

static void on_message(gex_Token_t token) {
  static void *kept[kKept];
  static int count;
  (void)token;
  const size_t bytes = 24 + 16 * (size_t)(count % kSizes);
  client_allocates_here(1);
  free(kept[count % kKept]);
  kept[count % kKept] = memset(malloc(bytes), 0x5a, bytes);
  client_allocates_here(-1);
  ++count;
  __atomic_store_n(&handled, count, __ATOMIC_RELAXED);
  GASNETT_TRACE_PRINTF("message %d", count);
  pinwire_stats(seen_in_handlers, kStats);
}
static void on_end(gex_Token_t token) {
  (void)token;
  over = 1;
}

static void send_until_told(void) {
  const struct timespec pause = {0, 5000};
  while (!over) {
    for (int i = 0; i < 3; ++i) gex_AM_RequestShort0(team, 0, 200, 0);
    nanosleep(&pause, NULL);
  }
}

static void ask_of_system(void) {
  gex_RankInfo_t *ranks;
  gex_Rank_t count, index;
  gex_System_QueryNbrhdInfo(&ranks, &count, &index);
  gex_System_QueryHostInfo(&ranks, &count, &index);
  EXPECT(count == nodes && index == me);
  void *owner, *local;
  uintptr_t bytes;
  EXPECT_EQ(gex_Segment_QueryBound(team, 1, &owner, &local, &bytes), 0);
  gex_Event_Wait(gex_EP_QueryBoundSegmentNB(team, 1, &owner, &local, &bytes, 0));
}

static void make_and_end(void) {
  gex_AD_t domain;
  gex_AD_Create(&domain, team, GEX_DT_U64, GEX_OP_FADD, 0);
  gex_AD_Destroy(domain);
  gasnet_hsl_t lock;
  gasnet_hsl_init(&lock);
  gasnet_hsl_destroy(&lock);
}

static void tell(int turn) {
  static pinwire_stat_t seen[kStats];
  EXPECT(pinwire_stats(seen, kStats) != 0);
  GASNETT_TRACE_PRINTF("turn %d", turn);
  GASNETT_TRACE_SETMASK(turn % 2 == 0 ? "HO" : "H");
  GASNETT_TRACE_SET_TRACELOCAL(turn % 3 == 0);
}

static int is_enough(void) {
  if (!strcmp(pinwire_dispatch(), "thread")) return read_now(&handled) >= kSignals;
  return statistic("dispatch.signals_handled") >= kSignals;
}

int main(int argc, char **argv) {
  gasnet_handlerentry_t table[] = {{200, (void (*)())on_message}, {201, (void (*)())on_end}};
  start_job(&argc, &argv, table, 2, 1 << 20);
  gasnet_QueryGexObjects(&client, &endpoint, &team, NULL);
  barrier();
  if (me == 0) {
    for (int turn = 0; !is_enough(); ++turn) {
      ask_of_system();
      make_and_end();
      tell(turn);
    }
    for (gasnet_node_t to = 1; to < nodes; ++to) gex_AM_RequestShort0(team, to, 201, 0);
  } else {
    send_until_told();
  }
  end_job("entries");
  return 1;
}
