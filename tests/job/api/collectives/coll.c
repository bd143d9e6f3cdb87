/* Collectives over several teams at once, in random order and of random sizes, against what one process computes
 * (GX-140...GX-153); GASNet's prototypes among them; barriers that order puts.
 * coll [BATCHES [SEED]] */
#include <gasnetex.h>
#include <gasnet_coll.h>

#include "../job_test.h"

enum { kTeams = 4, kBatchMax = 40, kBytesMax = 70000, kSegmentBytes = 1 << 22, kHalf = kSegmentBytes / 2, kScratchAt = 1 << 16 };
enum { kBarrier, kBroadcast, kReduceOne, kReduceAll, kScatter, kGather, kGatherAll, kExchange, kKinds };

static gex_TM_t teams[kTeams];
static unsigned char *segment_base;

/* The same everywhere. */
static uint64_t shared_state = 12345;
static uint64_t next_of(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return *state >> 33;
}
static size_t pick(size_t count) { return next_of(&shared_state) % count; }

typedef struct {
  int kind;
  gex_TM_t tm;
  gex_Rank_t root;
  size_t bytes; /* of one contribution, or block */
  unsigned seed;
  int type, op; /* of a reduction: which */
  int sync;     /* of a prototype */
  int in_place;
  int wide;     /* of user's elements: which width */
  unsigned char *src, *dst;
  gex_Event_t event;
} Operation;

/* ---- Memory: in the segment or outside ------------------------------------------------------------------ */

static size_t segment_used;
static unsigned char *take(size_t bytes, int in_segment) {
  bytes = (bytes + 15) & ~(size_t)15;
  if (in_segment && segment_used + bytes <= kHalf) {
    segment_used += bytes;
    return segment_base + segment_used - bytes;
  }
  return malloc(bytes + 1);
}
static void give(unsigned char *memory) {
  if (memory < segment_base || memory >= segment_base + kSegmentBytes) free(memory);
}

/* ---- Reductions ------------------------------------------------------------------------------------------- */

typedef struct {
  uint32_t factor, offset; /* x -> factor * x + offset: composition does not commute */
} Line;
static int user_calls;
/* Lines in an element: such of whole and of other numbers in a piece, of one in a piece, and larger ones than a piece. */
enum { kWidths = 5 };
static const size_t widths[kWidths] = {1, 3, 700, 4096, 5000};
static void compose(const void *a, void *b_and_out, size_t count, const void *cdata) {
  const Line *first = a;
  Line *second = b_and_out;
  const size_t *width = cdata;
  EXPECT(count >= 1 && width >= widths && width < widths + kWidths);
  EXPECT(*width <= 4096 || count == 1); /* as tests below pass them */
  ++user_calls;
  for (size_t i = 0; i < count * *width; ++i) {
    const Line result = {first[i].factor * second[i].factor, first[i].offset * second[i].factor + second[i].offset};
    second[i] = result;
  }
}

enum { kTypes = 7 };
static const gex_DT_t types[kTypes] = {GEX_DT_I32, GEX_DT_U32, GEX_DT_I64, GEX_DT_U64, GEX_DT_FLT, GEX_DT_DBL, GEX_DT_USER};
static const size_t type_bytes[kTypes] = {4, 4, 8, 8, 4, 8, sizeof(Line)};
enum { kOps = 7 };
static const gex_OP_t ops[kOps] = {GEX_OP_ADD, GEX_OP_MULT, GEX_OP_MIN, GEX_OP_MAX, GEX_OP_AND, GEX_OP_OR, GEX_OP_XOR};

/* Small, so that sums and products of floats are exact in any order. */
static int value_at(unsigned seed, gex_Rank_t rank, size_t i) { return (int)((seed * 7 + rank * 3 + i * 5) % 5) - 1; }

