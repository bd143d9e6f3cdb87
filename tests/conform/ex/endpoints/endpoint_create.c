/* gex_EP_Create (the additions, 3.1 to 3.3). Endpoints cannot be destroyed, so cases of the shared
 * job make few, and on all ranks as many. */
#include "../ex.h"

/* ---- errors ---------------------------------------------------------------------------------- */

static void expect_no_endpoint(gex_EP_Capabilities_t capabilities, int code) {
  static char word;
  const gex_EP_t before = (gex_EP_t)(void *)&word;
  gex_EP_t made = before;
  gex_System_SetVerboseErrors(0);
  EXPECT_EQ(gex_EP_Create(&made, client, capabilities, 0), code);
  gex_System_SetVerboseErrors(1);
  EXPECT(made == before);
}

CASE(no_capability, "EX-003 EX-009") { expect_no_endpoint(0, GASNET_ERR_BAD_ARG); }

/* Alone, and beside those that there are. */
CASE(unknown_capability, "EX-003 EX-008") {
  const gex_EP_Capabilities_t all = GEX_EP_CAPABILITY_ALL, unknown = ~all & (all + 1);
  EXPECT(unknown != 0);
  expect_no_endpoint(unknown, GASNET_ERR_BAD_ARG);
  expect_no_endpoint(all | unknown, GASNET_ERR_BAD_ARG);
  expect_no_endpoint(~all, GASNET_ERR_BAD_ARG);
}

/* ---- what is made ---------------------------------------------------------------------------- */

CASE(a_new_endpoint_is_the_clients_alone, "EX-002 EX-005 EX-006 EX-032 EX-035") {
  gex_EP_t made[2] = {GEX_EP_INVALID, GEX_EP_INVALID};
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(gex_EP_Create(&made[i], client, GEX_EP_CAPABILITY_ALL, 0), GASNET_OK);
    if (made[i] == GEX_EP_INVALID) return;
    EXPECT(made[i] != endpoint && gex_EP_QueryIndex(made[i]) != 0);
    EXPECT(gex_EP_QueryIndex(made[i]) != GEX_EP_INDEX_INVALID);
    EXPECT(gex_EP_QueryClient(made[i]) == client);
    EXPECT(gex_EP_QuerySegment(made[i]) == GEX_SEGMENT_INVALID);
  }
  EXPECT(made[0] != made[1] && gex_EP_QueryIndex(made[0]) != gex_EP_QueryIndex(made[1]));
  EXPECT_EQ(gex_EP_QueryIndex(endpoint), 0);
  /* The team has the same members as before. */
  EXPECT_EQ(gex_TM_QuerySize(team), nodes);
  EXPECT(gex_TM_QueryEP(team) == endpoint);
  for (gex_Rank_t rank = 0; rank < nodes; ++rank) {
    const gex_EP_Location_t member = gex_TM_TranslateRankToEP(team, rank, 0);
    EXPECT(member.gex_rank == rank && member.gex_ep_index == 0);
  }
}

/* Rank 0 makes one while rank 1 makes no call. */
CASE(creation_is_local, "EX-011") {
  gex_EP_t made = GEX_EP_INVALID;
  if (nodes < 2) NOT_HERE("one rank is alone anyhow");
  const int is_first = freeze_rank_1();
  EXPECT_EQ(gex_EP_Create(&made, client, GEX_EP_CAPABILITY_RMA, 0), GASNET_OK);
  EXPECT(gex_EP_QueryClient(made) == client);
  if (is_first) thaw_rank_1();
}

/* ---- how many -------------------------------------------------------------------------------- */

static int taken[GASNET_MAXEPS];

static void take_index(gex_EP_t made) {
  const gex_EP_Index_t index = gex_EP_QueryIndex(made);
  EXPECT(index < GASNET_MAXEPS);
  if (index < GASNET_MAXEPS) EXPECT_EQ(taken[index]++, 0);
}

/* Every one asks for acceleration, of which there cannot be so much: that is no error, and the
 * flags are kept. */
JOB(as_many_as_promised, "EX-003 EX-004 EX-006 EX-010 EX-011 EX-013 EX-027 EX-035", kLocal, 0, "") {
  static const gex_Flags_t hints[] = {GEX_FLAG_HINT_ACCEL_ALL, GEX_FLAG_HINT_ACCEL_AD,
                                      GEX_FLAG_HINT_ACCEL_COLL};
  gex_EP_t made = GEX_EP_INVALID;
  start_ex_job(0, 0);
  take_index(endpoint);
  EXPECT_EQ(taken[0], 1);
  for (int i = 1; i < GASNET_MAXEPS; ++i) {
    EXPECT_EQ(gex_EP_Create(&made, client, GEX_EP_CAPABILITY_ALL, hints[i % 3]), GASNET_OK);
    EXPECT_EQ(gex_EP_QueryFlags(made), hints[i % 3]);
    take_index(made);
  }
  expect_no_endpoint(GEX_EP_CAPABILITY_ALL, GASNET_ERR_RESOURCE);
  expect_no_endpoint(GEX_EP_CAPABILITY_RMA, GASNET_ERR_RESOURCE);
}

/* Peers that create in the same order know the indices (EX-012). */
JOB(indices_can_be_predicted, "EX-006 EX-012", kLocal, 0, "") {
  gex_EP_t made = GEX_EP_INVALID;
  start_ex_job(0, 0);
  for (gex_EP_Index_t i = 1; i < 5; ++i) {
    EXPECT_EQ(gex_EP_Create(&made, client, GEX_EP_CAPABILITY_RMA, 0), GASNET_OK);
    EXPECT_EQ(gex_EP_QueryIndex(made), i);
  }
}
