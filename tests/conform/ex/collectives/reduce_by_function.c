/* Reductions by a function of the client's, of built-in types and of types of the client's. */
#include "../ex.h"

/* Shared by a reduction's function and its data; a function may be called by any thread. */
struct adding {
  size_t element_bytes;
  _Atomic int calls, wrong_counts;
};

/* Elements of any size: their bytes are added, each by itself. */
static void add_bytes(const void *arg1, void *arg2_and_out, size_t count, const void *cdata) {
  struct adding *const adding = (struct adding *)(uintptr_t)cdata;
  const unsigned char *const x = arg1;
  unsigned char *const y = arg2_and_out;
  if (count == 0) ++adding->wrong_counts;
  for (size_t i = 0; i < count * adding->element_bytes; ++i) y[i] = (unsigned char)(x[i] + y[i]);
  ++adding->calls;
}

static unsigned char byte_at(gex_Rank_t rank, size_t i) {
  return (unsigned char)(rank * 31 + i * 7 + 1);
}
static unsigned char sum_at(size_t i) {
  unsigned char sum = 0;
  for (gex_Rank_t rank = 0; rank < nodes; ++rank) sum = (unsigned char)(sum + byte_at(rank, i));
  return sum;
}

enum { kGuard = 16, kCap = 32 << 10, kCountMax = 5 };

/* Root `nodes`: to all. */
static void reduce_elements(gex_Rank_t root, size_t element_bytes, size_t count, int in_place) {
  static unsigned char source[kCap * kCountMax], target[kCap * kCountMax + kGuard];
  const size_t bytes = element_bytes * count;
  const int has_result = root == nodes || root == me;
  unsigned char *const src = in_place && has_result ? target : source;
  struct adding adding = {element_bytes, 0, 0};
  memset(target, 0x5a, sizeof target);
  for (size_t i = 0; i < bytes; ++i) src[i] = byte_at(me, i);
  gex_Event_Wait(root == nodes
                     ? gex_Coll_ReduceToAllNB(team, target, src, GEX_DT_USER, element_bytes, count,
                                              GEX_OP_USER, add_bytes, &adding, 0)
                     : gex_Coll_ReduceToOneNB(team, root, has_result ? target : NULL, src,
                                              GEX_DT_USER, element_bytes, count, GEX_OP_USER,
                                              add_bytes, &adding, 0));
  /* A rank that alone has a result may leave the work to others, but they may leave it to nobody.
   */
  barrier();
  EXPECT_EQ(adding.wrong_counts, 0);
  for (size_t i = 0; i < bytes && has_result; ++i) EXPECT_EQ(target[i], sum_at(i));
  for (size_t i = 0; i < bytes && src == source; ++i) EXPECT_EQ(source[i], byte_at(me, i));
  EXPECT(all_bytes_are(target + (has_result ? bytes : 0), kGuard, 0x5a));
}

/* Up to elements of 32 KB, the least that upstream's cap is. */
CASE(types_of_the_clients, "GX-146 GX-147 GX-149") {
  static const size_t element_bytes[] = {1, 3, 24, 1000, kCap};
  for (unsigned i = 0; i < sizeof element_bytes / sizeof *element_bytes; ++i) {
    for (gex_Rank_t root = 0; root <= nodes; ++root) {
      reduce_elements(root, element_bytes[i], 1, (root + i) % 2 == 0);
      reduce_elements(root, element_bytes[i], kCountMax, (root + i) % 2 == 1);
    }
  }
}

/* x + y + 1 commutes and associates, and its result says that each member but one was combined
 * once. */
