/* The worked examples of the proposal, by the names that it gives the functions. A shared pointer
 * to an element, which UPC writes &A[i], is AT(A, i). */
#define BUPC_UPC_NAMES
#include "upc.h"

enum { BLKSZ = 100 };
#define AT(array, i) bupc_ptr_add(array, (ptrdiff_t)(i), BLKSZ, sizeof(double))

/* shared [BLKSZ] double A[elements], whose element i is i. Collective. */
static bupc_gptr_t array_of(size_t elements) {
  const bupc_gptr_t A = bupc_all_alloc((elements + BLKSZ - 1) / BLKSZ, BLKSZ * sizeof(double));
  for (size_t i = 0; i < elements; ++i) {
    const bupc_gptr_t element = AT(A, i);
    const double value = (double)i;
    if (element.thread == MYTHREAD) memcpy(element.addr, &value, sizeof value);
  }
  barrier();
  return A;
}
static void end_of(bupc_gptr_t A) {
  barrier();
  bupc_all_free(A);
}
static double leftdata[BLKSZ], rightdata[BLKSZ];
static void expect_neighbours(void) {
  for (uint32_t i = 0; i < BLKSZ; ++i) {
    if (MYTHREAD > 0) EXPECT_EQ(leftdata[i], BLKSZ * (MYTHREAD - 1) + i);
    if (MYTHREAD < THREADS - 1) EXPECT_EQ(rightdata[i], BLKSZ * (MYTHREAD + 1) + i);
  }
  memset(leftdata, 0, sizeof leftdata);
  memset(rightdata, 0, sizeof rightdata);
}

/* 2.3: the neighbours' data, with explicit handles. */
CASE(neighbour_exchange_by_handles, "UPC-007 UPC-046") {
  const bupc_gptr_t A = array_of(BLKSZ * THREADS);
  upc_handle_t left = UPC_COMPLETE_HANDLE, right = UPC_COMPLETE_HANDLE;
  if (MYTHREAD > 0)
    left = upc_memget_async(leftdata, AT(A, BLKSZ * (MYTHREAD - 1)), BLKSZ * sizeof(double));
  if (MYTHREAD < THREADS - 1)
    right = upc_memget_async(rightdata, AT(A, BLKSZ * (MYTHREAD + 1)), BLKSZ * sizeof(double));
  upc_waitsync(left);
  upc_waitsync(right);
  expect_neighbours();
  end_of(A);
}

static void get_neighbours(bupc_gptr_t A) {
  if (MYTHREAD > 0)
    upc_memget_asynci(leftdata, AT(A, BLKSZ * (MYTHREAD - 1)), BLKSZ * sizeof(double));
  if (MYTHREAD < THREADS - 1)
    upc_memget_asynci(rightdata, AT(A, BLKSZ * (MYTHREAD + 1)), BLKSZ * sizeof(double));
}
/* 3.2: the same, implicitly. */
CASE(neighbour_exchange_implicitly, "UPC-016 UPC-046") {
  const bupc_gptr_t A = array_of(BLKSZ * THREADS);
  get_neighbours(A);
  upc_waitsynci();
  expect_neighbours();
  end_of(A);
}
/* 4.1, its first: the same, with an access region. */
CASE(neighbour_exchange_in_a_region, "UPC-018 UPC-046") {
  const bupc_gptr_t A = array_of(BLKSZ * THREADS);
  upc_begin_accessregion();
  get_neighbours(A);
  const upc_handle_t handle = upc_end_accessregion();
  upc_waitsync(handle);
  expect_neighbours();
  end_of(A);
}
/* 4.1, its second: an explicit operation inside the region is not of it. */
CASE(region_with_an_explicit_operation, "UPC-019 UPC-046") {
  const bupc_gptr_t A = array_of(BLKSZ * THREADS);
  const double own = -1.5 - MYTHREAD;
  double one[4], other = 0;
  upc_begin_accessregion();
  upc_memput_asynci(AT(A, BLKSZ * MYTHREAD), &own, sizeof own);
  for (uint32_t i = 0; i < 4; ++i)
    upc_memget_asynci(&one[i], AT(A, BLKSZ * ((MYTHREAD + i) % THREADS) + 5 + i), sizeof one[i]);
  const upc_handle_t h2 = upc_memget_async(&other, AT(A, 7), sizeof other);
  upc_waitsync(h2);
  EXPECT_EQ(other, 7);
  const upc_handle_t handle = upc_end_accessregion();
  upc_waitsync(handle);
  for (uint32_t i = 0; i < 4; ++i) EXPECT_EQ(one[i], BLKSZ * ((MYTHREAD + i) % THREADS) + 5 + i);
  upc_memget(&other, AT(A, BLKSZ * MYTHREAD), sizeof other);
  EXPECT(other == own);
  end_of(A);
}

/* 5.2: elements 14 and 20, 100 to 149, and a block, of several threads, into one buffer. */
CASE(gather_of_regions, "UPC-025 UPC-046") {
  const bupc_gptr_t A = array_of(BLKSZ * 3);
  const upc_smemvec_t srclist[] = {{AT(A, 14), sizeof(double)},
                                   {AT(A, 20), sizeof(double)},
                                   {AT(A, 100), 50 * sizeof(double)},
                                   {AT(A, 2 * BLKSZ), BLKSZ * sizeof(double)}};
  double mybuf[52 + BLKSZ];
  const upc_pmemvec_t dstlist[] = {{mybuf, sizeof mybuf}};
  upc_memget_vlist(1, dstlist, 4, srclist);
  EXPECT(mybuf[0] == 14 && mybuf[1] == 20);
  for (int i = 0; i < 50; ++i) EXPECT_EQ(mybuf[2 + i], 100 + i);
  for (int i = 0; i < BLKSZ; ++i) EXPECT_EQ(mybuf[52 + i], 2 * BLKSZ + i);
  end_of(A);
}

