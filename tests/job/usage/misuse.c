/* Breaks one convention of GASNet, named by its first argument, in a job of one node; or, with a second
 * argument, in a handler on rank 1 of two, which computes. Linked with a debug library. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "gasnet.h"
#include "gasnet_ratomic.h"

/* The test wants to read of the place. */
#define OPENS(call) (fprintf(stderr, "opens %s:%d\n", __FILE__, __LINE__), call)

static gasnet_seginfo_t segment;
static gasnet_hsl_t lock = GASNET_HSL_INITIALIZER, other_lock = GASNET_HSL_INITIALIZER;
static gasnet_token_t kept_token;
static const char *breach;
static volatile int is_inside, never;

static int is(const char *name) { return strcmp(breach, name) == 0; }
static void put(void) { gasnet_put(gasnet_mynode(), segment.addr, &breach, sizeof breach); }
static void *put_in_thread(void *unused) {
  put();
  return unused;
}
static void *poll_beside(void *unused) {
  while (!is_inside) {
  }
  if (is("put_beside_call")) put();
  gasnet_AMPoll();
  return unused;
}
static void in_thread(void *(*run)(void *)) {
  pthread_t thread;
  pthread_create(&thread, NULL, run, NULL);
  if (run == put_in_thread) pthread_join(thread, NULL);
}
static void compute_ms(int ms) {
  struct timespec from, now;
  clock_gettime(CLOCK_MONOTONIC, &from);
  do {
    clock_gettime(CLOCK_MONOTONIC, &now);
  } while ((now.tv_sec - from.tv_sec) * 1000 + (now.tv_nsec - from.tv_nsec) / 1000000 < ms);
}

static void on_request(gasnet_token_t token) {
  kept_token = token;
  if (is("poll_in_handler")) gasnet_AMPoll();
  if (is("wait_in_handler")) GASNET_BLOCKUNTIL(1);
  if (is("sync_in_handler")) gasnet_wait_syncnb(GASNET_INVALID_HANDLE);
  if (is("request_in_handler")) gasnet_AMRequestShort0(0, 200);
  if (is("put_in_handler")) put();
  if (is("barrier_in_handler")) gasnet_barrier_notify(0, 0);
  if (is("handler_blocks")) usleep(100000);
  if (is("poll_beside_call") || is("put_beside_call"))
    for (is_inside = 1;;) pause();
  if (is("reply_with_hsl") || is("return_with_hsl")) OPENS(gasnet_hsl_lock(&lock));
  if (is("return_with_hsl")) return;
  if (is("hold_in_handler")) gasnet_hold_interrupts(), gasnet_hold_interrupts(); /* without effect */
  gasnet_AMReplyShort0(token, 201);
  if (is("reply_twice")) gasnet_AMReplyShort0(token, 201);
}
static void on_reply(gasnet_token_t token) {
  if (is("reply_in_reply")) gasnet_AMReplyShort0(token, 201);
  if (is("reply_by_other_token")) gasnet_AMReplyShort0(kept_token, 201);
}
static void on_long(gasnet_token_t token, void *payload, size_t bytes) {
  if (!is("async_unanswered")) gasnet_AMReplyShort0(token, 201);
  (void)payload, (void)bytes;
}

static void break_locks(void) {
  static gasnet_hsl_t made, never_made;
  gasnet_hsl_init(&made);
  if (is("init_twice")) gasnet_hsl_init(&made);
  if (is("lock_uninitialised")) gasnet_hsl_lock(&never_made);
  if (is("destroy_uninitialised")) gasnet_hsl_destroy(&never_made);
  gasnet_hsl_destroy(&made);
  if (is("trylock_destroyed")) gasnet_hsl_trylock(&made);
  OPENS(gasnet_hsl_lock(&lock));
  if (is("lock_twice")) gasnet_hsl_lock(&lock);
  if (is("trylock_twice")) gasnet_hsl_trylock(&lock);
  if (is("unlock_other")) gasnet_hsl_unlock(&other_lock);
  if (is("poll_with_hsl")) gasnet_AMPoll();
  if (is("wait_with_hsl")) GASNET_BLOCKUNTIL(1);
  if (is("destroy_locked")) gasnet_hsl_destroy(&lock);
  if (is("init_locked")) gasnet_hsl_init(&lock);
  if (is("lock_long")) compute_ms(100);
  gasnet_hold_interrupts(); /* without effect */
  gasnet_hold_interrupts(); /* no more a warning */
  if (OPENS(gasnet_hsl_trylock(&other_lock)) != GASNET_OK) gasnet_exit(4);
  if (is("poll_with_hsls")) gasnet_AMPoll();
  if (is("unlock_order")) gasnet_hsl_unlock(&lock);
  gasnet_hsl_unlock(&other_lock);
  gasnet_hsl_unlock(&lock);
}

