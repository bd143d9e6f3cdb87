/* Collectives, atomics and the calls that make and end teams: functions of the exact types, and
 * constants that the preprocessor can use. The first of them must come with gasnetex.h alone. */
#include "gasnetex.h"

static gex_Event_t (*const barrier_nb)(gex_TM_t, gex_Flags_t) = gex_Coll_BarrierNB;

#include "../ex.h"

static void add_bytes(const void *arg1, void *arg2_and_out, size_t count, const void *cdata) {
  (void)cdata;
  for (size_t i = 0; i < count; ++i) ((uint32_t *)arg2_and_out)[i] += ((const uint32_t *)arg1)[i];
}

CASE(collectives, "GX-140") {
  const gex_Coll_ReduceFn_t reduce = add_bytes;
  void (*const same)(const void *, void *, size_t, const void *) = reduce;
  gex_Event_t (*const broadcast)(gex_TM_t, gex_Rank_t, void *, const void *, size_t, gex_Flags_t) =
      gex_Coll_BroadcastNB;
  gex_Event_t (*const to_one)(gex_TM_t, gex_Rank_t, void *, const void *, gex_DT_t, size_t, size_t,
                              gex_OP_t, gex_Coll_ReduceFn_t, void *, gex_Flags_t) =
      gex_Coll_ReduceToOneNB;
  gex_Event_t (*const to_all)(gex_TM_t, void *, const void *, gex_DT_t, size_t, size_t, gex_OP_t,
                              gex_Coll_ReduceFn_t, void *, gex_Flags_t) = gex_Coll_ReduceToAllNB;
  uint32_t value = me == 0 ? 5 : 0;
  gex_Event_Wait(broadcast(team, 0, &value, &value, sizeof value, 0));
  gex_Event_Wait(to_one(team, 0, &value, &value, GEX_DT_U32, 4, 1, GEX_OP_USER, same, NULL, 0));
  gex_Event_Wait(barrier_nb(team, 0));
  if (me != 0) value = 0;
  gex_Event_Wait(to_all(team, &value, &value, GEX_DT_U32, 4, 1, GEX_OP_ADD, NULL, NULL, 0));
  EXPECT_EQ(value, 5 * nodes);
}

/* A sum is the OR where no two have a bit in common. */
#if !GEX_DT_I32 || !GEX_DT_U32 || !GEX_DT_I64 || !GEX_DT_U64 || !GEX_DT_FLT || !GEX_DT_DBL || \
    !GEX_DT_USER
#error "a data type is 0"
#endif
#if GEX_DT_I32 + GEX_DT_U32 + GEX_DT_I64 + GEX_DT_U64 + GEX_DT_FLT + GEX_DT_DBL + GEX_DT_USER != \
    (GEX_DT_I32 | GEX_DT_U32 | GEX_DT_I64 | GEX_DT_U64 | GEX_DT_FLT | GEX_DT_DBL | GEX_DT_USER)
#error "two data types have a bit in common"
#endif
#if !GEX_OP_ADD || !GEX_OP_MULT || !GEX_OP_MIN || !GEX_OP_MAX || !GEX_OP_AND || !GEX_OP_OR || \
    !GEX_OP_XOR || !GEX_OP_SUB || !GEX_OP_INC || !GEX_OP_DEC || !GEX_OP_SET || !GEX_OP_CAS || \
    !GEX_OP_GET || !GEX_OP_SWAP || !GEX_OP_FCAS || !GEX_OP_FADD || !GEX_OP_FMULT ||           \
    !GEX_OP_FMIN || !GEX_OP_FMAX || !GEX_OP_FSUB || !GEX_OP_FINC || !GEX_OP_FDEC ||           \
    !GEX_OP_FAND || !GEX_OP_FOR || !GEX_OP_FXOR || !GEX_OP_USER || !GEX_OP_USER_NC
