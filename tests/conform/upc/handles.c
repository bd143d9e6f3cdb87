/* Handles, how they are synchronised, and access regions. */
#include <stdint.h>

#include "upc.h"

enum { kOperations = 65535, kStride = 8 };

IS(bupc_trysync(BUPC_COMPLETE_HANDLE), int);
IS(bupc_trysync_all(NULL, 0), int);
IS(bupc_trysync_some(NULL, 0), int);
IS(bupc_trysynci(), int);
IS(bupc_end_accessregion(), bupc_handle_t);

static bupc_handle_t passed_on(bupc_handle_t handle) { return handle; }

CASE(a_handle_is_a_word, "UPC-001 UPC-002 UPC-003") {
  bupc_handle_t handle = BUPC_COMPLETE_HANDLE;
  EXPECT_EQ(sizeof handle, sizeof(void *));
  EXPECT(all_bytes_are(&handle, sizeof handle, 0));
  EXPECT(passed_on(handle) == BUPC_COMPLETE_HANDLE);
}

CASE(the_complete_handle, "UPC-005 UPC-011 UPC-012 UPC-013") {
  bupc_handle_t handles[3] = {BUPC_COMPLETE_HANDLE, BUPC_COMPLETE_HANDLE, BUPC_COMPLETE_HANDLE};
  bupc_waitsync(handles[0]);
  EXPECT(bupc_trysync(handles[0]) != 0);
  bupc_waitsync_all(handles, 3);
  bupc_waitsync_some(handles, 3);
  EXPECT(bupc_trysync_all(handles, 3) != 0 && bupc_trysync_some(handles, 3) != 0);
  bupc_waitsync_all(NULL, 0);
  bupc_waitsync_some(NULL, 0);
  EXPECT(bupc_trysync_all(NULL, 0) != 0 && bupc_trysync_some(NULL, 0) != 0);
}

CASE(no_implicit_operation, "UPC-017") {
  bupc_waitsynci();
  EXPECT(bupc_trysynci() != 0);
}

/* Rank 1 takes nothing in: no try succeeds, and nothing that failed is synchronised. */
CASE(tries_of_what_is_under_way, "UPC-002 UPC-010 UPC-011 UPC-013 UPC-017") {
  static unsigned char source[64], got[64];
  SOMETHING_STAYS_UNDER_WAY();
  if (freeze_rank_1()) {
    bupc_handle_t handles[5] = {BUPC_COMPLETE_HANDLE};
    fill(source, sizeof source, 5);
    handles[1] = bupc_memput_async(shared(1, 0), source, sizeof source);
    handles[2] = bupc_memset_async(shared(1, 64), 7, 64);
    handles[3] = BUPC_COMPLETE_HANDLE;
    handles[4] = bupc_memcpy_async(shared(1, 256), shared(1, 512), 64);
    bupc_memget_asynci(got, shared(1, 1024), sizeof got);
    for (int i = 0; i < 100; ++i) {
      EXPECT(bupc_trysync(handles[1]) == 0 && bupc_trysync(handles[4]) == 0);
      EXPECT(bupc_trysync_all(handles, 5) == 0 && bupc_trysync_some(handles, 5) == 0);
      EXPECT(bupc_trysynci() == 0);
    }
    EXPECT(handles[1] != handles[2] && handles[1] != handles[4] && handles[2] != handles[4]);
    thaw_rank_1();
    bupc_waitsync_some(handles, 5);
    bupc_waitsync_all(handles, 5);
    for (int i = 0; i < 5; ++i) EXPECT(handles[i] == BUPC_COMPLETE_HANDLE);
    bupc_waitsynci();
    EXPECT(bupc_trysynci() != 0);
  }
}

/* The last rank has sent the bytes, and rank 1 has not taken them in: the copy is not complete. */
CASE(copies_that_have_not_arrived, "UPC-009 UPC-010 UPC-044") {
  static unsigned char source[64], got[64];
  SOMETHING_STAYS_UNDER_WAY();
  if (nodes < 3) NOT_HERE("three ranks make a copy between two others");
  fill(source, sizeof source, 9);
  if (me == 0) write_there(shared(nodes - 1, 0), source, sizeof source);
  if (freeze_rank_1()) {
    const bupc_handle_t handle = bupc_memcpy_async(shared(1, 64), shared(nodes - 1, 0), 64);
    for (int i = 0; i < 100000; ++i) {
      if (bupc_trysync(handle) == 0) continue;
      EXPECT(!"the copy is complete");
      break;
    }
    thaw_rank_1();
    bupc_waitsync(handle);
    read_there(got, shared(1, 64), sizeof got);
    EXPECT(holds(got, sizeof got, 9));
  }
}

