/* Breaks one convention of GASNet, named by its argument, in a job of one node. Linked with a debug library. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "gasnet.h"

static gasnet_seginfo_t segment;
static gasnet_hsl_t lock = GASNET_HSL_INITIALIZER, other_lock = GASNET_HSL_INITIALIZER;
static gasnet_token_t kept_token;
static const char *breach;

static int is(const char *name) { return strcmp(breach, name) == 0; }
static void put(void) { gasnet_put(0, segment.addr, &breach, sizeof breach); }
static void *put_in_thread(void *unused) {
  put();
  return unused;
}

static void on_request(gasnet_token_t token) {
  kept_token = token;
  if (is("poll_in_handler")) gasnet_AMPoll();
  if (is("request_in_handler")) gasnet_AMRequestShort0(0, 200);
  if (is("put_in_handler")) put();
  if (is("barrier_in_handler")) gasnet_barrier_notify(0, 0);
  if (is("reply_with_hsl") || is("return_with_hsl")) gasnet_hsl_lock(&lock);
  if (is("return_with_hsl")) return;
  if (is("hold_in_handler")) gasnet_hold_interrupts(); /* without effect */
  gasnet_AMReplyShort0(token, 201);
  if (is("reply_twice")) gasnet_AMReplyShort0(token, 201);
}
static void on_reply(gasnet_token_t token) {
  if (is("reply_in_reply")) gasnet_AMReplyShort0(token, 201);
}

static void break_locks(void) {
  gasnet_hsl_lock(&lock);
  if (is("lock_twice")) gasnet_hsl_lock(&lock);
  if (is("trylock_twice")) gasnet_hsl_trylock(&lock);
  if (is("unlock_other")) gasnet_hsl_unlock(&other_lock);
  if (is("poll_with_hsl")) gasnet_AMPoll();
  if (is("destroy_locked")) gasnet_hsl_destroy(&lock);
  gasnet_hold_interrupts(); /* without effect */
  gasnet_hsl_lock(&other_lock);
  if (is("unlock_order")) gasnet_hsl_unlock(&lock);
  gasnet_hsl_unlock(&other_lock);
  gasnet_hsl_unlock(&lock);
}

static void break_interrupts(void) {
  if (is("resume_unpaired")) gasnet_resume_interrupts();
  gasnet_hold_interrupts();
  if (is("hold_twice")) gasnet_hold_interrupts();
  if (is("put_in_section")) put();
  if (is("request_in_section")) gasnet_AMRequestShort0(0, 200);
  gasnet_resume_interrupts();
}

static void break_transfers(void) {
  char *end = (char *)segment.addr + segment.size;
  if (is("put_outside")) gasnet_put(0, end - 4, &breach, 8);
  if (is("get_outside")) gasnet_get_nbi(&breach, 0, (char *)segment.addr - 1, 1);
  if (is("node_outside")) gasnet_put_val(7, segment.addr, 1, 1);
  if (is("handler_outside")) gasnet_AMRequestShort0(0, 5);
  if (is("region_twice")) gasnet_begin_nbi_accessregion(), gasnet_begin_nbi_accessregion();
  if (is("region_unpaired")) gasnet_end_nbi_accessregion();
  if (is("sync_in_region")) gasnet_begin_nbi_accessregion(), gasnet_wait_syncnbi_all();
  gasnet_put(0, NULL, NULL, 0); /* nothing may go anywhere */
  put();
}

int main(int argc, char **argv) {
  gasnet_handlerentry_t table[] = {{200, (void (*)())on_request}, {201, (void (*)())on_reply}};
  breach = argc > 1 ? argv[1] : "";
  if (gasnet_init(&argc, &argv) != GASNET_OK) return 2;
  if (is("poll_before_attach")) gasnet_AMPoll();
  if (is("put_before_attach")) put();
  if (gasnet_attach(table, 2, 1 << 20, 0) != GASNET_OK) return 3;
  gasnet_getSegmentInfo(&segment, 1);
  break_locks();
  break_interrupts();
  break_transfers();
  gasnet_AMRequestShort0(0, 200);
  if (is("reply_outside")) gasnet_AMReplyShort0(kept_token, 201);
  if (is("put_by_second_thread")) {
    pthread_t thread;
    pthread_create(&thread, NULL, put_in_thread, NULL);
    pthread_join(thread, NULL);
  }
  gasnet_barrier(0, GASNET_BARRIERFLAG_ANONYMOUS);
  puts("kept every convention");
  gasnet_exit(0);
}
