/* The beginning of the tests of remote atomics: a job of GASNet-EX in which every rank knows where every other's memory
 * is, whatever the segment kind. */
#ifndef PINWIRE_ATOMICS_TEST_H
#define PINWIRE_ATOMICS_TEST_H

#include <gasnetex.h>
#include <gasnet_ratomic.h>

#include "../job_test.h"
#include "pinwire.h"

enum { kRanksMax = 16, kMemoryBytes = 1 << 20 };

static gex_Client_t client;
static gex_EP_t endpoint;
static gex_TM_t team;
static gex_Rank_t ranks;
static unsigned char *bases[kRanksMax]; /* of each rank's memory, as it sees it */

static volatile gex_AM_Arg_t bases_known;
static void on_base(gex_Token_t token, void *base, size_t nbytes) {
  gex_Token_Info_t info;
  gex_Token_Info(token, &info, GEX_TI_SRCRANK);
  memcpy(&bases[info.gex_srcrank], base, nbytes);
  __atomic_fetch_add(&bases_known, 1, __ATOMIC_RELEASE);
}

/* Memory of zeros; page-aligned but under EVERYTHING. */
static inline void start_atomics(int *argc, char ***argv) {
  gex_AM_Entry_t entry = {0, (gex_AM_Fn_t)on_base, GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REQUEST, 0, NULL, "on_base"};
  if (gex_Client_Init(&client, &endpoint, &team, "ATOMICS", argc, argv, 0) != GASNET_OK) exit(3);
  me = gex_TM_QueryRank(team);
  nodes = ranks = gex_TM_QuerySize(team);
  EXPECT(ranks <= kRanksMax);
  EXPECT_EQ(gex_EP_RegisterHandlers(endpoint, &entry, 1), GASNET_OK);
#ifdef GASNET_SEGMENT_EVERYTHING
  gex_Segment_t segment;
  EXPECT_EQ(gex_Segment_Attach(&segment, team, 0), GASNET_OK);
  void *base = calloc(1, kMemoryBytes);
#else
  gex_Segment_t segment;
  EXPECT_EQ(gex_Segment_Attach(&segment, team, kMemoryBytes), GASNET_OK);
  void *base = gex_Segment_QueryAddr(segment);
#endif
  barrier();
  for (gex_Rank_t to = 0; to < ranks; ++to)
    EXPECT_EQ(gex_AM_RequestMedium0(team, to, entry.gex_index, &base, sizeof base, GEX_EVENT_NOW, 0), 0);
  GASNET_BLOCKUNTIL(__atomic_load_n(&bases_known, __ATOMIC_ACQUIRE) == (gex_AM_Arg_t)ranks);
  barrier();
}

/* All that RDMA NICs do: a domain of these may be theirs alone (GX-163); the test's environment says so where it is. */
static const gex_OP_t of_nics = GEX_OP_ADD | GEX_OP_SUB | GEX_OP_INC | GEX_OP_DEC | GEX_OP_CAS | GEX_OP_FADD | GEX_OP_FSUB | GEX_OP_FINC |
                                GEX_OP_FDEC | GEX_OP_FCAS | GEX_OP_GET;
static inline void expect_path_of_nics(gex_AD_t ad) {
  const char *due = getenv("ATOMICS_PATH"), *path = pinwire_ad_path(ad);
  if (due != NULL && ranks > 1 && strcmp(due, path) != 0) fail_at(__FILE__, __LINE__, "a domain of NICs' operations goes by %s, not by %s", path, due);
}

/* The operations that a type's domain may have. */
static const gex_OP_t on_numbers = GEX_OP_ADD | GEX_OP_SUB | GEX_OP_MULT | GEX_OP_MIN | GEX_OP_MAX | GEX_OP_INC | GEX_OP_DEC | GEX_OP_SET |
                                   GEX_OP_CAS | GEX_OP_FADD | GEX_OP_FSUB | GEX_OP_FMULT | GEX_OP_FMIN | GEX_OP_FMAX | GEX_OP_FINC |
                                   GEX_OP_FDEC | GEX_OP_SWAP | GEX_OP_FCAS | GEX_OP_GET;
static const gex_OP_t on_bits = GEX_OP_AND | GEX_OP_OR | GEX_OP_XOR | GEX_OP_FAND | GEX_OP_FOR | GEX_OP_FXOR;

#endif