static void write_value(void *to, int type, int value) {
  switch (type) {
    case 0: *(int32_t *)to = value; break;
    case 1: *(uint32_t *)to = (uint32_t)value; break;
    case 2: *(int64_t *)to = value; break;
    case 3: *(uint64_t *)to = (uint64_t)(int64_t)value; break;
    case 4: *(float *)to = (float)value; break;
    case 5: *(double *)to = value; break;
    default: {
      const Line line = {(uint32_t)value * 2 + 3, (uint32_t)value + 11};
      *(Line *)to = line;
    }
  }
}
#define COMBINE(T, integer)                                             \
  {                                                                     \
    T a = *(T *)so_far;                                                 \
    const T b = *(const T *)next;                                       \
    switch (op) {                                                       \
      case 0: a = a + b; break;                                         \
      case 1: a = a * b; break;                                         \
      case 2: a = a < b ? a : b; break;                                 \
      case 3: a = a > b ? a : b; break;                                 \
      case 4: a = (T)((integer)a & (integer)b); break;                  \
      case 5: a = (T)((integer)a | (integer)b); break;                  \
      default: a = (T)((integer)a ^ (integer)b);                        \
    }                                                                   \
    *(T *)so_far = a;                                                   \
  }
static void combine(void *so_far, const void *next, int type, int op) {
  switch (type) {
    case 0: COMBINE(int32_t, int32_t) break;
    case 1: COMBINE(uint32_t, uint32_t) break;
    case 2: COMBINE(int64_t, int64_t) break;
    case 3: COMBINE(uint64_t, uint64_t) break;
    case 4: COMBINE(float, int) break;
    case 5: COMBINE(double, int) break;
    default: {
      Line second = *(const Line *)next;
      const Line *first = so_far;
      const Line result = {first->factor * second.factor, first->offset * second.factor + second.offset};
      *(Line *)so_far = result;
    }
  }
}

static gex_Event_t start_reduction(Operation *o) {
  const size_t bytes = type_bytes[o->type], count = o->bytes / bytes;
  const gex_Rank_t rank = gex_TM_QueryRank(o->tm);
  const int is_user = o->type == kTypes - 1;
  for (size_t i = 0; i < count; ++i) write_value(o->src + i * bytes, o->type, value_at(o->seed, rank, i));
  if (o->in_place) {
    memcpy(o->dst, o->src, o->bytes);
  }
  const void *src = o->in_place ? o->dst : o->src;
  const gex_OP_t op = is_user ? GEX_OP_USER_NC : ops[o->op];
  const size_t width = widths[o->wide];
  void *cdata = (void *)(uintptr_t)&widths[o->wide];
  if (o->kind == kReduceAll) {
    return gex_Coll_ReduceToAllNB(o->tm, o->dst, src, types[o->type], bytes * width, count / width, op, is_user ? compose : NULL, cdata, 0);
  }
  void *dst = rank == o->root ? o->dst : NULL;
  return gex_Coll_ReduceToOneNB(o->tm, o->root, dst, src, types[o->type], bytes * width, count / width, op, is_user ? compose : NULL, cdata, 0);
}
static void check_reduction(const Operation *o) {
  const size_t bytes = type_bytes[o->type], count = o->bytes / bytes;
  if (o->kind == kReduceOne && gex_TM_QueryRank(o->tm) != o->root) return;
  for (size_t i = 0; i < count; ++i) {
    uint64_t expected[2] = {0, 0}, next[2] = {0, 0};
    write_value(expected, o->type, value_at(o->seed, 0, i));
    for (gex_Rank_t rank = 1; rank < gex_TM_QuerySize(o->tm); ++rank) {
      write_value(next, o->type, value_at(o->seed, rank, i));
      combine(expected, next, o->type, o->op);
    }
    if (memcmp(expected, o->dst + i * bytes, bytes) != 0)
      fail_at(__FILE__, __LINE__, "reduction %d, type %d, operation %d: element %zu of %zu, member %u of %u", o->kind, o->type, o->op, i,
              count, gex_TM_QueryRank(o->tm), gex_TM_QuerySize(o->tm));
  }
}

/* ---- Data that moves ---------------------------------------------------------------------------------------- */

static unsigned block_seed(unsigned seed, gex_Rank_t from, gex_Rank_t to) { return seed * 97 + from * 13 + to * 5 + 1; }

