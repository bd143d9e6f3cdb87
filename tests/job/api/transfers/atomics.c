/* Remote atomics (GX-046, GX-047, GX-149 to GX-162): every operation of every type, from every rank to every rank, against a
 * serial oracle; events, implicit operations and regions; flags; what a domain tells of itself. */
#include <sched.h>

#include "atomics_test.h"

enum { kCells = 64, kCellBytes = 64 };

static gex_Event_t events[2 * kCells];
static size_t event_count;

/* Each rank has cells of its own in every rank's memory, so that it alone knows what they hold. */
static void *cell(gex_Rank_t rank, int index) { return bases[rank] + (size_t)((int)me * kCells + index) * kCellBytes; }

/* ---- Every operation (GX-150 to GX-152) ------------------------------------------------------------------ */

static void wait_for(gex_Event_t event) { gex_Event_Wait(event); }

static int fetches(gex_OP_t op) { return op == GEX_OP_GET || (op >= GEX_OP_FAND && op <= GEX_OP_FCAS); }

#define BITS_OF_INTEGERS(base, old, a, due)        \
  if (base == GEX_OP_AND) due = old & a;           \
  if (base == GEX_OP_OR) due = old | a;            \
  if (base == GEX_OP_XOR) due = old ^ a;
#define BITS_OF_FLOATS(base, old, a, due)