/* A section or lock that is opened and never closed: the job ends once the test has read its warning, and says so. */
static void *keep(void *unused) {
  if (is("section_kept")) {
    OPENS(gasnet_hold_interrupts());
    return unused;
  }
  OPENS(gasnet_hsl_lock(&lock));
  gasnet_hsl_lock(&other_lock); /* one that comes and goes inside */
  gasnet_hsl_unlock(&other_lock);
  return unused;
}
static void keep_until_told(void) {
  char word;
  if (is("lock_kept_by_thread")) {
    pthread_t thread;
    pthread_create(&thread, NULL, keep, NULL);
    pthread_join(thread, NULL);
  } else {
    keep(NULL);
  }
  compute_ms(100);
  while (read(0, &word, 1) < 0) {
  }
  gasnet_exit(0);
}

static void break_interrupts(void) {
  if (is("resume_unpaired")) gasnet_resume_interrupts();
  OPENS(gasnet_hold_interrupts());
  if (is("hold_twice")) gasnet_hold_interrupts();
  if (is("put_in_section")) put();
  if (is("poll_in_section")) gasnet_AMPoll();
  if (is("request_in_section")) gasnet_AMRequestShort0(0, 200);
  if (is("sync_in_section")) gasnet_try_syncnb(GASNET_INVALID_HANDLE);
  if (is("hold_long")) compute_ms(100);
  gasnet_hsl_lock(&lock);
  gasnet_hold_interrupts(); /* without effect: the section is as it was */
  gasnet_hsl_unlock(&lock);
  gasnet_resume_interrupts();
}

static void break_transfers(void) {
  char *from = segment.addr, *end = from + segment.size;
  if (is("put_outside")) gasnet_put(0, end - 4, &breach, 8);
  if (is("get_outside")) gasnet_get_nbi(&breach, 0, from - 1, 1);
  if (is("long_outside")) gasnet_AMRequestLong0(0, 202, &breach, 8, end - 4);
  if (is("node_outside")) gasnet_put_val(7, segment.addr, 1, 1);
  if (is("handler_outside")) gasnet_AMRequestShort0(0, 5);
  if (is("put_overlaps")) gasnet_put_bulk(gasnet_mynode(), from, from + 7, 8);
  if (is("get_overlaps")) gasnet_get_nb(from + 7, gasnet_mynode(), from, 8);
  if (is("region_unpaired")) gasnet_end_nbi_accessregion();
  if (is("region_twice") || is("region_left") || is("sync_in_region")) OPENS(gasnet_begin_nbi_accessregion());
  if (is("region_twice")) gasnet_begin_nbi_accessregion();
  if (is("region_left")) gasnet_exit(0);
  if (is("sync_in_region")) gasnet_wait_syncnbi_all();
  gasnet_put(0, NULL, NULL, 0);           /* nothing may go anywhere */
  gasnet_put(0, segment.addr, from, 0);   /* and overlaps nothing */
  gasnet_put(gasnet_mynode(), from, from, 8); /* the same bytes do no harm */
  gasnet_get(from + 8, gasnet_mynode(), from, 8);
  put();
}

