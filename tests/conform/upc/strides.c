/* Chunks and boxes, against the same bytes moved by memcpy. */
#include "upc.h"

IS(bupc_memcpy_fstrided_async((bupc_gptr_t){0, 0, NULL}, 0, 0, 0, (bupc_gptr_t){0, 0, NULL}, 0, 0,
                              0),
   bupc_handle_t);
IS(bupc_memput_fstrided_async((bupc_gptr_t){0, 0, NULL}, 0, 0, 0, NULL, 0, 0, 0), bupc_handle_t);
IS(bupc_memget_fstrided_async(NULL, 0, 0, 0, (bupc_gptr_t){0, 0, NULL}, 0, 0, 0), bupc_handle_t);
IS(bupc_memcpy_strided_async((bupc_gptr_t){0, 0, NULL}, NULL, (bupc_gptr_t){0, 0, NULL}, NULL, NULL,
                             0),
   bupc_handle_t);
IS(bupc_memput_strided_async((bupc_gptr_t){0, 0, NULL}, NULL, NULL, NULL, NULL, 0), bupc_handle_t);
IS(bupc_memget_strided_async(NULL, NULL, (bupc_gptr_t){0, 0, NULL}, NULL, NULL, 0), bupc_handle_t);

enum { kArea = 40000, kSrc = 0, kDst = 65536, kLevelsMax = 18 };
enum { kPut, kGet, kCopy, kWays };
static unsigned char from_area[kArea], to_area[kArea], expected[kArea], got[kArea];

/* Where chunk k of an end begins, and what the calls want of it. */
struct chunks {
  size_t length, stride, count;
};
static size_t place_of(const struct chunks *c, size_t byte) {
  return byte / c->length * c->stride + byte % c->length;
}

/* Both areas hold patterns: private ones, or of the threads `from` and `to`. */
static void prepare(int way, uint32_t to, uint32_t from, unsigned seed) {
  fill(from_area, kArea, seed);
  fill(to_area, kArea, seed + 1);
  memcpy(expected, to_area, kArea);
  if (way != kPut) write_there(shared(from, kSrc), from_area, kArea);
  if (way != kGet) write_there(shared(to, kDst), to_area, kArea);
}
static void expect_moved(int way, uint32_t to) {
  if (way == kGet)
    memcpy(got, to_area, kArea);
  else
    read_there(got, shared(to, kDst), kArea);
  EXPECT(memcmp(got, expected, kArea) == 0);
}

static void move_chunks(int way, int is_async, uint32_t to, const struct chunks *d, uint32_t from,
                        const struct chunks *s) {
  const bupc_gptr_t dst = shared(to, kDst), src = shared(from, kSrc);
  bupc_handle_t handle = BUPC_COMPLETE_HANDLE;
  if (way == kPut && is_async)
    handle = bupc_memput_fstrided_async(dst, d->length, d->stride, d->count, from_area, s->length,
                                        s->stride, s->count);
  if (way == kPut && !is_async)
    bupc_memput_fstrided(dst, d->length, d->stride, d->count, from_area, s->length, s->stride,
                         s->count);
  if (way == kGet && is_async)
    handle = bupc_memget_fstrided_async(to_area, d->length, d->stride, d->count, src, s->length,
                                        s->stride, s->count);
  if (way == kGet && !is_async)
    bupc_memget_fstrided(to_area, d->length, d->stride, d->count, src, s->length, s->stride,
                         s->count);
  if (way == kCopy && is_async)
    handle = bupc_memcpy_fstrided_async(dst, d->length, d->stride, d->count, src, s->length,
                                        s->stride, s->count);
  if (way == kCopy && !is_async)
    bupc_memcpy_fstrided(dst, d->length, d->stride, d->count, src, s->length, s->stride, s->count);
  bupc_waitsync(handle);
}

CASE(chunks_of_any_shape, "UPC-029 UPC-030 UPC-032") {
  static const struct chunks shapes[] = {{3600, 3600, 1}, {36, 40, 100},   {100, 100, 36},
                                         {1, 11, 3600},   {240, 1000, 15}, {8, 9, 450}};
  for (uint32_t k = 0; k < nodes * nodes; ++k) {
    for (unsigned i = 0; i < 6 * 6; ++i) {
      for (int way = 0; way < kWays; ++way) {
        const struct chunks *const d = &shapes[i / 6], *const s = &shapes[i % 6];
        const uint32_t to = k / nodes, from = k % nodes;
        prepare(way, to, from, i + 100 * me);
        for (size_t byte = 0; byte < 3600; ++byte)
          expected[place_of(d, byte)] = from_area[place_of(s, byte)];
        move_chunks(way, (int)(i % 2), to, d, from, s);
        expect_moved(way, to);
      }
    }
  }
}

