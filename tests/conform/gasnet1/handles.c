/* Explicit handles (3.3.1 - 3.3.3). An incomplete operation is seen while the target makes no GASNet call: on drivers
 * where a put or get then stays under way. */
#include "gasnet1.h"

enum { kMany = 65535, kBlock = 256 };
static gasnet_handle_t many[kMany];
static uint32_t out[kMany], in[kMany];

CASE(no_valid_handle_succeeds_at_once, "C1-237 C1-239 C1-240") {
  gasnet_handle_t none[3] = {GASNET_INVALID_HANDLE, GASNET_INVALID_HANDLE, GASNET_INVALID_HANDLE};
  gasnet_wait_syncnb(GASNET_INVALID_HANDLE);
  EXPECT_EQ(gasnet_try_syncnb(GASNET_INVALID_HANDLE), GASNET_OK);
  for (size_t count = 0; count <= 3; ++count) {
    gasnet_wait_syncnb_all(none, count);
    gasnet_wait_syncnb_some(none, count);
    EXPECT_EQ(gasnet_try_syncnb_all(none, count), GASNET_OK);
    EXPECT_EQ(gasnet_try_syncnb_some(none, count), GASNET_OK);
  }
  gasnet_wait_syncnb_all(NULL, 0);
  gasnet_wait_syncnb_some(NULL, 0);
  EXPECT_EQ(gasnet_try_syncnb_all(NULL, 0), GASNET_OK);
  EXPECT_EQ(gasnet_try_syncnb_some(NULL, 0), GASNET_OK);
}

static int by_value(const void *a, const void *b) { return memcmp(a, b, sizeof(gasnet_handle_t)); }

/* No two operations under way have the same handle. */
static void expect_distinct(const gasnet_handle_t *handles, size_t count) {
  static gasnet_handle_t sorted[kMany];
  memcpy(sorted, handles, count * sizeof *sorted);
  qsort(sorted, count, sizeof *sorted, by_value);
  for (size_t i = 1; i < count; ++i)
    EXPECT(sorted[i] == GASNET_INVALID_HANDLE || sorted[i] != sorted[i - 1]);
}

/* All of them at once, before any synchronisation: puts, then gets. */
CASE(as_many_as_promised, "C1-224 C1-226 C1-229 C1-238") {
  const gasnet_node_t to = (me + 1) % nodes;
  uint32_t *const at = (uint32_t *)part(to);
  for (uint32_t i = 0; i < kMany; ++i) {
    out[i] = i * 2654435761u + me;
    many[i] = gasnet_put_nb_bulk(to, at + i, &out[i], 4);
  }
  expect_distinct(many, kMany);
  gasnet_wait_syncnb_all(many, kMany);
  for (uint32_t i = 0; i < kMany; ++i) EXPECT(many[i] == GASNET_INVALID_HANDLE);
  for (uint32_t i = 0; i < kMany; ++i) many[i] = gasnet_get_nb(&in[i], to, at + i, 4);
  gasnet_wait_syncnb_all(many, kMany);
  EXPECT(memcmp(in, out, sizeof in) == 0);
}

CASE(try_loops_end, "C1-235 C1-236") {
  enum { kCount = 1000 };
  const gasnet_node_t to = (me + 1) % nodes;
  for (uint32_t i = 0; i < kCount; ++i) {
    out[i] = i ^ 0x5555u;
    many[i] = gasnet_put_nb_bulk(to, (uint32_t *)part(to) + i, &out[i], 4);
  }
  for (uint32_t i = 0; i < kCount; i += 2)
    while (gasnet_try_syncnb(many[i]) != GASNET_OK) {
    }
  for (uint32_t i = 0; i < kCount; i += 2) many[i] = GASNET_INVALID_HANDLE;
  while (gasnet_try_syncnb_all(many, kCount) != GASNET_OK) {
  }
  for (int i = 0; i < kCount; ++i) EXPECT(many[i] == GASNET_INVALID_HANDLE);
}

/* Each call frees at least one, until there is none. */
static void empty_by_some(int by_try) {
  enum { kCount = 60 };
  const gasnet_node_t to = (me + 1) % nodes;
  int live = 0;
  for (uint32_t i = 0; i < kCount; ++i) {
    out[i] = i + 7u;
    many[i] = i % 5 ? gasnet_put_nb_bulk(to, (uint32_t *)part(to) + i, &out[i], 4)
                    : GASNET_INVALID_HANDLE;
    live += many[i] != GASNET_INVALID_HANDLE;
  }
  while (live != 0) {
    int after = 0;
    if (by_try)
      while (gasnet_try_syncnb_some(many, kCount) != GASNET_OK) {
      }
    else
      gasnet_wait_syncnb_some(many, kCount);
    for (int i = 0; i < kCount; ++i) after += many[i] != GASNET_INVALID_HANDLE;
    EXPECT(after < live);
    if (after >= live) return;
    live = after;
  }
}
CASE(some_frees_at_least_one, "C1-240") {
  empty_by_some(0);
  empty_by_some(1);
}

/* ---- while rank 1 makes no GASNet call ------------------------------------------------------- */

#define TWO_RANKS() \
  if (nodes < 2) NOT_HERE("one rank has nobody to wait for")

