/* Puts and gets: addresses at either end, and when the bytes are there (GASNet-EX 0.19, "Remote
 * Memory Access"). */
#include <sys/mman.h>

#include "../ex.h"

enum { kMany = 400, kEdge = 5000 };

static unsigned char local[kEdge];

/* ---- Addresses ------------------------------------------------------------------------------- */

static void there_and_back(gex_Rank_t to, void *at, unsigned char *mine, size_t bytes,
                           unsigned seed) {
  fill(mine, bytes, seed);
  EXPECT_EQ(gex_RMA_PutNBI(team, to, at, mine, bytes, GEX_EVENT_DEFER, 0), 0);
  gex_NBI_Wait(GEX_EC_PUT, 0);
  memset(mine, 0xdd, bytes);
  gex_Event_Wait(gex_RMA_GetNB(team, mine, to, at, bytes, 0));
  EXPECT(holds(mine, bytes, seed));
}

CASE(local_memory_of_any_sort, "GX-126") {
  static const char constant[] = "memory that is only read";
  unsigned char stack[kEdge];
  unsigned char *const heap = malloc(kEdge), *const own = part(me) + part_bytes() / 2;
  unsigned char *const mapped =
      mmap(NULL, 2 * kEdge, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (heap == NULL || (void *)mapped == MAP_FAILED) abort();
  for (gex_Rank_t k = 0; k < nodes; ++k) {
    const gex_Rank_t to = (me + k) % nodes;
    there_and_back(to, part(to), stack, kEdge, 1 + k);
    there_and_back(to, part(to), heap, kEdge, 2 + k);
    there_and_back(to, part(to), local, kEdge, 3 + k);
    there_and_back(to, part(to), own, kEdge, 4 + k);
    there_and_back(to, part(to), mapped + 3, kEdge, 5 + k);
    EXPECT_EQ(gex_RMA_PutBlocking(team, to, part(to), constant, sizeof constant, 0), 0);
    EXPECT_EQ(gex_RMA_GetBlocking(team, stack, to, part(to), sizeof constant, 0), 0);
    EXPECT(memcmp(stack, constant, sizeof constant) == 0);
  }
  munmap(mapped, 2 * kEdge);
  free(heap);
}

/* Each rank those of the next. */
CASE(both_ends_of_a_segment, "GX-126") {
  const gex_Rank_t to = (me + 1) % nodes;
  unsigned char *const first = segments[to].addr, *const end = first + segments[to].size;
  barrier();
  for (size_t bytes = 1; bytes <= kEdge; bytes = bytes * 3 + 1) {
    there_and_back(to, first, local, bytes, 7);
    there_and_back(to, end - bytes, local, bytes, 8);
  }
  barrier();
}

/* ---- Visibility ------------------------------------------------------------------------------ */

static _Atomic int checked;
static void on_check(gex_Token_t token, gex_AM_Arg_t from, gex_AM_Arg_t seed) {
  const unsigned char *const mine =
      (unsigned char *)segments[me].addr + (size_t)from * part_bytes();
  (void)token;
  EXPECT(holds(mine, 3000, (unsigned)seed));
  ++checked;
}
EX_HANDLER(on_check, GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_SHORT, 2);

/* A message that follows the synchronisation finds the bytes in the target's memory. */
CASE(what_is_synchronised_is_there, "GX-129") {
  checked = 0;
  barrier();
  for (gex_Rank_t k = 0; k < nodes; ++k) {
    const gex_Rank_t to = (me + k) % nodes;
    fill(local, 3000, k);
    if (k % 2)
      gex_Event_Wait(gex_RMA_PutNB(team, to, part(to), local, 3000, GEX_EVENT_DEFER, 0));
    else
      EXPECT_EQ(gex_RMA_PutNBI(team, to, part(to), local, 3000, GEX_EVENT_DEFER, 0), 0);
    gex_NBI_Wait(GEX_EC_PUT, 0);
    EXPECT_EQ(gex_AM_RequestShort2(team, to, on_check_index, 0, (gex_AM_Arg_t)me, (gex_AM_Arg_t)k),
              0);
  }
  AWAIT(checked, (int)nodes);
  barrier();
}

/* Synchronised in another order than begun. */
CASE(many_at_once_in_any_order, "GX-129") {
  static gex_Event_t events[kMany];
  static uint64_t in[kMany], out[kMany];
  const gex_Rank_t to = (me + 1) % nodes;
  uint64_t *const there = (uint64_t *)part(to);
  for (int i = 0; i < kMany; ++i) {
    out[i] = (uint64_t)i * 0x100000001u + me;
    events[i] = gex_RMA_PutNB(team, to, there + i, out + i, sizeof *out, GEX_EVENT_DEFER, 0);
  }
  for (int i = kMany; i-- > 0;) gex_Event_Wait(events[i]);
  for (int i = 0; i < kMany; ++i)
    events[i] = gex_RMA_GetNB(team, in + i, to, there + i, sizeof *in, 0);
  gex_Event_WaitAll(events, kMany, 0);
  EXPECT(memcmp(in, out, sizeof in) == 0);
}
