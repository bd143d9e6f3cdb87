/* Flags (GX-041 to GX-051): their constants, and those of transfers, limits, registration,
 * endpoints, initialisation. */
#include "../ex.h"

/* ---- constants ------------------------------------------------------------------------------- */

/* Bits of flags that one call may have together (GX-042). */
static void expect_disjoint(const gex_Flags_t *flags, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    EXPECT(flags[i] != 0);
    for (size_t j = 0; j < i; ++j) EXPECT_EQ(flags[i] & flags[j], 0);
  }
}
#define EXPECT_DISJOINT(...)                                         \
  do {                                                               \
    const gex_Flags_t together[] = {__VA_ARGS__};                    \
    expect_disjoint(together, sizeof together / sizeof together[0]); \
  } while (0)

CASE(flags_of_one_call_are_disjoint,
     "GX-041 GX-042 GX-043 GX-045 GX-046 GX-047 GX-048 GX-050 GX-051") {
  /* puts and gets, of many pieces too */
  EXPECT_DISJOINT(GEX_FLAG_IMMEDIATE, GEX_FLAG_LC_COPY_YES, GEX_FLAG_LC_COPY_NO,
                  GEX_FLAG_PEER_NEVER_SELF, GEX_FLAG_PEER_NEVER_NBRHD, GEX_FLAG_ENABLE_LEAF_LC);
  /* limits, and Prepare */
  EXPECT_DISJOINT(GEX_FLAG_IMMEDIATE, GEX_FLAG_AM_PREPARE_LEAST_CLIENT,
                  GEX_FLAG_AM_PREPARE_LEAST_ALLOC);
  /* operations on domains, and their creation */
  EXPECT_DISJOINT(GEX_FLAG_IMMEDIATE, GEX_FLAG_AD_MY_RANK, GEX_FLAG_AD_MY_NBRHD, GEX_FLAG_AD_ACQ,
                  GEX_FLAG_AD_REL, GEX_FLAG_RANK_IS_JOBRANK);
  EXPECT_DISJOINT(GEX_FLAG_AD_FAVOR_MY_RANK, GEX_FLAG_AD_FAVOR_MY_NBRHD, GEX_FLAG_AD_FAVOR_REMOTE);
  /* teams */
  EXPECT_DISJOINT(GEX_FLAG_TM_GLOBAL_SCRATCH, GEX_FLAG_TM_LOCAL_SCRATCH,
                  GEX_FLAG_TM_SYMMETRIC_SCRATCH, GEX_FLAG_TM_NO_SCRATCH,
                  GEX_FLAG_SCRATCH_SEG_OFFSET, GEX_FLAG_RANK_IS_JOBRANK);
  EXPECT_DISJOINT(GEX_FLAG_SCRATCH_SEG_OFFSET, GEX_FLAG_GLOBALLY_QUIESCED);
  EXPECT_DISJOINT(GEX_FLAG_USES_GASNET1, GEX_FLAG_DEFER_THREADS);
}

/* A category, and one or both kinds, in one word. */
CASE(flags_of_registration, "GX-042 GX-051") {
  const gex_Flags_t categories[] = {GEX_FLAG_AM_SHORT, GEX_FLAG_AM_MEDIUM, GEX_FLAG_AM_LONG,
                                    GEX_FLAG_AM_MEDLONG};
  const gex_Flags_t kinds[] = {GEX_FLAG_AM_REQUEST, GEX_FLAG_AM_REPLY, GEX_FLAG_AM_REQREP};
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 3; ++j) {
      EXPECT_EQ(categories[i] & kinds[j], 0);
      EXPECT(categories[i] != 0 && kinds[j] != 0);
      for (int k = 0; k < i; ++k) EXPECT(categories[i] != categories[k]);
      for (int k = 0; k < j; ++k) EXPECT(kinds[j] != kinds[k]);
    }
  EXPECT((GEX_FLAG_HINT_ACCEL_AD & GEX_FLAG_HINT_ACCEL_COLL) == 0);
  EXPECT((GEX_FLAG_HINT_ACCEL_ALL & GEX_FLAG_HINT_ACCEL_AD) == GEX_FLAG_HINT_ACCEL_AD &&
         GEX_FLAG_HINT_ACCEL_AD != 0);
  EXPECT((GEX_FLAG_HINT_ACCEL_ALL & GEX_FLAG_HINT_ACCEL_COLL) == GEX_FLAG_HINT_ACCEL_COLL &&
         GEX_FLAG_HINT_ACCEL_COLL != 0);
}

/* ---- where the peer is (GX-045) -------------------------------------------------------------- */

