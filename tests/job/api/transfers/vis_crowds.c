/* Puts of thousands of small pieces against a copy by hand: words in any order, pieces of any length and alignment,
 * several to each rank under way at once, both APIs, each way to end; and one to a rank that makes no call meanwhile
 * (GX-131...134, GX-139, VIS-002, VIS-007, VIS-012, VIS-014).
 *
 * vis_crowds [ROUNDS [SEED]] */
#include <gasnetex.h>
#include <gasnet_vis.h>

#include "../job_test.h"

enum { kAreaWords = 4096, kArea = kAreaWords * 8, kFlights = 3, kPiecesMax = kAreaWords, kLongest = 200 };

static gex_Client_t client;
static gex_EP_t endpoint;
static gex_TM_t team;
static gex_Rank_t ranks;
static unsigned char *base[64]; /* of every rank's memory: one area for each flight of each peer, and a flag */
static unsigned long long seed = 88172645463325252ull;

static size_t draw(size_t below) {
  seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
  return (size_t)(seed >> 11) % below;
}

/* One put: its source, what must be at its target afterwards, and its lists, which stay until the call has returned. */
typedef struct {
  unsigned char *source, *wanted;
  gex_Memvec_t from[kPiecesMax], to[kPiecesMax];
  void *from_words[kPiecesMax], *to_words[kPiecesMax];
  size_t count;
  gex_Rank_t rank;
  gex_Event_t event;
} flight_t;
static flight_t flights[kFlights];

static unsigned char *area_of(gex_Rank_t rank, int flight) { return base[rank] + ((size_t)me * kFlights + (size_t)flight) * kArea; }
static volatile uint64_t *flag_of(gex_Rank_t rank) { return (uint64_t *)(base[rank] + (size_t)ranks * kFlights * kArea); }

static void prepare(flight_t *flight, int number, gex_Rank_t rank) {
  flight->rank = rank;
  flight->event = GEX_EVENT_INVALID;
  for (size_t i = 0; i < kArea; ++i) flight->source[i] = (unsigned char)draw(256), flight->wanted[i] = (unsigned char)draw(256);
  gex_RMA_PutBlocking(team, rank, area_of(rank, number), flight->wanted, kArea, 0);
}
static void shuffle(size_t *order, size_t count) {
  for (size_t i = 0; i < count; ++i) order[i] = i;
  for (size_t i = count; i > 1; --i) {
    const size_t j = draw(i), was = order[i - 1];
    order[i - 1] = order[j], order[j] = was;
  }
}

/* Each word of the source somewhere else. */
static void put_words(flight_t *flight, int number, int how, int is_legacy) {
  static size_t from[kAreaWords], to[kAreaWords];
  unsigned char *there = area_of(flight->rank, number);
  flight->count = 1 + draw(kAreaWords);
  shuffle(from, kAreaWords);
  shuffle(to, kAreaWords);
  for (size_t i = 0; i < flight->count; ++i) {
    flight->from_words[i] = flight->source + 8 * from[i];
    flight->to_words[i] = there + 8 * to[i];
    memcpy(flight->wanted + 8 * to[i], flight->source + 8 * from[i], 8);
  }
  void *const *s = flight->from_words, *const *d = flight->to_words;
  const size_t n = flight->count;
  if (how == 0 && is_legacy) gasnet_puti_bulk(flight->rank, n, d, 8, n, s, 8);
  if (how == 1 && is_legacy) flight->event = gasnet_puti_nb_bulk(flight->rank, n, d, 8, n, s, 8);
  if (how == 2 && is_legacy) gasnet_puti_nbi_bulk(flight->rank, n, d, 8, n, s, 8);
  if (how == 0 && !is_legacy) gex_VIS_IndexedPutBlocking(team, flight->rank, n, d, 8, n, s, 8, 0);
  if (how == 1 && !is_legacy) flight->event = gex_VIS_IndexedPutNB(team, flight->rank, n, d, 8, n, s, 8, GEX_FLAG_ENABLE_LEAF_LC);
  if (how == 2 && !is_legacy) gex_VIS_IndexedPutNBI(team, flight->rank, n, d, 8, n, s, 8, GEX_FLAG_ENABLE_LEAF_LC);
}