static gex_Event_t start_move(Operation *o) {
  static const int ins[] = {GASNET_COLL_IN_NOSYNC, GASNET_COLL_IN_MYSYNC, GASNET_COLL_IN_ALLSYNC};
  static const int outs[] = {GASNET_COLL_OUT_NOSYNC, GASNET_COLL_OUT_MYSYNC, GASNET_COLL_OUT_ALLSYNC};
  const gex_Rank_t rank = gex_TM_QueryRank(o->tm), size = gex_TM_QuerySize(o->tm);
  const int flags = ins[o->sync % 3] | outs[o->sync / 3] | GASNET_COLL_LOCAL;
  const int is_root = rank == o->root;
  if (o->kind == kBroadcast) {
    if (is_root) fill(o->in_place ? o->dst : o->src, o->bytes, block_seed(o->seed, rank, 0));
    const void *src = is_root ? (o->in_place ? o->dst : o->src) : NULL;
    if (o->op % 2 == 0) return gex_Coll_BroadcastNB(o->tm, o->root, o->dst, src, o->bytes, 0);
    return gasnet_coll_broadcast_nb(o->tm, o->dst, o->root, src, o->bytes, flags);
  }
  const int sends_many = o->kind == kExchange || (o->kind == kScatter && is_root);
  for (gex_Rank_t to = 0; to < (sends_many ? size : 1); ++to) fill(o->src + to * o->bytes, o->bytes, block_seed(o->seed, rank, to));
  switch (o->kind) {
    case kScatter: return gasnet_coll_scatter_nb(o->tm, o->dst, o->root, is_root ? o->src : NULL, o->bytes, flags);
    case kGather: return gasnet_coll_gather_nb(o->tm, o->root, is_root ? o->dst : NULL, o->src, o->bytes, flags);
    case kGatherAll: return gasnet_coll_gather_all_nb(o->tm, o->dst, o->src, o->bytes, flags);
    default: return gasnet_coll_exchange_nb(o->tm, o->dst, o->src, o->bytes, flags);
  }
}
static void check_block(const Operation *o, const unsigned char *at, gex_Rank_t from, gex_Rank_t to) {
  if (!holds(at, o->bytes, block_seed(o->seed, from, to)))
    fail_at(__FILE__, __LINE__, "operation %d of %zu bytes: what member %u has from %u of %u, root %u", o->kind, o->bytes,
            gex_TM_QueryRank(o->tm), from, gex_TM_QuerySize(o->tm), o->root);
}
static void check_move(const Operation *o) {
  const gex_Rank_t rank = gex_TM_QueryRank(o->tm), size = gex_TM_QuerySize(o->tm);
  if (o->kind == kBroadcast) check_block(o, o->dst, o->root, 0);
  if (o->kind == kScatter) check_block(o, o->dst, o->root, rank);
  if (o->kind == kGatherAll || (o->kind == kGather && rank == o->root)) {
    for (gex_Rank_t from = 0; from < size; ++from) check_block(o, o->dst + from * o->bytes, from, 0);
  }
  if (o->kind == kExchange) {
    for (gex_Rank_t from = 0; from < size; ++from) check_block(o, o->dst + from * o->bytes, from, rank);
  }
}

/* ---- Many at once --------------------------------------------------------------------------------------------- */

static size_t random_bytes(void) {
  /* Those around letters that carry their data, of both kinds (extended/coll/member/member.h), are among them. */
  static const size_t sizes[] = {0, 1, 8, 100, 1024, 1025, 5000, 16384, 16392, 20000, kBytesMax};
  return sizes[pick(pick(3) == 0 ? 11 : 6)];
}