CASE(chunks_of_nothing, "UPC-031") {
  const bupc_gptr_t nowhere = {7777, 0, NULL};
  EXPECT(bupc_memcpy_fstrided_async(nowhere, 0, 0, 5, nowhere, 7, 0, 0) == BUPC_COMPLETE_HANDLE);
  EXPECT(bupc_memput_fstrided_async(nowhere, 4, 4, 0, NULL, 0, 0, 9) == BUPC_COMPLETE_HANDLE);
  EXPECT(bupc_memget_fstrided_async(NULL, 0, 0, 0, nowhere, 0, 0, 0) == BUPC_COMPLETE_HANDLE);
  bupc_memcpy_fstrided(nowhere, 0, 0, 5, nowhere, 7, 0, 0);
}

/* ---- Boxes ----------------------------------------------------------------------------------- */

static size_t count[kLevelsMax + 1], dst_strides[kLevelsMax], src_strides[kLevelsMax];

static void expect_box(size_t levels, size_t level, size_t d, size_t s) {
  if (level == 0) {
    memcpy(expected + d, from_area + s, count[0]);
    return;
  }
  for (size_t i = 0; i < count[level]; ++i)
    expect_box(levels, level - 1, d + i * dst_strides[level - 1], s + i * src_strides[level - 1]);
}
static void move_box(int way, int is_async, uint32_t to, uint32_t from, size_t levels) {
  const bupc_gptr_t dst = shared(to, kDst), src = shared(from, kSrc);
  bupc_handle_t handle = BUPC_COMPLETE_HANDLE;
  if (way == kPut && is_async)
    handle = bupc_memput_strided_async(dst, dst_strides, from_area, src_strides, count, levels);
  if (way == kPut && !is_async)
    bupc_memput_strided(dst, dst_strides, from_area, src_strides, count, levels);
  if (way == kGet && is_async)
    handle = bupc_memget_strided_async(to_area, dst_strides, src, src_strides, count, levels);
  if (way == kGet && !is_async)
    bupc_memget_strided(to_area, dst_strides, src, src_strides, count, levels);
  if (way == kCopy && is_async)
    handle = bupc_memcpy_strided_async(dst, dst_strides, src, src_strides, count, levels);
  if (way == kCopy && !is_async)
    bupc_memcpy_strided(dst, dst_strides, src, src_strides, count, levels);
  bupc_waitsync(handle);
}

/* A box has `levels` dimensions above the contiguous one, and gaps in some. */
static void shape_box(size_t levels, unsigned seed) {
  count[0] = 1 + seed % 9;
  size_t d = count[0] + seed % 3, s = count[0] + seed % 2;
  for (size_t level = 0; level < levels; ++level) {
    count[level + 1] = levels > 6 ? 1 + (level + seed) % 8 / 7 : 2 + (level + seed) % 3;
    dst_strides[level] = d;
    src_strides[level] = s;
    d = d * count[level + 1] + (level + seed) % 2;
    s = s * count[level + 1] + (level + seed) % 3;
  }
  if (d > kArea || s > kArea) abort();
}

CASE(boxes_of_any_dimension, "UPC-033 UPC-034") {
  static const size_t all_levels[] = {0, 1, 2, 3, 5, 18};
  for (uint32_t k = 0; k < nodes * nodes; ++k) {
    for (unsigned seed = 0; seed < 18; ++seed) {
      for (int way = 0; way < kWays; ++way) {
        const size_t levels = all_levels[seed % 6];
        const uint32_t to = k / nodes, from = k % nodes;
        shape_box(levels, seed);
        prepare(way, to, from, seed + 100 * me);
        expect_box(levels, levels, 0, 0);
        move_box(way, (int)(seed / 6 % 2), to, from, levels);
        expect_moved(way, to);
      }
    }
  }
}

CASE(boxes_of_nothing, "UPC-034") {
  static const size_t counts[3][3] = {{0, 2, 2}, {4, 0, 2}, {4, 2, 0}};
  const bupc_gptr_t nowhere = {7777, 0, NULL};
  for (int i = 0; i < 3; ++i) {
    EXPECT(bupc_memcpy_strided_async(nowhere, NULL, nowhere, NULL, counts[i], 2) ==
           BUPC_COMPLETE_HANDLE);
    EXPECT(bupc_memput_strided_async(nowhere, NULL, NULL, NULL, counts[i], 2) ==
           BUPC_COMPLETE_HANDLE);
    EXPECT(bupc_memget_strided_async(NULL, NULL, nowhere, NULL, counts[i], 2) ==
           BUPC_COMPLETE_HANDLE);
  }
}

/* A library that checks its clients refuses these; others copy what they are asked to. */
JOB(chunks_that_overlap, "UPC-030", kLocal, BY_BUILD(0, 134),
    BY_BUILD("", "chunks of 8 bytes, 4 bytes apart, overlap (UPC-030)")) {
  start_a_job();
  bupc_memput_fstrided(shared(me, kDst), 8, 4, 2, from_area, 16, 16, 1);
}
JOB(strides_that_do_not_grow, "UPC-034", kLocal, BY_BUILD(0, 134),
    BY_BUILD("", "stride 1 of the source is 4 bytes|UPC-034")) {
  static const size_t counts[3] = {4, 2, 2}, growing[2] = {8, 16}, falling[2] = {8, 4};
  start_a_job();
  bupc_memput_strided(shared(me, kDst), growing, from_area, falling, counts, 2);
}
