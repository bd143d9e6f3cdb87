/* Strided puts and gets, GASNet-EX's and GASNet-1's (GASNet-EX 0.19, "Vector, Indexed and
 * Strided"), against the same elements moved by memcpy, one by one. */
#include "../ex.h"

enum { kArea = 65536, kLevels = 5 };
enum { kNB, kNBI, kBlocking, kForms };

static unsigned char local[kArea], model[kArea], back[kArea];

/* A box at either end: where its first element is in the area, and the way from one to the next. */
struct end {
  size_t first;
  ptrdiff_t strides[kLevels];
};
struct box {
  struct end remote, own;
  size_t element, levels, count[kLevels];
};

static void move_at(unsigned char *to, const ptrdiff_t *to_strides, const unsigned char *from,
                    const ptrdiff_t *from_strides, const struct box *box, size_t level) {
  if (level == 0) {
    memcpy(to, from, box->element);
    return;
  }
  for (size_t i = 0; i < box->count[level - 1]; ++i)
    move_at(to + (ptrdiff_t)i * to_strides[level - 1], to_strides,
            from + (ptrdiff_t)i * from_strides[level - 1], from_strides, box, level - 1);
}

/* ---- The calls ------------------------------------------------------------------------------- */
/* The description of the box is overwritten before they are synchronised (GX-133). */

#define UNTIL_DONE(call)               \
  while ((call) != 0) {                \
    EXPECT(flags &GEX_FLAG_IMMEDIATE); \
    gasnet_AMPoll();                   \
  }
static void put(int form, gex_Rank_t to, const struct box *box, gex_Flags_t flags) {
  struct box b = *box;
  unsigned char *const d = part(to) + b.remote.first, *const s = local + b.own.first;
  ptrdiff_t *const ds = b.remote.strides, *const ss = b.own.strides;
  gex_Event_t event = GEX_EVENT_INVALID;
  if (form == kNB)
    UNTIL_DONE((event = gex_VIS_StridedPutNB(team, to, d, ds, s, ss, b.element, b.count, b.levels,
                                             flags)) == GEX_EVENT_NO_OP);
  if (form == kNBI)
    UNTIL_DONE(gex_VIS_StridedPutNBI(team, to, d, ds, s, ss, b.element, b.count, b.levels, flags));
  if (form == kBlocking)
    UNTIL_DONE(
        gex_VIS_StridedPutBlocking(team, to, d, ds, s, ss, b.element, b.count, b.levels, flags));
  memset(&b, 0x77, sizeof b);
  gex_Event_Wait(event);
  gex_NBI_Wait(GEX_EC_PUT, 0);
}
static void get(int form, gex_Rank_t from, const struct box *box, gex_Flags_t flags) {
  struct box b = *box;
  unsigned char *const s = part(from) + b.remote.first, *const d = local + b.own.first;
  ptrdiff_t *const ds = b.own.strides, *const ss = b.remote.strides;
  gex_Event_t event = GEX_EVENT_INVALID;
  if (form == kNB)
    UNTIL_DONE((event = gex_VIS_StridedGetNB(team, d, ds, from, s, ss, b.element, b.count, b.levels,
                                             flags)) == GEX_EVENT_NO_OP);
  if (form == kNBI)
    UNTIL_DONE(
        gex_VIS_StridedGetNBI(team, d, ds, from, s, ss, b.element, b.count, b.levels, flags));
  if (form == kBlocking)
    UNTIL_DONE(
        gex_VIS_StridedGetBlocking(team, d, ds, from, s, ss, b.element, b.count, b.levels, flags));
  memset(&b, 0x77, sizeof b);
  gex_Event_Wait(event);
  gex_NBI_Wait(GEX_EC_GET, 0);
}

/* GASNet-1's count begins with the bytes of an element. These arrays stay until the
 * synchronisation. */
