/* A handler that a put of many pieces has run at its peer (GASNet-EX 0.19, "Vector, Indexed and
 * Strided"; deprecated there). */
#include "../ex.h"

enum { kBytes = 900, kNote = 127, kKinds = 3, kForms = 3 };

static unsigned char payload[2 * kBytes], note[kNote];
static _Atomic int completions, wrong;
static unsigned expected; /* the seed of what is put, by everyone alike */
static size_t note_bytes;

/* The data of the put is in place. */
static void on_complete(gex_Token_t token, void *buf, size_t nbytes) {
  gex_Token_Info_t info;
  EXPECT_FIRST(completions);
  gex_Token_Info(token, &info, GEX_TI_SRCRANK);
  const unsigned char *const there =
      (unsigned char *)segments[me].addr + info.gex_srcrank * part_bytes();
  if (nbytes != note_bytes || !holds(buf, nbytes, info.gex_srcrank)) ++wrong;
  if (!holds(there, kBytes, expected)) ++wrong;
  ++completions;
}
EX_HANDLER(on_complete, GEX_FLAG_AM_REPLY | GEX_FLAG_AM_MEDIUM, 0);

/* kBytes from two places here into one there, by one of the nine puts. */
static void put(int kind, int form, gex_Rank_t to) {
  const size_t half = kBytes / 2, count[] = {2};
  const gex_Memvec_t from[] = {{payload, half}, {payload + kBytes, half}},
                     there[] = {{part(to), kBytes}};
  void *const from_index[] = {payload, payload + kBytes}, *const there_index[] = {part(to)};
  const ptrdiff_t apart[] = {kBytes}, together[] = {(ptrdiff_t)half};
  gex_Event_t event = GEX_EVENT_INVALID;
  fill(payload, kBytes, expected);
  memcpy(payload + kBytes, payload + half, half);
  if (kind == 0 && form == 0) event = gex_VIS_VectorPutNB(team, to, 1, there, 2, from, 0);
  if (kind == 0 && form == 1) gex_VIS_VectorPutNBI(team, to, 1, there, 2, from, 0);
  if (kind == 0 && form == 2) gex_VIS_VectorPutBlocking(team, to, 1, there, 2, from, 0);
  if (kind == 1 && form == 0)
    event = gex_VIS_IndexedPutNB(team, to, 1, there_index, kBytes, 2, from_index, half, 0);
  if (kind == 1 && form == 1)
    gex_VIS_IndexedPutNBI(team, to, 1, there_index, kBytes, 2, from_index, half, 0);
  if (kind == 1 && form == 2)
    gex_VIS_IndexedPutBlocking(team, to, 1, there_index, kBytes, 2, from_index, half, 0);
  if (kind == 2 && form == 0)
    event = gex_VIS_StridedPutNB(team, to, part(to), together, payload, apart, half, count, 1, 0);
  if (kind == 2 && form == 1)
    gex_VIS_StridedPutNBI(team, to, part(to), together, payload, apart, half, count, 1, 0);
  if (kind == 2 && form == 2)
    gex_VIS_StridedPutBlocking(team, to, part(to), together, payload, apart, half, count, 1, 0);
  gex_Event_Wait(event);
  gex_NBI_Wait(GEX_EC_PUT, 0);
}

static void begin(unsigned seed, size_t bytes) {
  expected = seed;
  note_bytes = bytes;
  completions = 0;
  fill(note, kNote, me);
  barrier();
}

CASE(runs_once_with_the_data_in_place, "GX-138") {
  unsigned seed = 0;
  wrong = 0;
  for (gex_Rank_t k = 0; k < nodes; ++k) {
    for (int kind = 0; kind < kKinds; ++kind) {
      for (int form = 0; form < kForms; ++form) {
        const gex_Rank_t to = (me + k) % nodes;
        ++seed;
        begin(seed, seed % 2 ? kNote : 0);
        gex_VIS_SetPeerCompletionHandler(on_complete_index, note, note_bytes, 0);
        put(kind, form, to);
        memset(note, 0xdd, kNote); /* free, as the put is complete */
        put(kind, form, to);       /* another, without */
        AWAIT(completions, 1);
        barrier();
        EXPECT_EQ(completions, 1);
      }
    }
  }
  EXPECT_EQ(wrong, 0);
}

CASE(handler_0_takes_it_back, "GX-138") {
  begin(77, 5);
  gex_VIS_SetPeerCompletionHandler(on_complete_index, note, 5, 0);
  gex_VIS_SetPeerCompletionHandler(0, NULL, 0, 0);
  put(0, 2, (me + 1) % nodes);
  barrier();
  EXPECT_EQ(completions, 0);
  barrier();
}

/* Gets leave it alone, and what is no put of many pieces. */
CASE(only_the_next_put_counts, "GX-138") {
  const gex_Rank_t to = (me + 1) % nodes;
  const gex_Memvec_t here = {payload, 10}, there = {part(to) + kBytes, 10};
  wrong = 0;
  begin(78, 5);
  gex_VIS_SetPeerCompletionHandler(on_complete_index, note, 5, 0);
  EXPECT_EQ(gex_VIS_VectorGetBlocking(team, 1, &here, to, 1, &there, 0), 0);
  EXPECT_EQ(gex_RMA_PutBlocking(team, to, there.gex_addr, payload, 10, 0), 0);
  barrier();
  EXPECT_EQ(completions, 0);
  barrier();
  put(0, 2, to);
  AWAIT(completions, 1);
  barrier();
  EXPECT_EQ(wrong, 0);
}