#error "an operation is 0"
#endif
#if GEX_OP_ADD + GEX_OP_MULT + GEX_OP_MIN + GEX_OP_MAX + GEX_OP_AND + GEX_OP_OR + GEX_OP_XOR +   \
        GEX_OP_SUB + GEX_OP_INC + GEX_OP_DEC + GEX_OP_SET + GEX_OP_CAS + GEX_OP_GET +            \
        GEX_OP_SWAP + GEX_OP_FCAS + GEX_OP_FADD + GEX_OP_FMULT + GEX_OP_FMIN + GEX_OP_FMAX +     \
        GEX_OP_FSUB + GEX_OP_FINC + GEX_OP_FDEC + GEX_OP_FAND + GEX_OP_FOR + GEX_OP_FXOR +       \
        GEX_OP_USER + GEX_OP_USER_NC !=                                                          \
    (GEX_OP_ADD | GEX_OP_MULT | GEX_OP_MIN | GEX_OP_MAX | GEX_OP_AND | GEX_OP_OR | GEX_OP_XOR |  \
     GEX_OP_SUB | GEX_OP_INC | GEX_OP_DEC | GEX_OP_SET | GEX_OP_CAS | GEX_OP_GET | GEX_OP_SWAP | \
     GEX_OP_FCAS | GEX_OP_FADD | GEX_OP_FMULT | GEX_OP_FMIN | GEX_OP_FMAX | GEX_OP_FSUB |        \
     GEX_OP_FINC | GEX_OP_FDEC | GEX_OP_FAND | GEX_OP_FOR | GEX_OP_FXOR | GEX_OP_USER |          \
     GEX_OP_USER_NC)
#error "two operations have a bit in common"
#endif

CASE(types_and_operations, "GX-149 GX-150") {
  const gex_DT_t type = GEX_DT_USER;
  const gex_OP_t operation = GEX_OP_USER_NC;
  EXPECT_EQ(GEX_OP_CSWAP, GEX_OP_FCAS);
  EXPECT(type == GEX_DT_USER && operation == GEX_OP_USER_NC); /* nothing is cut off */
}

CASE(fetching_and_not, "GX-152") {
  static const gex_OP_t pairs[][2] = {
      {GEX_OP_ADD, GEX_OP_FADD}, {GEX_OP_SUB, GEX_OP_FSUB}, {GEX_OP_MULT, GEX_OP_FMULT},
      {GEX_OP_MIN, GEX_OP_FMIN}, {GEX_OP_MAX, GEX_OP_FMAX}, {GEX_OP_INC, GEX_OP_FINC},
      {GEX_OP_DEC, GEX_OP_FDEC}, {GEX_OP_AND, GEX_OP_FAND}, {GEX_OP_OR, GEX_OP_FOR},
      {GEX_OP_XOR, GEX_OP_FXOR}, {GEX_OP_SET, GEX_OP_SWAP}, {GEX_OP_CAS, GEX_OP_FCAS}};
  for (size_t i = 0; i < sizeof pairs / sizeof *pairs; ++i) {
    EXPECT_EQ(GEX_OP_TO_FETCHING(pairs[i][0]), pairs[i][1]);
    EXPECT_EQ(GEX_OP_TO_NONFETCHING(pairs[i][1]), pairs[i][0]);
  }
}

