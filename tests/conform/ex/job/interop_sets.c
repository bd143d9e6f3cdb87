/* GASNet-1's operations beside those of GASNet-EX: one implicit set, one mechanism of regions
 * (GX-011), what the old calls allow beyond their text (GX-013). Jobs of clients that said they use
 * both. */
#include "../ex.h"
#ifndef GASNET_SEQ
#include <pthread.h>
#endif

enum { kWords = 8 };
static uint32_t source[kWords] = {20, 21, 22, 23, 24, 25, 26, 27}, got[kWords];
static uint32_t *word(gex_Rank_t rank, unsigned i) { return (uint32_t *)part(rank) + i; }

static void start(void) { start_ex_job(GEX_FLAG_USES_GASNET1, kSegmentBytes); }

/* Whichever call synchronises. */
JOB(one_implicit_set, "GX-011", kNetwork, 0, "") {
  start();
  for (gex_Rank_t to = 0; to < nodes; ++to) {
    gasnet_put_nbi(to, word(to, 0), &source[0], 4);
    gex_RMA_PutNBI(team, to, word(to, 1), &source[1], 4, GEX_EVENT_DEFER, 0);
    gex_NBI_Wait(GEX_EC_PUT, 0);
    gasnet_get_nbi(&got[0], to, word(to, 0), 4);
    gex_RMA_GetNBI(team, &got[1], to, word(to, 1), 4, 0);
    gasnet_wait_syncnbi_gets();
    EXPECT(got[0] == 20 && got[1] == 21);
    gasnet_put_nbi(to, word(to, 0), &source[2], 4);
    gex_RMA_PutNBI(team, to, word(to, 1), &source[3], 4, GEX_EVENT_NOW, 0);
    gasnet_wait_syncnbi_puts();
    EXPECT(gasnet_get_val(to, word(to, 0), 4) == 22 && gasnet_get_val(to, word(to, 1), 4) == 23);
    got[0] = got[1] = 0;
    gasnet_get_nbi(&got[0], to, word(to, 0), 4);
    gex_RMA_GetNBI(team, &got[1], to, word(to, 1), 4, 0);
    gex_NBI_Wait(GEX_EC_ALL, 0);
    EXPECT(got[0] == 22 && got[1] == 23);
  }
}

static gex_Event_t mixed_region(gex_Rank_t to, int begun_by_ex) {
  if (begun_by_ex)
    gex_NBI_BeginAccessRegion(0);
  else
    gasnet_begin_nbi_accessregion();
  gasnet_put_nbi(to, word(to, 0), &source[4], 4);
  gex_RMA_PutNBI(team, to, word(to, 1), &source[5], 4, GEX_EVENT_DEFER, 0);
  return begun_by_ex ? gasnet_end_nbi_accessregion() : gex_NBI_EndAccessRegion(0);
}
JOB(one_kind_of_region, "GX-011 GX-039", kNetwork, 0, "") {
  start();
  for (gex_Rank_t to = 0; to < nodes; ++to)
    for (int begun_by_ex = 0; begun_by_ex < 2; ++begun_by_ex) {
      gasnet_memset(to, word(to, 0), 0, 8);
      if (begun_by_ex)
        gasnet_wait_syncnb(mixed_region(to, begun_by_ex));
      else
        gex_Event_Wait(mixed_region(to, begun_by_ex));
      EXPECT(gasnet_get_val(to, word(to, 0), 4) == 24 && gasnet_get_val(to, word(to, 1), 4) == 25);
    }
}

/* Rank 1 completes nothing, so what either API began keeps the other's tests from succeeding. */
JOB(each_api_sees_what_the_other_began, "GX-011", kNetwork, 0, "") {
  start();
  SOMETHING_STAYS_UNDER_WAY();
  if (freeze_rank_1()) {
    gasnet_put_nbi(1, word(1, 0), &source[0], 4);
    EXPECT(gex_NBI_Test(GEX_EC_PUT, 0) != GASNET_OK);
    EXPECT_EQ(gex_NBI_Test(GEX_EC_GET, 0), GASNET_OK);
    gex_RMA_GetNBI(team, &got[0], 1, word(1, 1), 4, 0);
    EXPECT(gasnet_try_syncnbi_gets() != GASNET_OK);
    EXPECT(gasnet_try_syncnbi_all() != GASNET_OK);
    thaw_rank_1();
    gasnet_wait_syncnbi_all();
    EXPECT_EQ(gex_NBI_Test(GEX_EC_ALL, 0), GASNET_OK);
  }
  if (freeze_rank_1()) {
    gex_Event_t region = mixed_region(1, 1);
    EXPECT_EQ(gex_NBI_Test(GEX_EC_ALL, 0), GASNET_OK);
    EXPECT(gex_Event_Test(region) != GASNET_OK);
    EXPECT(gasnet_try_syncnb(region) != GASNET_OK);
    thaw_rank_1();
    gasnet_wait_syncnb_all(&region, 1);
    EXPECT(region == GEX_EVENT_INVALID);
  }
}