/* The described memory, here or there. */
static void launch(Operation *o) {
  const int src_in_segment = pick(2) == 0, dst_in_segment = pick(2) == 0;
  const size_t blocks = o->kind >= kScatter ? gex_TM_QuerySize(o->tm) : 1;
  o->src = take(o->bytes * blocks, src_in_segment);
  o->dst = take(o->bytes * blocks, dst_in_segment);
  memset(o->dst, 0xee, o->bytes * blocks);
  o->event = o->kind == kBarrier                              ? gex_Coll_BarrierNB(o->tm, 0)
             : o->kind == kReduceOne || o->kind == kReduceAll ? start_reduction(o)
                                                              : start_move(o);
}

static void start(Operation *o) {
  memset(o, 0, sizeof *o);
  o->kind = (int)pick(kKinds);
  o->tm = teams[pick(kTeams)];
  const gex_Rank_t size = gex_TM_QuerySize(o->tm);
  o->root = (gex_Rank_t)pick(840) % size;
  o->seed = (unsigned)pick(1000);
  o->type = (int)pick(kTypes);
  o->op = (int)pick(o->type == 4 || o->type == 5 ? 4 : kOps);
  o->sync = (int)pick(9);
  o->in_place = pick(4) == 0;
  o->bytes = random_bytes();
  if (o->kind == kReduceOne || o->kind == kReduceAll) {
    o->bytes = o->bytes / type_bytes[o->type] * type_bytes[o->type];
    if (o->bytes == 0) o->bytes = type_bytes[o->type];
  }
  launch(o);
}

static void finish(Operation *o) {
  if (o->kind == kReduceOne || o->kind == kReduceAll)
    check_reduction(o);
  else if (o->kind != kBarrier)
    check_move(o);
  give(o->src);
  give(o->dst);
}

static void run_batch(unsigned batch) {
  static Operation all[kBatchMax];
  uint64_t own = batch * 77 + me; /* each rank waits in another way */
  const size_t count = 1 + pick(kBatchMax);
  segment_used = 0;
  for (size_t i = 0; i < count; ++i) {
    start(&all[i]);
    if (next_of(&own) % 16 == 0) gasnet_AMPoll();
  }
  if (next_of(&own) % 3 == 0) {
    gex_Event_t events[kBatchMax];
    for (size_t i = 0; i < count; ++i) events[i] = all[i].event;
    gex_Event_WaitAll(events, count, 0);
  } else {
    const uint64_t first = own;
    for (size_t i = 0; i < count; ++i) {
      Operation *o = &all[(i * 7 + first % count) % count];
      if (count % 7 == 0) o = &all[i];
      if (o->event == GEX_EVENT_INVALID) continue;
      if (next_of(&own) % 2 == 0) {
        gex_Event_Wait(o->event);
      } else {
        while (gex_Event_Test(o->event) != GASNET_OK) gasnet_AMPoll();
      }
      o->event = GEX_EVENT_INVALID;
    }
  }
  for (size_t i = 0; i < count; ++i) finish(&all[i]);
}

/* ---- What goes in pieces: sizes around those of pieces and windows ------------------------------------------------ */

enum { kPiece = 32768, kAtOnce = 12 }; /* extended/coll/messages/stream.h */