struct legacy {
  size_t count[kLevels + 1], remote[kLevels], own[kLevels];
};
static struct legacy legacy_of(const struct box *box) {
  struct legacy made = {.count = {box->element}};
  for (size_t i = 0; i < box->levels; ++i) {
    made.count[i + 1] = box->count[i];
    made.remote[i] = (size_t)box->remote.strides[i];
    made.own[i] = (size_t)box->own.strides[i];
  }
  return made;
}
static void put_legacy(int form, gex_Rank_t to, const struct box *b) {
  const struct legacy l = legacy_of(b);
  unsigned char *const d = part(to) + b->remote.first, *const s = local + b->own.first;
  if (form == kNB)
    gasnet_wait_syncnb(gasnet_puts_nb_bulk(to, d, l.remote, s, l.own, l.count, b->levels));
  if (form == kNBI) gasnet_puts_nbi_bulk(to, d, l.remote, s, l.own, l.count, b->levels);
  if (form == kBlocking) gasnet_puts_bulk(to, d, l.remote, s, l.own, l.count, b->levels);
  gasnet_wait_syncnbi_puts();
}
static void get_legacy(int form, gex_Rank_t from, const struct box *b) {
  const struct legacy l = legacy_of(b);
  unsigned char *const s = part(from) + b->remote.first, *const d = local + b->own.first;
  if (form == kNB)
    gasnet_wait_syncnb(gasnet_gets_nb_bulk(d, l.own, from, s, l.remote, l.count, b->levels));
  if (form == kNBI) gasnet_gets_nbi_bulk(d, l.own, from, s, l.remote, l.count, b->levels);
  if (form == kBlocking) gasnet_gets_bulk(d, l.own, from, s, l.remote, l.count, b->levels);
  gasnet_wait_syncnbi_gets();
}

/* ---- What they are compared with: all of both areas ------------------------------------------ */

enum { kLegacy = -1 };

/* The pieces of a box are under way together. Either of two pieces that write the same byte may
 * therefore be the last: those of a destination do not overlap (GX-136). */
static unsigned char is_written[kArea];
static int write_once(ptrdiff_t at, const ptrdiff_t *strides, const struct box *box, size_t level) {
  if (level == 0) {
    for (size_t i = 0; i < box->element; ++i, ++at) {
      if (at < 0 || at >= kArea || is_written[at]) return 0;
      is_written[at] = 1;
    }
    return 1;
  }
  for (size_t i = 0; i < box->count[level - 1]; ++i)
    if (!write_once(at + (ptrdiff_t)i * strides[level - 1], strides, box, level - 1)) return 0;
  return 1;
}
static int is_destination(const struct end *end, const struct box *box) {
  memset(is_written, 0, kArea);
  return write_once((ptrdiff_t)end->first, end->strides, box, box->levels);
}

static void prepare(gex_Rank_t peer) {
  fill(local, kArea, 1);
  fill(model, kArea, 2);
  EXPECT_EQ(gex_RMA_PutBlocking(team, peer, part(peer), model, kArea, 0), 0);
}
static void check_put(int form, gex_Rank_t peer, const struct box *box, int how) {
  EXPECT(is_destination(&box->remote, box));
  prepare(peer);
  move_at(model + box->remote.first, box->remote.strides, local + box->own.first, box->own.strides,
          box, box->levels);
  if (how == kLegacy)
    put_legacy(form, peer, box);
  else
    put(form, peer, box, (gex_Flags_t)how);
  EXPECT_EQ(gex_RMA_GetBlocking(team, back, peer, part(peer), kArea, 0), 0);
  EXPECT(memcmp(back, model, kArea) == 0);
}
static void check_get(int form, gex_Rank_t peer, const struct box *box, int how) {
  EXPECT(is_destination(&box->own, box));
  prepare(peer);
  if (how == kLegacy)
    get_legacy(form, peer, box);
  else
    get(form, peer, box, (gex_Flags_t)how);
  memcpy(back, local, kArea);
  fill(local, kArea, 1);
  move_at(local + box->own.first, box->own.strides, model + box->remote.first, box->remote.strides,
          box, box->levels);
  EXPECT(memcmp(back, local, kArea) == 0);
}
static void check(const struct box *boxes, size_t count, int how) {
  for (gex_Rank_t k = 0; k < nodes; ++k) {
    for (size_t i = 0; i < count; ++i) {
      for (int form = 0; form < kForms; ++form) {
        check_put(form, (me + k) % nodes, &boxes[i], how);
        check_get(form, (me + k) % nodes, &boxes[i], how);
      }
    }
  }
}

