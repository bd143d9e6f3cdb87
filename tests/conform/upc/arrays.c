/* Shared arrays: where elements are, how much a thread has, and the allocator. */
#include "upc.h"

IS(bupc_mythread(), uint32_t);
IS(bupc_all_alloc(0, 0), bupc_gptr_t);

CASE(threads_are_ranks, "UPC-041") {
  EXPECT_EQ(bupc_mythread(), gasnet_mynode());
  EXPECT_EQ(bupc_threads(), gasnet_nodes());
}

/* Element i, counted from any other, backwards too: the formula of the row. */
CASE(elements_lie_where_the_formula_says, "UPC-042 UPC-043") {
  enum { kBlock = 3, kElements = 60, kBytes = 8 };
  const bupc_gptr_t first = bupc_all_alloc(kElements / kBlock, kBlock * kBytes);
  EXPECT(first.addr != NULL && first.thread == 0 && first.phase == 0);
  const size_t offset = (size_t)((char *)first.addr - (char *)segments[0].addr);
  EXPECT(offset >= kSegmentBytes && offset % 64 == 0);
  for (ptrdiff_t from = 0; from < kElements; from += 7) {
    for (ptrdiff_t i = 0; i < kElements; ++i) {
      const bupc_gptr_t start = bupc_ptr_add(first, from, kBlock, kBytes);
      const bupc_gptr_t p = bupc_ptr_add(start, i - from, kBlock, kBytes);
      const ptrdiff_t index = i / (kBlock * (ptrdiff_t)nodes) * kBlock + i % kBlock;
      EXPECT_EQ(p.thread, i / kBlock % nodes);
      EXPECT_EQ(p.phase, i % kBlock);
      EXPECT_EQ((char *)p.addr - (char *)segments[p.thread].addr,
                (ptrdiff_t)offset + index * kBytes);
    }
  }
  const bupc_gptr_t indefinite = bupc_ptr_add(first, 5, 0, kBytes);
  EXPECT(indefinite.thread == 0 && (char *)indefinite.addr == (char *)first.addr + 5 * kBytes);
  bupc_all_free(first);
}

/* Every thread's share, counted element by element. */
CASE(bytes_of_a_thread, "UPC-042") {
  for (size_t total = 0; total < 70; ++total) {
    for (size_t block = 1; block < 9; ++block) {
      size_t counted[kNodesMax] = {0};
      for (size_t byte = 0; byte < total; ++byte) ++counted[byte / block % nodes];
      for (uint32_t thread = 0; thread < nodes; ++thread)
        EXPECT_EQ(bupc_affinitysize(total, block, thread), counted[thread]);
    }
  }
  EXPECT_EQ(bupc_affinitysize(100, 0, 0), 100);
  EXPECT_EQ(bupc_affinitysize(100, 0, 1), 0);
}

/* Every thread gets the same pointers; memory that is freed is used again; two arrays are apart. */
CASE(symmetric_allocation, "UPC-043") {
  const bupc_gptr_t a = bupc_all_alloc(nodes * 4, 1000), b = bupc_all_alloc(nodes * 4, 1000);
  unsigned char mine[2000], got[2000];
  EXPECT(a.addr != NULL && b.addr != NULL && a.addr != b.addr);
  fill(mine, 2000, 1 + me);
  bupc_memput(bupc_ptr_add(a, me, 1, 1000), mine, 1000);
  bupc_memput(bupc_ptr_add(b, me, 1, 1000), mine + 1000, 1000);
  barrier();
  for (uint32_t thread = 0; thread < nodes; ++thread) {
    bupc_memget(got, bupc_ptr_add(a, thread, 1, 1000), 1000);
    bupc_memget(got + 1000, bupc_ptr_add(b, thread, 1, 1000), 1000);
    EXPECT(holds(got, 2000, 1 + thread));
  }
  barrier();
  bupc_all_free(a);
  const bupc_gptr_t small = bupc_all_alloc(1, 64), again = bupc_all_alloc(nodes * 3, 1000);
  EXPECT(small.addr == a.addr && (char *)again.addr == (char *)a.addr + 64);
  bupc_all_free(b);
  bupc_all_free(small);
  bupc_all_free(again);
  const bupc_gptr_t none = {0, 0, NULL};
  bupc_all_free(none);
}

CASE(no_room_for_an_array, "UPC-043") {
  EXPECT(bupc_all_alloc(nodes, kHeapBytes + 1).addr == NULL);
  EXPECT(bupc_all_alloc((size_t)-1, (size_t)-1).addr == NULL);
  EXPECT(bupc_all_alloc(0, 8).addr == NULL && bupc_all_alloc(8, 0).addr == NULL);
  const bupc_gptr_t all = bupc_all_alloc(nodes, kHeapBytes);
  EXPECT(all.addr != NULL && bupc_all_alloc(1, 1).addr == NULL);
  bupc_all_free(all);
  const bupc_gptr_t again = bupc_all_alloc(nodes, kHeapBytes);
  EXPECT(again.addr == all.addr);
  bupc_all_free(again);
}
