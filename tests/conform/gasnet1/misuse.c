/* Breaches that must end the job with a sentence: each in a job of its own. 134 is 128 + SIGABRT. */
#include "gasnet1.h"

static gasnet_hsl_t lock = GASNET_HSL_INITIALIZER;
static volatile int never;

static void on_reply_twice(gasnet_token_t token) {
  gasnet_AMReplyShort0(token, 202);
  gasnet_AMReplyShort0(token, 202);
}
static void on_reply_once(gasnet_token_t token) { gasnet_AMReplyShort0(token, 203); }
static void on_nothing(gasnet_token_t token) { (void)token; }
static void on_reply_that_replies(gasnet_token_t token) { gasnet_AMReplyShort0(token, 202); }
static void on_request_that_requests(gasnet_token_t token) {
  (void)token;
  gasnet_AMRequestShort0((me + 1) % nodes, 202);
}
static void on_poll(gasnet_token_t token) {
  (void)token;
  gasnet_AMPoll();
}
static void on_reply_to_nobody(gasnet_token_t token) { gasnet_AMReplyShort0(token, 241); }
static gasnet_handlerentry_t table[] = {{200, (void (*)())on_reply_twice},
                                        {201, (void (*)())on_reply_once},
                                        {202, (void (*)())on_nothing},
                                        {203, (void (*)())on_reply_that_replies},
                                        {204, (void (*)())on_request_that_requests},
                                        {205, (void (*)())on_poll},
                                        {206, (void (*)())on_reply_to_nobody}};

static gasnet_node_t other(void) { return (me + 1) % nodes; }
static void start(void) {
  start_job(table, 7, 65536);
  barrier();
}
/* The other rank waits until the job ends. */
#define ON_RANK_0(statement) \
  start();                   \
  if (me == 0) statement;    \
  GASNET_BLOCKUNTIL(never)

JOB(request_to_no_handler, "C1-078 C1-123", kNetwork, 134,
    "names handler 240, which is not registered") {
  ON_RANK_0(gasnet_AMRequestShort0(other(), 240));
}
JOB(request_to_no_handler_here, "C1-047 C1-123", kLocal, 134,
    "names handler 240, which is not registered") {
  ON_RANK_0(gasnet_AMRequestShort0(me, 240));
}
JOB(reply_to_no_handler, "C1-078 C1-123", kLocal, 134,
    "names handler 241, which is not registered") {
  ON_RANK_0(gasnet_AMRequestShort0(other(), 206));
}
JOB(second_reply, "C1-150", kLocal, 134,
    BY_BUILD("at most once (C1-150)", "was replied to already")) {
  ON_RANK_0(gasnet_AMRequestShort0(other(), 200));
}
JOB(reply_from_a_reply, "C1-117", kLocal, 134,
    BY_BUILD("may not reply (C1-117)", "in a reply handler")) {
  ON_RANK_0(gasnet_AMRequestShort0(other(), 201));
}
JOB(request_in_a_handler, "C1-172", kLocal, 134,
    BY_BUILD("C1-172", "gasnet_AMRequestShort inside handler 204")) {
  ON_RANK_0(gasnet_AMRequestShort0(other(), 204));
}
JOB(poll_in_a_handler, "C1-158", kLocal, 134,
    BY_BUILD("C1-172", "gasnet_AMPoll inside handler 205")) {
  ON_RANK_0(gasnet_AMRequestShort0(other(), 205));
}