static gex_Flags_t what_is_true_of(gex_Rank_t rank) {
  gex_RankInfo_t *near;
  gex_Rank_t count;
  if (rank == me) return 0;
  gex_System_QueryNbrhdInfo(&near, &count, NULL);
  for (gex_Rank_t i = 0; i < count; ++i)
    if (near[i].gex_jobrank == rank) return GEX_FLAG_PEER_NEVER_SELF;
  return GEX_FLAG_PEER_NEVER_SELF | GEX_FLAG_PEER_NEVER_NBRHD;
}
static void put_and_get(gex_Rank_t to, gex_Flags_t flags) {
  enum { kBytes = 200 };
  unsigned char out[kBytes], in[3][kBytes];
  fill(out, kBytes, flags + to);
  EXPECT_EQ(gex_RMA_PutBlocking(team, to, part(to), out, kBytes, flags), 0);
  gex_Event_Wait(gex_RMA_PutNB(team, to, part(to) + kBytes, out, kBytes, GEX_EVENT_NOW, flags));
  EXPECT_EQ(gex_RMA_PutNBI(team, to, part(to) + 2 * kBytes, out, kBytes, GEX_EVENT_NOW, flags), 0);
  gex_NBI_Wait(GEX_EC_PUT, 0);
  EXPECT_EQ(gex_RMA_GetBlocking(team, in[0], to, part(to), kBytes, flags), 0);
  gex_Event_Wait(gex_RMA_GetNB(team, in[1], to, part(to) + kBytes, kBytes, flags));
  EXPECT_EQ(gex_RMA_GetNBI(team, in[2], to, part(to) + 2 * kBytes, kBytes, flags), 0);
  gex_NBI_Wait(GEX_EC_GET, 0);
  for (int i = 0; i < 3; ++i) EXPECT(holds(in[i], kBytes, flags + to));
  EXPECT_EQ(gex_RMA_PutBlockingVal(team, to, part(to), 1234, 4, flags), 0);
  gex_Event_Wait(gex_RMA_PutNBVal(team, to, part(to) + 8, 1235, 4, flags));
  EXPECT_EQ(gex_RMA_PutNBIVal(team, to, part(to) + 16, 1236, 4, flags), 0);
  gex_NBI_Wait(GEX_EC_PUT, 0);
  for (unsigned i = 0; i < 3; ++i)
    EXPECT(gex_RMA_GetBlockingVal(team, to, part(to) + 8 * i, 4, flags) == 1234 + i);
}
CASE(assertions_of_the_peer, "GX-045") {
  for (gex_Rank_t to = 0; to < nodes; ++to) {
    const gex_Flags_t all = what_is_true_of(to);
    put_and_get(to, 0);
    put_and_get(to, all & GEX_FLAG_PEER_NEVER_SELF);
    put_and_get(to, all & GEX_FLAG_PEER_NEVER_NBRHD); /* implies the other */
    put_and_get(to, all);
  }
}

/* ---- negotiated payloads (GX-048) ------------------------------------------------------------ */

enum { kSeed = 5 };
static _Atomic int arrived;
static void on_piece(gex_Token_t token, void *buf, size_t nbytes) {
  (void)token;
  EXPECT_FIRST(arrived > 1000);
  EXPECT(holds(buf, nbytes, kSeed));
  ++arrived;
}
EX_HANDLER(on_piece, GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_MEDIUM, 0);

/* A limit with the flag is what Prepare grants at least; Prepare itself ignores it. */
CASE(limits_of_negotiated_payloads, "GX-048") {
  static unsigned char own[1 << 20];
  const gex_Flags_t flags[] = {GEX_FLAG_AM_PREPARE_LEAST_CLIENT, GEX_FLAG_AM_PREPARE_LEAST_ALLOC};
  arrived = 0;
  barrier();
  for (int i = 0; i < 2; ++i) {
    void *const buffer = i == 0 ? own : NULL;
    gex_Event_t *const lc_opt = i == 0 ? GEX_EVENT_NOW : NULL;
    const size_t least = gex_AM_MaxRequestMedium(team, GEX_RANK_INVALID, lc_opt, flags[i], 0);
    EXPECT(least >= 512 && least <= sizeof own);
    EXPECT(gex_AM_MaxReplyMedium(team, GEX_RANK_INVALID, lc_opt, flags[i], 0) >= 512);
    EXPECT(gex_AM_MaxRequestLong(team, GEX_RANK_INVALID, lc_opt, flags[i], 0) >= 512);
    EXPECT(gex_AM_MaxReplyLong(team, GEX_RANK_INVALID, lc_opt, flags[i], 0) >= 512);
    for (int j = 0; j < 2; ++j) {
      if (i == 0) fill(own, least, kSeed);
      gex_AM_SrcDesc_t sd = gex_AM_PrepareRequestMedium(team, (me + 1) % nodes, buffer, least,
                                                        least, lc_opt, j ? flags[i] : 0, 0);
      EXPECT_EQ(gex_AM_SrcDescSize(sd), least);
      if (i == 1) fill(gex_AM_SrcDescAddr(sd), least, kSeed);
      gex_AM_CommitRequestMedium0(sd, on_piece_index, least);
    }
  }
  AWAIT(arrived, 4);
  barrier();
}

