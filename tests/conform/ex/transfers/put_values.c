/* Puts and gets of values (GASNet-EX 0.19, "Remote Memory Access"). */
#include "../ex.h"

static const gex_RMA_Value_t kValues[] = {0, 1, (gex_RMA_Value_t)-1,
                                          (gex_RMA_Value_t)0xf1e2d3c4b5a69788u,
                                          (gex_RMA_Value_t)0x8080808080808080u};

static gex_RMA_Value_t low_bytes_of(gex_RMA_Value_t value, size_t bytes) {
  return bytes == SIZEOF_GEX_RMA_VALUE_T ? value
                                         : value & (((gex_RMA_Value_t)1 << (8 * bytes)) - 1);
}

/* As an integer of that size lies in memory here. */
static void store(unsigned char *to, gex_RMA_Value_t value, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i) {
    const size_t significance = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? i : bytes - 1 - i;
    to[i] = (unsigned char)(value >> (8 * significance));
  }
}

static void put_by(int form, gex_Rank_t to, void *at, gex_RMA_Value_t value, size_t bytes,
                   gex_Flags_t flags) {
  const int may_refuse = (flags & GEX_FLAG_IMMEDIATE) != 0;
  if (form == 0)
    while (gex_RMA_PutBlockingVal(team, to, at, value, bytes, flags) != 0) {
      EXPECT(may_refuse);
      gasnet_AMPoll();
    }
  if (form == 1) {
    gex_Event_t event;
    while ((event = gex_RMA_PutNBVal(team, to, at, value, bytes, flags)) == GEX_EVENT_NO_OP) {
      EXPECT(may_refuse);
      gasnet_AMPoll();
    }
    gex_Event_Wait(event);
  }
  if (form == 2) {
    while (gex_RMA_PutNBIVal(team, to, at, value, bytes, flags) != 0) {
      EXPECT(may_refuse);
      gasnet_AMPoll();
    }
    gex_NBI_Wait(GEX_EC_PUT, 0);
  }
}

/* The bytes around stay as they are; a get is zero-extended, with the flag that cannot refuse it
 * too. */
static void check(gex_Rank_t to, int form, gex_RMA_Value_t value, size_t bytes, gex_Flags_t flags) {
  unsigned char expected[24], there[24];
  unsigned char *const at = part(to) + 8 + (bytes + (size_t)form) % 3; /* unaligned */
  memset(expected, 0x66, sizeof expected);
  EXPECT_EQ(gex_RMA_PutBlocking(team, to, at - 8, expected, sizeof expected, 0), 0);
  store(expected + 8, value, bytes);
  put_by(form, to, at, value, bytes, flags);
  EXPECT_EQ(gex_RMA_GetBlocking(team, there, to, at - 8, sizeof there, 0), 0);
  EXPECT(memcmp(there, expected, sizeof there) == 0);
  EXPECT(gex_RMA_GetBlockingVal(team, to, at, bytes, 0) == low_bytes_of(value, bytes));
  EXPECT(gex_RMA_GetBlockingVal(team, to, at, bytes, GEX_FLAG_IMMEDIATE) ==
         low_bytes_of(value, bytes));
}

CASE(every_size_low_bytes_and_zero_extension, "GX-124 GX-128 GX-130") {
  for (gex_Rank_t k = 0; k < nodes; ++k)
    for (size_t bytes = 1; bytes <= SIZEOF_GEX_RMA_VALUE_T; ++bytes)
      for (int v = 0; v < 5; ++v)
        for (int form = 0; form < 3; ++form)
          check((me + k) % nodes, form, kValues[v], bytes, v % 2 ? GEX_FLAG_IMMEDIATE : 0);
}

/* Both kinds with the usual synchronisation: of an event, in an array, as implicit operations. */
CASE(many_at_once, "GX-128 GX-129") {
  enum { kCount = 200 };
  gex_Event_t events[kCount];
  const gex_Rank_t to = (me + 1) % nodes;
  for (unsigned i = 0; i < kCount; ++i) {
    events[i] =
        i % 2 ? gex_RMA_PutNBVal(team, to, part(to) + 4 * i, i * 77777u, 4, 0) : GEX_EVENT_INVALID;
    if (i % 2 == 0) EXPECT_EQ(gex_RMA_PutNBIVal(team, to, part(to) + 4 * i, i * 77777u, 4, 0), 0);
  }
  gex_Event_WaitAll(events, kCount, 0);
  gex_NBI_Wait(GEX_EC_PUT, 0);
  for (unsigned i = 0; i < kCount; ++i)
    EXPECT(gex_RMA_GetBlockingVal(team, to, part(to) + 4 * i, 4, 0) == i * 77777u);
}

/* Between the begin and the end of an access region: part of it. */
CASE(implicit_puts_belong_to_the_region, "GX-128 GX-129") {
  const gex_Rank_t to = (me + 1) % nodes;
  gex_NBI_BeginAccessRegion(0);
  for (unsigned i = 0; i < 20; ++i)
    EXPECT_EQ(gex_RMA_PutNBIVal(team, to, part(to) + 8 * i, i + 5, 8, 0), 0);
  gex_Event_Wait(gex_NBI_EndAccessRegion(0));
  for (unsigned i = 0; i < 20; ++i)
    EXPECT(gex_RMA_GetBlockingVal(team, to, part(to) + 8 * i, 8, 0) == i + 5);
}
