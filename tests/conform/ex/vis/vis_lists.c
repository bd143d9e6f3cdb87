/* Vector and indexed puts and gets, GASNet-EX's and GASNet-1's (GASNet-EX 0.19, "Vector, Indexed
 * and Strided"), against the same stream of bytes moved by memcpy. */
#include "../ex.h"

enum { kArea = 16384, kPieces = 400, kTotal = 4200, kSeeds = 4 };
enum { kNB, kNBI, kBlocking, kForms };

static unsigned char local[kArea], model[kArea], back[kArea];

/* A list, of both kinds. */
struct list {
  size_t count, length; /* of each piece, where it is a list of equal ones */
  gex_Memvec_t vector[kPieces];
  void *index[kPieces];
};
static void add(struct list *list, void *address, size_t bytes) {
  if (list->count == kPieces) abort();
  list->vector[list->count].gex_addr = address;
  list->vector[list->count].gex_len = bytes;
  list->index[list->count++] = address;
}

/* `total` bytes in pieces of many sizes, with gaps, from the front or from the back, and pieces of
 * no bytes at no address. The layout depends on the seed alone. */
static void cut(struct list *list, unsigned char *area, size_t total, unsigned seed) {
  size_t offset = seed % 5;
  list->count = 0;
  for (unsigned i = 0; total > 0; ++i) {
    const size_t wanted = 1 + (i * 37 + seed * 101) % 97, bytes = wanted < total ? wanted : total;
    if (i % 7 == seed % 7) add(list, NULL, 0);
    add(list, seed % 2 ? area + kArea - offset - bytes : area + offset, bytes);
    offset += bytes + (i + seed) % 6;
    total -= bytes;
  }
}
/* Cuts pieces of equal size, in an order that is not that of their addresses. */
static void cut_equally(struct list *list, unsigned char *area, size_t count, size_t length,
                        unsigned seed) {
  list->count = 0;
  list->length = length;
  for (size_t i = 0; i < count; ++i) {
    const size_t place = (i + seed) % count;
    add(list, area + seed + place * (length + seed % 3), length);
  }
}

/* The bytes of one list, in order, into those of the other. */
static void move(const struct list *to, const struct list *from) {
  size_t t = 0, t_done = 0, f = 0, f_done = 0;
  while (t < to->count && f < from->count) {
    const size_t room = to->vector[t].gex_len - t_done, rest = from->vector[f].gex_len - f_done;
    const size_t bytes = room < rest ? room : rest;
    if (bytes != 0)
      memcpy((char *)to->vector[t].gex_addr + t_done, (char *)from->vector[f].gex_addr + f_done,
             bytes);
    t_done += bytes;
    f_done += bytes;
    if (t_done == to->vector[t].gex_len) ++t, t_done = 0;
    if (f_done == from->vector[f].gex_len) ++f, f_done = 0;
  }
}

/* ---- The calls: with or without indices, of either interface --------------------------------- */

static gex_Event_t put_nb(gex_Rank_t to, const struct list *d, const struct list *s, int indexed,
                          gex_Flags_t flags) {
  return indexed ? gex_VIS_IndexedPutNB(team, to, d->count, d->index, d->length, s->count, s->index,
                                        s->length, flags)
                 : gex_VIS_VectorPutNB(team, to, d->count, d->vector, s->count, s->vector, flags);
}
static int put_nbi(gex_Rank_t to, const struct list *d, const struct list *s, int indexed,
                   gex_Flags_t flags) {
  return indexed ? gex_VIS_IndexedPutNBI(team, to, d->count, d->index, d->length, s->count,
                                         s->index, s->length, flags)
                 : gex_VIS_VectorPutNBI(team, to, d->count, d->vector, s->count, s->vector, flags);
}
static int put_blocking(gex_Rank_t to, const struct list *d, const struct list *s, int indexed,
                        gex_Flags_t flags) {
  return indexed
             ? gex_VIS_IndexedPutBlocking(team, to, d->count, d->index, d->length, s->count,
                                          s->index, s->length, flags)
             : gex_VIS_VectorPutBlocking(team, to, d->count, d->vector, s->count, s->vector, flags);
}
static gex_Event_t get_nb(const struct list *d, gex_Rank_t from, const struct list *s, int indexed,
                          gex_Flags_t flags) {
  return indexed ? gex_VIS_IndexedGetNB(team, d->count, d->index, d->length, from, s->count,
                                        s->index, s->length, flags)
                 : gex_VIS_VectorGetNB(team, d->count, d->vector, from, s->count, s->vector, flags);
}
static int get_nbi(const struct list *d, gex_Rank_t from, const struct list *s, int indexed,
                   gex_Flags_t flags) {
  return indexed
             ? gex_VIS_IndexedGetNBI(team, d->count, d->index, d->length, from, s->count, s->index,
                                     s->length, flags)
             : gex_VIS_VectorGetNBI(team, d->count, d->vector, from, s->count, s->vector, flags);
}
static int get_blocking(const struct list *d, gex_Rank_t from, const struct list *s, int indexed,
                        gex_Flags_t flags) {
  return indexed ? gex_VIS_IndexedGetBlocking(team, d->count, d->index, d->length, from, s->count,
                                              s->index, s->length, flags)
                 : gex_VIS_VectorGetBlocking(team, d->count, d->vector, from, s->count, s->vector,
                                             flags);
}

