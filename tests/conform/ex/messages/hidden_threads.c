/* Threads of the library's that run handlers (GASNet-EX 0.19, "Progress threads"). */
#include <pthread.h>

#include "../ex.h"

#if GEX_AM_INDEX_BASE > 128
#error "a client has 128 handlers or more"
#endif
#if GASNET_HIDDEN_AM_CONCURRENCY_LEVEL
enum { kMayBeHidden = 1 };
#else
enum { kMayBeHidden = 0 };
#endif
#if defined(GASNET_RCV_THREAD) && GASNET_RCV_THREAD != 1
#error "GASNET_RCV_THREAD is 1 or undefined"
#endif
#if defined(GASNET_SND_THREAD) && GASNET_SND_THREAD != 1
#error "GASNET_SND_THREAD is 1 or undefined"
#endif

static void *no_progress(void *argument) { return argument; }

CASE(declarations, "GX-080") {
  int (*const level)(void) = gex_System_QueryHiddenAMConcurrencyLevel;
  int (*const threads)(gex_Client_t, unsigned int *, const gex_ProgressThreadInfo_t **,
                       gex_Flags_t) = gex_System_QueryProgressThreads;
  gex_ProgressThreadInfo_t info = {.gex_device_list = "mlx5_0",
                                   .gex_thread_roles = GEX_THREAD_ROLE_RCV | GEX_THREAD_ROLE_SND,
                                   .gex_progress_fn = no_progress,
                                   .gex_progress_arg = &info};
  const char **const devices = &info.gex_device_list;
  unsigned int *const roles = &info.gex_thread_roles;
  EXPECT(level != NULL && threads != NULL && devices != NULL && roles != NULL);
  EXPECT(info.gex_progress_fn(info.gex_progress_arg) == &info);
  EXPECT(GEX_THREAD_ROLE_RCV != 0 && GEX_THREAD_ROLE_SND != 0);
  EXPECT_EQ(GEX_THREAD_ROLE_RCV & GEX_THREAD_ROLE_SND, 0);
}

/* ---- Which threads run handlers -------------------------------------------------------------- */

enum { kRounds = 200, kHandler = 200, kAnswer = 201 };

static pthread_t client_thread;
static _Atomic int level_at_start, answers, elsewhere, beside_a_call;
static _Atomic int in_call = 1;

static void note_thread(void) {
  EXPECT_EQ(gex_System_QueryHiddenAMConcurrencyLevel(), level_at_start);
  if (!pthread_equal(pthread_self(), client_thread))
    ++elsewhere;
  else if (!in_call)
    ++beside_a_call; /* a signal's */
}
static void on_question(gex_Token_t token) {
  note_thread();
  gex_AM_ReplyShort0(token, kAnswer, 0);
}
static void on_answer(gex_Token_t token) {
  (void)token;
  note_thread();
  ++answers;
}

static void register_both(void) {
  gex_AM_Entry_t table[] = {{.gex_index = kHandler,
                             .gex_fnptr = (gex_AM_Fn_t)on_question,
                             .gex_flags = GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_SHORT},
                            {.gex_index = kAnswer,
                             .gex_fnptr = (gex_AM_Fn_t)on_answer,
                             .gex_flags = GEX_FLAG_AM_REPLY | GEX_FLAG_AM_SHORT}};
  client_thread = pthread_self();
  level_at_start = gex_System_QueryHiddenAMConcurrencyLevel();
  EXPECT_EQ(gex_EP_RegisterHandlers(endpoint, table, 2), GASNET_OK);
  barrier();
}

/* Questions to everybody, with time beside calls in which a signal or another thread may come. */
static void ask_everybody(void) {
  volatile unsigned work = 0;
  for (int i = 0; i < kRounds; ++i) {
    in_call = 1;
    gex_AM_RequestShort0(team, (gex_Rank_t)i % nodes, kHandler, 0);
    in_call = 0;
    for (int j = 0; j < 2000; ++j) ++work;
  }
  in_call = 1;
  AWAIT(answers, kRounds);
  barrier();
}

/* 0 promises that only the client's own calls run handlers; the macro is 0 for all jobs or for
 * none. */
static void check_level(void) {
  register_both();
  ask_everybody();
  EXPECT_EQ(gex_System_QueryHiddenAMConcurrencyLevel(), level_at_start);
  if (level_at_start == 0) EXPECT_EQ(elsewhere + beside_a_call, 0);
  if (level_at_start != 0) EXPECT(kMayBeHidden);
}

