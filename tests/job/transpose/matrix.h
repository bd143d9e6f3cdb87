/* A square matrix whose rows the ranks share in order, and its transpose: where each lies. */
#ifndef PINWIRE_JOB_TRANSPOSE_MATRIX_H
#define PINWIRE_JOB_TRANSPOSE_MATRIX_H

#include <gasnet_coll.h>
#include <gasnet_vis.h>
#include <gasnetex.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "../../support/expect.h"

enum {
  kRanksMax = 64,
  kThreadsMax = 64,
  kSlots = 8,      /* operations that a thread has under way */
  kBand = 32,      /* rows that one thread moves, which is the height of the highest tile */
  kWidthMax = 128, /* of a tile */
  kSlotBytes = kBand * kWidthMax * 8
};

static gex_TM_t team;
static gex_Rank_t me, ranks;
static int threads;
static size_t side;                    /* rows of the matrix */
static unsigned char *base[kRanksMax]; /* of each rank's segment, at its own address */

static inline void fail_at(const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static inline void fail_at(const char *file, int line, const char *format, ...) {
  va_list values;
  va_start(values, format);
  fprintf(stderr, "rank %u: %s:%d: ", (unsigned)me, file, line);
  vfprintf(stderr, format, values);
  fprintf(stderr, "\n");
  va_end(values);
  gasnet_exit(1);
}

static inline size_t begin_of(gex_Rank_t rank) { return side * rank / ranks; }
static inline size_t rows_of(gex_Rank_t rank) { return begin_of(rank + 1) - begin_of(rank); }
static inline size_t half_bytes(void) { return (side / ranks + 1) * side * 8; }

/* Rows are numbered from the owner's first one. */
static inline uint64_t *source_at(size_t row, size_t column) {
  return (uint64_t *)base[me] + row * side + column;
}
static inline uint64_t *goal_at(gex_Rank_t owner, size_t row, size_t column) {
  return (uint64_t *)(base[owner] + half_bytes()) + row * side + column;
}
/* The place at which the Longs of a thread's slot arrive. */
static inline void *landing(gex_Rank_t owner, gex_Rank_t asker, int thread, int slot) {
  const size_t index = ((size_t)asker * (size_t)threads + (size_t)thread) * kSlots + (size_t)slot;
  return base[owner] + 2 * half_bytes() + index * kSlotBytes;
}
static inline size_t segment_bytes(void) {
  return 2 * half_bytes() + (size_t)ranks * (size_t)threads * kSlots * kSlotBytes;
}

/* Every byte of an element depends on the round and on both of its places. */
static inline uint64_t element(size_t row, size_t column, unsigned round) {
  uint64_t bits = ((uint64_t)round << 48) + (uint64_t)row * side + column + 0x9e3779b97f4a7c15u;
  bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9u;
  bits = (bits ^ bits >> 27) * 0x94d049bb133111ebu;
  return bits ^ bits >> 31;
}

#endif