/* Over the team with scratch and the one without in turns, several at once; the last ones of all are waited for first. */
static Operation large[kAtOnce];
static size_t large_count;
static void finish_large(void) {
  if (pick((size_t)nodes + 1) == me) gasnett_nsleep(500000);
  while (large_count != 0) {
    gex_Event_Wait(large[--large_count].event);
    finish(&large[large_count]);
  }
  segment_used = 0;
}
static Operation *next_large(int kind, size_t bytes) {
  if (large_count == kAtOnce) finish_large();
  Operation *o = &large[large_count++];
  memset(o, 0, sizeof *o);
  o->kind = kind;
  o->tm = teams[large_count % 2 * 2];
  o->root = (gex_Rank_t)pick(840) % gex_TM_QuerySize(o->tm);
  o->seed = (unsigned)pick(1000);
  o->type = 3;
  o->in_place = pick(4) == 0;
  o->bytes = bytes;
  return o;
}
static void large_sizes(void) {
  static const int whole[] = {1, 2, 9, 17, 33};
  for (size_t i = 0; i < sizeof whole / sizeof whole[0]; ++i) {
    for (int more = -1; more <= 1; ++more) {
      const size_t bytes = (size_t)whole[i] * kPiece;
      launch(next_large(kBroadcast, bytes + (size_t)more));
      launch(next_large(kReduceOne, bytes + (size_t)more * 8));
      launch(next_large(kReduceAll, bytes + (size_t)more * 8));
    }
  }
  finish_large();
}
static void large_of_every_type(void) {
  for (int type = 0; type < kTypes - 1; ++type) {
    for (int op = 0; op < (type == 4 || type == 5 ? 4 : kOps); ++op) {
      for (int kind = kReduceOne; kind <= kReduceAll; ++kind) {
        Operation *o = next_large(kind, kPiece + 2 * type_bytes[type]);
        o->type = type;
        o->op = op;
        launch(o);
      }
    }
  }
  finish_large();
}
/* In the order of ranks, whatever the root. */
static void large_of_users(void) {
  for (int wide = 0; wide < kWidths; ++wide) {
    const size_t element = widths[wide] * sizeof(Line), few = wide == 4 ? 1 : 3 * kPiece / element;
    for (size_t elements = few; elements <= few + (wide != 4); ++elements) {
      for (int kind = kReduceOne; kind <= kReduceAll; ++kind) {
        for (gex_Rank_t root = 0; root < (kind == kReduceOne ? nodes : 1); ++root) {
          Operation *o = next_large(kind, elements * element);
          o->type = kTypes - 1;
          o->root = root;
          o->wide = wide;
          launch(o);
        }
      }
    }
  }
  finish_large();
}

/* ---- What barriers order, and that nobody is far ahead ---------------------------------------------------------- */

static void barriers_order(gex_TM_t tm, unsigned phases) {
  const gex_Rank_t rank = gex_TM_QueryRank(tm), size = gex_TM_QuerySize(tm);
  volatile uint32_t *seen = (volatile uint32_t *)(segment_base + kHalf);
  unsigned char *bases[64];
  gasnet_coll_gather_all(tm, bases, &segment_base, sizeof segment_base, GASNET_COLL_IN_MYSYNC | GASNET_COLL_OUT_MYSYNC);
  for (uint32_t phase = 1; phase <= phases; ++phase) {
    for (gex_Rank_t to = 0; to < size; ++to)
      gex_RMA_PutBlocking(tm, to, bases[to] + kHalf + rank * sizeof phase, &phase, sizeof phase, 0);
    if (phase % 2 == 0)
      gex_Coll_BarrierBlocking(tm, 0);
    else
      gex_Event_Wait(gex_Coll_BarrierNB(tm, 0));
    for (gex_Rank_t from = 0; from < size; ++from) EXPECT(seen[from] == phase || seen[from] == phase + 1);
    gex_Event_Wait(gex_Coll_BarrierNB(tm, 0));
  }
}

/* Many at once, waited for from the last to the first or by a blocking one: no event ends before all members have called. */
static void many_barriers(gex_TM_t tm) {
  enum { kMany = 200, kPlaces = 32 }; /* two batches: who is ahead waits at the end of the next one */
  static gex_Event_t events[kMany];
  const gex_Rank_t rank = gex_TM_QueryRank(tm), size = gex_TM_QuerySize(tm);
  volatile uint32_t *seen = (volatile uint32_t *)(segment_base + kHalf);
  unsigned char *bases[64];
  memset(segment_base + kHalf, 0, kPlaces * size * sizeof *seen);
  gasnet_coll_gather_all(tm, bases, &segment_base, sizeof segment_base, GASNET_COLL_IN_ALLSYNC | GASNET_COLL_OUT_ALLSYNC);
  for (uint32_t i = 0; i < kMany; ++i) {
    const uint32_t call = i + 1;
    for (gex_Rank_t to = 0; to < size; ++to)
      gex_RMA_PutBlocking(tm, to, bases[to] + kHalf + (i % kPlaces * size + rank) * sizeof call, &call, sizeof call, 0);
    if (i % 50 == rank) gasnett_nsleep(1000000);
    events[i] = gex_Coll_BarrierNB(tm, 0);
    if (i % 64 == 63) gex_Coll_BarrierBlocking(tm, 0);
    if (i % 16 != 15) continue;
    const uint32_t end = i + 1, begin = end - 16;
    for (uint32_t k = 0; k < 16; ++k) {
      const uint32_t at = i % 32 < 16 ? begin + k : end - 1 - k;
      gex_Event_Wait(events[at]);
      for (gex_Rank_t from = 0; from < size; ++from) EXPECT_EQ(seen[at % kPlaces * size + from], at + 1);
    }
  }
  gex_Event_WaitAll(events + kMany / 16 * 16, kMany % 16, 0);
}

