/* A client of GASNet-EX that ignores the code of gex_Client_Init: ignores_ex CALL [signals]. */
#include "gasnet_coll.h"
#include "gasnet_ratomic.h"
#include "gasnetex.h"
#include "ignores.h"

static gex_Client_t client;
static gex_EP_t endpoint;
static gex_TM_t team;
static volatile int answer;
static char bytes[8];

static gex_Rank_t next_rank(void) { return (gex_TM_QueryRank(team) + 1) % gex_TM_QuerySize(team); }

static void short_request(void) { gex_AM_RequestShort0(team, next_rank(), 200, 0); }
static void medium_request(void) {
  gex_AM_RequestMedium0(team, next_rank(), 200, bytes, sizeof bytes, GEX_EVENT_NOW, 0);
}
static void put(void) {
  gex_RMA_PutBlocking(team, next_rank(), bytes, (void *)&answer, sizeof answer, 0);
}
static void get(void) {
  gex_RMA_GetBlocking(team, bytes, next_rank(), (void *)&answer, sizeof answer, 0);
}
static void put_nb(void) {
  gex_Event_Wait(
      gex_RMA_PutNB(team, next_rank(), bytes, (void *)&answer, sizeof answer, GEX_EVENT_NOW, 0));
}
static void get_nbi(void) {
  gex_RMA_GetNBI(team, bytes, next_rank(), (void *)&answer, sizeof answer, 0);
}
static void wait_puts(void) { gex_NBI_Wait(GEX_EC_ALL, 0); }
static void test_puts(void) { gex_NBI_Test(GEX_EC_ALL, 0); }
static void barrier(void) { gex_Event_Wait(gex_Coll_BarrierNB(team, 0)); }
static void broadcast(void) {
  gex_Event_Wait(gex_Coll_BroadcastNB(team, 0, bytes, bytes, sizeof bytes, 0));
}
static void split(void) {
  gex_TM_t made;
  gex_TM_Split(&made, team, 0, 0, NULL, 0, 0);
}
static void attach(void) {
  gex_Segment_t segment;
  gex_Segment_Attach(&segment, team, 1 << 20);
}
static void ask_for_segment(void) {
  void *address;
  gex_Event_Wait(gex_EP_QueryBoundSegmentNB(team, next_rank(), &address, NULL, NULL, 0));
}
static void atomic_domain(void) {
  gex_AD_t domain;
  gex_AD_Create(&domain, team, GEX_DT_U64, GEX_OP_ADD, 0);
}
static void poll_once(void) { gasnet_AMPoll(); }
static void block_until(void) { GASNET_BLOCKUNTIL(answer); }
static void leave(void) { gasnet_exit(7); }

int main(int argc, char **argv) {
  static const next_call_t calls[] = {{"short", short_request},
                                      {"medium", medium_request},
                                      {"put", put},
                                      {"get", get},
                                      {"put_nb", put_nb},
                                      {"get_nbi", get_nbi},
                                      {"wait", wait_puts},
                                      {"test", test_puts},
                                      {"barrier", barrier},
                                      {"broadcast", broadcast},
                                      {"split", split},
                                      {"attach", attach},
                                      {"ask_for_segment", ask_for_segment},
                                      {"atomic_domain", atomic_domain},
                                      {"poll", poll_once},
                                      {"block_until", block_until},
                                      {"exit", leave}};
  if (argc > 2) take_all_signals();
  const int failed =
      gex_Client_Init(&client, &endpoint, &team, "IGNORES", &argc, &argv, 0) != GASNET_OK;
  return call_next(failed, argv[1], calls, sizeof calls / sizeof *calls);
}