/* A call that may be refused is tried until it is not. */
#define UNTIL_DONE(call)               \
  while ((call) != 0) {                \
    EXPECT(flags &GEX_FLAG_IMMEDIATE); \
    gasnet_AMPoll();                   \
  }
static void put(int form, gex_Rank_t to, const struct list *d, const struct list *s, int indexed,
                gex_Flags_t flags) {
  gex_Event_t event = GEX_EVENT_INVALID;
  if (form == kNB) UNTIL_DONE((event = put_nb(to, d, s, indexed, flags)) == GEX_EVENT_NO_OP);
  if (form == kNB) gex_Event_Wait(event);
  if (form == kNBI) UNTIL_DONE(put_nbi(to, d, s, indexed, flags));
  if (form == kNBI) gex_NBI_Wait(GEX_EC_PUT, 0);
  if (form == kBlocking) UNTIL_DONE(put_blocking(to, d, s, indexed, flags));
}
static void get(int form, const struct list *d, gex_Rank_t from, const struct list *s, int indexed,
                gex_Flags_t flags) {
  gex_Event_t event = GEX_EVENT_INVALID;
  if (form == kNB) UNTIL_DONE((event = get_nb(d, from, s, indexed, flags)) == GEX_EVENT_NO_OP);
  if (form == kNB) gex_Event_Wait(event);
  if (form == kNBI) UNTIL_DONE(get_nbi(d, from, s, indexed, flags));
  if (form == kNBI) gex_NBI_Wait(GEX_EC_GET, 0);
  if (form == kBlocking) UNTIL_DONE(get_blocking(d, from, s, indexed, flags));
}

static gasnet_memvec_t *legacy(const struct list *list) {
  return (gasnet_memvec_t *)(void *)list->vector;
}
static void put_legacy(int form, gex_Rank_t to, const struct list *d, const struct list *s,
                       int indexed) {
  if (indexed && form == kNB)
    gasnet_wait_syncnb(
        gasnet_puti_nb_bulk(to, d->count, d->index, d->length, s->count, s->index, s->length));
  if (indexed && form == kNBI)
    gasnet_puti_nbi_bulk(to, d->count, d->index, d->length, s->count, s->index, s->length);
  if (indexed && form == kBlocking)
    gasnet_puti_bulk(to, d->count, d->index, d->length, s->count, s->index, s->length);
  if (!indexed && form == kNB)
    gasnet_wait_syncnb(gasnet_putv_nb_bulk(to, d->count, legacy(d), s->count, legacy(s)));
  if (!indexed && form == kNBI) gasnet_putv_nbi_bulk(to, d->count, legacy(d), s->count, legacy(s));
  if (!indexed && form == kBlocking) gasnet_putv_bulk(to, d->count, legacy(d), s->count, legacy(s));
  if (form == kNBI) gasnet_wait_syncnbi_puts();
}
static void get_legacy(int form, const struct list *d, gex_Rank_t from, const struct list *s,
                       int indexed) {
  if (indexed && form == kNB)
    gasnet_wait_syncnb(
        gasnet_geti_nb_bulk(d->count, d->index, d->length, from, s->count, s->index, s->length));
  if (indexed && form == kNBI)
    gasnet_geti_nbi_bulk(d->count, d->index, d->length, from, s->count, s->index, s->length);
  if (indexed && form == kBlocking)
    gasnet_geti_bulk(d->count, d->index, d->length, from, s->count, s->index, s->length);
  if (!indexed && form == kNB)
    gasnet_wait_syncnb(gasnet_getv_nb_bulk(d->count, legacy(d), from, s->count, legacy(s)));
  if (!indexed && form == kNBI)
    gasnet_getv_nbi_bulk(d->count, legacy(d), from, s->count, legacy(s));
  if (!indexed && form == kBlocking)
    gasnet_getv_bulk(d->count, legacy(d), from, s->count, legacy(s));
  if (form == kNBI) gasnet_wait_syncnbi_gets();
}

