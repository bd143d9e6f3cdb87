/* Local completion is told only when it is true: sources are overwritten as soon as it is, while
 * the target, which makes no call, may have taken nothing yet (GASNet-EX 0.19, "Events"). */
#include <unistd.h>

#include "../ex.h"

enum { kBytes = 600000, kPolls = 3000, kPollsPerNap = 100, kNapUs = 500, kOperations = 6 };

static unsigned char sources[kOperations][kBytes], back[kBytes];
static _Atomic int came, told, wrong;

/* One operation whose source is sources[i]: spoilt once, when it is locally complete. */
struct source {
  int is_used, is_spoilt;
  size_t bytes;
};
static struct source used[kOperations];

static size_t bytes_of(int i) {
  const size_t most = part_bytes() / kOperations;
  const size_t wanted = i % 3 == 0 ? 400 : i % 3 == 1 ? 9000 : kBytes;
  return wanted < most ? wanted : most;
}
static void *place(int i) { return part(1) + (size_t)i * (part_bytes() / kOperations); }
static void prepare(int i) {
  used[i].bytes = bytes_of(i);
  used[i].is_used = used[i].is_spoilt = 0;
  fill(sources[i], used[i].bytes, 20 + (unsigned)i);
}
static void spoil(int i) {
  if (!used[i].is_used || used[i].is_spoilt) return;
  memset(sources[i], 0xdd, used[i].bytes);
  used[i].is_spoilt = 1;
}

/* The last first, too: what begins later may be refused. */
static int in_order(int i, int is_backwards) { return is_backwards ? kOperations - 1 - i : i; }

/* Now and then for so long that what nobody acknowledges is sent again, from its source. */
static void poll_in_time(int polls) {
  gasnet_AMPoll();
  if (polls % kPollsPerNap == 0) usleep(kNapUs);
}

/* Leaves: of operations 0 to 2; the others are a group, that `groups` names. */
static void spoil_what_is_complete(gex_Event_t *leaves, gex_EC_t groups) {
  for (int polls = 0; polls < kPolls; ++polls) {
    poll_in_time(polls);
    for (int i = 0; i < 3; ++i)
      if (leaves[i] != GEX_EVENT_INVALID && gex_Event_Test(leaves[i]) == GASNET_OK)
        leaves[i] = GEX_EVENT_INVALID;
    for (int i = 0; i < 3; ++i)
      if (leaves[i] == GEX_EVENT_INVALID) spoil(i);
    if (gex_NBI_Test(groups, 0) == GASNET_OK)
      for (int i = 3; i < kOperations; ++i) spoil(i);
  }
}
static void spoil_the_rest(gex_Event_t *leaves, gex_EC_t groups) {
  gex_Event_WaitAll(leaves, 3, 0);
  gex_NBI_Wait(groups, 0);
  for (int i = 0; i < kOperations; ++i) spoil(i);
}
static void check_places(void) {
  for (int i = 0; i < kOperations; ++i) {
    if (!used[i].is_used) continue;
    EXPECT_EQ(gex_RMA_GetBlocking(team, back, 1, place(i), used[i].bytes, 0), 0);
    EXPECT(holds(back, used[i].bytes, 20 + (unsigned)i));
  }
}

/* ---- Messages. A message that is refused for want of room is not looked at. ------------------ */

static void on_payload(gex_Token_t token, void *buf, size_t nbytes, gex_AM_Arg_t seed) {
  (void)token;
  if (!holds(buf, nbytes, (unsigned)seed)) ++wrong;
  ++came;
}
EX_HANDLER(on_payload, GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_MEDLONG, 1);
static void on_total(gex_Token_t token, gex_AM_Arg_t total) {
  (void)token;
  told = total + 1;
}
EX_HANDLER(on_total, GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_SHORT, 1);

/* Returns whether it was sent. The smallest are Mediums. */
static int send(int i, gex_Event_t *leaf) {
  gex_Event_t *const lc_opt = i < 3 ? leaf : GEX_EVENT_GROUP;
  prepare(i);
  const int is_refused =
      i % 3 == 0 ? gex_AM_RequestMedium1(team, 1, on_payload_index, sources[i], used[i].bytes,
                                         lc_opt, GEX_FLAG_IMMEDIATE, 20 + i)
                 : gex_AM_RequestLong1(team, 1, on_payload_index, sources[i], used[i].bytes,
                                       place(i), lc_opt, GEX_FLAG_IMMEDIATE, 20 + i);
  used[i].is_used = !is_refused;
  if (is_refused) *leaf = GEX_EVENT_INVALID;
  return !is_refused;
}

