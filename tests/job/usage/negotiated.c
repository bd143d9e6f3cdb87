/* Breaks one convention of messages with negotiated payloads, named by its argument, in a job of one rank. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "gasnet.h"
#include "gasnet_coll.h"

enum { kBytes = 100, kOnRequest = 200, kOnReply = 201, kOnLong = 202 };

static gex_TM_t team;
static gex_HSL_t lock = GEX_HSL_INITIALIZER;
static char *memory, source[kBytes];
static const char *breach;
static int is(const char *name) { return strcmp(breach, name) == 0; }

static void on_request(gex_Token_t token, void *buf, size_t nbytes) {
  if (is("prepare_in_handler")) gex_AM_PrepareRequestMedium(team, 0, NULL, kBytes, kBytes, NULL, 0, 0);
  const gex_AM_SrcDesc_t sd = gex_AM_PrepareReplyMedium(token, NULL, nbytes, nbytes, NULL, 0, 0);
  memcpy(gex_AM_SrcDescAddr(sd), buf, nbytes);
  if (is("reply_between")) gex_AM_ReplyShort0(token, kOnReply, 0);
  if (is("return_prepared")) return;
  if (is("commit_reply_with_lock") || is("cancel_reply_with_lock")) gex_HSL_Lock(&lock);
  if (is("cancel_reply_with_lock")) gex_AM_CancelReplyMedium(sd, 0);
  gex_AM_CommitReplyMedium0(sd, kOnReply, nbytes);
  if (is("commit_reply_twice")) gex_AM_CommitReplyMedium0(sd, kOnReply, nbytes);
  if (is("cancel_committed_reply")) gex_AM_CancelReplyMedium(sd, 0);
  if (is("prepare_second_reply")) gex_AM_PrepareReplyMedium(token, NULL, nbytes, nbytes, NULL, 0, 0);
}
static void on_payload(gex_Token_t token, void *buf, size_t nbytes) { (void)token, (void)buf, (void)nbytes; }

/* The arguments of a Prepare. */
static void break_prepare(void) {
  gex_Event_t event;
  if (is("least_above_the_limit"))
    gex_AM_PrepareRequestMedium(team, 0, NULL, gex_AM_MaxRequestMedium(team, 0, NULL, GEX_FLAG_AM_PREPARE_LEAST_ALLOC, 0) + 1, SIZE_MAX, NULL, 0, 0);
  if (is("most_below_least")) gex_AM_PrepareRequestMedium(team, 0, NULL, kBytes, kBytes - 1, NULL, 0, 0);
  if (is("event_without_buffer")) gex_AM_PrepareRequestMedium(team, 0, NULL, kBytes, kBytes, &event, 0, 0);
  if (is("buffer_without_event")) gex_AM_PrepareRequestMedium(team, 0, source, kBytes, kBytes, NULL, 0, 0);
  if (is("too_many_arguments")) gex_AM_PrepareRequestMedium(team, 0, NULL, kBytes, kBytes, NULL, 0, gex_AM_MaxArgs() + 1);
}

static gex_AM_SrcDesc_t prepared;
static void *commit_in_thread(void *unused) {
  gex_AM_CommitRequestMedium0(prepared, kOnRequest, kBytes);
  return unused;
}

/* Between Prepare and Commit. */
static void break_between(void) {
  pthread_t thread;
  if (is("prepare_twice")) gex_AM_PrepareRequestLong(team, 0, NULL, kBytes, kBytes, memory, NULL, 0, 0);
  if (is("poll_between")) gasnet_AMPoll();
  if (is("wait_between")) GASNET_BLOCKUNTIL(1);
  if (is("put_between")) gex_RMA_PutBlocking(team, 0, memory, source, kBytes, 0);
  if (is("get_between")) gex_RMA_GetNBI(team, source, 0, memory, kBytes, 0);
  if (is("request_between")) gex_AM_RequestMedium0(team, 0, kOnRequest, source, kBytes, GEX_EVENT_NOW, 0);
  if (is("collective_between")) gex_Coll_BarrierNB(team, 0);
  if (is("sync_between")) gex_NBI_Wait(GEX_EC_ALL, 0);
  if (is("exit_between")) gasnet_exit(0);
  if (is("commit_by_other_thread")) {
    pthread_create(&thread, NULL, commit_in_thread, NULL);
    pthread_join(thread, NULL);
  }
  if (is("commit_with_lock") || is("cancel_with_lock")) gex_HSL_Lock(&lock);
  if (is("commit_in_section")) gasnet_hold_interrupts();
}