/* A root that broadcasts on and on, to members that come late. */
static void far_ahead(gex_TM_t tm) {
  enum { kMany = 300 };
  static uint32_t values[kMany];
  static gex_Event_t events[kMany];
  if (gex_TM_QueryRank(tm) % 2 == 1) gasnett_nsleep(20000000);
  for (uint32_t i = 0; i < kMany; ++i) {
    values[i] = gex_TM_QueryRank(tm) == 0 ? i * 3 + 1 : 0;
    events[i] = gex_Coll_BroadcastNB(tm, 0, &values[i], &values[i], sizeof values[i], 0);
  }
  gex_Event_WaitAll(events, kMany, 0);
  for (uint32_t i = 0; i < kMany; ++i) EXPECT_EQ(values[i], i * 3 + 1);
}

/* The prototype's split-phase barrier, with names. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { kSanitized = 1 }; /* sanitizers keep what is freed, and shadows of it */
#else
enum { kSanitized = 0 };
#endif

static size_t resident_bytes(void) {
  FILE *const statm = fopen("/proc/self/statm", "r");
  size_t all = 0, resident = 0;
  EXPECT(statm != NULL);
  EXPECT_EQ(fscanf(statm, "%zu %zu", &all, &resident), 2);
  fclose(statm);
  return resident * GASNET_PAGESIZE;
}

/* The memory that is kept of many large reductions under way at once is that of those which were at work. */
static void many_at_once(gex_TM_t tm) {
  enum { kReductions = 400, kValues = 10000, kKept = 12 << 20 };
  static int32_t from[kValues], to[kReductions][kValues];
  static gex_Event_t events[kReductions];
  size_t before = 0; /* once one of them was at work */
  memset(to, 1, sizeof to); /* resident from now on */
  for (int turn = 0; turn < 2; ++turn) {
    const int reductions = turn == 0 ? 1 : kReductions;
    for (int i = 0; i < reductions; ++i)
      events[i] = gex_Coll_ReduceToAllNB(tm, to[i], from, GEX_DT_I32, sizeof(int32_t), kValues, GEX_OP_MAX, NULL, NULL, 0);
    gex_Event_WaitAll(events, (size_t)reductions, 0);
    if (turn == 0) before = resident_bytes();
  }
  EXPECT(kSanitized || resident_bytes() <= before + kKept);
}

static void named_barriers(gex_TM_t tm) {
  const int odd = gex_TM_QueryRank(tm) % 2, is_alone = gex_TM_QuerySize(tm) == 1;
  for (int i = 0; i < 20; ++i) {
    gasnet_coll_barrier_notify(tm, i, 0);
    EXPECT_EQ(gasnet_coll_barrier_wait(tm, i, 0), GASNET_OK);
    gasnet_coll_barrier_notify(tm, i + odd, 0);
    int result;
    while ((result = gasnet_coll_barrier_try(tm, i + odd, 0)) == GASNET_ERR_NOT_READY) continue;
    EXPECT_EQ(result, is_alone ? GASNET_OK : GASNET_ERR_BARRIER_MISMATCH);
    EXPECT_EQ(gasnet_coll_barrier(tm, 0, GASNET_BARRIERFLAG_ANONYMOUS), GASNET_OK);
  }
}

