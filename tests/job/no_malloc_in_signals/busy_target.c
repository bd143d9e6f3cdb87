/* Rank 1 computes and makes no call, while rank 0 does to it all that needs a handler there: messages of each
 * category with replies of each, negotiated ones, puts, gets and lists of both, atomics. Its handlers ask for things, too. Whatever the library does
 * at a target, it does in signal context: for the hook of hook.c, and for GASNET_DISPATCH=interrupt and watchdog.
 * busy_target [ROUNDS] */
#include <gasnet_ratomic.h>
#include <gasnet_tools.h>
#include <gasnet_vis.h>
#include <gasnetex.h>

#include "../api/job_test.h"

enum { kPartBytes = 1 << 20, kReplyBytes = 512, kPieces = 64, kSignalsMin = 10 };

static gex_Client_t client;
static gex_EP_t endpoint;
static gex_TM_t team;
static volatile int over;
static int answered;
static unsigned char local[2 * kPartBytes];

static unsigned char *far_part(void) { return (unsigned char *)segments[1].addr; }

/* The queries that handlers may make, too. */
static void ask(gex_Token_t token) {
  gex_Token_Info_t info;
  gex_RankInfo_t *ranks;
  gex_Rank_t count, index;
  gasnet_nodeinfo_t info_of_nodes[2];
  EXPECT((gex_Token_Info(token, &info, GEX_TI_ALL) & GEX_TI_SRCRANK) != 0);
  gex_System_QueryNbrhdInfo(&ranks, &count, &index);
  gex_System_QueryHostInfo(&ranks, &count, &index);
  EXPECT_EQ(count, nodes);
  EXPECT_EQ(gasnet_getNodeInfo(info_of_nodes, 2), GASNET_OK);
  EXPECT(gasnet_getenv("GASNET_DRIVER") != NULL);
  (void)statistic("dispatch.found_in_signals"); /* which ends the job if it is not there */
  GASNETT_TRACE_PRINTF("request from %d", (int)info.gex_srcrank);
}

static void on_request(gex_Token_t token, void *payload, size_t bytes, int category) {
  static const unsigned char reply[kReplyBytes];
  (void)payload, (void)bytes;
  ask(token);
  if (category == 0) gex_AM_ReplyShort0(token, 210, 0);
  if (category == 1) gex_AM_ReplyMedium0(token, 211, reply, kReplyBytes, GEX_EVENT_NOW, 0);
  if (category == 2) gex_AM_ReplyLong0(token, 211, reply, kReplyBytes, segments[0].addr, GEX_EVENT_NOW, 0);
  if (category != 3) return;
  gex_AM_SrcDesc_t place = gex_AM_PrepareReplyMedium(token, NULL, kReplyBytes, kReplyBytes, NULL, 0, 0);
  memset(gex_AM_SrcDescAddr(place), 1, kReplyBytes);
  gex_AM_CommitReplyMedium0(place, 211, kReplyBytes);
}
static void on_short(gex_Token_t token, int category) { on_request(token, NULL, 0, category); }
static void on_reply(gex_Token_t token) {
  (void)token;
  __atomic_fetch_add(&answered, 1, __ATOMIC_RELEASE);
}
static void on_reply_payload(gex_Token_t token, void *payload, size_t bytes) {
  (void)payload, (void)bytes;
  on_reply(token);
}
static void on_end(gex_Token_t token) {
  (void)token;
  over = 1;
}

static void messages(int turn) {
  for (int category = 0; category < 4; ++category) {
    const size_t bytes = (size_t)(1 + turn * 37 % 500), long_bytes = bytes * 97;
    const int wanted = read_now(&answered) + 4;
    gex_AM_RequestShort1(team, 1, 200, 0, category);
    gex_AM_RequestMedium1(team, 1, 201, local, bytes, GEX_EVENT_NOW, 0, category);
    gex_AM_RequestLong1(team, 1, 201, local, long_bytes, far_part(), GEX_EVENT_NOW, 0, category);
    gex_AM_SrcDesc_t place = gex_AM_PrepareRequestMedium(team, 1, NULL, bytes, bytes, NULL, 0, 1);
    memset(gex_AM_SrcDescAddr(place), 2, bytes);
    gex_AM_CommitRequestMedium1(place, 201, bytes, category);
    GASNET_BLOCKUNTIL(read_now(&answered) == wanted);
  }
}