/* OP is a constant or not: what is inlined, or a call. An event or an implicit operation. */
#define START(name, op, old_p, rank, at, a, b, is_event)                                                                \
  do {                                                                                                                  \
    if (is_event) events[event_count++] = gex_AD_OpNB_##name(ad, old_p, rank, at, op, a, b, 0);                         \
    else EXPECT_EQ(gex_AD_OpNBI_##name(ad, old_p, rank, at, op, a, b, 0), 0);                                           \
  } while (0)
#define FINISH()                                                                                                        \
  do {                                                                                                                  \
    gex_Event_WaitAll(events, event_count, 0);                                                                          \
    gex_NBI_Wait(GEX_EC_PUT | GEX_EC_GET | GEX_EC_RMW, 0);                                                              \
    event_count = 0;                                                                                                    \
  } while (0)

#define EACH_INLINED(X) X(ADD) X(SUB) X(MULT) X(MIN) X(MAX) X(INC) X(DEC) X(SET) X(CAS)                    \
  X(FADD) X(FSUB) X(FMULT) X(FMIN) X(FMAX) X(FINC) X(FDEC) X(SWAP) X(FCAS) X(GET)

#define TEST_TYPE(name, type, arithmetic, bits, operations)                                                            \
  static type due_##name(gex_OP_t op, type old, type a, type b) {                                                      \
    const gex_OP_t base = op >= GEX_OP_FAND && op != GEX_OP_GET ? GEX_OP_TO_NONFETCHING(op) : op;                      \
    type due = old;                                                                                                    \
    bits(base, old, a, due)                                                                                            \
    switch (base) {                                                                                                    \
      case GEX_OP_ADD: return (type)((arithmetic)old + (arithmetic)a);                                                 \
      case GEX_OP_SUB: return (type)((arithmetic)old - (arithmetic)a);                                                 \
      case GEX_OP_MULT: return (type)((arithmetic)old * (arithmetic)a);                                                \
      case GEX_OP_MIN: return old < a ? old : a;                                                                       \
      case GEX_OP_MAX: return old > a ? old : a;                                                                       \
      case GEX_OP_INC: return (type)((arithmetic)old + 1);                                                             \
      case GEX_OP_DEC: return (type)((arithmetic)old - 1);                                                             \
      case GEX_OP_SET: return a;                                                                                       \
      case GEX_OP_CAS: return old == a ? b : old;                                                                      \
      default: return due;                                                                                             \
    }                                                                                                                  \
  }                                                                                                                    \
  static void expect_##name(const char *how, gex_Rank_t rank, gex_OP_t op, type old, type a, type b, type got, type is) { \
    const type due = due_##name(op, old, a, b);                                                                        \
    if (is != due || (fetches(op) && got != old))                                                                      \
      fail_at(__FILE__, __LINE__, #name " 0x%x at rank %u, %s, of %g with %g and %g: it is %g and not %g, returned %g", op, rank, how, \
              (double)old, (double)a, (double)b, (double)is, (double)due, (double)got);                                \
  }                                                                                                                    \
  /* Each operation has a cell; one is called and one inlined, all at once. */                                         \
  static void every_##name(void) {                                                                                     \
    const type values[][3] = {{5, 3, 9}, {7, 7, 11}, {0, (type)-1, 1}, {(type)-3, 2, (type)-3}, {(type)(arithmetic)1e9, (type)(arithmetic)1e9, 0}}; \
    type got[kCells], is[kCells];                                                                                      \
    gex_AD_t ad;                                                                                                       \
    gex_AD_Create(&ad, team, GEX_DT_##name, operations, 0);                                                            \
    barrier();                                                                                                         \
    for (size_t i = 0; i < sizeof values / sizeof values[0]; ++i) {                                                    \
      const type old = values[i][0], a = values[i][1], b = values[i][2];                                               \
      for (gex_Rank_t rank = 0; rank < ranks; ++rank) {                                                                \
        int n = 0;                                                                                                     \
        for (int c = 0; c < kCells; ++c) START(name, GEX_OP_SET, NULL, rank, cell(rank, c), old, 0, (c ^ (int)i) & 1); \
        FINISH();                                                                                                      \
        for (gex_OP_t op = 1; op <= GEX_OP_GET; op <<= 1, ++n)                                                         \
          if (op & (operations)) START(name, op, fetches(op) ? &got[n] : NULL, rank, cell(rank, n), a, b, (n ^ (int)i) & 1); \
        EACH_INLINED(INLINED_##name)                                                                                   \
        FINISH();                                                                                                      \
        for (int c = 0; c < n; ++c) START(name, GEX_OP_GET, &is[c], rank, cell(rank, c), 0, 0, (c ^ (int)i) & 1);      \
        FINISH();                                                                                                      \
        n = 0;                                                                                                         \
        for (gex_OP_t op = 1; op <= GEX_OP_GET; op <<= 1, ++n)                                                         \
          if (op & (operations)) expect_##name("called", rank, op, old, a, b, got[n], is[n]);                          \
        EACH_INLINED(LOOK_##name)                                                                                      \
        EXPECT(n <= kCells);                                                                                           \
      }                                                                                                                \
    }                                                                                                                  \
    barrier();                                                                                                         \
    gex_AD_Destroy(ad);                                                                                                \
  }
#define INLINED(name, op)                                                                                              \
  START(name, GEX_OP_##op, fetches(GEX_OP_##op) ? &got[n] : NULL, rank, cell(rank, n), a, b, (n ^ (int)i) & 1);        \
  ++n;
#define LOOK(name, op)                                                                                                 \
  expect_##name("inlined", rank, GEX_OP_##op, old, a, b, got[n], is[n]);                                               \
  ++n;
#define INLINED_I32(op) INLINED(I32, op)
#define LOOK_I32(op) LOOK(I32, op)
#define INLINED_U32(op) INLINED(U32, op)
#define LOOK_U32(op) LOOK(U32, op)
#define INLINED_I64(op) INLINED(I64, op)
#define LOOK_I64(op) LOOK(I64, op)
#define INLINED_U64(op) INLINED(U64, op)
#define LOOK_U64(op) LOOK(U64, op)
#define INLINED_FLT(op) INLINED(FLT, op)
#define LOOK_FLT(op) LOOK(FLT, op)
#define INLINED_DBL(op) INLINED(DBL, op)
#define LOOK_DBL(op) LOOK(DBL, op)
TEST_TYPE(I32, int32_t, uint32_t, BITS_OF_INTEGERS, on_numbers | on_bits)
TEST_TYPE(U32, uint32_t, uint32_t, BITS_OF_INTEGERS, on_numbers | on_bits)
TEST_TYPE(I64, int64_t, uint64_t, BITS_OF_INTEGERS, on_numbers | on_bits)
TEST_TYPE(U64, uint64_t, uint64_t, BITS_OF_INTEGERS, on_numbers | on_bits)
TEST_TYPE(FLT, float, float, BITS_OF_FLOATS, on_numbers)
TEST_TYPE(DBL, double, double, BITS_OF_FLOATS, on_numbers)

/* A domain of what NICs do, its own memory's operations among them (GX-160, GX-163). */
static void whole_of_nics(void) {
  enum { kInlined = 3 };
  const int64_t values[][3] = {{5, 3, 9}, {-7, -7, 11}, {0, -1, 1}};
  int64_t got[kCells], is[kCells];
  gex_AD_t ad;
  gex_AD_Create(&ad, team, GEX_DT_I64, of_nics, 0);
  expect_path_of_nics(ad);
  for (size_t i = 0; i < sizeof values / sizeof values[0]; ++i) {
    const int64_t old = values[i][0], a = values[i][1], b = values[i][2];
    for (gex_Rank_t rank = 0; rank < ranks; ++rank)
      for (int c = 0; c < kCells; ++c) gex_RMA_PutBlocking(team, rank, cell(rank, c), &old, sizeof old, 0);
    barrier();
    for (gex_Rank_t rank = 0; rank < ranks; ++rank) {
      int n = 0;
      for (gex_OP_t op = 1; op <= GEX_OP_GET; op <<= 1)
        if (op & of_nics) {
          START(I64, op, fetches(op) ? &got[n] : NULL, rank, cell(rank, n), a, b, n & 1);
          ++n;
        }
      START(I64, GEX_OP_FADD, &got[n], rank, cell(rank, n), a, b, 0);
      START(I64, GEX_OP_FCAS, &got[n + 1], rank, cell(rank, n + 1), a, b, 1);
      START(I64, GEX_OP_DEC, NULL, rank, cell(rank, n + 2), a, b, 0);
      FINISH();
      for (int c = 0; c < n + kInlined; ++c) START(I64, GEX_OP_GET, &is[c], rank, cell(rank, c), 0, 0, c & 1);
      FINISH();
      n = 0;
      for (gex_OP_t op = 1; op <= GEX_OP_GET; op <<= 1)
        if (op & of_nics) expect_I64("called", rank, op, old, a, b, got[n], is[n]), ++n;
      expect_I64("inlined", rank, GEX_OP_FADD, old, a, b, got[n], is[n]);
      expect_I64("inlined", rank, GEX_OP_FCAS, old, a, b, got[n + 1], is[n + 1]);
      expect_I64("inlined", rank, GEX_OP_DEC, old, a, b, 0, is[n + 2]);
    }
    barrier();
  }
  gex_AD_Destroy(ad);
}

/* ---- Events, implicit operations, regions (GX-036, GX-159, GX-162) ----------------------------------------- */

static void many_at_once(void) {
  int64_t old[kCells];
  int32_t old32[kCells];
  gex_AD_t ad, ad32;
  gex_AD_Create(&ad, team, GEX_DT_I64, GEX_OP_SET | GEX_OP_GET | GEX_OP_FADD | GEX_OP_FMAX, 0);
  gex_AD_Create(&ad32, team, GEX_DT_I32, GEX_OP_SET | GEX_OP_GET | GEX_OP_FINC, GEX_FLAG_AD_FAVOR_REMOTE);
  barrier();
  for (gex_Rank_t rank = 0; rank < ranks; ++rank) {
    for (int i = 0; i < kCells; ++i) {
      gex_AD_OpNBI_I64(ad, NULL, rank, cell(rank, i), GEX_OP_SET, 100 + i, 0, 0);
      gex_AD_OpNBI_I32(ad32, NULL, rank, (char *)cell(rank, i) + 12, GEX_OP_SET, -i, 0, 0);
    }
    gex_NBI_Wait(GEX_EC_PUT, 0);
    /* one by a driver and one by message, where there is one */
    for (int i = 0; i < kCells; ++i) {
      old[i] = -1, old32[i] = 77;
      events[2 * i] = i % 2 ? gex_AD_OpNB_I64(ad, &old[i], rank, cell(rank, i), GEX_OP_FADD, i, 0, 0)
                            : gex_AD_OpNB_I64(ad, &old[i], rank, cell(rank, i), GEX_OP_FMAX, 1000 + i, 0, 0);
      events[2 * i + 1] = gex_AD_OpNB_I32(ad32, &old32[i], rank, (char *)cell(rank, i) + 12, GEX_OP_FINC, 0, 0, 0);
    }
    gex_Event_WaitSome(events, 2 * kCells, 0);
    do gasnet_AMPoll(); while (gex_Event_TestAll(events, 2 * kCells, 0) != GASNET_OK);
    for (int i = 0; i < kCells; ++i) {
      EXPECT_EQ(old[i], 100 + i);
      EXPECT_EQ(old32[i], -i);
    }
    gex_NBI_BeginAccessRegion(0);
    for (int i = 0; i < kCells; ++i) {
      if (i % 3 == 0) gex_AD_OpNBI_I64(ad, &old[i], rank, cell(rank, i), GEX_OP_GET, 0, 0, 0);
      if (i % 3 == 1) gex_AD_OpNBI_I64(ad, &old[i], rank, cell(rank, i), GEX_OP_FADD, 5, 0, 0);
      if (i % 3 == 2) gex_AD_OpNBI_I64(ad, NULL, rank, cell(rank, i), GEX_OP_SET, 6, 0, 0);
    }
    gex_Event_t region = gex_NBI_EndAccessRegion(0);
    EXPECT_EQ(gex_NBI_Test(GEX_EC_ALL, 0), GASNET_OK);
    while (gex_Event_Test(region) != GASNET_OK) gasnet_AMPoll();
    for (int i = 0; i < kCells; ++i)
      if (i % 3 != 2) EXPECT_EQ(old[i], i % 2 ? 100 + 2 * i : 1000 + i);
    for (int i = 0; i < kCells; ++i) gex_AD_OpNBI_I64(ad, &old[i], rank, cell(rank, i), GEX_OP_GET, 0, 0, 0);
    while (gex_NBI_Test(GEX_EC_GET | GEX_EC_RMW, 0) != GASNET_OK) gasnet_AMPoll();
    for (int i = 0; i < kCells; ++i)
      EXPECT_EQ(old[i], i % 3 == 2 ? 6 : (i % 2 ? 100 + 2 * i : 1000 + i) + (i % 3 == 1 ? 5 : 0));
  }
  barrier();
  gex_AD_Destroy(ad32);
  gex_AD_Destroy(ad);
}

/* ---- Flags (GX-046, GX-047, GX-161) ----------------------------------------------------------------------- */

/* Data by a put, a flag by an atomic that releases it: who acquires the flag sees the data. */
static void signals(void) {
  enum { kRounds = 40, kWords = 100 };
  const gex_Rank_t to = (me + 1) % ranks, from = (me + ranks - 1) % ranks;
  uint64_t *const data = (uint64_t *)(bases[me] + kMemoryBytes / 2), seen = 0;
  uint64_t *const flag = data + kWords, *const acknowledged = flag + 8;
  uint64_t source[kWords];
  gex_AD_t ad;
  gex_AD_Create(&ad, team, GEX_DT_U64, GEX_OP_ADD | GEX_OP_SET | GEX_OP_GET, 0);
  barrier();
  for (uint64_t round = 1; round <= kRounds; ++round) {
    for (int i = 0; i < kWords; ++i) source[i] = round * 1000 + me + (uint64_t)i;
    gex_RMA_PutBlocking(team, to, bases[to] + kMemoryBytes / 2, source, sizeof source, 0);
    wait_for(gex_AD_OpNB_U64(ad, NULL, to, bases[to] + ((unsigned char *)flag - bases[me]), GEX_OP_SET, round, 0, GEX_FLAG_AD_REL));
    do {
      gasnet_AMPoll();
      sched_yield();
      wait_for(gex_AD_OpNB_U64(ad, &seen, me, flag, GEX_OP_GET, 0, 0, GEX_FLAG_AD_ACQ | GEX_FLAG_AD_MY_RANK));
    } while (seen < round);
    EXPECT_EQ(seen, round);
    for (int i = 0; i < kWords; ++i) EXPECT_EQ(data[i], round * 1000 + from + (uint64_t)i);
    /* Not before the neighbour has looked does its data change. */
    wait_for(gex_AD_OpNB_U64(ad, NULL, from, bases[from] + ((unsigned char *)acknowledged - bases[me]), GEX_OP_ADD, 1, 0,
                             GEX_FLAG_AD_REL | GEX_FLAG_RANK_IS_JOBRANK));
    do {
      gasnet_AMPoll();
      sched_yield();
      gex_AD_OpNBI_U64(ad, &seen, me, acknowledged, GEX_OP_GET, 0, 0, GEX_FLAG_AD_ACQ | GEX_FLAG_AD_MY_NBRHD);
      gex_NBI_Wait(GEX_EC_GET, 0);
    } while (seen < round);
  }
  barrier();
  gex_AD_Destroy(ad);
}

static void immediate(void) {
  double got = 0;
  gex_AD_t ad;
  gex_AD_Create(&ad, team, GEX_DT_DBL, GEX_OP_SET | GEX_OP_FADD, GEX_FLAG_AD_FAVOR_MY_RANK);
  barrier();
  for (gex_Rank_t rank = 0; rank < ranks; ++rank) {
    while (gex_AD_OpNBI_DBL(ad, NULL, rank, cell(rank, 1), GEX_OP_SET, 1.5, 0, GEX_FLAG_IMMEDIATE) != 0) gasnet_AMPoll();
    gex_NBI_Wait(GEX_EC_PUT, 0);
    for (int i = 0; i < 100; ++i) {
      gex_Event_t event;
      while ((event = gex_AD_OpNB_DBL(ad, &got, rank, cell(rank, 1), GEX_OP_FADD, .25, 0, GEX_FLAG_IMMEDIATE)) == GEX_EVENT_NO_OP)
        gasnet_AMPoll();
      gex_Event_Wait(event);
      EXPECT(got == 1.5 + .25 * i);
    }
  }
  barrier();
  gex_AD_Destroy(ad);
}

/* GX-161: what is refused has done nothing, what is not is done once. Nobody polls between them; where the test's
 * environment says that there is little room, there are refusals. */
static void refusals(void) {
  enum { kTries = 4000 };
  const gex_Rank_t to = (me + 1) % ranks;
  int refused[2] = {0, 0};
  int64_t done = 0, done32 = 0;
  gex_AD_t ad, ad32;
  gex_AD_Create(&ad, team, GEX_DT_I64, GEX_OP_SET | GEX_OP_ADD | GEX_OP_GET, 0);
  gex_AD_Create(&ad32, team, GEX_DT_I32, GEX_OP_SET | GEX_OP_FINC | GEX_OP_GET, 0);
  barrier();
  gex_Event_Wait(gex_AD_OpNB_I64(ad, NULL, to, cell(to, 2), GEX_OP_SET, 0, 0, 0));
  gex_Event_Wait(gex_AD_OpNB_I32(ad32, NULL, to, cell(to, 3), GEX_OP_SET, 0, 0, 0));
  for (int i = 0; i < kTries; ++i) {
    static int32_t old;
    const int is_refused = gex_AD_OpNBI_I64(ad, NULL, to, cell(to, 2), GEX_OP_ADD, 1, 0, GEX_FLAG_IMMEDIATE) != 0;
    refused[0] += is_refused, done += !is_refused;
    if (event_count == kCells) continue;
    const gex_Event_t event = gex_AD_OpNB_I32(ad32, &old, to, cell(to, 3), GEX_OP_FINC, 0, 0, GEX_FLAG_IMMEDIATE);
    refused[1] += event == GEX_EVENT_NO_OP, done32 += event != GEX_EVENT_NO_OP;
    if (event != GEX_EVENT_NO_OP) events[event_count++] = event;
  }
  FINISH();
  int64_t sum = -1;
  int32_t sum32 = -1;
  gex_Event_Wait(gex_AD_OpNB_I64(ad, &sum, to, cell(to, 2), GEX_OP_GET, 0, 0, 0));
  gex_Event_Wait(gex_AD_OpNB_I32(ad32, &sum32, to, cell(to, 3), GEX_OP_GET, 0, 0, 0));
  EXPECT_EQ(sum, done);
  EXPECT_EQ(sum32, done32);
  const char *due = getenv("REFUSALS");
  if (due != NULL) EXPECT(refused[0] + refused[1] > 0);
  barrier();
  gex_AD_Destroy(ad);
  gex_AD_Destroy(ad32);
}

/* GX-154; several at once */
static void check_domains(void) {
  gex_AD_t first = GEX_AD_INVALID, second = GEX_AD_INVALID;
  gex_AD_Create(&first, team, GEX_DT_U32, GEX_OP_FXOR | GEX_OP_GET, GEX_FLAG_AD_FAVOR_MY_NBRHD);
  gex_AD_Create(&second, team, GEX_DT_FLT, GEX_OP_MULT, 0);
  EXPECT(first != GEX_AD_INVALID && second != GEX_AD_INVALID && first != second);
  EXPECT(gex_AD_QueryTM(first) == team && gex_AD_QueryTM(second) == team);
  EXPECT_EQ(gex_AD_QueryFlags(first), GEX_FLAG_AD_FAVOR_MY_NBRHD);
  EXPECT_EQ(gex_AD_QueryDT(first), GEX_DT_U32);
  EXPECT_EQ(gex_AD_QueryOps(first), GEX_OP_FXOR | GEX_OP_GET);
  EXPECT(gex_AD_QueryFlags(second) == 0 && gex_AD_QueryDT(second) == GEX_DT_FLT && gex_AD_QueryOps(second) == GEX_OP_MULT);
  EXPECT(gex_AD_QueryCData(first) == NULL && gex_AD_QueryCData(second) == NULL);
  gex_AD_SetCData(first, &first);
  EXPECT(gex_AD_QueryCData(first) == &first && gex_AD_QueryCData(second) == NULL);
  gex_AD_Destroy(first);
  EXPECT(gex_AD_QueryOps(second) == GEX_OP_MULT);
  gex_AD_Destroy(second);
}

/* GX-047, GX-155: domains over the odd and the even ranks in reverse order, beside one over all; each member's ticket is
 * counted in each member's memory. */
static void in_teams(void) {
  gex_TM_t half = GEX_TM_INVALID;
  gex_AD_t of_half, of_all;
  uint32_t old = 0;
  EXPECT_EQ(gex_TM_Split(&half, team, (int)(me % 2), (int)(ranks - me), NULL, 0, GEX_FLAG_TM_NO_SCRATCH), 0);
  const gex_Rank_t size = gex_TM_QuerySize(half), rank = gex_TM_QueryRank(half);
  uint32_t *const mine = (uint32_t *)(bases[me] + kMemoryBytes / 4);
  mine[0] = mine[16] = 0;
  gex_AD_Create(&of_half, half, GEX_DT_U32, GEX_OP_FADD | GEX_OP_FINC | GEX_OP_GET, 0);
  gex_AD_Create(&of_all, team, GEX_DT_U32, GEX_OP_FADD | GEX_OP_GET, 0);
  EXPECT(gex_AD_QueryTM(of_half) == half);
  barrier();
  for (gex_Rank_t i = 0; i < size; ++i) {
    const gex_Rank_t to = (rank + i) % size, jobrank = gex_TM_TranslateRankToJobrank(half, to);
    uint32_t *const word = (uint32_t *)(bases[jobrank] + kMemoryBytes / 4);
    gex_Event_Wait(gex_AD_OpNB_U32(of_half, &old, to, word, GEX_OP_FINC, 0, 0, 0));
    EXPECT(old < 2 * size);
    gex_AD_OpNBI_U32(of_half, &old, jobrank, word, GEX_OP_FADD, 1, 0, GEX_FLAG_RANK_IS_JOBRANK);
    gex_NBI_Wait(GEX_EC_RMW, 0);
    EXPECT(old < 2 * size);
  }
  for (gex_Rank_t to = 0; to < ranks; ++to)
    gex_AD_OpNBI_U32(of_all, &old, to, bases[to] + kMemoryBytes / 4 + 64, GEX_OP_FADD, me + 1, 0, to % 2 ? GEX_FLAG_RANK_IS_JOBRANK : 0);
  gex_NBI_Wait(GEX_EC_RMW, 0);
  barrier();
  gex_Event_Wait(gex_AD_OpNB_U32(of_half, &old, rank, mine, GEX_OP_GET, 0, 0, GEX_FLAG_AD_MY_RANK));
  EXPECT_EQ(old, 2 * size);
  gex_Event_Wait(gex_AD_OpNB_U32(of_all, &old, me, mine + 16, GEX_OP_GET, 0, 0, GEX_FLAG_AD_MY_RANK));
  EXPECT_EQ(old, ranks * (ranks + 1) / 2);
  gex_AD_Destroy(of_half);
  gex_AD_Destroy(of_all);
  EXPECT_EQ(gex_TM_Destroy(half, NULL, GEX_FLAG_GLOBALLY_QUIESCED), 0);
  barrier();
}

int main(int argc, char **argv) {
  start_atomics(&argc, &argv);
  check_domains();
  every_I32();
  every_U32();
  every_I64();
  every_U64();
  every_FLT();
  every_DBL();
  whole_of_nics();
  many_at_once();
  signals();
  immediate();
  refusals();
  in_teams();
  end_job("atomics");
}
