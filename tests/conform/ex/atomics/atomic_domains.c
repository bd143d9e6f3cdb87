/* Atomic domains: made and ended by a team, what they tell of themselves; operations on one's own
 * memory, and what they ignore. */
#include "../ex.h"

static void *word(gex_Rank_t rank, int i) { return part(rank) + 64 * i; }

static uint32_t look(gex_AD_t ad, gex_Rank_t rank, void *at) {
  uint32_t is = 0;
  gex_Event_Wait(gex_AD_OpNB_U32(ad, &is, rank, at, GEX_OP_GET, 0, 0, 0));
  return is;
}

/* The arguments are kept; client data is the domain's own. */
CASE(domains_tell_what_they_are, "GX-154 GX-155") {
  static const gex_DT_t types[] = {GEX_DT_I32, GEX_DT_U32, GEX_DT_I64,
                                   GEX_DT_U64, GEX_DT_FLT, GEX_DT_DBL};
  static const gex_Flags_t flags[] = {0, GEX_FLAG_AD_FAVOR_MY_RANK, GEX_FLAG_AD_FAVOR_MY_NBRHD,
                                      GEX_FLAG_AD_FAVOR_REMOTE};
  enum { kTypes = 6, kFlags = 4 };
  gex_AD_t ads[kTypes][kFlags];
  gex_TM_t twin;
  gex_TM_Dup(&twin, team, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
  for (int t = 0; t < kTypes; ++t)
    for (int f = 0; f < kFlags; ++f)
      gex_AD_Create(&ads[t][f], f % 2 ? twin : team, types[t], GEX_OP_FADD | GEX_OP_GET, flags[f]);
  for (int t = 0; t < kTypes; ++t) {
    for (int f = 0; f < kFlags; ++f) {
      EXPECT(ads[t][f] != GEX_AD_INVALID);
      EXPECT(gex_AD_QueryTM(ads[t][f]) == (f % 2 ? twin : team));
      EXPECT_EQ(gex_AD_QueryDT(ads[t][f]), types[t]);
      EXPECT_EQ(gex_AD_QueryOps(ads[t][f]), GEX_OP_FADD | GEX_OP_GET);
      EXPECT_EQ(gex_AD_QueryFlags(ads[t][f]), flags[f]);
      EXPECT(gex_AD_QueryCData(ads[t][f]) == NULL);
      gex_AD_SetCData(ads[t][f], &ads[t][f]);
    }
  }
  for (int t = 0; t < kTypes; ++t)
    for (int f = 0; f < kFlags; ++f) EXPECT(gex_AD_QueryCData(ads[t][f]) == &ads[t][f]);
  barrier();
  for (int t = 0; t < kTypes; ++t)
    for (int f = 0; f < kFlags; ++f) gex_AD_Destroy(ads[t][f]);
  gex_TM_Destroy(twin, NULL, 0);
}

/* Hints change nothing about what operations do. */
CASE(favours_are_hints, "GX-155") {
  static const gex_Flags_t favours[] = {0, GEX_FLAG_AD_FAVOR_MY_RANK, GEX_FLAG_AD_FAVOR_MY_NBRHD,
                                        GEX_FLAG_AD_FAVOR_REMOTE};
  for (int f = 0; f < 4; ++f) {
    gex_AD_t ad;
    gex_AD_Create(&ad, team, GEX_DT_U32, GEX_OP_SET | GEX_OP_ADD | GEX_OP_GET, favours[f]);
    barrier();
    for (gex_Rank_t to = 0; to < nodes; ++to) {
      gex_Event_Wait(gex_AD_OpNB_U32(ad, NULL, to, word(to, 0), GEX_OP_SET, to + 4, 0, 0));
      gex_Event_Wait(gex_AD_OpNB_U32(ad, NULL, to, word(to, 0), GEX_OP_ADD, 10, 0, 0));
      EXPECT_EQ(look(ad, to, word(to, 0)), to + 14);
    }
    barrier();
    gex_AD_Destroy(ad);
  }
}

/* Members of a team alone make its domain, and ranks of operations are the team's. */
CASE(domains_of_smaller_teams, "GX-155 GX-156") {
  gex_TM_t half;
  gex_AD_t of_half, of_all;
  gex_TM_Split(&half, team, (int)me % 2, -(int)me, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
  if (me % 2 == 0)
    gex_AD_Create(&of_half, half, GEX_DT_U32, GEX_OP_SET | GEX_OP_FINC | GEX_OP_GET, 0);
  gex_AD_Create(&of_all, team, GEX_DT_U32, GEX_OP_SET | GEX_OP_FADD | GEX_OP_GET, 0);
  barrier();
  for (gex_Rank_t rank = 0; me % 2 == 0 && rank < gex_TM_QuerySize(half); ++rank) {
    void *const at = word(gex_TM_TranslateRankToJobrank(half, rank), 1);
    uint32_t old = 99;
    gex_Event_Wait(gex_AD_OpNB_U32(of_half, NULL, rank, at, GEX_OP_SET, rank + 20, 0, 0));
    gex_Event_Wait(gex_AD_OpNB_U32(of_half, &old, rank, at, GEX_OP_FINC, 0, 0, 0));
    EXPECT_EQ(old, rank + 20);
    EXPECT_EQ(look(of_half, rank, at), rank + 21);
  }
  for (gex_Rank_t rank = 0; rank < nodes; ++rank) { /* another word, another domain */
    uint32_t old = 99;
    gex_Event_Wait(gex_AD_OpNB_U32(of_all, NULL, rank, word(rank, 2), GEX_OP_SET, me, 0, 0));
    gex_Event_Wait(gex_AD_OpNB_U32(of_all, &old, rank, word(rank, 2), GEX_OP_FADD, 100, 0, 0));
    EXPECT_EQ(old, me);
  }
  barrier();
  if (me % 2 == 0) gex_AD_Destroy(of_half);
  gex_AD_Destroy(of_all);
  gex_TM_Destroy(half, NULL, 0);
}

/* As many as one likes, one after another and at once; a word passes from one to the next. */
CASE(domains_come_and_go, "GX-156 GX-157") {
  enum { kTimes = 200, kAtOnce = 20 };
  const gex_Rank_t to = (me + 1) % nodes;
  gex_AD_t many[kAtOnce];
  for (uint32_t i = 0; i < kTimes; ++i) {
    gex_AD_t ad;
    gex_AD_Create(&ad, team, GEX_DT_U32, GEX_OP_SET | GEX_OP_GET, 0);
    gex_Event_Wait(gex_AD_OpNB_U32(ad, NULL, to, word(to, 0), GEX_OP_SET, i, 0, 0));
    EXPECT_EQ(look(ad, to, word(to, 0)), i);
    barrier();
    gex_AD_Destroy(ad);
  }
  for (int i = 0; i < kAtOnce; ++i)
    gex_AD_Create(&many[i], team, GEX_DT_U32, GEX_OP_SET | GEX_OP_GET | GEX_OP_ADD, 0);
  barrier();
  for (int i = 0; i < kAtOnce; ++i)
    gex_Event_Wait(
        gex_AD_OpNB_U32(many[i], NULL, to, word(to, i), GEX_OP_SET, 5u * (unsigned)i, 0, 0));
  for (int i = 0; i < kAtOnce; ++i) EXPECT_EQ(look(many[i], to, word(to, i)), 5 * i);
  barrier(); /* a phase of another domain on each word */
  for (int i = 0; i < kAtOnce; ++i)
    gex_Event_Wait(
        gex_AD_OpNB_U32(many[kAtOnce - 1 - i], NULL, to, word(to, i), GEX_OP_ADD, 1, 0, 0));
  barrier();
  for (int i = kAtOnce; i-- > 0;) EXPECT_EQ(look(many[i], to, word(to, i)), 5 * i + 1);
  barrier();
  for (int i = 0; i < kAtOnce; ++i) gex_AD_Destroy(many[i]);
}

/* Results land in any memory of this rank; its own words are targets as good as any, by itself and
 * by others. */
CASE(own_memory, "GX-160") {
  int64_t *const mine = word(me, 0), *const result = word(me, 1);
  int64_t here = 1;
  gex_AD_t ad;
  gex_AD_Create(&ad, team, GEX_DT_I64, GEX_OP_SET | GEX_OP_FSUB | GEX_OP_SUB | GEX_OP_GET, 0);
  *mine = 50;
  barrier();
  gex_Event_Wait(gex_AD_OpNB_I64(ad, NULL, me, mine, GEX_OP_SUB, 8, 0, 0));
  gex_Event_Wait(gex_AD_OpNB_I64(ad, &here, me, mine, GEX_OP_FSUB, 2, 0, 0));
  EXPECT_EQ(here, 42);
  EXPECT_EQ(gex_AD_OpNBI_I64(ad, result, me, mine, GEX_OP_GET, 0, 0, 0), 0);
  gex_NBI_Wait(GEX_EC_GET, 0);
  EXPECT_EQ(*result, 40);
  barrier();
  EXPECT_EQ(*mine, 40); /* in the next phase the processor's loads see it */
  gex_AD_Destroy(ad);
}

/* No address where there is no result; any operand where none counts. */
CASE(what_is_unused_is_ignored, "GX-160") {
  uint32_t *const nowhere = (uint32_t *)(uintptr_t)8;
  static const gex_OP_t none[] = {GEX_OP_INC, GEX_OP_DEC};
  static const gex_OP_t one[] = {GEX_OP_ADD, GEX_OP_SUB, GEX_OP_MULT, GEX_OP_MIN, GEX_OP_MAX,
                                 GEX_OP_AND, GEX_OP_OR,  GEX_OP_XOR,  GEX_OP_SET};
  static const uint32_t due[] = {15, 9, 36, 3, 12, 0, 15, 15, 3}; /* 12 with 3 */
  gex_OP_t ops = GEX_OP_GET | GEX_OP_FINC | GEX_OP_CAS | GEX_OP_INC | GEX_OP_DEC;
  uint32_t old = 0;
  gex_AD_t ad;
  for (int i = 0; i < 9; ++i) ops |= one[i];
  gex_AD_Create(&ad, team, GEX_DT_U32, ops, 0);
  barrier();
  for (gex_Rank_t to = 0; to < nodes; ++to) {
    void *const at = word(to, 0);
    for (int i = 0; i < 9; ++i) {
      gex_Event_Wait(gex_AD_OpNB_U32(ad, nowhere, to, at, GEX_OP_SET, 12, 0xdead, 0));
      EXPECT_EQ(gex_AD_OpNBI_U32(ad, nowhere, to, at, one[i], 3, 0xdead, 0), 0);
      gex_NBI_Wait(GEX_EC_PUT | GEX_EC_RMW, 0);
      EXPECT_EQ(look(ad, to, at), due[i]);
    }
    for (int i = 0; i < 2; ++i)
      gex_Event_Wait(gex_AD_OpNB_U32(ad, nowhere, to, at, none[i], 0xdead, 0xbeef, 0));
    gex_Event_Wait(gex_AD_OpNB_U32(ad, &old, to, at, GEX_OP_FINC, 0xdead, 0xbeef, 0));
    EXPECT_EQ(old, 3);
    gex_Event_Wait(gex_AD_OpNB_U32(ad, nowhere, to, at, GEX_OP_CAS, 4, 6, 0));
    gex_Event_Wait(gex_AD_OpNB_U32(ad, &old, to, at, GEX_OP_GET, 0xdead, 0xbeef, 0));
    EXPECT_EQ(old, 6);
  }
  barrier();
  gex_AD_Destroy(ad);
}
