/* Implicit handles and access regions (3.3.4 - 3.3.6). */
#include "gasnet1.h"

static uint32_t sources[8] = {10, 11, 12, 13, 14, 15, 16, 17}, got[8];

static uint32_t *word(gasnet_node_t node, unsigned i) { return (uint32_t *)part(node) + i; }

CASE(nothing_outstanding_succeeds_at_once, "C1-246 C1-251") {
  gasnet_wait_syncnbi_gets();
  gasnet_wait_syncnbi_puts();
  gasnet_wait_syncnbi_all();
  EXPECT_EQ(gasnet_try_syncnbi_gets(), GASNET_OK);
  EXPECT_EQ(gasnet_try_syncnbi_puts(), GASNET_OK);
  EXPECT_EQ(gasnet_try_syncnbi_all(), GASNET_OK);
  for (int i = 0; i < 100; ++i) {
    gasnet_begin_nbi_accessregion();
    gasnet_handle_t empty = gasnet_end_nbi_accessregion();
    if (i % 2)
      gasnet_wait_syncnb(empty);
    else
      EXPECT_EQ(gasnet_try_syncnb(empty), GASNET_OK);
  }
}

static void start_three_puts(gasnet_node_t to) {
  gasnet_put_nbi(to, word(to, 0), &sources[0], 4);
  gasnet_put_nbi_bulk(to, word(to, 1), &sources[1], 4);
  gasnet_memset_nbi(to, word(to, 2), 0x12, 4);
}

/* Operations begun in another function frame count too. */
CASE(sync_covers_what_was_begun, "C1-242 C1-243 C1-244 C1-245") {
  for (gasnet_node_t k = 0; k < nodes; ++k) {
    const gasnet_node_t to = (me + k) % nodes;
    start_three_puts(to);
    while (gasnet_try_syncnbi_puts() != GASNET_OK) {
    }
    for (unsigned i = 0; i < 3; ++i) gasnet_get_nbi(&got[i], to, word(to, i), 4);
    gasnet_get_nbi_bulk(&got[3], to, word(to, 0), 4);
    if (k % 2)
      gasnet_wait_syncnbi_gets();
    else
      while (gasnet_try_syncnbi_all() != GASNET_OK) {
      }
    EXPECT_EQ(got[0], 10);
    EXPECT_EQ(got[1], 11);
    EXPECT_EQ(got[2], 0x12121212);
    EXPECT_EQ(got[3], 10);
  }
}

CASE(as_many_as_promised, "C1-224 C1-244") {
  enum { kMany = 65535 };
  static uint32_t out[kMany], in[kMany];
  const gasnet_node_t to = (me + 1) % nodes;
  for (uint32_t i = 0; i < kMany; ++i) {
    out[i] = i * 40503u + me;
    gasnet_put_nbi_bulk(to, word(to, i), &out[i], 4);
  }
  gasnet_wait_syncnbi_puts();
  for (uint32_t i = 0; i < kMany; ++i) gasnet_get_nbi_bulk(&in[i], to, word(to, i), 4);
  gasnet_wait_syncnbi_gets();
  EXPECT(memcmp(in, out, sizeof in) == 0);
}

CASE(regions_gather_puts_gets_and_memsets, "C1-249 C1-250 C1-253") {
  for (gasnet_node_t k = 0; k < nodes; ++k) {
    const gasnet_node_t to = (me + k) % nodes;
    gasnet_handle_t region, explicit_one, both[2];
    memset(got, 0, sizeof got);
    gasnet_put_val(to, word(to, 6), 66, 4);
    gasnet_put_nbi(to, word(to, 4), &sources[4], 4); /* before it */
    gasnet_begin_nbi_accessregion();
    start_three_puts(to);
    gasnet_put_nbi_val(to, word(to, 3), 33, 4);
    explicit_one = gasnet_put_nb_bulk(to, word(to, 5), &sources[5], 4);
    gasnet_wait_syncnb(explicit_one); /* legal inside, and no part of it */
    gasnet_get_nbi(&got[0], to, word(to, 6), 4);
    region = gasnet_end_nbi_accessregion();
    gasnet_wait_syncnbi_all();
    both[0] = region;
    both[1] = GASNET_INVALID_HANDLE;
    if (k % 2)
      gasnet_wait_syncnb_all(both, 2);
    else
      while (gasnet_try_syncnb_all(both, 2) != GASNET_OK) {
      }
    EXPECT_EQ(got[0], 66);
    EXPECT(gasnet_get_val(to, word(to, 0), 4) == 10);
    EXPECT(gasnet_get_val(to, word(to, 1), 4) == 11);
    EXPECT(gasnet_get_val(to, word(to, 2), 4) == 0x12121212);
    EXPECT(gasnet_get_val(to, word(to, 3), 4) == 33);
    EXPECT(gasnet_get_val(to, word(to, 4), 4) == 14);
    EXPECT(gasnet_get_val(to, word(to, 5), 4) == 15);
  }
}