#define OUTSIDE BY_BUILD("outside the segment of rank 1", "not in the segment of node 1")
JOB(put_outside, "C1-025 C1-207 C1-209", kNetwork, 134, OUTSIDE) {
  char byte = 1;
  ON_RANK_0(gasnet_put(1, (char *)segments[1].addr + segments[1].size, &byte, 1));
}
JOB(put_nbi_across_the_end, "C1-207 C1-209", kLocal, 134, OUTSIDE) {
  char bytes[2] = {1, 2};
  ON_RANK_0(gasnet_put_nbi(1, (char *)segments[1].addr + segments[1].size - 1, bytes, 2));
}
JOB(get_outside, "C1-207 C1-209", kLocal, 134, OUTSIDE) {
  char byte;
  ON_RANK_0(gasnet_get(&byte, 1, (char *)segments[1].addr - 1, 1));
}
JOB(memset_outside, "C1-207 C1-209 C1-217", kLocal, 134, OUTSIDE) {
  ON_RANK_0(gasnet_memset(1, segments[1].addr, 1, segments[1].size + 1));
}
JOB(long_outside, "C1-143", kLocal, 134, BY_BUILD("outside the target's segment", "not in the segment of node 1")) {
  static char bytes[64];
  ON_RANK_0(gasnet_AMRequestLong0(1, 202, bytes, 64, (char *)segments[1].addr - 8));
}
JOB(put_to_no_node, "C1-207", kLocal, 134, "node 2 does not exist") {
  char byte = 1;
  ON_RANK_0(gasnet_put(2, segments[1].addr, &byte, 1));
}

JOB(notify_twice, "C1-265", kLocal, 134, "C1-265") {
  ON_RANK_0((gasnet_barrier_notify(1, 0), gasnet_barrier_notify(1, 0)));
}
JOB(wait_without_notify, "C1-267", kLocal, 134, "C1-267") {
  ON_RANK_0((void)gasnet_barrier_wait(0, GASNET_BARRIERFLAG_ANONYMOUS));
}
JOB(try_without_notify, "C1-271", kLocal, 134, "C1-267") {
  ON_RANK_0((void)gasnet_barrier_try(0, GASNET_BARRIERFLAG_ANONYMOUS));
}
JOB(wait_twice, "C1-267", kLocal, 134, "C1-267") {
  start();
  gasnet_barrier_notify(1, 0);
  EXPECT_EQ(gasnet_barrier_wait(1, 0), GASNET_OK);
  if (me == 0) (void)gasnet_barrier_wait(1, 0);
  GASNET_BLOCKUNTIL(never);
}
JOB(wait_after_a_successful_try, "C1-271", kLocal, 134, "C1-267") {
  start();
  gasnet_barrier_notify(1, 0);
  while (gasnet_barrier_try(1, 0) != GASNET_OK) {
  }
  if (me == 0) (void)gasnet_barrier_wait(1, 0);
  GASNET_BLOCKUNTIL(never);
}

JOB(destroy_of_a_locked_hsl, "C1-190", kLocal, 134, BY_BUILD("C1-190", "of a locked HSL")) {
  start();
  gasnet_hsl_lock(&lock);
  gasnet_hsl_destroy(&lock);
}
JOB(unlock_of_a_free_hsl, "C1-194", kLocal, 134, BY_BUILD("C1-194", "does not hold")) {
  start();
  gasnet_hsl_unlock(&lock);
}
JOB(nested_regions, "C1-252", kLocal, 134, BY_BUILD("C1-252", "do not nest")) {
  start();
  gasnet_begin_nbi_accessregion();
  gasnet_begin_nbi_accessregion();
}
JOB(implicit_sync_in_a_region, "C1-252", kLocal, 134,
    BY_BUILD("C1-252", "implicit synchronisation inside an access region")) {
  start();
  gasnet_begin_nbi_accessregion();
  gasnet_wait_syncnbi_all();
}

/* ---- between init and attach --------------------------------------------------------------------
 */

#define BEFORE_ATTACH(name, statement)                                   \
  JOB(name##_before_attach, "C1-056", kLocal, 134, "gasnet_attach") {    \
    if (gasnet_init(&program_argc, &program_argv) != GASNET_OK) exit(3); \
    statement;                                                           \
  }                                                                      \
  typedef int name##_is_a_case
static char word[8];
BEFORE_ATTACH(put, gasnet_put(gasnet_mynode(), word, word, 8));
BEFORE_ATTACH(get_nb, (void)gasnet_get_nb(word, 1 - gasnet_mynode(), word, 8));
BEFORE_ATTACH(memset, gasnet_memset(gasnet_mynode(), word, 1, 8));
BEFORE_ATTACH(notify, gasnet_barrier_notify(0, 0));