CASE(of_messages, "GX-104") {
  if (nodes < 2) NOT_HERE("one rank has nobody to wait for");
  for (int backwards = 0; backwards < 2; ++backwards) {
    came = told = wrong = 0;
    if (freeze_rank_1()) {
      gex_Event_t leaves[kOperations];
      int sent = 0;
      for (int i = 0; i < kOperations; ++i) {
        const int next = in_order(i, backwards);
        sent += send(next, &leaves[next]);
      }
      spoil_what_is_complete(leaves, GEX_EC_AM);
      thaw_rank_1();
      spoil_the_rest(leaves, GEX_EC_AM);
      EXPECT_EQ(gex_AM_RequestShort1(team, 1, on_total_index, 0, sent), 0);
    }
    if (me == 1) {
      AWAIT(told, 1);
      AWAIT(came, told - 1);
      EXPECT_EQ(wrong, 0);
    }
    barrier();
  }
}

/* ---- Puts: of one piece, of many ------------------------------------------------------------- */

static void put(int i, gex_Event_t *roots, gex_Event_t *leaves) {
  const gex_Flags_t flags = GEX_FLAG_IMMEDIATE;
  prepare(i);
  if (i >= 3) {
    used[i].is_used =
        gex_RMA_PutNBI(team, 1, place(i), sources[i], used[i].bytes, GEX_EVENT_GROUP, flags) == 0;
    return;
  }
  roots[i] = gex_RMA_PutNB(team, 1, place(i), sources[i], used[i].bytes, &leaves[i], flags);
  used[i].is_used = roots[i] != GEX_EVENT_NO_OP;
  if (!used[i].is_used) roots[i] = leaves[i] = GEX_EVENT_INVALID;
}

/* Two halves. */
static void put_pieces(int i, gex_Event_t *roots, gex_Event_t *leaves) {
  const gex_Flags_t flags = GEX_FLAG_IMMEDIATE | GEX_FLAG_ENABLE_LEAF_LC;
  prepare(i);
  const size_t half = used[i].bytes / 2;
  const ptrdiff_t strides[] = {(ptrdiff_t)half};
  const size_t count[] = {2};
  used[i].bytes = 2 * half;
  if (i >= 3) {
    used[i].is_used = gex_VIS_StridedPutNBI(team, 1, place(i), strides, sources[i], strides, half,
                                            count, 1, flags) == 0;
    return;
  }
  roots[i] =
      gex_VIS_StridedPutNB(team, 1, place(i), strides, sources[i], strides, half, count, 1, flags);
  used[i].is_used = roots[i] != GEX_EVENT_NO_OP;
  if (!used[i].is_used) roots[i] = GEX_EVENT_INVALID;
  leaves[i] = gex_Event_QueryLeaf(roots[i], GEX_EC_LC);
}

static void put_to_rank_1(void (*start)(int i, gex_Event_t *roots, gex_Event_t *leaves)) {
  for (int backwards = 0; backwards < 2; ++backwards) {
    if (!freeze_rank_1()) continue;
    gex_Event_t roots[kOperations], leaves[kOperations];
    for (int i = 0; i < kOperations; ++i) start(in_order(i, backwards), roots, leaves);
    spoil_what_is_complete(leaves, GEX_EC_LC);
    thaw_rank_1();
    spoil_the_rest(leaves, GEX_EC_LC);
    gex_Event_WaitAll(roots, 3, 0);
    gex_NBI_Wait(GEX_EC_PUT, 0);
    check_places();
  }
}

CASE(of_puts, "GX-125 GX-129") {
  if (nodes < 2) NOT_HERE("one rank has nobody to wait for");
  put_to_rank_1(put);
}
/* An access region has one leaf for all of them. */
static void put_in_region(int i) {
  prepare(i);
  used[i].is_used = gex_RMA_PutNBI(team, 1, place(i), sources[i], used[i].bytes, GEX_EVENT_GROUP,
                                   GEX_FLAG_IMMEDIATE) == 0;
}
CASE(of_puts_in_a_region, "GX-036 GX-037 GX-038 GX-039") {
  if (nodes < 2) NOT_HERE("one rank has nobody to wait for");
  if (freeze_rank_1()) {
    gex_NBI_BeginAccessRegion(0);
    for (int i = 0; i < kOperations; ++i) put_in_region(i);
    const gex_Event_t root = gex_NBI_EndAccessRegion(0),
                      leaf = gex_Event_QueryLeaf(root, GEX_EC_LC);
    int is_local = 0;
    for (int polls = 0; polls < kPolls; ++polls) {
      poll_in_time(polls);
      if (!is_local) is_local = gex_Event_Test(leaf) == GASNET_OK;
      for (int i = 0; i < kOperations && is_local; ++i) spoil(i);
    }
    thaw_rank_1();
    if (!is_local) gex_Event_Wait(leaf);
    for (int i = 0; i < kOperations; ++i) spoil(i);
    gex_Event_Wait(root);
    check_places();
  }
}
CASE(of_puts_of_many_pieces, "GX-134") {
  if (nodes < 2) NOT_HERE("one rank has nobody to wait for");
  put_to_rank_1(put_pieces);
}
