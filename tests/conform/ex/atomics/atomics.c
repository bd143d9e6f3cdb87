/* Every atomic operation of every type, on every rank's memory, against its definition. Domains:
 * atomic_domains.c; flags and events: atomic_flags.c; several at once on a word:
 * atomic_contention.c. */
#include "../ex.h"

/* Each operation has a cell: the word, and bytes on both sides that it leaves alone. Cells are set
 * and looked at by put and get, in phases with a barrier between. */
enum { kOperations = 25, kCells = 2 * kOperations, kCellBytes = 24, kWordAt = 8, kUntouched = 77 };
static unsigned char cells[kCells][kCellBytes];
static gex_Event_t events[kCells];
static gex_OP_t ops[kCells];

static const gex_OP_t fetching = GEX_OP_FADD | GEX_OP_FSUB | GEX_OP_FMULT | GEX_OP_FMIN |
                                 GEX_OP_FMAX | GEX_OP_FINC | GEX_OP_FDEC | GEX_OP_FAND |
                                 GEX_OP_FOR | GEX_OP_FXOR | GEX_OP_SWAP | GEX_OP_FCAS | GEX_OP_GET;

static void *word_at(gex_Rank_t rank, int cell) { return part(rank) + cell * kCellBytes + kWordAt; }
static void put_cells(gex_Rank_t rank) {
  gex_RMA_PutBlocking(team, rank, part(rank), cells, sizeof cells, 0);
  barrier();
}
static void get_cells(gex_Rank_t rank) {
  gex_Event_WaitAll(events, kCells, 0);
  gex_NBI_Wait(GEX_EC_PUT | GEX_EC_GET | GEX_EC_RMW, 0);
  barrier();
  memset(cells, 0, sizeof cells);
  gex_RMA_GetBlocking(team, cells, rank, part(rank), sizeof cells, 0);
  barrier();
}

#define OF_ALL_TYPES(X, name)                                                                 \
  X(name, ADD)                                                                                \
  X(name, SUB)                                                                                \
  X(name, MULT) X(name, MIN) X(name, MAX) X(name, INC) X(name, DEC) X(name, SET) X(name, CAS) \
      X(name, GET) X(name, SWAP) X(name, FCAS) X(name, FADD) X(name, FSUB) X(name, FMULT)     \
          X(name, FMIN) X(name, FMAX) X(name, FINC) X(name, FDEC)
#define OF_INTEGERS(X, name) \
  X(name, AND) X(name, OR) X(name, XOR) X(name, FAND) X(name, FOR) X(name, FXOR)
#define OF_FLOATS(X, name)
#define OR_IN(name, op) | GEX_OP_##op

#define BITS_OF_INTEGERS(op, old, a)                         \
  if ((op) & (GEX_OP_AND | GEX_OP_FAND)) return (old) & (a); \
  if ((op) & (GEX_OP_OR | GEX_OP_FOR)) return (old) | (a);   \
  if ((op) & (GEX_OP_XOR | GEX_OP_FXOR)) return (old) ^ (a);
#define BITS_OF_FLOATS(op, old, a)

/* The next cell's operation, by an event or implicit. Its name is known to the compiler, or a
 * variable. */