/* GX-046, GX-154, GX-158: to this node, which does everything at once. */
static void break_atomics(void) {
  char *at = segment.addr;
  uint64_t old = 0;
  gex_TM_t tm;
  gex_AD_t ad;
  gasnet_QueryGexObjects(NULL, NULL, &tm, NULL);
  gex_AD_Create(&ad, tm, GEX_DT_U64, GEX_OP_ADD | GEX_OP_FADD | GEX_OP_SET, 0);
  if (is("atomic_of_other_type")) gex_AD_OpNB_I64(ad, NULL, 0, at, GEX_OP_ADD, 1, 0, 0);
  if (is("atomic_of_two_operations")) gex_AD_OpNB_U64(ad, NULL, 0, at, GEX_OP_ADD | GEX_OP_SET, 1, 0, 0);
  if (is("atomic_of_none_told")) gex_AD_OpNBI_U64(ad, NULL, 0, at, GEX_OP_INC, 1, 0, 0);
  if (is("atomic_without_result")) gex_AD_OpNBI_U64(ad, NULL, 0, at, GEX_OP_FADD, 1, 0, 0);
  if (is("atomic_unaligned")) gex_AD_OpNBI_U64(ad, &old, 0, at + 4, GEX_OP_FADD, 1, 0, 0);
  if (is("atomic_outside")) gex_AD_OpNB_U64(ad, &old, 0, at + segment.size, GEX_OP_FADD, 1, 0, 0);
  if (is("atomic_in_two_places")) gex_AD_OpNB_U64(ad, &old, 0, at, GEX_OP_FADD, 1, 0, GEX_FLAG_AD_MY_RANK | GEX_FLAG_AD_MY_NBRHD);
  if (is("atomic_in_section")) OPENS(gasnet_hold_interrupts()), gex_AD_OpNBI_U64(ad, &old, 0, at, GEX_OP_FADD, 1, 0, 0);
  gex_Event_Wait(gex_AD_OpNB_U64(ad, &old, 0, at + 8, GEX_OP_FADD, 1, 0, GEX_FLAG_AD_MY_RANK));
  gex_AD_Destroy(ad);
}

static void break_barriers(void) {
  if (is("wait_unnotified")) gasnet_barrier_wait(0, 0);
  if (is("try_unnotified")) gasnet_barrier_try(0, 0);
  gasnet_barrier_notify(0, GASNET_BARRIERFLAG_ANONYMOUS);
  if (is("notify_twice")) gasnet_barrier_notify(0, GASNET_BARRIERFLAG_ANONYMOUS);
  gasnet_barrier_wait(0, GASNET_BARRIERFLAG_ANONYMOUS);
}

/* In the midst of rank 1's own work, or in a thread of the library. */
static void break_in_handler_of_other(void) {
  if (gasnet_mynode() == 0) gasnet_AMRequestShort0(1, 200);
  if (gasnet_mynode() == 0) GASNET_BLOCKUNTIL(never);
  while (!never) {
  }
}

int main(int argc, char **argv) {
  gasnet_handlerentry_t table[] = {{200, (void (*)())on_request}, {201, (void (*)())on_reply}, {202, (void (*)())on_long}};
  breach = argc > 1 ? argv[1] : "";
  if (gasnet_init(&argc, &argv) != GASNET_OK) return 2;
  if (is("poll_before_attach")) gasnet_AMPoll();
  if (is("put_before_attach")) put();
  if (gasnet_attach(table, 3, 1 << 20, 0) != GASNET_OK) return 3;
  gasnet_getSegmentInfo(&segment, 1);
  if (argc > 2) break_in_handler_of_other();
  if (is("lock_kept") || is("lock_kept_by_thread") || is("section_kept")) keep_until_told();
  break_locks();
  break_interrupts();
  break_transfers();
  break_atomics();
  break_barriers();
  if (is("poll_beside_call") || is("put_beside_call")) in_thread(poll_beside);
  gasnet_AMRequestShort0(0, 200);
  gasnet_AMRequestLongAsync0(0, 202, &breach, sizeof breach, segment.addr);
  if (is("reply_outside")) gasnet_AMReplyShort0(kept_token, 201);
  if (is("put_by_second_thread")) in_thread(put_in_thread);
  gasnet_barrier(0, GASNET_BARRIERFLAG_ANONYMOUS);
  puts("kept every convention");
  gasnet_exit(0);
}