/* 5.3: five elements of two threads. */
CASE(gather_of_elements, "UPC-028 UPC-046") {
  const bupc_gptr_t A = array_of(BLKSZ * 2);
  const bupc_gptr_t srclist[] = {AT(A, 14), AT(A, 15), AT(A, 16), AT(A, 100), AT(A, 110)};
  double mybuf[5];
  void *const dstlist[] = {mybuf};
  upc_memget_ilist(1, dstlist, 5 * sizeof(double), 5, srclist, sizeof(double));
  EXPECT(mybuf[0] == 14 && mybuf[1] == 15 && mybuf[2] == 16 && mybuf[3] == 100 && mybuf[4] == 110);
  end_of(A);
}

/* 6.2: a block of 2 x 3 x 4 at (5, 6, 7) of A to (8, 9, 10) of B, in the order of the prototype. */
CASE(block_of_three_dimensions, "UPC-034 UPC-035 UPC-046") {
  static double A[11][12][13], B[14][15][16];
  const bupc_gptr_t there = shared((MYTHREAD + 1) % THREADS, 0);
  const bupc_gptr_t dstaddr = {there.thread, 0,
                               (char *)there.addr + ((8 * 15 + 9) * 16 + 10) * sizeof(double)};
  const size_t srcstrides[2] = {13 * sizeof(double), 12 * 13 * sizeof(double)};
  const size_t dststrides[2] = {16 * sizeof(double), 15 * 16 * sizeof(double)};
  const size_t count[3] = {4 * sizeof(double), 3, 2};
  for (int i = 0; i < 11 * 12 * 13; ++i) (&A[0][0][0])[i] = i + 1;
  memset(B, 0, sizeof B);
  write_there(there, B, sizeof B);
  upc_memput_strided(dstaddr, dststrides, &A[5][6][7], srcstrides, count, 2);
  read_there(B, there, sizeof B);
  for (int i = 0; i < 14; ++i) {
    for (int j = 0; j < 15; ++j) {
      for (int k = 0; k < 16; ++k) {
        const int is_inside = i >= 8 && i < 10 && j >= 9 && j < 12 && k >= 10 && k < 14;
        EXPECT_EQ(B[i][j][k], is_inside ? A[i - 3][j - 3][k - 3] : 0);
      }
    }
  }
}

/* Figure 1: chunks of one shape become chunks of another. */
CASE(chunks_of_another_shape, "UPC-030 UPC-046") {
  const bupc_gptr_t there = shared((MYTHREAD + 1) % THREADS, 0);
  unsigned char source[60], got[60];
  fill(source, sizeof source, 6);
  memset(got, 0, sizeof got);
  write_there(there, got, sizeof got);
  upc_memput_fstrided(there, 6, 10, 4, source, 4, 9, 6);
  read_there(got, there, sizeof got);
  for (size_t byte = 0; byte < 24; ++byte)
    EXPECT_EQ(got[byte / 6 * 10 + byte % 6], source[byte / 4 * 9 + byte % 4]);
}

/* 7.1, its first: all of an array into one buffer, by thread. */
CASE(gather_by_thread, "UPC-036 UPC-042 UPC-046") {
  enum { NUMELEM = 250 };
  const bupc_gptr_t A = array_of(NUMELEM);
  double localA[NUMELEM];
  upc_smemvec_t myvec[kNodesMax];
  const upc_pmemvec_t dst = {localA, NUMELEM * sizeof(double)};
  for (uint32_t i = 0; i < THREADS; ++i) {
    myvec[i].addr = AT(A, BLKSZ * i);
    myvec[i].len = upc_affinitysize(NUMELEM * sizeof(double), BLKSZ * sizeof(double), i);
  }
  upc_memget_vlist(1, &dst, THREADS, myvec);
  size_t at = 0;
  for (uint32_t thread = 0; thread < THREADS; ++thread)
    for (size_t i = 0; i < NUMELEM; ++i)
      if (i / BLKSZ % THREADS == thread) EXPECT_EQ(localA[at++], i);
  end_of(A);
}
/* 7.1, its second: the same in the order of the array. */
CASE(gather_by_block, "UPC-036 UPC-042 UPC-046") {
  enum { NUMELEM = 730 };
  const bupc_gptr_t A = array_of(NUMELEM);
  double localA[NUMELEM];
  upc_smemvec_t myvec[NUMELEM / BLKSZ + 1];
  const upc_pmemvec_t dst = {localA, NUMELEM * sizeof(double)};
  bupc_gptr_t p = A;
  size_t i = 0;
  for (; i < NUMELEM / BLKSZ; ++i) {
    myvec[i].addr = p;
    myvec[i].len = BLKSZ * sizeof(double);
    p = AT(p, BLKSZ);
  }
  if (NUMELEM % BLKSZ > 0) {
    myvec[i].addr = p;
    myvec[i++].len = NUMELEM % BLKSZ * sizeof(double);
  }
  upc_memget_vlist(1, &dst, i, myvec);
  for (size_t k = 0; k < NUMELEM; ++k) EXPECT_EQ(localA[k], k);
  end_of(A);
}