/* ---- What they are compared with ------------------------------------------------------------- */

enum { kLegacy = -1 };
static struct list here, there, imagined;

/* there is at `peer` what `imagined` is in the model. The bytes between the pieces stay as they
 * are. */
static void check_put(int form, gex_Rank_t peer, int indexed, int how) {
  fill(local, kArea, 1);
  fill(model, kArea, 2);
  EXPECT_EQ(gex_RMA_PutBlocking(team, peer, part(peer), model, kArea, 0), 0);
  move(&imagined, &here);
  if (how == kLegacy)
    put_legacy(form, peer, &there, &here, indexed);
  else
    put(form, peer, &there, &here, indexed, (gex_Flags_t)how);
  EXPECT_EQ(gex_RMA_GetBlocking(team, back, peer, part(peer), kArea, 0), 0);
  EXPECT(memcmp(back, model, kArea) == 0);
}
static void check_get(int form, gex_Rank_t peer, int indexed, int how) {
  fill(local, kArea, 1);
  fill(model, kArea, 2);
  EXPECT_EQ(gex_RMA_PutBlocking(team, peer, part(peer), model, kArea, 0), 0);
  if (how == kLegacy)
    get_legacy(form, &here, peer, &there, indexed);
  else
    get(form, &here, peer, &there, indexed, (gex_Flags_t)how);
  memcpy(back, local, kArea);
  fill(local, kArea, 1);
  move(&here, &imagined);
  EXPECT(memcmp(back, local, kArea) == 0);
}

/* The pieces here and there are cut at different places; one side may be a single one. */
static void vectors(int how) {
  for (gex_Rank_t k = 0; k < nodes; ++k) {
    const gex_Rank_t peer = (me + k) % nodes;
    for (unsigned seed = 0; seed < kSeeds; ++seed) {
      cut(&here, local, kTotal, seed);
      cut(&there, part(peer), kTotal, seed + 2);
      cut(&imagined, model, kTotal, seed + 2);
      if (seed == 2) cut_equally(&here, local, 1, kTotal, 3);
      if (seed == 3) {
        cut_equally(&there, part(peer), 1, kTotal, 2);
        cut_equally(&imagined, model, 1, kTotal, 2);
      }
      for (int form = 0; form < kForms; ++form) {
        check_put(form, peer, 0, how);
        check_get(form, peer, 0, how);
      }
    }
  }
}
static void indices(int how) {
  static const size_t shapes[][2] = {{1, 4200}, {4200 / 12, 12}, {42, 100},
                                     {30, 140}, {300, 14},       {7, 600}};
  for (gex_Rank_t k = 0; k < nodes; ++k) {
    const gex_Rank_t peer = (me + k) % nodes;
    for (unsigned shape = 0; shape < 6; ++shape) {
      const size_t *const mine = shapes[shape], *const yours = shapes[(shape * 2 + 1) % 6];
      cut_equally(&here, local, mine[0], mine[1], shape);
      cut_equally(&there, part(peer), yours[0], yours[1], shape + 1);
      cut_equally(&imagined, model, yours[0], yours[1], shape + 1);
      for (int form = 0; form < kForms; ++form) {
        check_put(form, peer, 1, how);
        check_get(form, peer, 1, how);
      }
    }
  }
}

CASE(vectors, "GX-131 GX-132") { vectors(0); }
CASE(immediate_vectors, "GX-132") { vectors(GEX_FLAG_IMMEDIATE); }
CASE(indices, "GX-131 GX-132") { indices(0); }
CASE(immediate_indices, "GX-132") { indices(GEX_FLAG_IMMEDIATE); }

/* Lists of no pieces, or of pieces of no bytes (VIS-015, VIS-022). */
static void nothing(int how) {
  const gex_Rank_t peer = (me + 1) % nodes;
  for (int indexed = 0; indexed < 2; ++indexed) {
    for (int form = 0; form < kForms; ++form) {
      here.count = there.count = imagined.count = 0;
      here.length = there.length = 0;
      check_put(form, peer, indexed, how);
      check_get(form, peer, indexed, how);
      if (indexed) continue;
      add(&here, NULL, 0);
      add(&there, NULL, 0);
      check_put(form, peer, indexed, how);
      check_get(form, peer, indexed, how);
    }
  }
}
CASE(nothing_is_moved_of_nothing, "GX-139") { nothing(0); }

JOB(gasnet1_forms_of_lists, "GX-139", kNetwork, 0, "") {
  start_ex_job(GEX_FLAG_USES_GASNET1, kSegmentBytes);
  barrier();
  vectors(kLegacy);
  indices(kLegacy);
  nothing(kLegacy);
}