static void break_commit(gex_AM_SrcDesc_t sd) {
  if (is("commit_nothing")) gex_AM_CommitRequestMedium0(GEX_AM_SRCDESC_NO_OP, kOnRequest, kBytes);
  if (is("commit_as_long")) gex_AM_CommitRequestLong0(sd, kOnLong, kBytes, memory);
  if (is("commit_as_reply")) gex_AM_CommitReplyMedium0(sd, kOnReply, kBytes);
  if (is("commit_too_much")) gex_AM_CommitRequestMedium0(sd, kOnRequest, kBytes + 1);
  if (is("commit_with_arguments")) gex_AM_CommitRequestMedium2(sd, kOnRequest, kBytes, 1, 2);
  if (is("commit_with_flags")) gex_AM_CommitRequestMedium0_v2(sd, kOnRequest, kBytes, GEX_FLAG_AM_PREPARE_LEAST_ALLOC);
  if (is("commit_to_no_handler")) gex_AM_CommitRequestMedium0(sd, 5, kBytes);
  if (is("commit_unwritten")) gex_AM_CommitRequestMedium0(sd, kOnRequest, kBytes);
  if (is("cancel_with_flags")) gex_AM_CancelRequestMedium(sd, GEX_FLAG_IMMEDIATE);
  if (is("cancel_with_lock")) gex_AM_CancelRequestMedium(sd, 0);
  memset(gex_AM_SrcDescAddr(sd), 1, kBytes);
  if (is("commit_after_cancel")) gex_AM_CancelRequestMedium(sd, 0);
  gex_AM_CommitRequestMedium0(sd, kOnRequest, kBytes);
  if (is("commit_twice")) gex_AM_CommitRequestMedium0(sd, kOnRequest, kBytes);
  if (is("cancel_after_commit")) gex_AM_CancelRequestMedium(sd, 0);
}

static void break_long(void) {
  char *const end = memory + (1 << 20);
  gex_AM_SrcDesc_t sd = gex_AM_PrepareRequestLong(team, 0, source, kBytes, kBytes, memory, GEX_EVENT_NOW, 0, 0);
  if (is("long_elsewhere")) gex_AM_CommitRequestLong0(sd, kOnLong, kBytes, memory + 1);
  gex_AM_CommitRequestLong0(sd, kOnLong, kBytes, memory);
  sd = gex_AM_PrepareRequestLong(team, 0, source, kBytes, kBytes, NULL, GEX_EVENT_NOW, 0, 0);
  if (is("long_outside")) gex_AM_CommitRequestLong0(sd, kOnLong, kBytes, end - kBytes + 1);
  gex_AM_CommitRequestLong0(sd, kOnLong, kBytes, end - kBytes);
}

int main(int argc, char **argv) {
  static gex_AM_Entry_t handlers[] = {
      {kOnRequest, (gex_AM_Fn_t)on_request, GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REQUEST, 0, NULL, NULL},
      {kOnReply, (gex_AM_Fn_t)on_payload, GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REPLY, 0, NULL, NULL},
      {kOnLong, (gex_AM_Fn_t)on_payload, GEX_FLAG_AM_LONG | GEX_FLAG_AM_REQUEST, 0, NULL, NULL}};
  gex_Client_t client;
  gex_EP_t endpoint;
  gex_Segment_t segment;
  breach = argc > 1 ? argv[1] : "";
  if (gex_Client_Init(&client, &endpoint, &team, "MISUSE", &argc, &argv, GEX_FLAG_USES_GASNET1) != GASNET_OK) return 2;
  if (gex_Segment_Attach(&segment, team, 1 << 20) != GASNET_OK) return 3;
  if (gex_EP_RegisterHandlers(endpoint, handlers, 3) != GASNET_OK) return 4;
  memory = gex_Segment_QueryAddr(segment);
  break_prepare();
  prepared = gex_AM_PrepareRequestMedium(team, 0, NULL, kBytes, kBytes, NULL, 0, 0);
  break_between();
  break_commit(prepared);
  break_long();
  gex_Coll_BarrierBlocking(team, 0);
  puts("kept every convention");
  gasnet_exit(0);
}
