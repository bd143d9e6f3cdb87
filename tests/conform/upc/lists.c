/* Lists of regions with any affinity, against the same bytes moved by memcpy. */
#include "upc.h"

IS(bupc_memcpy_vlist_async(0, NULL, 0, NULL), bupc_handle_t);
IS(bupc_memput_vlist_async(0, NULL, 0, NULL), bupc_handle_t);
IS(bupc_memget_vlist_async(0, NULL, 0, NULL), bupc_handle_t);
IS(bupc_memcpy_ilist_async(0, NULL, 1, 0, NULL, 1), bupc_handle_t);
IS(bupc_memput_ilist_async(0, NULL, 1, 0, NULL, 1), bupc_handle_t);
IS(bupc_memget_ilist_async(0, NULL, 1, 0, NULL, 1), bupc_handle_t);

enum { kArea = 16384, kPieces = 400, kTotal = 6000, kSeeds = 40, kSrc = 0, kDst = 32768 };

/* An area of every thread: the rank's own picture of it. */
static unsigned char picture[kNodesMax][kArea], got[kArea], local[kArea], local_before[kArea];

/* One end of a copy: regions with threads, and where the picture of each is. */
struct end {
  size_t count, length;
  bupc_smemvec_t shared[kPieces];
  bupc_pmemvec_t private[kPieces];
  bupc_gptr_t pointers[kPieces];
  void *addresses[kPieces];
  const void *sources[kPieces];
  unsigned char *pictures[kPieces];
};
static struct end dst, src;

static uint64_t state;
static unsigned drawn(unsigned below) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (unsigned)(state >> 33) % below;
}

static void add(struct end *end, uint32_t thread, size_t area, size_t offset, size_t n) {
  const size_t i = end->count++;
  if (i >= kPieces) abort();
  end->shared[i].addr = end->pointers[i] = shared(thread, area + offset);
  end->shared[i].len = end->private[i].len = n;
  end->private[i].addr = end->addresses[i] = local + offset;
  end->sources[i] = local + offset;
  end->pictures[i] = picture[thread] + offset;
}

/* `total` bytes in regions of drawn sizes at drawn threads, that do not overlap, some of none; the
 * next region comes behind the last, whatever thread it is of. */
static void draw(struct end *end, size_t area, size_t total) {
  size_t offset = drawn(9);
  end->count = 0;
  while (total != 0) {
    const size_t wanted = drawn(10) == 0 ? 0 : 1 + drawn(160), n = wanted < total ? wanted : total;
    add(end, drawn(nodes), area, offset, n);
    offset += n + drawn(5) * drawn(2);
    total -= n;
  }
}
static void draw_equal(struct end *end, size_t area, size_t count, size_t length) {
  const size_t gap = drawn(4), shift = drawn((unsigned)count);
  end->count = 0;
  end->length = length;
  for (size_t i = 0; i < count; ++i)
    add(end, drawn(nodes), area, (i + shift) % count * (length + gap), length);
}

/* The areas of all threads hold a pattern; their pictures, too. */
static void prepare(size_t area, unsigned seed) {
  for (uint32_t thread = 0; thread < nodes; ++thread) {
    fill(picture[thread], kArea, seed + thread);
    write_there(shared(thread, area), picture[thread], kArea);
  }
}
static int all_hold_their_picture(size_t area) {
  int same = 1;
  for (uint32_t thread = 0; thread < nodes; ++thread) {
    read_there(got, shared(thread, area), kArea);
    same = same && memcmp(got, picture[thread], kArea) == 0;
  }
  return same;
}

/* The oracle: byte after byte of the sources into the destinations. */
static void move(unsigned char *const to[], const size_t to_len[],
                 const unsigned char *const from[], const size_t from_len[], size_t total) {
  size_t t = 0, t_done = 0, f = 0, f_done = 0;
  for (size_t i = 0; i < total; ++i) {
    while (t_done == to_len[t]) ++t, t_done = 0;
    while (f_done == from_len[f]) ++f, f_done = 0;
    to[t][t_done++] = from[f][f_done++];
  }
}
static size_t lengths[2][kPieces];
static void move_ends(unsigned char *const to[], const unsigned char *const from[], size_t total) {
  for (size_t i = 0; i < dst.count; ++i) lengths[0][i] = dst.shared[i].len;
  for (size_t i = 0; i < src.count; ++i) lengths[1][i] = src.shared[i].len;
  move(to, lengths[0], from, lengths[1], total);
}

static void vlist_put(int is_async) {
  if (is_async)
    bupc_waitsync(bupc_memput_vlist_async(dst.count, dst.shared, src.count, src.private));
  else
    bupc_memput_vlist(dst.count, dst.shared, src.count, src.private);
}
static void vlist_get(int is_async) {
  if (is_async)
    bupc_waitsync(bupc_memget_vlist_async(dst.count, dst.private, src.count, src.shared));
  else
    bupc_memget_vlist(dst.count, dst.private, src.count, src.shared);
}
static void vlist_copy(int is_async) {
  if (is_async)
    bupc_waitsync(bupc_memcpy_vlist_async(dst.count, dst.shared, src.count, src.shared));
  else
    bupc_memcpy_vlist(dst.count, dst.shared, src.count, src.shared);
}
static void ilist_put(int is_async) {
  if (is_async)
    bupc_waitsync(bupc_memput_ilist_async(dst.count, dst.pointers, dst.length, src.count,
                                          src.sources, src.length));
  else
    bupc_memput_ilist(dst.count, dst.pointers, dst.length, src.count, src.sources, src.length);
}
static void ilist_get(int is_async) {
  if (is_async)
    bupc_waitsync(bupc_memget_ilist_async(dst.count, dst.addresses, dst.length, src.count,
                                          src.pointers, src.length));
  else
    bupc_memget_ilist(dst.count, dst.addresses, dst.length, src.count, src.pointers, src.length);
}
static void ilist_copy(int is_async) {
  if (is_async)
    bupc_waitsync(bupc_memcpy_ilist_async(dst.count, dst.pointers, dst.length, src.count,
                                          src.pointers, src.length));
  else
    bupc_memcpy_ilist(dst.count, dst.pointers, dst.length, src.count, src.pointers, src.length);
}