static void transfers(void) {
  static const size_t sizes[] = {1, 8, 257, 4096, 9001, 200000};
  for (size_t s = 0; s < sizeof sizes / sizeof *sizes; ++s) {
    fill(local, sizes[s], (unsigned)s);
    gasnet_put_bulk(1, far_part(), local, sizes[s]);
    gasnet_get_bulk(local + kPartBytes, 1, far_part(), sizes[s]);
    EXPECT(holds(local + kPartBytes, sizes[s], (unsigned)s));
    gasnet_memset(1, far_part(), 3, sizes[s]);
  }
  gasnet_put_val(1, far_part(), 42, 8);
  EXPECT_EQ(gasnet_get_val(1, far_part(), 8), 42);
}

static void lists(void) {
  static void *here[kPieces], *there[kPieces];
  for (size_t i = 0; i < kPieces; ++i) here[i] = local + 100 * i, there[i] = far_part() + 200 * i;
  gex_VIS_IndexedPutBlocking(team, 1, kPieces, there, 64, kPieces, here, 64, 0);
  gex_VIS_IndexedGetBlocking(team, kPieces, here, 64, 1, kPieces, there, 64, 0);
  const ptrdiff_t near_stride = 300, far_stride = 5000;
  const size_t counts[] = {kPieces};
  gex_VIS_StridedPutBlocking(team, 1, far_part(), &far_stride, local, &near_stride, 256, counts, 1, 0);
  gex_VIS_StridedGetBlocking(team, local, &near_stride, 1, far_part(), &far_stride, 256, counts, 1, 0);
}

static void atomics(gex_AD_t words, gex_AD_t doubles, int turn) {
  uint64_t before = 0;
  gex_Event_Wait(gex_AD_OpNB_U64(words, NULL, 1, far_part(), GEX_OP_SET, (uint64_t)turn, 0, 0));
  gex_Event_Wait(gex_AD_OpNB_U64(words, &before, 1, far_part(), GEX_OP_FADD, 1, 0, 0));
  EXPECT_EQ(before, (uint64_t)turn);
  double sum = 0;
  gex_Event_Wait(gex_AD_OpNB_DBL(doubles, NULL, 1, far_part() + 64, GEX_OP_SET, 0.5, 0, 0));
  gex_Event_Wait(gex_AD_OpNB_DBL(doubles, &sum, 1, far_part() + 64, GEX_OP_FADD, 1.5, 0, 0));
  EXPECT(sum > 0.4 && sum < 0.6);
}

static void send_everything(gex_AD_t words, gex_AD_t doubles, int rounds) {
  for (int turn = 0; turn < rounds; ++turn) {
    messages(turn);
    transfers();
    lists();
    atomics(words, doubles, turn);
  }
  gex_AM_RequestShort0(team, 1, 202, 0);
}

int main(int argc, char **argv) {
  gasnet_handlerentry_t table[] = {{200, (void (*)())on_short},
                                   {201, (void (*)())on_request},
                                   {202, (void (*)())on_end},
                                   {210, (void (*)())on_reply},
                                   {211, (void (*)())on_reply_payload}};
  start_job(&argc, &argv, table, 5, kPartBytes);
  gasnet_QueryGexObjects(&client, &endpoint, &team, NULL);
  gex_AD_t words, doubles;
  gex_AD_Create(&words, team, GEX_DT_U64, GEX_OP_SET | GEX_OP_FADD, 0);
  gex_AD_Create(&doubles, team, GEX_DT_DBL, GEX_OP_SET | GEX_OP_FADD, 0);
  barrier();
  if (me == 0) send_everything(words, doubles, argc > 1 ? atoi(argv[1]) : 10);
  if (me == 1) {
    while (!over) {
    }
    EXPECT(statistic("dispatch.signals_handled") >= kSignalsMin);
    EXPECT(statistic("dispatch.found_in_signals") >= kSignalsMin);
  }
  barrier();
  gex_AD_Destroy(words);
  gex_AD_Destroy(doubles);
  end_job("busy_target");
}