/* Pieces of the source, one after the other, at disjoint places; some of them empty, some longer than what goes in lists. */
static void put_pieces(flight_t *flight, int number, int how, int is_legacy) {
  unsigned char *there = area_of(flight->rank, number);
  const size_t longest = 1 + draw(draw(2) ? 16 : kLongest);
  size_t source = 0, target = 0;
  for (flight->count = 0; flight->count < kPiecesMax; ++flight->count) {
    const size_t bytes = draw(10) ? 1 + draw(longest) : 0;
    target += draw(8);
    if (target + bytes > kArea || source + bytes > kArea) break;
    flight->from[flight->count].gex_addr = flight->source + source, flight->from[flight->count].gex_len = bytes;
    flight->to[flight->count].gex_addr = there + target, flight->to[flight->count].gex_len = bytes;
    memcpy(flight->wanted + target, flight->source + source, bytes);
    source += bytes, target += bytes;
  }
  const gex_Memvec_t *s = flight->from, *d = flight->to;
  const gasnet_memvec_t *old_s = (const gasnet_memvec_t *)s, *old_d = (const gasnet_memvec_t *)d;
  const size_t n = flight->count;
  if (how == 0 && is_legacy) gasnet_putv_bulk(flight->rank, n, old_d, n, old_s);
  if (how == 1 && is_legacy) flight->event = gasnet_putv_nb_bulk(flight->rank, n, old_d, n, old_s);
  if (how == 2 && is_legacy) gasnet_putv_nbi_bulk(flight->rank, n, old_d, n, old_s);
  if (how == 0 && !is_legacy) gex_VIS_VectorPutBlocking(team, flight->rank, n, d, n, s, 0);
  if (how == 1 && !is_legacy) flight->event = gex_VIS_VectorPutNB(team, flight->rank, n, d, n, s, GEX_FLAG_ENABLE_LEAF_LC);
  if (how == 2 && !is_legacy) gex_VIS_VectorPutNBI(team, flight->rank, n, d, n, s, GEX_FLAG_ENABLE_LEAF_LC);
}

/* Sources are free once their puts are locally complete, and are written over then. */
static void finish_all(int how) {
  if (how == 2) gex_NBI_Wait(GEX_EC_LC, 0);
  for (int i = 0; i < kFlights; ++i) {
    if (how == 1) gex_Event_Wait(gex_Event_QueryLeaf(flights[i].event, GEX_EC_LC));
    memset(flights[i].source, 0xee, kArea);
  }
  for (int i = kFlights; how == 1 && i > 0; --i) gex_Event_Wait(flights[i - 1].event);
  if (how == 2) gex_NBI_Wait(GEX_EC_PUT, 0);
}
static void compare(int number, int round) {
  static unsigned char back[kArea];
  const flight_t *flight = &flights[number];
  gex_RMA_GetBlocking(team, back, flight->rank, area_of(flight->rank, number), kArea, 0);
  for (size_t at = 0; at < kArea; ++at)
    if (back[at] != flight->wanted[at])
      fail_at(__FILE__, __LINE__, "byte %zu of put %d in round %d at rank %u is %u, not %u", at, number, round, (unsigned)flight->rank, back[at],
              flight->wanted[at]);
}
static void run_round(int round) {
  const int how = round % 3;
  for (int i = 0; i < kFlights; ++i) prepare(&flights[i], i, (me + (gex_Rank_t)(round + i)) % ranks);
  for (int i = 0; i < kFlights; ++i) {
    const int is_legacy = (int)draw(2);
    if (draw(2)) put_words(&flights[i], i, how, is_legacy);
    else put_pieces(&flights[i], i, how, is_legacy);
  }
  finish_all(how);
  for (int i = 0; i < kFlights; ++i) compare(i, round);
}

/* Where a thread of the library serves puts, those to a rank in a No-Interrupt Section end, too: it makes no call at all
 * until it sees what was put. */
static void put_to_a_rank_in_a_section(void) {
  const char *dispatch = getenv("GASNET_DISPATCH");
  const int is_served = dispatch != NULL && strcmp(dispatch, "poll") != 0;
  *flag_of(me) = 0;
  barrier();
  if (me == 0 && ranks > 1) {
    prepare(&flights[0], 0, 1);
    put_words(&flights[0], 0, 0, 0);
    compare(0, -1);
    uint64_t done = 1;
    gex_RMA_PutBlocking(team, 1, (void *)flag_of(1), &done, 8, 0);
  } else if (me == 1) {
    gasnet_hold_interrupts();
    while (is_served && __atomic_load_n(flag_of(1), __ATOMIC_ACQUIRE) == 0) continue;
    gasnet_resume_interrupts();
    GASNET_BLOCKUNTIL(__atomic_load_n(flag_of(1), __ATOMIC_ACQUIRE) != 0);
  }
  barrier();
}

int main(int argc, char **argv) {
  if (gex_Client_Init(&client, &endpoint, &team, "VIS_CROWDS", &argc, &argv, 0) != GASNET_OK) return 3;
  me = gex_TM_QueryRank(team);
  nodes = ranks = gex_TM_QuerySize(team);
  const int rounds = argc > 1 ? atoi(argv[1]) : 30;
  if (argc > 2) seed += strtoull(argv[2], NULL, 0) * 1000003;
  seed += me;
  gex_Segment_t segment;
  const uintptr_t pages = ((uintptr_t)kArea * kFlights * ranks + 8 + GASNET_PAGESIZE - 1) / GASNET_PAGESIZE;
  EXPECT_EQ(gex_Segment_Attach(&segment, team, pages * GASNET_PAGESIZE), GASNET_OK);
  for (gex_Rank_t rank = 0; rank < ranks; ++rank) {
    void *owner = NULL;
    gex_Event_Wait(gex_EP_QueryBoundSegmentNB(team, rank, &owner, NULL, NULL, 0));
    base[rank] = owner;
  }
  for (int i = 0; i < kFlights; ++i) flights[i].source = malloc(kArea), flights[i].wanted = malloc(kArea);
  for (int round = 0; round < rounds; ++round) run_round(round);
  put_to_a_rank_in_a_section();
  end_job("vis_crowds");
}