/* ---- beyond GASNet-1's text (GX-013) --------------------------------------------------------- */

JOB(minheapoffset_is_ignored, "GX-013", kLocal, 0, "") {
  EXPECT_EQ(gasnet_init(&program_argc, &program_argv), GASNET_OK);
  EXPECT_EQ(gasnet_attach(NULL, 0, 65536, (uintptr_t)1 << 46), GASNET_OK);
  EXPECT_EQ(gasnet_getSegmentInfo(segments, kNodesMax), GASNET_OK);
  EXPECT_EQ(segments[gasnet_mynode()].size, 65536);
}

JOB(any_alignment, "GX-013", kNetwork, 0, "") {
  unsigned char here[64], back[64];
  start();
  for (gex_Rank_t to = 0; to < nodes; ++to)
    for (unsigned shift = 1; shift < 8; ++shift) {
      fill(here, sizeof here, shift);
      gasnet_put(to, part(to) + shift, here + shift / 2, 8);
      gasnet_put_nbi(to, part(to) + 64 + shift, here + shift, 4);
      gasnet_wait_syncnb(gasnet_put_nb(to, part(to) + 128 + shift, here + 3, 16));
      gasnet_wait_syncnbi_puts();
      gasnet_get(back + 1, to, part(to) + shift, 8);
      EXPECT(memcmp(back + 1, here + shift / 2, 8) == 0);
      gasnet_get_nbi(back + 3, to, part(to) + 64 + shift, 4);
      gasnet_wait_syncnbi_gets();
      EXPECT(memcmp(back + 3, here + shift, 4) == 0);
      gasnet_wait_syncnb(gasnet_get_nb(back + 7, to, part(to) + 128 + shift, 16));
      EXPECT(memcmp(back + 7, here + 3, 16) == 0);
    }
}

/* More at once than the 65535 that GASNet-1's text promises. */
JOB(as_many_as_memory_holds, "GX-013", kNetwork, 0, "") {
  enum { kMany = 100000 };
  static gasnet_handle_t handles[kMany];
  static uint32_t out[kMany], in[kMany];
  EXPECT_EQ(gasnet_init(&program_argc, &program_argv), GASNET_OK);
  EXPECT_EQ(gasnet_attach(NULL, 0, kSegmentBytes, 0), GASNET_OK);
  me = gasnet_mynode();
  nodes = gasnet_nodes();
  EXPECT_EQ(gasnet_getSegmentInfo(segments, kNodesMax), GASNET_OK);
  const gex_Rank_t to = (me + 1) % nodes;
  barrier();
  for (uint32_t i = 0; i < kMany; ++i) {
    out[i] = i * 2654435761u;
    handles[i] = gasnet_put_nb_bulk(to, word(to, i), &out[i], 4);
  }
  gasnet_wait_syncnb_all(handles, kMany);
  for (uint32_t i = 0; i < kMany; ++i) gasnet_get_nbi_bulk(&in[i], to, word(to, i), 4);
  gasnet_wait_syncnbi_gets();
  EXPECT(memcmp(in, out, sizeof in) == 0);
}

static _Atomic int longs;
static void *expected_address;
static void on_empty_long(gasnet_token_t token, void *buf, size_t nbytes) {
  (void)token;
  EXPECT_FIRST(longs);
  EXPECT(buf == expected_address && nbytes == 0);
  ++longs;
}
JOB(empty_long_has_its_address, "GX-013", kNetwork, 0, "") {
  gex_AM_Entry_t entry = {200,
                          (gex_AM_Fn_t)on_empty_long,
                          GEX_FLAG_AM_LONG | GEX_FLAG_AM_REQUEST,
                          0,
                          NULL,
                          "on_empty_long"};
  start();
  expected_address =
      &((unsigned char *)segments[me].addr)[(me + nodes - 1) % nodes * part_bytes() + 5];
  EXPECT_EQ(gex_EP_RegisterHandlers(endpoint, &entry, 1), GASNET_OK);
  barrier();
  gasnet_AMRequestLong0((me + 1) % nodes, 200, NULL, 0, part((me + 1) % nodes) + 5);
  AWAIT(longs, 1);
}

#ifndef GASNET_SEQ
static void *wait_for_event(void *event) {
  gasnet_wait_syncnb(*(gasnet_handle_t *)event);
  return NULL;
}
#endif
JOB(any_thread_synchronises, "GX-013 GX-040", kNetwork, 0, "") {
  start();
#ifdef GASNET_SEQ
  NOT_HERE("SEQ has one client thread");
#else
  pthread_t other;
  gex_Event_t event = gasnet_put_nb_bulk((me + 1) % nodes, word((me + 1) % nodes, 0), source, 4);
  if (pthread_create(&other, NULL, wait_for_event, &event) != 0) abort();
  pthread_join(other, NULL);
  EXPECT(gasnet_get_val((me + 1) % nodes, word((me + 1) % nodes, 0), 4) == 20);
#endif
}