/* Implicit synchronisation leaves explicit operations alone; an access region takes the implicit ones
 * alone. */
CASE(operations_that_belong_together, "UPC-014 UPC-017 UPC-018 UPC-019") {
  static unsigned char source[8] = {1, 2, 3};
  SOMETHING_STAYS_UNDER_WAY();
  if (freeze_rank_1()) {
    const bupc_handle_t alone = bupc_memput_async(shared(1, 0), source, 8);
    EXPECT(bupc_trysynci() != 0);
    bupc_begin_accessregion();
    bupc_memput_asynci(shared(1, 8), source, 8);
    bupc_memset_asynci(shared(1, 16), 3, 8);
    bupc_memcpy_asynci(shared(1, 64), shared(1, 128), 8);
    const bupc_handle_t inside = bupc_memput_async(shared(1, 24), source, 8);
    const bupc_handle_t region = bupc_end_accessregion();
    EXPECT(bupc_trysynci() != 0);
    EXPECT(region != BUPC_COMPLETE_HANDLE && bupc_trysync(region) == 0);
    EXPECT(alone != BUPC_COMPLETE_HANDLE && bupc_trysync(alone) == 0);
    thaw_rank_1();
    bupc_waitsync(region);
    bupc_waitsync(inside);
    bupc_waitsync(alone);
  }
}

/* An access region takes what is implicit, from whatever call, and calls of lists inside it end in
 * handles of their own. */
CASE(regions_of_lists, "UPC-018 UPC-019 UPC-021") {
  const uint32_t peer = (me + 1) % nodes;
  unsigned char source[32], got[32];
  fill(source, 32, 8 + me);
  const bupc_smemvec_t dst[2] = {{shared(peer, 0), 4}, {shared(me, 100), 12}};
  const bupc_pmemvec_t src[1] = {{source, 16}};
  bupc_begin_accessregion();
  bupc_memput_asynci(shared(peer, 40), source + 16, 8);
  const bupc_handle_t list = bupc_memput_vlist_async(2, dst, 1, src);
  bupc_memput_asynci(shared(peer, 48), source + 24, 8);
  const bupc_handle_t region = bupc_end_accessregion();
  bupc_waitsync(list);
  bupc_waitsync(region);
  read_there(got, shared(peer, 0), 4);
  read_there(got + 4, shared(me, 100), 12);
  read_there(got + 16, shared(peer, 40), 16);
  EXPECT(holds(got, 32, 8 + me));
}

/* 65,535 handles are under way at once, each of its own value; then the same again. */
CASE(as_many_operations_as_are_promised, "UPC-002 UPC-005 UPC-006 UPC-015") {
  static bupc_handle_t handles[kOperations];
  static uint64_t words[kOperations];
  const uint32_t peer = (me + 1) % nodes;
  for (int round = 0; round < 2; ++round) {
    for (size_t i = 0; i < kOperations; ++i) {
      words[i] = i * 3 + me + (size_t)round;
      handles[i] = bupc_memput_async(shared(peer, i * kStride), &words[i], kStride);
    }
    bupc_waitsync_all(handles, kOperations);
    for (size_t i = 0; i < kOperations; ++i) EXPECT(handles[i] == BUPC_COMPLETE_HANDLE);
    memset(words, 0, sizeof words);
    read_there(words, shared(peer, 0), sizeof words);
    for (size_t i = 0; i < kOperations; ++i) EXPECT_EQ(words[i], i * 3 + me + (size_t)round);
  }
}

/* The same of copies that another thread carries out, which waits for nobody. */
CASE(as_many_copies_as_are_promised, "UPC-006 UPC-009 UPC-015 UPC-044") {
  static bupc_handle_t handles[kOperations];
  static uint64_t words[kOperations], got[kOperations];
  const uint32_t from = (me + 1) % nodes, to = (me + 2) % nodes;
  const size_t half = sizeof words;
  for (size_t i = 0; i < kOperations; ++i) words[i] = i * 7 + me;
  write_there(shared(from, 0), words, half);
  for (size_t i = 0; i < kOperations; ++i)
    handles[i] = bupc_memcpy_async(shared(to, half + i * kStride), shared(from, i * kStride), 8);
  bupc_waitsync_all(handles, kOperations);
  read_there(got, shared(to, half), half);
  EXPECT(memcmp(got, words, half) == 0);
}