/* Strides that grow, as those of GASNet-1: none, one row, lines that join, gaps, dimensions of one,
 * many. */
static const struct box plain[] = {
    {{5, {0}}, {9, {0}}, 3001, 0, {0}},
    {{0, {8}}, {1, {16}}, 8, 1, {100}},
    {{0, {64, 640}}, {3, {64, 640}}, 64, 2, {10, 9}},
    {{7, {100, 1500, 9000}}, {0, {33, 400, 2000}}, 33, 3, {12, 4, 5}},
    {{2, {5, 5, 200}}, {4, {7, 7, 150}}, 5, 3, {1, 20, 6}},
    {{0, {3, 7, 30, 61, 500}}, {1, {4, 9, 28, 60, 125}}, 3, 5, {2, 3, 2, 2, 3}},
    /* from A[11][12][13] at (5, 6, 7) to B[14][15][16] at (8, 9, 10), 2 x 3 x 4 of double */
    {{8 * ((8 * 15 + 9) * 16 + 10), {16 * 8, 15 * 16 * 8}},
     {8 * ((5 * 12 + 6) * 13 + 7), {13 * 8, 12 * 13 * 8}},
     32,
     2,
     {3, 2}},
};
/* And those that do not: a transpose, a reflection of one or of both. */
static const struct box free_ones[] = {
    {{0, {4, 4 * 40}}, {0, {4 * 30, 4}}, 4, 2, {40, 30}},
    {{0, {10}}, {990, {-10}}, 10, 1, {100}},
    {{5000, {-7, -70}}, {6000, {-9, -500}}, 7, 2, {10, 12}},
    {{30000, {800, -8, 80}}, {100, {80, 8, 2000}}, 8, 3, {5, 10, 9}},
    {{500, {12, -2, 120}}, {0, {2, 200, 20}}, 2, 3, {9, 6, 7}},
};
enum { kPlain = sizeof plain / sizeof *plain, kFree = sizeof free_ones / sizeof *free_ones };

CASE(strides_that_grow, "GX-131 GX-132 GX-133") { check(plain, kPlain, 0); }
CASE(strides_in_any_order_and_of_either_sign, "GX-133 GX-136") { check(free_ones, kFree, 0); }
CASE(immediate_boxes, "GX-132 GX-136") {
  check(plain, kPlain, GEX_FLAG_IMMEDIATE);
  check(free_ones, kFree, GEX_FLAG_IMMEDIATE);
}
/* One element is read for many, or rows share some: sources may overlap, local and remote ones. */
CASE(sources_may_overlap, "GX-136") {
  static const struct box puts[] = {
      {{0, {8, 200}}, {16, {0, 3}}, 8, 2, {20, 11}},
      {{30000, {800, -8, 80}}, {100, {40, 8, 2000}}, 8, 3, {5, 10, 9}},
      {{2, {5, 5, 200}}, {4, {7, 7, 100}}, 5, 3, {1, 20, 6}},
  };
  for (size_t i = 0; i < sizeof puts / sizeof *puts; ++i) {
    struct box get = puts[i];
    get.remote = puts[i].own;
    get.own = puts[i].remote;
    for (int form = 0; form < kForms; ++form) {
      check_put(form, (me + 1) % nodes, &puts[i], 0);
      check_get(form, (me + 1) % nodes, &get, 0);
    }
  }
}
JOB(gasnet1_forms_of_boxes, "GX-139", kNetwork, 0, "") {
  start_ex_job(GEX_FLAG_USES_GASNET1, kSegmentBytes);
  barrier();
  check(plain, kPlain, kLegacy);
}
