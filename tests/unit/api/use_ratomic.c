/* Uses every name of gasnet_ratomic.h: compiled by each compiler in each standard and mode, never run. */
#include "gasnet_ratomic.h"

#define USE(name, type)                                                                                                    \
  void use_##name(gex_AD_t ad, type *result, void *target, gex_OP_t op);                                                   \
  void use_##name(gex_AD_t ad, type *result, void *target, gex_OP_t op) {                                                  \
    gex_Event_Wait(gex_AD_OpNB_##name(ad, result, 0, target, op, 1, 2, GEX_FLAG_AD_ACQ | GEX_FLAG_AD_REL));                \
    gex_Event_Wait(gex_AD_OpNB_##name(ad, result, 0, target, GEX_OP_FADD, *result, 0, GEX_FLAG_IMMEDIATE));                \
    gex_Event_Wait(gex_AD_OpNB_##name(ad, NULL, 0, target, GEX_OP_SET, *result, 0, GEX_FLAG_RANK_IS_JOBRANK));             \
    (void)gex_AD_OpNBI_##name(ad, result, 0, target, GEX_OP_FCAS, *result, *result, GEX_FLAG_AD_MY_RANK);                  \
    (void)gex_AD_OpNBI_##name(ad, result, 0, target, GEX_OP_FMIN, *result, 0, GEX_FLAG_AD_MY_NBRHD);                       \
    (void)gex_AD_OpNBI_##name(ad, result, 0, target, op, *result, *result, 0);                                             \
    gex_NBI_Wait(GEX_EC_RMW, 0);                                                                                           \
  }
USE(I32, int32_t)
USE(U32, uint32_t)
USE(I64, int64_t)
USE(U64, uint64_t)
USE(FLT, float)
USE(DBL, double)

void use_domains(gex_TM_t tm);
void use_domains(gex_TM_t tm) {
  gex_AD_t ad = GEX_AD_INVALID;
  gex_AD_Create(&ad, tm, GEX_DT_U64, GEX_OP_FADD | GEX_OP_GET, GEX_FLAG_AD_FAVOR_REMOTE);
  gex_AD_SetCData(ad, gex_AD_QueryCData(ad));
  if (gex_AD_QueryTM(ad) != tm || gex_AD_QueryDT(ad) != GEX_DT_U64 || !gex_AD_QueryOps(ad) || !gex_AD_QueryFlags(ad)) gasnet_exit(1);
  gex_AD_Destroy(ad);
}