/* GASNET_DISPATCH says whether the job has a dispatcher: a thread, or a signal. */
#define WITH_DISPATCH(mode, is_hidden)                                          \
  JOB(level_with_dispatch_by_##mode, "GX-081 GX-082 GX-084 PA-054", kNetwork, 0, "") { \
    setenv("GASNET_DISPATCH", #mode, 1);                                        \
    start_ex_job(0, 0);                                                         \
    check_level();                                                              \
    EXPECT_EQ(level_at_start != 0, is_hidden);                                  \
  }                                                                             \
  typedef int mode##_is_a_case
WITH_DISPATCH(poll, 0);
WITH_DISPATCH(interrupt, 1);
WITH_DISPATCH(watchdog, 1);
WITH_DISPATCH(thread, 1);

/* The emulated processor of a NIC handles all that comes from the other rank, the half of the questions and of the answers;
 * what a rank tells itself goes through no NIC. */
JOB(level_with_dispatch_by_nicproc, "GX-081 GX-082 GX-084 PA-053 PA-054", kNetwork, 0, "") {
  setenv("GASNET_DISPATCH", "nicproc", 1);
  start_ex_job(0, 0);
  check_level();
  EXPECT_EQ(elsewhere, kRounds);
  EXPECT_EQ(beside_a_call, 0);
  EXPECT_EQ(level_at_start != 0, 1);
}

static _Atomic int levels_seen;
static void on_level(gex_Token_t token, gex_AM_Arg_t level) {
  (void)token;
  EXPECT_EQ(gex_System_QueryHiddenAMConcurrencyLevel(), level);
  ++levels_seen;
}
EX_HANDLER(on_level, GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_SHORT, 1);

CASE(level_is_constant, "GX-082 GX-084") {
  const int level = gex_System_QueryHiddenAMConcurrencyLevel();
  const char *dispatch = getenv("GASNET_DISPATCH");
  const int is_polled = dispatch == NULL || strcmp(dispatch, "poll") == 0;
  EXPECT_EQ(level != 0, !is_polled);
  if (level != 0) EXPECT(kMayBeHidden);
  gex_AM_RequestShort1(team, me, on_level_index, 0, level);
  AWAIT(levels_seen, 1);
  EXPECT_EQ(gex_System_QueryHiddenAMConcurrencyLevel(), level);
}

/* ---- Threads that the client starts ---------------------------------------------------------- */

enum { kThreadsMax = 16 };
static const gex_ProgressThreadInfo_t *roles;
static pthread_t started[kThreadsMax];
static unsigned int count;

static void on_role(gex_Token_t token) {
  (void)token;
  for (unsigned int t = 0; t < count; ++t)
    if (pthread_equal(pthread_self(), started[t]))
      EXPECT(roles[t].gex_thread_roles & GEX_THREAD_ROLE_RCV);
  ++answers;
}

/* Messages go before they are started and after; none comes to a thread that only sends. */
JOB(deferred_threads, "GX-081 GX-082 GX-083", kNetwork, 0, "") {
  gex_AM_Entry_t entry = {.gex_index = kHandler,
                          .gex_fnptr = (gex_AM_Fn_t)on_role,
                          .gex_flags = GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_SHORT};
  start_ex_job(GEX_FLAG_DEFER_THREADS, 0);
  const int level = gex_System_QueryHiddenAMConcurrencyLevel();
  EXPECT_EQ(gex_EP_RegisterHandlers(endpoint, &entry, 1), GASNET_OK);
  barrier();
  for (gex_Rank_t rank = 0; rank < nodes; ++rank) gex_AM_RequestShort0(team, rank, kHandler, 0);
  AWAIT(answers, (int)nodes);
  barrier();
  EXPECT_EQ(gex_System_QueryProgressThreads(client, &count, &roles, 0), GASNET_OK);
  if (count > kThreadsMax) abort();
  for (unsigned int t = 0; t < count; ++t) {
    EXPECT(roles[t].gex_thread_roles & (GEX_THREAD_ROLE_RCV | GEX_THREAD_ROLE_SND));
    if (pthread_create(&started[t], NULL, roles[t].gex_progress_fn, roles[t].gex_progress_arg))
      abort();
  }
  EXPECT_EQ(gex_System_QueryHiddenAMConcurrencyLevel(), level);
  for (gex_Rank_t rank = 0; rank < nodes; ++rank) gex_AM_RequestShort0(team, rank, kHandler, 0);
  AWAIT(answers, 2 * (int)nodes);
}

JOB(arguments_of_the_query_for_threads, "GX-083", kLocal, 0, "") {
  const gex_ProgressThreadInfo_t *info = NULL;
  unsigned int threads = 0;
  start_ex_job(GEX_FLAG_DEFER_THREADS, 0);
  gex_System_SetVerboseErrors(0);
  EXPECT_EQ(gex_System_QueryProgressThreads(client, NULL, &info, 0), GASNET_ERR_BAD_ARG);
  EXPECT_EQ(gex_System_QueryProgressThreads(client, &threads, NULL, 0), GASNET_ERR_BAD_ARG);
  EXPECT_EQ(gex_System_QueryProgressThreads(client, &threads, &info, 1), GASNET_ERR_BAD_ARG);
}

CASE(threads_are_for_who_defers_them, "GX-083") {
  const gex_ProgressThreadInfo_t *info = NULL;
  unsigned int threads = 0;
  gex_System_SetVerboseErrors(0);
  EXPECT_EQ(gex_System_QueryProgressThreads(client, &threads, &info, 0), GASNET_ERR_RESOURCE);
  gex_System_SetVerboseErrors(1);
}
