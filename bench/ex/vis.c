/* vis [--seconds S]: how fast rank 0 moves 256 KiB in pieces of 8 bytes to 64 KiB, each followed by a gap of its own length,
 * to memory of that shape at rank 1, and back:
 *
 *   strided, indexed, vector           one call of gex_VIS_*
 *   strided 2-d                        squares of 8 by 8 pieces, or as many as there are, in an array that is wider
 *   one call for each piece            gex_RMA_PutNBI or GetNBI
 *   contiguous                         the same bytes without gaps, as one gex_RMA_Put or Get
 *   memcpy by hand                     a loop between two arrays of this process: nothing is sent
 *
 * Each waits for its completion. Before it is measured, rank 0 compares every byte that it moved, and those between. */
#include <gasnet_vis.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"

enum { kTotal = 256 << 10, kArea = 2 * kTotal, kPieceMin = 8, kPieceMax = 64 << 10, kPiecesMax = kTotal / kPieceMin };

static unsigned char *there;                      /* rank 1's area */
static unsigned char here[kArea], seen[kArea], other[kArea];
static size_t bytes, pieces;                      /* of what is measured now */
static gex_Memvec_t vector_here[kPiecesMax], vector_there[kPiecesMax];
static void *list_here[kPiecesMax], *list_there[kPiecesMax];

static void shape(size_t piece_bytes) {
  bytes = piece_bytes;
  pieces = kTotal / bytes;
  for (size_t i = 0; i < pieces; ++i) {
    list_here[i] = vector_here[i].gex_addr = here + 2 * i * bytes;
    list_there[i] = vector_there[i].gex_addr = there + 2 * i * bytes;
    vector_here[i].gex_len = vector_there[i].gex_len = bytes;
  }
}

/* ---- What is measured: one transfer, complete at return. */

static void put_strided(void) {
  const ptrdiff_t stride = 2 * (ptrdiff_t)bytes;
  gex_VIS_StridedPutBlocking(team, 1, there, &stride, here, &stride, bytes, &pieces, 1, 0);
}
static void get_strided(void) {
  const ptrdiff_t stride = 2 * (ptrdiff_t)bytes;
  gex_VIS_StridedGetBlocking(team, here, &stride, 1, there, &stride, bytes, &pieces, 1, 0);
}
/* Squares of `side` by `side` pieces, with the gaps that make this the same memory as above. */
enum { kSide = 8 };
static size_t side_of(void) { return pieces < kSide ? pieces : kSide; }
static void put_squares(void) {
  const size_t side = side_of(), count[] = {side, pieces / side};
  const ptrdiff_t stride[] = {2 * (ptrdiff_t)bytes, 2 * (ptrdiff_t)(bytes * side)};
  gex_VIS_StridedPutBlocking(team, 1, there, stride, here, stride, bytes, count, 2, 0);
}
static void put_indexed(void) {
  gex_VIS_IndexedPutBlocking(team, 1, pieces, list_there, bytes, pieces, list_here, bytes, 0);
}
static void get_indexed(void) {
  gex_VIS_IndexedGetBlocking(team, pieces, list_here, bytes, 1, pieces, list_there, bytes, 0);
}
static void put_vector(void) {
  gex_VIS_VectorPutBlocking(team, 1, pieces, vector_there, pieces, vector_here, 0);
}
static void get_vector(void) {
  gex_VIS_VectorGetBlocking(team, pieces, vector_here, 1, pieces, vector_there, 0);
}
static void put_each(void) {
  for (size_t i = 0; i < pieces; ++i) gex_RMA_PutNBI(team, 1, list_there[i], list_here[i], bytes, GEX_EVENT_DEFER, 0);
  gex_NBI_Wait(GEX_EC_PUT, 0);
}
static void get_each(void) {
  for (size_t i = 0; i < pieces; ++i) gex_RMA_GetNBI(team, list_here[i], 1, list_there[i], bytes, 0);
  gex_NBI_Wait(GEX_EC_GET, 0);
}
static void put_contiguous(void) { gex_RMA_PutBlocking(team, 1, there, here, kTotal, 0); }
static void get_contiguous(void) { gex_RMA_GetBlocking(team, here, 1, there, kTotal, 0); }
static void copy_by_hand(void) {
  for (size_t i = 0; i < pieces; ++i) memcpy(other + 2 * i * bytes, list_here[i], bytes);
  __asm__ __volatile__("" : : "r"(other) : "memory");
}

/* ---- Whether it does what it is for. */

static void fill(unsigned char *area, unsigned seed) {
  for (size_t i = 0; i < kArea; ++i) area[i] = (unsigned char)(i * 31 + i / 251 + seed);
}
/* Pieces as in `moved`, what lies between them as in `kept`. */
static void compare(const unsigned char *area, const unsigned char *moved, const unsigned char *kept, int has_gaps, const char *operation) {
  char sentence[100];
  snprintf(sentence, sizeof sentence, "%s, %zu bytes: a byte is not what it was to be", operation, bytes);
  for (size_t i = 0; i < kArea; ++i) {
    const int is_moved = has_gaps ? i / bytes % 2 == 0 : i < kTotal;
    expect(area[i] == (is_moved ? moved : kept)[i], sentence);
  }
}
static unsigned char ones[kArea], twos[kArea];
static void check_put(const char *operation, void (*put)(void), int has_gaps) {
  fill(ones, 1), fill(twos, 2);
  gex_RMA_PutBlocking(team, 1, there, ones, kArea, 0);
  memcpy(here, twos, kArea);
  put();
  gex_RMA_GetBlocking(team, seen, 1, there, kArea, 0);
  compare(seen, twos, ones, has_gaps, operation);
}
static void check_get(const char *operation, void (*get)(void), int has_gaps) {
  fill(ones, 3), fill(twos, 4);
  gex_RMA_PutBlocking(team, 1, there, ones, kArea, 0);
  memcpy(here, twos, kArea);
  get();
  compare(here, ones, twos, has_gaps, operation);
}

static void (*move_one)(void);
static void move_many(uint64_t count) {
  for (uint64_t i = 0; i < count; ++i) move_one();
}
static void measure(const char *operation, void (*move)(void)) {
  move_one = move;
  row(operation, bytes, "GB/s", 1e-9 * kTotal / seconds_each(move_many));
}
static void measure_put(const char *operation, void (*put)(void), int has_gaps) {
  check_put(operation, put, has_gaps);
  measure(operation, put);
}
static void measure_get(const char *operation, void (*get)(void), int has_gaps) {
  check_get(operation, get, has_gaps);
  measure(operation, get);
}

static void measure_all(void) {
  static const size_t sizes[] = {8, 16, 64, 256, 1024, 4096, 64 << 10};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
    shape(sizes[i]);
    measure_put("put, strided", put_strided, 1);
    measure_put("put, strided 2-d", put_squares, 1);
    measure_put("put, indexed", put_indexed, 1);
    measure_put("put, vector", put_vector, 1);
    measure_put("put, one call for each piece", put_each, 1);
    measure_put("put, contiguous", put_contiguous, 0);
    measure_get("get, strided", get_strided, 1);
    measure_get("get, indexed", get_indexed, 1);
    measure_get("get, vector", get_vector, 1);
    measure_get("get, one call for each piece", get_each, 1);
    measure_get("get, contiguous", get_contiguous, 0);
    measure("memcpy by hand", copy_by_hand);
  }
}

int main(int argc, char **argv) {
  begin("vis", argc, argv, NULL, 0, kArea);
  there = segment_of(1);
  measure_alone(measure_all);
}