#define OPERATIONS_OF(name, type)                                                             \
  static gex_Event_t (*const nb_##name)(gex_AD_t, type *, gex_Rank_t, void *, gex_OP_t, type, \
                                        type, gex_Flags_t) = gex_AD_OpNB_##name;              \
  static int (*const nbi_##name)(gex_AD_t, type *, gex_Rank_t, void *, gex_OP_t, type, type,  \
                                 gex_Flags_t) = gex_AD_OpNBI_##name;                          \
  static void use_##name(void) {                                                              \
    type got = 0;                                                                             \
    gex_AD_t ad;                                                                              \
    gex_AD_Create(&ad, team, GEX_DT_##name, GEX_OP_SET | GEX_OP_GET, 0);                      \
    gex_Event_Wait(nb_##name(ad, NULL, me, part(me), GEX_OP_SET, 3, 0, 0));                   \
    EXPECT_EQ(nbi_##name(ad, &got, me, part(me), GEX_OP_GET, 0, 0, 0), 0);                    \
    gex_NBI_Wait(GEX_EC_GET, 0);                                                              \
    EXPECT(got == 3);                                                                         \
    barrier();                                                                                \
    gex_AD_Destroy(ad);                                                                       \
  }
OPERATIONS_OF(I32, int32_t)
OPERATIONS_OF(U32, uint32_t)
OPERATIONS_OF(I64, int64_t)
OPERATIONS_OF(U64, uint64_t)
OPERATIONS_OF(FLT, float)
OPERATIONS_OF(DBL, double)

CASE(atomics, "GX-154") {
  void (*const create)(gex_AD_t *, gex_TM_t, gex_DT_t, gex_OP_t, gex_Flags_t) = gex_AD_Create;
  void (*const destroy)(gex_AD_t) = gex_AD_Destroy;
  gex_Flags_t (*const flags)(gex_AD_t) = gex_AD_QueryFlags;
  gex_TM_t (*const tm)(gex_AD_t) = gex_AD_QueryTM;
  gex_DT_t (*const type)(gex_AD_t) = gex_AD_QueryDT;
  gex_OP_t (*const ops)(gex_AD_t) = gex_AD_QueryOps;
  void (*const set_data)(gex_AD_t, const void *) = gex_AD_SetCData;
  void *(*const data)(gex_AD_t) = gex_AD_QueryCData;
  gex_AD_t ad = GEX_AD_INVALID;
  EXPECT(ad == (gex_AD_t)0);
  create(&ad, team, GEX_DT_I32, GEX_OP_ADD, 0);
  EXPECT(ad != GEX_AD_INVALID);
  EXPECT(flags(ad) == 0 && tm(ad) == team && type(ad) == GEX_DT_I32 && ops(ad) == GEX_OP_ADD);
  set_data(ad, &ad);
  EXPECT(data(ad) == &ad);
  barrier();
  destroy(ad);
  use_I32(), use_U32(), use_I64(), use_U64(), use_FLT(), use_DBL();
}

static const gex_Flags_t destroy_flags = GEX_FLAG_GLOBALLY_QUIESCED | GEX_FLAG_SCRATCH_SEG_OFFSET;

CASE(teams, "EX-087 EX-092 EX-097 EX-107 EX-126") {
  int (*const destroy)(gex_TM_t, gex_Memvec_t *, gex_Flags_t) = gex_TM_Destroy;
  size_t (*const dup)(gex_TM_t *, gex_TM_t, gex_Addr_t, size_t, gex_Flags_t) = gex_TM_Dup;
  size_t (*const create)(gex_TM_t *, size_t, gex_TM_t, gex_EP_Location_t *, size_t, gex_Addr_t *,
                         size_t, gex_Flags_t) = gex_TM_Create;
  gex_TM_t (*const pair)(gex_EP_t, gex_EP_Index_t) = gex_TM_Pair;
  enum {
    kScratch = GEX_FLAG_TM_GLOBAL_SCRATCH + GEX_FLAG_TM_LOCAL_SCRATCH +
               GEX_FLAG_TM_SYMMETRIC_SCRATCH + GEX_FLAG_TM_NO_SCRATCH + GEX_FLAG_SCRATCH_SEG_OFFSET
  };
  gex_EP_Location_t self = {me, 0};
  gex_TM_t twin = GEX_TM_INVALID, alone = GEX_TM_INVALID;
  EXPECT_EQ(dup(&twin, team, NULL, 0, GEX_FLAG_TM_NO_SCRATCH), 0);
  EXPECT_EQ(create(&alone, 1, twin, &self, 1, NULL, 0, GEX_FLAG_TM_NO_SCRATCH), 0);
  EXPECT(twin != GEX_TM_INVALID && alone != GEX_TM_INVALID);
  EXPECT(pair(endpoint, 0) != GEX_TM_INVALID);
  EXPECT(destroy_flags != 0 && kScratch != 0);
  EXPECT_EQ(destroy(alone, NULL, destroy_flags), 0);
  EXPECT_EQ(destroy(twin, NULL, destroy_flags), 0);
}
