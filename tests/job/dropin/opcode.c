/* A client whose atomics' operations are known when it runs, to memory of a peer on its host that looks at it without a
 * call: each is done when the call returns, as with operations that the compiler knows. For every type, and teams that name
 * members in every way. */
#include <gasnet_coll.h>
#include <gasnet_ratomic.h>
#include <gasnetex.h>

enum { kTimeLimitS = 60 };
static gex_TM_t team;

static void barrier(void) { gex_Event_Wait(gex_Coll_BarrierNB(team, 0)); }

static void fail(const char *what) {
  fprintf(stderr, "opcode: %s\n", what);
  gasnet_exit(1);
}

/* Rank 1 leaves when its word is no longer 0, and calls nothing until then. */
#define EACH(name, type)                                                                                       \
  static void spin_##name(const volatile type *word) {                                                         \
    const time_t start = time(NULL);                                                                           \
    while (*word == 0)                                                                                         \
      if (time(NULL) - start > kTimeLimitS) fail("an operation on " #name " did not come");                    \
  }                                                                                                            \
  static void operate_##name(gex_TM_t tm, gex_Rank_t rank, type *word, gex_Flags_t flags) {                    \
    static volatile gex_OP_t ops[] = {GEX_OP_FADD, GEX_OP_SUB, GEX_OP_CAS};                                    \
    gex_AD_t domain;                                                                                           \
    type old = 9;                                                                                              \
    gex_AD_Create(&domain, tm, GEX_DT_##name, GEX_OP_FADD | GEX_OP_SUB | GEX_OP_CAS, 0);                       \
    if (gex_System_QueryJobRank() == 1) *word = 0;                                                             \
    barrier();                                                                                                 \
    if (gex_System_QueryJobRank() == 1) spin_##name(word);                                                     \
    if (gex_System_QueryJobRank() == 0) {                                                                      \
      if (gex_AD_OpNB_##name(domain, NULL, rank, word, ops[2], 5, 6, flags) != GEX_EVENT_INVALID)              \
        fail("a compare-and-swap of " #name " is under way after its call");                                   \
      if (gex_AD_OpNB_##name(domain, &old, rank, word, ops[0], 3, 0, flags) != GEX_EVENT_INVALID || old != 0)  \
        fail("an addition to " #name " is under way after its call");                                          \
      if (gex_AD_OpNBI_##name(domain, NULL, rank, word, ops[1], 1, 0, flags) != 0) fail("not started");        \
      gex_NBI_Wait(GEX_EC_ALL, 0);                                                                             \
    }                                                                                                          \
    barrier();                                                                                                 \
    if (gex_System_QueryJobRank() == 1 && *word != 2) fail("a wrong value of " #name);                         \
    gex_AD_Destroy(domain);                                                                                    \
  }
EACH(I32, int32_t)
EACH(U32, uint32_t)
EACH(I64, int64_t)
EACH(U64, uint64_t)
EACH(FLT, float)
EACH(DBL, double)

static void operate(gex_TM_t tm, gex_Rank_t rank, void *word, gex_Flags_t flags) {
  operate_I32(tm, rank, (int32_t *)word, flags);
  operate_U32(tm, rank, (uint32_t *)word, flags);
  operate_I64(tm, rank, (int64_t *)word, flags);
  operate_U64(tm, rank, (uint64_t *)word, flags);
  operate_FLT(tm, rank, (float *)word, flags);
  operate_DBL(tm, rank, (double *)word, flags);
}

int main(int argc, char **argv) {
  gex_Client_t client;
  gex_EP_t endpoint;
  gex_Segment_t segment;
  gex_TM_t backwards;
  void *word = NULL;
  gex_Rank_t me;
  if (gex_Client_Init(&client, &endpoint, &team, "OPCODE", &argc, &argv, 0) != GASNET_OK) return 1;
  me = gex_TM_QueryRank(team);
  if (gex_Segment_Attach(&segment, team, 1 << 20) != GASNET_OK) fail("no segment");
  gex_Event_Wait(gex_EP_QueryBoundSegmentNB(team, 1, &word, NULL, NULL, 0));
  operate(team, 1, word, 0);
  gex_TM_Split(&backwards, team, 0, -(int)me, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
  operate(backwards, gex_TM_TranslateJobrankToRank(backwards, 1), word, 0);
  operate(backwards, 1, word, GEX_FLAG_RANK_IS_JOBRANK);
  barrier();
  printf("client: rank %d of %d: ok\n", (int)me, (int)gex_TM_QuerySize(team));
  fflush(stdout);
  barrier();
  gasnet_exit(0);
}