/* put_nb: the source is free on return, though the target has not got it. */
CASE(source_of_a_put_is_free_on_return, "C1-119 C1-231 C1-243") {
  static unsigned char source[kBlock], back[kBlock];
  TWO_RANKS();
  if (freeze_rank_1()) {
    unsigned char *const at = part(1);
    gasnet_handle_t handles[8];
    for (unsigned i = 0; i < 8; ++i) {
      fill(source, kBlock, i);
      handles[i] = gasnet_put_nb(1, at + i * kBlock, source, kBlock);
      memset(source, 0xdd, kBlock);
    }
    for (unsigned i = 8; i < 16; ++i) {
      fill(source, kBlock, i);
      gasnet_put_nbi(1, at + i * kBlock, source, kBlock);
      memset(source, 0xdd, kBlock);
    }
    thaw_rank_1();
    gasnet_wait_syncnb_all(handles, 8);
    gasnet_wait_syncnbi_puts();
    for (unsigned i = 0; i < 16; ++i) {
      gasnet_get(back, 1, at + i * kBlock, kBlock);
      EXPECT(holds(back, kBlock, i));
    }
  }
}

/* put_nb_bulk: free at the sync. */
CASE(source_of_a_bulk_put_is_free_at_the_sync, "C1-221 C1-231") {
  static unsigned char source[8][5000], back[5000];
  TWO_RANKS();
  if (freeze_rank_1()) {
    unsigned char *const at = part(1);
    gasnet_handle_t handles[8];
    for (unsigned i = 0; i < 8; ++i) {
      fill(source[i], 5000, i);
      handles[i] = gasnet_put_nb_bulk(1, at + i * 5000, source[i], 5000);
    }
    thaw_rank_1();
    for (unsigned i = 0; i < 8; ++i) {
      gasnet_wait_syncnb(handles[i]);
      memset(source[i], 0xdd, 5000);
      gasnet_get(back, 1, at + i * 5000, 5000);
      EXPECT(holds(back, 5000, i));
    }
  }
}

/* try says NOT_READY of what cannot be complete, and wait_all and _some then end. */
CASE(try_of_what_is_under_way, "C1-222 C1-235 C1-238 C1-240") {
  static uint32_t sources[3] = {1, 2, 3}, got;
  SOMETHING_STAYS_UNDER_WAY();
  if (freeze_rank_1()) {
    gasnet_handle_t handles[5];
    handles[0] = GASNET_INVALID_HANDLE;
    handles[1] = gasnet_put_nb_bulk(1, part(1), &sources[0], 4);
    handles[2] = gasnet_get_nb_bulk(&got, 1, part(1) + 64, 4);
    handles[3] = GASNET_INVALID_HANDLE;
    handles[4] = gasnet_memset_nb(1, part(1) + 128, 7, 16);
    for (int i = 0; i < 100; ++i) {
      EXPECT_EQ(gasnet_try_syncnb(handles[1]), GASNET_ERR_NOT_READY);
      EXPECT_EQ(gasnet_try_syncnb_all(handles, 5), GASNET_ERR_NOT_READY);
      EXPECT_EQ(gasnet_try_syncnb_some(handles, 5), GASNET_ERR_NOT_READY);
    }
    for (int i = 0; i < 5; ++i) EXPECT((handles[i] == GASNET_INVALID_HANDLE) == (i == 0 || i == 3));
    thaw_rank_1();
    gasnet_wait_syncnb_some(handles, 5);
    gasnet_wait_syncnb_all(handles, 5);
    for (int i = 0; i < 5; ++i) EXPECT(handles[i] == GASNET_INVALID_HANDLE);
  }
}

/* A put before rank 1 is frozen, which can be complete, and one after, which cannot; 0 but on rank 0. */
static int put_before_and_after_freezing(gasnet_handle_t handles[2]) {
  static uint32_t source = 9;
  handles[0] = handles[1] = GASNET_INVALID_HANDLE;
  barrier();
  if (me == 0) handles[0] = gasnet_put_nb_bulk(1, part(1), &source, 4);
  if (!freeze_rank_1()) return 0;
  handles[1] = gasnet_put_nb_bulk(1, part(1) + 64, &source, 4);
  EXPECT(handles[0] != GASNET_INVALID_HANDLE && handles[1] != GASNET_INVALID_HANDLE);
  return 1;
}

/* A try_all that fails overwrites what is complete all the same. */
CASE(failed_try_all_shows_what_is_complete, "C1-238") {
  gasnet_handle_t handles[2];
  SOMETHING_STAYS_UNDER_WAY();
  if (put_before_and_after_freezing(handles)) {
    int tries = 0;
    while (handles[0] != GASNET_INVALID_HANDLE && ++tries < 1000000)
      EXPECT_EQ(gasnet_try_syncnb_all(handles, 2), GASNET_ERR_NOT_READY);
    EXPECT(handles[0] == GASNET_INVALID_HANDLE && handles[1] != GASNET_INVALID_HANDLE);
    thaw_rank_1();
    gasnet_wait_syncnb_all(handles, 2);
  }
}

/* wait_some returns though others cannot be complete. */
CASE(some_does_not_wait_for_all, "C1-240") {
  gasnet_handle_t handles[2];
  SOMETHING_STAYS_UNDER_WAY();
  if (put_before_and_after_freezing(handles)) {
    gasnet_wait_syncnb_some(handles, 2);
    EXPECT(handles[0] == GASNET_INVALID_HANDLE && handles[1] != GASNET_INVALID_HANDLE);
    thaw_rank_1();
    gasnet_wait_syncnb_all(handles, 2);
  }
}