/* ---- while rank 1 makes no GASNet call, and so completes nothing ----------------------------- */

/* A get under way holds up no sync of puts, nor the other way round. */
CASE(gets_and_puts_are_apart, "C1-242 C1-244") {
  SOMETHING_STAYS_UNDER_WAY();
  if (freeze_rank_1()) {
    gasnet_get_nbi(&got[0], 1, word(1, 0), 4);
    gasnet_wait_syncnbi_puts();
    EXPECT_EQ(gasnet_try_syncnbi_puts(), GASNET_OK);
    EXPECT_EQ(gasnet_try_syncnbi_gets(), GASNET_ERR_NOT_READY);
    EXPECT_EQ(gasnet_try_syncnbi_all(), GASNET_ERR_NOT_READY);
    thaw_rank_1();
    gasnet_wait_syncnbi_gets();
  }
  if (freeze_rank_1()) {
    gasnet_put_nbi(1, word(1, 0), &sources[0], 4);
    gasnet_memset_nbi(1, word(1, 1), 1, 4);
    gasnet_wait_syncnbi_gets();
    EXPECT_EQ(gasnet_try_syncnbi_gets(), GASNET_OK);
    EXPECT_EQ(gasnet_try_syncnbi_puts(), GASNET_ERR_NOT_READY);
    EXPECT_EQ(gasnet_try_syncnbi_all(), GASNET_ERR_NOT_READY);
    thaw_rank_1();
    gasnet_wait_syncnbi_puts();
  }
}

/* After a failed try everything is still to be synchronised. */
CASE(failed_try_syncs_nothing, "C1-245") {
  SOMETHING_STAYS_UNDER_WAY();
  barrier();
  if (me == 0) gasnet_put_nbi(1, word(1, 0), &sources[0], 4);
  if (freeze_rank_1()) {
    gasnet_put_nbi(1, word(1, 1), &sources[1], 4);
    got[2] = 0;
    gasnet_get_nbi(&got[2], 1, word(1, 2), 4);
    for (int i = 0; i < 100; ++i) {
      EXPECT_EQ(gasnet_try_syncnbi_all(), GASNET_ERR_NOT_READY);
      EXPECT_EQ(gasnet_try_syncnbi_puts(), GASNET_ERR_NOT_READY);
      EXPECT_EQ(gasnet_try_syncnbi_gets(), GASNET_ERR_NOT_READY);
    }
    thaw_rank_1();
    gasnet_wait_syncnbi_all();
    EXPECT(gasnet_get_val(1, word(1, 0), 4) == 10);
    EXPECT(gasnet_get_val(1, word(1, 1), 4) == 11);
    EXPECT_EQ(gasnet_try_syncnbi_all(), GASNET_OK);
  }
}

/* The region's operations are the handle's alone; those before it stay in the implicit set. */
CASE(regions_are_apart_from_the_implicit_set, "C1-249 C1-250 C1-253") {
  gasnet_handle_t region;
  SOMETHING_STAYS_UNDER_WAY();
  if (freeze_rank_1()) {
    gasnet_begin_nbi_accessregion();
    gasnet_put_nbi_bulk(1, word(1, 0), &sources[0], 4);
    gasnet_get_nbi(&got[1], 1, word(1, 1), 4);
    region = gasnet_end_nbi_accessregion();
    gasnet_wait_syncnbi_all(); /* nothing in it */
    EXPECT_EQ(gasnet_try_syncnbi_all(), GASNET_OK);
    EXPECT_EQ(gasnet_try_syncnb(region), GASNET_ERR_NOT_READY);
    thaw_rank_1();
    gasnet_wait_syncnb(region);
  }
  if (freeze_rank_1()) {
    gasnet_put_nbi(1, word(1, 0), &sources[0], 4); /* before it */
    gasnet_begin_nbi_accessregion();
    region = gasnet_end_nbi_accessregion();
    gasnet_wait_syncnb(region); /* empty */
    EXPECT_EQ(gasnet_try_syncnbi_puts(), GASNET_ERR_NOT_READY);
    thaw_rank_1();
    gasnet_wait_syncnbi_puts();
  }
}

/* Value gets and explicit operations belong to no implicit set. */
CASE(other_operations_are_no_part_of_it, "C1-244 C1-259") {
  SOMETHING_STAYS_UNDER_WAY();
  if (freeze_rank_1()) {
    gasnet_valget_handle_t value = gasnet_get_nb_val(1, word(1, 0), 4);
    gasnet_handle_t put = gasnet_put_nb_bulk(1, word(1, 1), &sources[0], 4);
    gasnet_wait_syncnbi_all();
    EXPECT_EQ(gasnet_try_syncnbi_all(), GASNET_OK);
    thaw_rank_1();
    gasnet_wait_syncnb(put);
    (void)gasnet_wait_syncnb_valget(value);
  }
}
