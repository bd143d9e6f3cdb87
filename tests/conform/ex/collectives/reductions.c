/* Reductions of every built-in type by every operation that it has, to one and to all, against a
 * loop over the members. Functions of the client's: reduce_by_function.c. */
#include "../ex.h"

enum { kLong = 3000 };

/* Small, and both signs: with the scales below no sum or product of ten members overflows, floats
 * are exact in any order, and unsigned types have values with the highest bit. */
static int small_at(gex_Rank_t rank, size_t i) { return (int)((rank * 5 + i * 3) % 7) - 3; }

static const size_t counts[] = {1, 5, kLong};
static const gex_OP_t operations[] = {GEX_OP_ADD, GEX_OP_MULT, GEX_OP_MIN, GEX_OP_MAX,
                                      GEX_OP_AND, GEX_OP_OR,   GEX_OP_XOR};
enum { kOfIntegers = 7, kOfFloats = 4 };

#define BITS_OF_INTEGERS(op, a, b) \
  (op) == GEX_OP_AND ? (a) & (b) : (op) == GEX_OP_OR ? (a) | (b) : (a) ^ (b)
#define NO_BITS(op, a, b) (a)

#define REDUCTIONS_OF(name, type, scale, BITS)                                                     \
  static type value_##name(gex_OP_t op, gex_Rank_t rank, size_t i) {                               \
    const type value = (type)small_at(rank, i);                                                    \
    return op == GEX_OP_MULT && rank != 0 ? value : (type)(value * (type)(scale));                 \
  }                                                                                                \
  static type combine_##name(gex_OP_t op, type a, type b) {                                        \
    if (op == GEX_OP_ADD) return (type)(a + b);                                                    \
    if (op == GEX_OP_MULT) return (type)(a * b);                                                   \
    if (op == GEX_OP_MIN) return a < b ? a : b;                                                    \
    if (op == GEX_OP_MAX) return a > b ? a : b;                                                    \
    return (type)(BITS(op, a, b));                                                                 \
  }                                                                                                \
  static void expect_##name(const type *result, gex_OP_t op, gex_Rank_t root, size_t count) {      \
    for (size_t i = 0; i < count; ++i) {                                                           \
      type due = value_##name(op, 0, i);                                                           \
      for (gex_Rank_t k = 1; k < nodes; ++k)                                                       \
        due = combine_##name(op, due, value_##name(op, k, i));                                     \
      if (result[i] == due) continue;                                                              \
      fail_at(__FILE__, __LINE__, "%s, operation 0x%x, root %u: element %zu of %zu", #name,        \
              (unsigned)op, (unsigned)root, i, count);                                             \
    }                                                                                              \
  }                                                                                                \
  /* Root `nodes`: to all. Buffers are used again at once: the event says that they are free. */   \
  static void reduce_##name(gex_OP_t op, gex_Rank_t root, size_t count, int in_place) {            \
    static type source[kLong], target[kLong + 1];                                                  \
    const int has_result = root == nodes || root == me;                                            \
    type *const src = in_place && has_result ? target : source;                                    \
    memset(target, 0x5a, sizeof target);                                                           \
    for (size_t i = 0; i < count; ++i) src[i] = value_##name(op, me, i);                           \
    gex_Event_Wait(root == nodes ? gex_Coll_ReduceToAllNB(team, target, src, GEX_DT_##name,        \
                                                          sizeof(type), count, op, NULL, NULL, 0)  \
                                 : gex_Coll_ReduceToOneNB(team, root, has_result ? target : NULL,  \
                                                          src, GEX_DT_##name, sizeof(type), count, \
                                                          op, NULL, NULL, 0));                     \
    for (size_t i = 0; i < count && src == source; ++i)                                            \
      EXPECT(source[i] == value_##name(op, me, i));                                                \
    if (has_result) expect_##name(target, op, root, count);                                        \
    EXPECT(all_bytes_are(&target[has_result ? count : 0], sizeof(type), 0x5a));                    \
  }                                                                                                \
  static void reduce_by_each_##name(unsigned operation_count) {                                    \
    unsigned turn = 0;                                                                             \
    for (unsigned op = 0; op < operation_count; ++op)                                              \
      for (gex_Rank_t root = 0; root <= nodes; ++root)                                             \
        for (unsigned i = 0; i < 3; ++i, ++turn)                                                   \
          reduce_##name(operations[op], root, counts[i], turn % 2 == 0);                           \
  }
REDUCTIONS_OF(I32, int32_t, 4096, BITS_OF_INTEGERS)
REDUCTIONS_OF(U32, uint32_t, 4097, BITS_OF_INTEGERS)
REDUCTIONS_OF(I64, int64_t, 0x200000001, BITS_OF_INTEGERS)
REDUCTIONS_OF(U64, uint64_t, 0x200000001, BITS_OF_INTEGERS)
REDUCTIONS_OF(FLT, float, 0.25, NO_BITS)
REDUCTIONS_OF(DBL, double, 0x1000000001, NO_BITS)

CASE(of_int32, "GX-146 GX-149 GX-150 GX-151") { reduce_by_each_I32(kOfIntegers); }
CASE(of_uint32, "GX-146 GX-149 GX-150 GX-151") { reduce_by_each_U32(kOfIntegers); }
CASE(of_int64, "GX-146 GX-149 GX-150 GX-151") { reduce_by_each_I64(kOfIntegers); }
CASE(of_uint64, "GX-146 GX-149 GX-150 GX-151") { reduce_by_each_U64(kOfIntegers); }
CASE(of_float, "GX-146 GX-149 GX-150 GX-151") { reduce_by_each_FLT(kOfFloats); }
CASE(of_double, "GX-146 GX-149 GX-150 GX-151") { reduce_by_each_DBL(kOfFloats); }

/* Sources and results of the segment. */
CASE(in_the_segment, "GX-143 GX-146") {
  enum { kCount = 50000 };
  uint64_t *const source = (uint64_t *)part(me), *const target = source + kCount;
  for (unsigned round = 0; round < 3; ++round) {
    for (unsigned i = 0; i < kCount; ++i) source[i] = (uint64_t)me * i + round;
    gex_Event_Wait(gex_Coll_ReduceToAllNB(team, target, source, GEX_DT_U64, 8, kCount, GEX_OP_ADD,
                                          NULL, NULL, 0));
    memset(source, 0xee, kCount * sizeof *source); /* the input is free */
    for (unsigned i = 0; i < kCount; i += 7)
      EXPECT_EQ(target[i], (uint64_t)i * nodes * (nodes - 1) / 2 + (uint64_t)round * nodes);
  }
}