/* ---- registration and puts of many pieces (GX-051) ------------------------------------------- */

static _Atomic int both_kinds, sizes;
static void on_both(gex_Token_t token, void *buf, size_t nbytes) {
  gex_Token_Info_t info;
  EXPECT_FIRST(both_kinds > 1000);
  gex_Token_Info(token, &info, GEX_TI_ALL);
  EXPECT(holds(buf, nbytes, kSeed));
  sizes += (int)nbytes;
  ++both_kinds;
  if (info.gex_is_req)
    gex_AM_ReplyMedium0(token, info.gex_entry->gex_index, buf, nbytes, GEX_EVENT_NOW, 0);
}
EX_HANDLER(on_both, GEX_FLAG_AM_REQREP | GEX_FLAG_AM_MEDLONG, 0);

CASE(one_handler_for_every_payload, "GX-051") {
  static unsigned char bytes[100];
  const gex_Rank_t to = (me + 1) % nodes;
  fill(bytes, sizeof bytes, kSeed);
  both_kinds = sizes = 0;
  barrier();
  gex_AM_RequestMedium0(team, to, on_both_index, bytes, 60, GEX_EVENT_NOW, 0);
  gex_AM_RequestLong0(team, to, on_both_index, bytes, 100, part(to), GEX_EVENT_NOW, 0);
  AWAIT(both_kinds, 4); /* two came, and two answers */
  EXPECT_EQ(sizes, 320);
  barrier();
}

CASE(leaf_of_a_put_of_many_pieces, "GX-038 GX-051") {
  enum { kPieces = 4, kPiece = 500 };
  static unsigned char sources[kPieces][kPiece], back[kPiece];
  const gex_Rank_t to = (me + 1) % nodes;
  gex_Memvec_t from[kPieces], there[kPieces];
  for (unsigned i = 0; i < kPieces; ++i) {
    fill(sources[i], kPiece, 60 + i);
    from[i] = (gex_Memvec_t){sources[i], kPiece};
    there[i] = (gex_Memvec_t){part(to) + 2 * i * kPiece, kPiece};
  }
  const gex_Event_t root =
      gex_VIS_VectorPutNB(team, to, kPieces, there, kPieces, from, GEX_FLAG_ENABLE_LEAF_LC);
  const gex_Event_t leaf = gex_Event_QueryLeaf(root, GEX_EC_LC);
  EXPECT(gex_Event_QueryLeaf(root, GEX_EC_LC) == leaf);
  gex_Event_Wait(leaf);
  memset(sources, 0, sizeof sources);
  gex_Event_Wait(root);
  for (unsigned i = 0; i < kPieces; ++i) {
    gex_RMA_GetBlocking(team, back, to, part(to) + 2 * i * kPiece, kPiece, 0);
    EXPECT(holds(back, kPiece, 60 + i));
  }
}

/* ---- initialisation and endpoints (GX-051) --------------------------------------------------- */

JOB(flags_of_client_init, "GX-051", kLocal, 0, "") {
  start_ex_job(GEX_FLAG_DEFER_THREADS | GEX_FLAG_USES_GASNET1, GASNET_PAGESIZE);
  EXPECT_EQ(gex_Client_QueryFlags(client), GEX_FLAG_DEFER_THREADS | GEX_FLAG_USES_GASNET1);
}
JOB(hints_of_endpoints, "GX-051", kLocal, 0, "") {
  const gex_Flags_t hints[] = {GEX_FLAG_HINT_ACCEL_AD, GEX_FLAG_HINT_ACCEL_COLL,
                               GEX_FLAG_HINT_ACCEL_ALL};
  start_ex_job(0, GASNET_PAGESIZE);
  for (int i = 0; i < 3; ++i) {
    gex_EP_t ep = GEX_EP_INVALID;
    EXPECT_EQ(gex_EP_Create(&ep, client, GEX_EP_CAPABILITY_ALL, hints[i]), GASNET_OK);
    EXPECT(ep != GEX_EP_INVALID);
  }
}