#define START(name, op)                                                                     \
  do {                                                                                      \
    type_##name *const result_p = (op)&fetching ? &got_##name[n] : NULL;                    \
    if ((n + turn) % 2)                                                                     \
      events[n] = gex_AD_OpNB_##name(ad, result_p, rank, word_at(rank, n), op, a, b, 0);    \
    else                                                                                    \
      EXPECT_EQ(gex_AD_OpNBI_##name(ad, result_p, rank, word_at(rank, n), op, a, b, 0), 0); \
    ops[n++] = op;                                                                          \
  } while (0);
#define START_KNOWN(name, op) START(name, GEX_OP_##op)

#define OPERATIONS_ON(name, type, large, OF_BITS, BITS)                                           \
  typedef type type_##name;                                                                       \
  static type got_##name[kCells];                                                                 \
  static type due_##name(gex_OP_t op, type old, type a, type b) {                                 \
    BITS(op, old, a)                                                                              \
    if (op & (GEX_OP_ADD | GEX_OP_FADD)) return (type)(old + a);                                  \
    if (op & (GEX_OP_SUB | GEX_OP_FSUB)) return (type)(old - a);                                  \
    if (op & (GEX_OP_MULT | GEX_OP_FMULT)) return (type)(old * a);                                \
    if (op & (GEX_OP_MIN | GEX_OP_FMIN)) return old < a ? old : a;                                \
    if (op & (GEX_OP_MAX | GEX_OP_FMAX)) return old > a ? old : a;                                \
    if (op & (GEX_OP_INC | GEX_OP_FINC)) return (type)(old + 1);                                  \
    if (op & (GEX_OP_DEC | GEX_OP_FDEC)) return (type)(old - 1);                                  \
    if (op & (GEX_OP_SET | GEX_OP_SWAP)) return a;                                                \
    if (op & (GEX_OP_CAS | GEX_OP_FCAS)) return old == a ? b : old;                               \
    return old; /* GET */                                                                         \
  }                                                                                               \
  static void expect_##name(int n, type old, type a, type b) {                                    \
    for (int i = 0; i < n; ++i) {                                                                 \
      const type due = due_##name(ops[i], old, a, b), got = got_##name[i];                        \
      const unsigned char *const after = cells[i] + kWordAt + sizeof(type);                       \
      type is;                                                                                    \
      memcpy(&is, cells[i] + kWordAt, sizeof is);                                                 \
      if (is != due || got != (ops[i] & fetching ? old : kUntouched))                             \
        fail_at(__FILE__, __LINE__, "%s 0x%x of %g with %g, %g: it is %g, returned %g", #name,    \
                (unsigned)ops[i], (double)old, (double)a, (double)b, (double)is, (double)got);    \
      EXPECT(all_bytes_are(cells[i], kWordAt, 0x5a));                                             \
      EXPECT(all_bytes_are(after, kCellBytes - kWordAt - sizeof(type), 0x5a));                    \
    }                                                                                             \
  }                                                                                               \
  static int start_##name(gex_AD_t ad, gex_Rank_t rank, int turn, type a, type b) {               \
    int n = 0;                                                                                    \
    OF_ALL_TYPES(START_KNOWN, name)                                                               \
    OF_BITS(START_KNOWN, name)                                                                    \
    for (int i = 0, known = n; i < known; ++i) START(name, ops[i])                                \
    return n;                                                                                     \
  }                                                                                               \
  static void try_##name(gex_AD_t ad, gex_Rank_t rank, int turn, type old, type a, type b) {      \
    memset(cells, 0x5a, sizeof cells);                                                            \
    for (int i = 0; i < kCells; ++i) {                                                            \
      memcpy(cells[i] + kWordAt, &old, sizeof old);                                               \
      got_##name[i] = kUntouched;                                                                 \
      events[i] = GEX_EVENT_INVALID;                                                              \
    }                                                                                             \
    put_cells(rank);                                                                              \
    const int n = start_##name(ad, rank, turn, a, b);                                             \
    get_cells(rank);                                                                              \
    expect_##name(n, old, a, b);                                                                  \
  }                                                                                               \
  static void try_all_##name(void) {                                                              \
    const type values[][3] = {{5, 3, 9},                                                          \
                              {7, 7, 11},                                                         \
                              {0, (type)-1, 1},                                                   \
                              {(type)-3, 2, 4},                                                   \
                              {(type)-5, (type)-5, (type)-6},                                     \
                              {large, 3, 1},                                                      \
                              {large, (type)((large) + 1), 8}};                                   \
    const int count = sizeof values / sizeof *values;                                             \
    gex_AD_t ad;                                                                                  \
    gex_AD_Create(&ad, team, GEX_DT_##name, 0 OF_ALL_TYPES(OR_IN, name) OF_BITS(OR_IN, name), 0); \
    for (int i = 0; i < count; ++i)                                                               \
      for (gex_Rank_t step = 0; step < nodes; ++step)                                             \
        try_##name(ad, (me + step) % nodes, i, values[i][0], values[i][1], values[i][2]);         \
    gex_AD_Destroy(ad);                                                                           \
  }
/* Signed ones do not overflow, unsigned ones do. */
OPERATIONS_ON(I32, int32_t, 40000, OF_INTEGERS, BITS_OF_INTEGERS)
OPERATIONS_ON(U32, uint32_t, 0xfffffff0u, OF_INTEGERS, BITS_OF_INTEGERS)
OPERATIONS_ON(I64, int64_t, 3000000001ll, OF_INTEGERS, BITS_OF_INTEGERS)
OPERATIONS_ON(U64, uint64_t, 0xfffffffffffffff0ull, OF_INTEGERS, BITS_OF_INTEGERS)
OPERATIONS_ON(FLT, float, 1.5e10f, OF_FLOATS, BITS_OF_FLOATS)
OPERATIONS_ON(DBL, double, 1.25e100, OF_FLOATS, BITS_OF_FLOATS)

CASE(of_int32, "GX-149 GX-150 GX-151 GX-154 GX-157 GX-160 GX-162") { try_all_I32(); }
CASE(of_uint32, "GX-149 GX-150 GX-151 GX-154 GX-157 GX-160 GX-162") { try_all_U32(); }
CASE(of_int64, "GX-149 GX-150 GX-151 GX-154 GX-157 GX-160 GX-162") { try_all_I64(); }
CASE(of_uint64, "GX-149 GX-150 GX-151 GX-154 GX-157 GX-160 GX-162") { try_all_U64(); }
CASE(of_float, "GX-149 GX-150 GX-151 GX-154 GX-157 GX-160 GX-162") { try_all_FLT(); }
CASE(of_double, "GX-149 GX-150 GX-151 GX-154 GX-157 GX-160 GX-162") { try_all_DBL(); }

/* A compare-and-swap that finds what it expects swaps, each time. */
CASE(cas_does_not_fail_spuriously, "GX-151") {
  enum { kTimes = 2000 };
  const gex_Rank_t to = (me + 1) % nodes;
  uint64_t old = 0, is = 0;
  gex_AD_t ad;
  gex_AD_Create(&ad, team, GEX_DT_U64, GEX_OP_SET | GEX_OP_GET | GEX_OP_CAS | GEX_OP_FCAS, 0);
  barrier();
  gex_Event_Wait(gex_AD_OpNB_U64(ad, NULL, to, part(to), GEX_OP_SET, 0, 0, 0));
  for (uint64_t i = 0; i < kTimes; i += 2) {
    gex_Event_Wait(gex_AD_OpNB_U64(ad, NULL, to, part(to), GEX_OP_CAS, i, i + 1, 0));
    gex_Event_Wait(gex_AD_OpNB_U64(ad, &old, to, part(to), GEX_OP_FCAS, i + 1, i + 2, 0));
    EXPECT_EQ(old, i + 1);
  }
  gex_Event_Wait(gex_AD_OpNB_U64(ad, &is, to, part(to), GEX_OP_GET, 0, 0, 0));
  EXPECT_EQ(is, kTimes);
  barrier();
  gex_AD_Destroy(ad);
}