/* Barriers that members begin and pass between a notify and its wait leave the names as they are, also where a member is late to
 * read them and the others have notified the next name. */
static void barriers_within_named_ones(gex_TM_t tm) {
  const gex_Rank_t rank = gex_TM_QueryRank(tm), size = gex_TM_QuerySize(tm);
  const struct timespec pause = {0, 1000000};
  for (int i = 0; i < 60; ++i) {
    const int is_odd_one = i % 2 == 1 && rank == (gex_Rank_t)i / 2 % size;
    gasnet_coll_barrier_notify(tm, i + is_odd_one, 0);
    gex_Event_t events[3];
    for (int e = 0; e < 3; ++e) events[e] = gex_Coll_BarrierNB(tm, 0);
    if (i % 3 != 0) gex_Event_Wait(events[2]);
    if (i % 4 == 0 && rank == (gex_Rank_t)i / 4 % size) nanosleep(&pause, NULL);
    EXPECT_EQ(gasnet_coll_barrier_wait(tm, i + is_odd_one, 0), i % 2 == 0 || size == 1 ? GASNET_OK : GASNET_ERR_BARRIER_MISMATCH);
    gex_Event_WaitAll(events, i % 3 == 0 ? 3 : 2, 0);
  }
}

/* A member may still read what another said at a named barrier. Therefore the team ends nowhere before all members destroy it. */
static void destroy_waits_for_readers(gex_TM_t tm) {
  const gex_Rank_t rank = gex_TM_QueryRank(tm), size = gex_TM_QuerySize(tm);
  volatile uint32_t *late = (volatile uint32_t *)(segment_base + kHalf);
  const struct timespec pause = {0, 20000000};
  unsigned char *bases[64];
  memset(segment_base + kHalf, 0, size * sizeof *late);
  gasnet_coll_gather_all(tm, bases, &segment_base, sizeof segment_base, GASNET_COLL_IN_ALLSYNC | GASNET_COLL_OUT_ALLSYNC);
  EXPECT_EQ(gasnet_coll_barrier(tm, 5, 0), GASNET_OK);
  if (rank != 0) {
    const uint32_t one = 1;
    nanosleep(&pause, NULL);
    gex_RMA_PutBlocking(teams[0], gex_TM_TranslateRankToJobrank(tm, 0), bases[0] + kHalf + rank * sizeof one, &one, sizeof one, 0);
  }
  EXPECT_EQ(gex_TM_Destroy(tm, NULL, 0), 0);
  for (gex_Rank_t other = 1; rank == 0 && other < size; ++other) EXPECT_EQ(late[other], 1);
}

#if GASNET_PAR
#include <pthread.h>

/* Threads with a team each, all at once; events are waited for by whichever thread comes first. */
enum { kThreadRounds = 150 };
static gex_Event_t handed_over;
static pthread_mutex_t handing_over = PTHREAD_MUTEX_INITIALIZER;
static gex_Event_t hand_over(gex_Event_t event) {
  pthread_mutex_lock(&handing_over);
  const gex_Event_t other = handed_over;
  handed_over = event;
  pthread_mutex_unlock(&handing_over);
  return other;
}
static void *work_at_team(void *number) {
  const gex_TM_t tm = teams[(uintptr_t)number];
  const gex_Rank_t rank = gex_TM_QueryRank(tm), size = gex_TM_QuerySize(tm);
  gex_Event_t others[kThreadRounds];
  for (uint64_t i = 0; i < kThreadRounds; ++i) {
    uint64_t sum = 0, mine = rank + i, told = rank == i % size ? i * 7 : 0;
    const gex_Event_t reduced = gex_Coll_ReduceToAllNB(tm, &sum, &mine, GEX_DT_U64, 8, 1, GEX_OP_ADD, NULL, NULL, 0);
    const gex_Event_t broadcasted = gex_Coll_BroadcastNB(tm, (gex_Rank_t)(i % size), &told, &told, 8, 0);
    others[i] = hand_over(gex_Coll_BarrierNB(tm, 0));
    gex_Event_Wait(broadcasted);
    gex_Event_Wait(reduced);
    EXPECT_EQ(sum, (uint64_t)size * (size - 1) / 2 + size * i);
    EXPECT_EQ(told, i * 7);
  }
  /* Not before all calls are made: two threads of two ranks could wait for a call of each other's (GX-022). */
  gex_Event_WaitAll(others, kThreadRounds, 0);
  return NULL;
}
static void threads(void) {
  pthread_t all[kTeams];
  for (uintptr_t i = 0; i < kTeams; ++i) EXPECT_EQ(pthread_create(&all[i], NULL, work_at_team, (void *)i), 0);
  for (int i = 0; i < kTeams; ++i) pthread_join(all[i], NULL);
  gex_Event_Wait(hand_over(GEX_EVENT_INVALID));
}
#else
static void threads(void) {}
#endif

