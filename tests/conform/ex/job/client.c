/* gex_Client_Init: a barrier that gives a client, its endpoint and its team (GASNet-EX 0.19,
 * "Client"). */
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../ex.h"

CASE(primordial_objects, "GX-056 GX-058") {
  EXPECT_EQ(gex_EP_QueryIndex(endpoint), 0);
  EXPECT_EQ(gex_TM_QuerySize(team), gasnet_nodes());
  for (gex_Rank_t rank = 0; rank < nodes; ++rank) {
    EXPECT_EQ(gex_TM_TranslateRankToEP(team, rank, 0).gex_rank, rank);
    EXPECT_EQ(gex_TM_TranslateRankToEP(team, rank, 0).gex_ep_index, 0);
    EXPECT_EQ(gex_TM_TranslateRankToJobrank(team, rank), rank);
  }
}

/* Before the start nobody knows a rank: who makes the first directory is the first to come. */
static int place_in_the_queue(void) {
  char path[300];
  for (int place = 0; place < kNodesMax; ++place) {
    snprintf(path, sizeof path, "%s/place_%d", getenv("CONFORM_DIR"), place);
    if (mkdir(path, 0700) == 0) return place;
  }
  abort();
}

/* All but the first come later, and say so before they call; nobody is through before they did. */
JOB(start_is_a_barrier, "GX-058 GX-060 GX-061", kNetwork, 0, "") {
  char name[40];
  const int place = place_in_the_queue();
  if (place > 0) usleep(150000);
  snprintf(name, sizeof name, "came_%d", place);
  leave_mark(name);
  EXPECT_EQ(gex_Client_Init(&client, &endpoint, &team, "CONFORM", &program_argc, &program_argv, 0),
            GASNET_OK);
  nodes = gex_TM_QuerySize(team);
  EXPECT(nodes > 1);
  for (int other = 0; other < (int)nodes; ++other) {
    snprintf(name, sizeof name, "came_%d", other);
    EXPECT(is_marked(name));
  }
  EXPECT_EQ(gex_Client_QueryFlags(client), 0);
  EXPECT(gex_EP_QueryClient(endpoint) == client && gex_TM_QueryEP(team) == endpoint);
}

JOB(start_without_arguments, "GX-059 GX-061", kLocal, 0, "") {
  EXPECT_EQ(gex_Client_Init(&client, &endpoint, &team, "CONFORM_2", NULL, NULL, 0), GASNET_OK);
  EXPECT(strcmp(gex_Client_QueryName(client), "CONFORM_2") == 0);
}

/* Fails where a flag is added, lost or taken for the other. */
JOB(flags_are_those_of_the_start, "GX-057", kLocal, 0, "") {
  start_ex_job(GEX_FLAG_USES_GASNET1 | GEX_FLAG_DEFER_THREADS, 0);
  EXPECT_EQ(gex_Client_QueryFlags(client), GEX_FLAG_USES_GASNET1 | GEX_FLAG_DEFER_THREADS);
}
JOB(uses_gasnet1_alone, "GX-057", kLocal, 0, "") {
  start_ex_job(GEX_FLAG_USES_GASNET1, 0);
  EXPECT_EQ(gex_Client_QueryFlags(client), GEX_FLAG_USES_GASNET1);
}

/* Starts by the address of the function, and with a name that the client does not keep. Fails where
 * the call is a macro alone, where the library remembers the caller's memory, and where one of the
 * results is not written. */
JOB(start_by_its_address, "GX-057", kLocal, 0, "") {
  int (*const init)(gex_Client_t *, gex_EP_t *, gex_TM_t *, const char *, int *, char ***,
                    gex_Flags_t) = gex_Client_Init;
  char name[] = "CONFORM_BY_ADDRESS";
  client = GEX_CLIENT_INVALID;
  endpoint = GEX_EP_INVALID;
  team = GEX_TM_INVALID;
  EXPECT_EQ(init(&client, &endpoint, &team, name, NULL, NULL, GEX_FLAG_DEFER_THREADS), GASNET_OK);
  memset(name, 'X', sizeof name - 1);
  EXPECT(client != GEX_CLIENT_INVALID && endpoint != GEX_EP_INVALID && team != GEX_TM_INVALID);
  EXPECT(strcmp(gex_Client_QueryName(client), "CONFORM_BY_ADDRESS") == 0);
  EXPECT_EQ(gex_Client_QueryFlags(client), GEX_FLAG_DEFER_THREADS);
}

/* ---- Threads at the endpoint ----------------------------------------------------------------- */

enum { kThreads = 3, kRounds = 40, kBytes = 200 };

static _Atomic int seen[kThreads];
static void on_thread(gex_Token_t token, gex_AM_Arg_t thread) {
  (void)token;
  ++seen[thread];
}
EX_HANDLER(on_thread, GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_SHORT, 1);

static void *communicate(void *argument) {
  const int thread = (int)(intptr_t)argument, before = seen[thread];
  unsigned char bytes[kBytes], back[kBytes];
  for (int i = 0; i < kRounds; ++i) {
    const gex_Rank_t to = (me + (gex_Rank_t)i) % nodes;
    unsigned char *place = part(to) + thread * 4096;
    fill(bytes, kBytes, (unsigned)(i + 100 * thread));
    gex_AM_RequestShort1(team, me, on_thread_index, 0, thread);
    gex_Event_Wait(gex_RMA_PutNB(team, to, place, bytes, kBytes, GEX_EVENT_DEFER, 0));
    gex_RMA_GetBlocking(team, back, to, place, kBytes, 0);
    EXPECT(memcmp(bytes, back, kBytes) == 0);
  }
  AWAIT(seen[thread], before + kRounds);
  return NULL;
}

CASE(endpoint_serves_several_threads, "GX-058") {
  pthread_t threads[kThreads];
#ifdef GASNET_SEQ
  NOT_HERE("SEQ has one client thread");
#endif
  for (int t = 0; t < kThreads; ++t) {
    if (pthread_create(&threads[t], NULL, communicate, (void *)(intptr_t)t) != 0) abort();
#ifndef GASNET_PAR /* by turns */
    pthread_join(threads[t], NULL);
#endif
  }
#ifdef GASNET_PAR
  for (int t = 0; t < kThreads; ++t) pthread_join(threads[t], NULL);
#endif
}