static void check_put(void (*call)(int), int is_async, size_t total, unsigned seed) {
  prepare(kDst, seed);
  fill(local, kArea, seed + 50);
  call(is_async);
  move_ends(dst.pictures, (const unsigned char *const *)src.sources, total);
  EXPECT(all_hold_their_picture(kDst));
}
static void check_get(void (*call)(int), int is_async, size_t total, unsigned seed) {
  prepare(kSrc, seed);
  fill(local, kArea, seed + 50);
  call(is_async);
  memcpy(local_before, local, kArea);
  fill(local, kArea, seed + 50);
  move_ends((unsigned char *const *)dst.addresses, (const unsigned char *const *)src.pictures,
            total);
  EXPECT(memcmp(local, local_before, kArea) == 0);
}
/* The sources' bytes are those of the seed of kSrc; the pictures are of kDst. */
static void check_copy(void (*call)(int), int is_async, size_t total, unsigned seed) {
  static unsigned char sources[kNodesMax][kArea];
  const unsigned char *from[kPieces];
  prepare(kSrc, seed);
  memcpy(sources, picture, sizeof sources);
  for (size_t i = 0; i < src.count; ++i) from[i] = sources[0] + (src.pictures[i] - picture[0]);
  prepare(kDst, seed + 99);
  call(is_async);
  move_ends(dst.pictures, from, total);
  EXPECT(all_hold_their_picture(kDst));
}

/* Both ends are cut elsewhere, at regions of any thread: some of no bytes. */
CASE(random_vlists, "UPC-020 UPC-021 UPC-022 UPC-024") {
  for (unsigned seed = 1; seed <= kSeeds; ++seed) {
    state = seed * 1000 + me;
    const size_t total = 1 + drawn(kTotal);
    draw(&dst, kDst, total);
    draw(&src, kSrc, total);
    check_put(vlist_put, seed % 2, total, seed);
    check_get(vlist_get, seed % 2, total, seed);
    check_copy(vlist_copy, seed % 2, total, seed);
  }
}

CASE(random_ilists, "UPC-021 UPC-024 UPC-026 UPC-027") {
  static const size_t shapes[][2] = {{1, 4200}, {350, 12}, {42, 100},
                                     {30, 140}, {300, 14}, {7, 600}};
  for (unsigned seed = 1; seed <= kSeeds; ++seed) {
    state = seed * 1000 + me;
    const size_t *const to = shapes[drawn(6)], *const from = shapes[drawn(6)];
    draw_equal(&dst, kDst, to[0], to[1]);
    draw_equal(&src, kSrc, from[0], from[1]);
    check_put(ilist_put, seed % 2, 4200, seed);
    check_get(ilist_get, seed % 2, 4200, seed);
    check_copy(ilist_copy, seed % 2, 4200, seed);
  }
}

/* Both counts 0, or regions of no bytes alone: all else is passed over. */
CASE(lists_of_nothing, "UPC-022 UPC-027") {
  const bupc_smemvec_t empty[2] = {{{7777, 0, NULL}, 0}, {{0, 0, NULL}, 0}};
  const bupc_pmemvec_t none[1] = {{NULL, 0}};
  EXPECT(bupc_memcpy_vlist_async(0, NULL, 0, NULL) == BUPC_COMPLETE_HANDLE);
  EXPECT(bupc_memput_vlist_async(2, empty, 1, none) == BUPC_COMPLETE_HANDLE);
  EXPECT(bupc_memget_vlist_async(1, none, 2, empty) == BUPC_COMPLETE_HANDLE);
  EXPECT(bupc_memcpy_ilist_async(0, NULL, 5, 0, NULL, 7) == BUPC_COMPLETE_HANDLE);
  bupc_memput_ilist(0, NULL, 5, 0, NULL, 7);
  bupc_memget_ilist(0, NULL, 5, 0, NULL, 7);
}

/* The caller may overwrite the lists once an asynchronous call has returned. */
CASE(lists_are_free_on_return, "UPC-023") {
  bupc_smemvec_t to[2] = {{shared((me + 1) % nodes, kDst), 8}, {shared(me, kDst + 64), 8}};
  bupc_pmemvec_t from[1] = {{local, 16}};
  fill(local, 16, 3 + me);
  const bupc_handle_t handle = bupc_memput_vlist_async(2, to, 1, from);
  memset(to, 0, sizeof to);
  memset(from, 0, sizeof from);
  bupc_waitsync(handle);
  read_there(got, shared((me + 1) % nodes, kDst), 8);
  read_there(got + 8, shared(me, kDst + 64), 8);
  EXPECT(holds(got, 16, 3 + me));
}

JOB(totals_that_differ, "UPC-022", kLocal, 134,
    "bupc_memput_vlist: the sources have 3 bytes more than the destinations|UPC-022") {
  start_a_job();
  const bupc_smemvec_t to[1] = {{shared(0, 0), 8}};
  const bupc_pmemvec_t from[2] = {{local, 5}, {local, 6}};
  bupc_memput_vlist(1, to, 2, from);
}