int main(int argc, char **argv) {
  gex_Client_t client;
  gex_EP_t endpoint;
  gex_Segment_t segment;
  if (gex_Client_Init(&client, &endpoint, &teams[0], "COLL_JOB", &argc, &argv, 0) != GASNET_OK) return 1;
  me = gex_System_QueryJobRank();
  nodes = gex_System_QueryJobSize();
  if (gex_Segment_Attach(&segment, teams[0], kSegmentBytes) != GASNET_OK) gasnet_exit(1);
#ifdef GASNET_SEGMENT_EVERYTHING
  segment_base = malloc(kSegmentBytes);
#else
  segment_base = gex_Segment_QueryAddr(segment);
#endif
  gex_TM_Split(&teams[1], teams[0], (int)me % 2, 0, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
  const size_t scratch = gex_TM_Split(&teams[2], teams[0], 0, -(int)me, NULL, 0, GEX_FLAG_TM_SCRATCH_SIZE_RECOMMENDED);
  EXPECT(scratch <= kHalf - kScratchAt);
  gex_TM_Split(&teams[2], teams[0], 0, -(int)me, segment_base + kHalf + kScratchAt, scratch, 0);
  gex_TM_Dup(&teams[3], teams[0], NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
  EXPECT_EQ(gex_TM_QueryRank(teams[2]), nodes - 1 - me);
  const unsigned batches = argc > 1 ? (unsigned)atoi(argv[1]) : 40;
  if (argc > 2) shared_state = strtoull(argv[2], NULL, 10);
  for (unsigned batch = 0; batch < batches; ++batch) run_batch(batch);
  many_at_once(teams[0]);
  large_sizes();
  large_of_every_type();
  large_of_users();
  for (int t = 0; t < kTeams; ++t) {
    barriers_order(teams[t], 10);
    gex_Coll_BarrierBlocking(teams[0], 0);
    many_barriers(teams[t]);
    gex_Coll_BarrierBlocking(teams[0], 0);
    if (t != 0) far_ahead(teams[t]);
    named_barriers(teams[t]);
    if (t != 0) barriers_within_named_ones(teams[t]); /* undefined over the job's team: GX-142 */
  }
  threads();
  int id = 0;
  EXPECT_EQ(gasnet_barrier(77, me % 2 == 0 ? 0 : GASNET_BARRIERFLAG_ANONYMOUS), GASNET_OK);
  EXPECT(gasnet_barrier_result(&id) == 0 && id == 77);
  EXPECT_EQ(gasnet_barrier(0, GASNET_BARRIERFLAG_UNNAMED), GASNET_OK);
  EXPECT(gasnet_barrier_result(&id) != 0 && id == 77);
  EXPECT(nodes == 1 || user_calls != 0);
  destroy_waits_for_readers(teams[3]);
  for (int t = 1; t < 3; ++t) EXPECT_EQ(gex_TM_Destroy(teams[t], NULL, t == 2 ? GEX_FLAG_GLOBALLY_QUIESCED : 0), 0);
  gex_Coll_BarrierBlocking(teams[0], 0);
  if (me == 0) printf("coll: ok with %u ranks\n", (unsigned)nodes);
  fflush(stdout);
  gasnet_exit(0);
  return 0;
}