#define PLUS_ONE(name, type)                                                                      \
  static void plus_one_##name(const void *arg1, void *arg2_and_out, size_t count,                 \
                              const void *cdata) {                                                \
    const type *const x = arg1;                                                                   \
    type *const y = arg2_and_out;                                                                 \
    (void)cdata;                                                                                  \
    for (size_t i = 0; i < count; ++i) y[i] = (type)(x[i] + y[i] + 1);                            \
  }                                                                                               \
  static void reduce_##name(void) {                                                               \
    enum { kCount = 300 };                                                                        \
    type source[kCount], target[kCount];                                                          \
    for (gex_Rank_t root = 0; root <= nodes; ++root) {                                            \
      for (int i = 0; i < kCount; ++i) source[i] = (type)((gex_Rank_t)i + me);                    \
      gex_Event_Wait(                                                                             \
          root == nodes                                                                           \
              ? gex_Coll_ReduceToAllNB(team, target, source, GEX_DT_##name, sizeof(type), kCount, \
                                       GEX_OP_USER, plus_one_##name, NULL, 0)                     \
              : gex_Coll_ReduceToOneNB(team, root, target, source, GEX_DT_##name, sizeof(type),   \
                                       kCount, GEX_OP_USER, plus_one_##name, NULL, 0));           \
      for (gex_Rank_t i = 0; i < kCount && (root == nodes || root == me); ++i)                    \
        EXPECT(target[i] == (type)(i * nodes + nodes * (nodes - 1) / 2 + nodes - 1));             \
    }                                                                                             \
  }
PLUS_ONE(I32, int32_t)
PLUS_ONE(U32, uint32_t)
PLUS_ONE(I64, int64_t)
PLUS_ONE(U64, uint64_t)
PLUS_ONE(FLT, float)
PLUS_ONE(DBL, double)

CASE(built_in_types, "GX-147 GX-150") {
  reduce_I32(), reduce_U32(), reduce_I64(), reduce_U64(), reduce_FLT(), reduce_DBL();
}

/* Affine maps, one after the other: that associates, and does not commute. */
struct map {
  uint32_t factor, offset;
};
static struct map map_of(gex_Rank_t rank, size_t i) {
  const struct map map = {2 * rank + (uint32_t)i + 3, 7 * rank + (uint32_t)i * 5 + 1};
  return map;
}
static struct map after(struct map first, struct map second) {
  const struct map both = {first.factor * second.factor,
                           first.offset * second.factor + second.offset};
  return both;
}
static void apply_in_order(const void *arg1, void *arg2_and_out, size_t count, const void *cdata) {
  const struct map *const lower = arg1;
  struct map *const higher = arg2_and_out;
  (void)cdata;
  for (size_t i = 0; i < count; ++i) higher[i] = after(lower[i], higher[i]);
}

/* In the order of ranks, whatever the root. Root `nodes`: to all. */
CASE(what_does_not_commute_keeps_the_order_of_ranks, "GX-147") {
  enum { kMost = 9000 };
  static const size_t counts[] = {1, 5, kMost};
  static struct map source[kMost], target[kMost];
  for (unsigned c = 0; c < sizeof counts / sizeof *counts; ++c) {
    for (gex_Rank_t root = 0; root <= nodes; ++root) {
      for (size_t i = 0; i < counts[c]; ++i) source[i] = map_of(me, i);
      gex_Event_Wait(
          root == nodes
              ? gex_Coll_ReduceToAllNB(team, target, source, GEX_DT_USER, sizeof *source, counts[c],
                                       GEX_OP_USER_NC, apply_in_order, NULL, 0)
              : gex_Coll_ReduceToOneNB(team, root, target, source, GEX_DT_USER, sizeof *source,
                                       counts[c], GEX_OP_USER_NC, apply_in_order, NULL, 0));
      for (size_t i = 0; i < counts[c] && (root == nodes || root == me); ++i) {
        struct map expected = map_of(0, i);
        for (gex_Rank_t rank = 1; rank < nodes; ++rank) expected = after(expected, map_of(rank, i));
        EXPECT_EQ(target[i].factor, expected.factor);
        EXPECT_EQ(target[i].offset, expected.offset);
      }
    }
  }
}

/* Calls that are legal in handlers are legal in the function. */
static gex_HSL_t lock = GEX_HSL_INITIALIZER;
static int under_lock, wrong_ranks;
static void add_and_look(const void *arg1, void *arg2_and_out, size_t count, const void *cdata) {
  gex_HSL_Lock(&lock);
  ++under_lock;
  if (gex_System_QueryJobRank() != me || gex_TM_QuerySize(team) != nodes || cdata != &lock)
    ++wrong_ranks;
  gex_HSL_Unlock(&lock);
  for (size_t i = 0; i < count; ++i) ((uint32_t *)arg2_and_out)[i] += ((const uint32_t *)arg1)[i];
}

/* The function's data is the client's alone: nobody but the function looks at it. */
CASE(function_may_do_what_handlers_may, "GX-147") {
  uint32_t sum = 0, calls = 0;
  gex_HSL_Lock(&lock);
  under_lock = wrong_ranks = 0;
  gex_HSL_Unlock(&lock);
  for (uint32_t i = 0; i < 50; ++i) {
    const uint32_t mine = i + me;
    gex_Event_Wait(gex_Coll_ReduceToAllNB(team, &sum, &mine, GEX_DT_U32, 4, 1, GEX_OP_USER,
                                          add_and_look, &lock, 0));
    EXPECT_EQ(sum, i * nodes + nodes * (nodes - 1) / 2);
  }
  gex_HSL_Lock(&lock);
  const uint32_t mine = (uint32_t)under_lock;
  EXPECT_EQ(wrong_ranks, 0);
  gex_HSL_Unlock(&lock);
  gex_Event_Wait(
      gex_Coll_ReduceToAllNB(team, &calls, &mine, GEX_DT_U32, 4, 1, GEX_OP_ADD, NULL, NULL, 0));
  if (nodes > 1) EXPECT(calls >= 50);
}
