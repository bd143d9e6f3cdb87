/* Puts, gets, memsets and values in every form, to every rank and oneself, at many sizes and odd
 * addresses; the rules of synchronisation; 65,535 operations in flight (or so many as the argument says):
 * C1-207...261. */
#include "../job_test.h"

#define SEGMENT_BYTES (8u << 20)
static unsigned char local[2 << 20], back[2 << 20];

/* Each rank writes to its own part of everybody's segment. */
static size_t part_bytes(void) { return SEGMENT_BYTES / nodes / 4096 * 4096; }
static unsigned char *part(gasnet_node_t owner) {
  return (unsigned char *)segments[owner].addr + me * part_bytes();
}

static const size_t sizes[] = {0, 1, 2, 3, 4, 7, 8, 9, 16, 63, 64, 65, 1000, 4096, 8999, 9001, 65537, 300001};
enum { kSizes = sizeof sizes / sizeof *sizes };

static void check_back(gasnet_node_t to, unsigned char *at, size_t bytes, unsigned seed) {
  memset(back, 0, bytes + 1);
  gasnet_get_bulk(back, to, at, bytes);
  EXPECT(holds(back, bytes, seed));
  EXPECT_EQ(back[bytes], 0);
}

static void blocking(gasnet_node_t to) {
  for (int s = 0; s < kSizes; ++s) {
    unsigned char *at = part(to) + s; /* unaligned on purpose */
    if (sizes[s] + 100 > part_bytes()) continue;
    fill(local, sizes[s], 10 + s);
    gasnet_put(to, at, local, sizes[s]);
    check_back(to, at, sizes[s], 10 + s);
    fill(local + 1, sizes[s], 50 + s);
    gasnet_put_bulk(to, at, local + 1, sizes[s]);
    gasnet_get(back, to, at, sizes[s]);
    EXPECT(holds(back, sizes[s], 50 + s));
    gasnet_memset(to, at, 0x5a, sizes[s]);
    gasnet_get(back, to, at, sizes[s]);
    for (size_t i = 0; i < sizes[s]; ++i) EXPECT_EQ(back[i], 0x5a);
  }
}

/* Both ends inside segments: devices then copy from the one to the other by themselves. My own part of
 * my own segment is written by nobody else. */
static void between_segments(gasnet_node_t to) {
  for (int s = 0; s < kSizes; ++s) {
    const size_t bytes = sizes[s];
    unsigned char *near = part(me) + 11, *again = near + bytes + 7;
    unsigned char *at = part(to) + part_bytes() / 2 + s;
    if (2 * bytes + 200 > part_bytes() / 2) continue;
    fill(near, bytes, 60 + s);
    gasnet_put_bulk(to, at, near, bytes);
    gasnet_get_bulk(again, to, at, bytes);
    EXPECT(holds(again, bytes, 60 + s));
    check_back(to, at, bytes, 60 + s);
  }
}

/* Few bytes on both sides of a page's end: siw answers such reads wrongly. */
static void across_pages(gasnet_node_t to) {
  unsigned char *end = part(to) + 8192;
  fill(local, 192, 70);
  gasnet_put_bulk(to, end - 64, local, 192);
  for (size_t before = 1; before <= 36; before += 5) {
    for (size_t bytes = 1; bytes <= 72; ++bytes) {
      memset(back, 0xee, bytes + 1);
      gasnet_get_bulk(back, to, end - before, bytes);
      EXPECT(memcmp(back, local + 64 - before, bytes) == 0);
      EXPECT_EQ(back[bytes], 0xee);
    }
  }
}

static void explicit_handles(gasnet_node_t to) {
  for (int s = 0; s < kSizes; ++s) {
    const size_t bytes = sizes[s];
    if (3 * bytes + 300 > part_bytes()) continue;
    unsigned char *at = part(to) + 3;
    gasnet_handle_t handles[4];
    fill(local, bytes, 1);
    handles[0] = gasnet_put_nb(to, at, local, bytes);
    memset(local, 0xdd, bytes); /* C1-231: reusable at once */
    fill(local + 600000, bytes, 2);
    handles[1] = gasnet_put_nb_bulk(to, at + bytes, local + 600000, bytes);
    handles[2] = GASNET_INVALID_HANDLE;
    handles[3] = gasnet_memset_nb(to, at + 2 * bytes, 7, bytes);
    gasnet_wait_syncnb_all(handles, 4);
    for (int i = 0; i < 4; ++i) EXPECT(handles[i] == GASNET_INVALID_HANDLE);
    check_back(to, at, bytes, 1);
    check_back(to, at + bytes, bytes, 2);
    handles[0] = gasnet_get_nb(back, to, at, bytes);
    handles[1] = gasnet_get_nb_bulk(back + 600001, to, at + bytes, bytes);
    while (gasnet_try_syncnb_all(handles, 2) != GASNET_OK) {
    }
    EXPECT(holds(back, bytes, 1));
    EXPECT(holds(back + 600001, bytes, 2));
    gasnet_handle_t one = gasnet_get_nb(back, to, at + 2 * bytes, bytes);
    while (gasnet_try_syncnb(one) == GASNET_ERR_NOT_READY) {
    }
    for (size_t i = 0; i < bytes; ++i) EXPECT_EQ(back[i], 7);
  }
  gasnet_wait_syncnb(GASNET_INVALID_HANDLE); /* C1-237, C1-239, C1-240 */
  EXPECT_EQ(gasnet_try_syncnb(GASNET_INVALID_HANDLE), GASNET_OK);
  gasnet_handle_t none[2] = {GASNET_INVALID_HANDLE, GASNET_INVALID_HANDLE};
  gasnet_wait_syncnb_some(none, 2);
  EXPECT_EQ(gasnet_try_syncnb_some(none, 2), GASNET_OK);
  EXPECT_EQ(gasnet_try_syncnb_all(none, 0), GASNET_OK);
  gasnet_wait_syncnb_some(none, 0);
}

/* wait_some until all of many are in; each call frees at least one (C1-240). */
static void some_at_a_time(gasnet_node_t to) {
  enum { kCount = 50 };
  gasnet_handle_t handles[kCount];
  fill(local, kCount * 64, 3);
  for (int i = 0; i < kCount; ++i) {
    handles[i] = gasnet_put_nb_bulk(to, part(to) + i * 64, local + i * 64, 64);
  }
  for (;;) {
    int live = 0, after = 0;
    for (int i = 0; i < kCount; ++i) live += handles[i] != GASNET_INVALID_HANDLE;
    if (live == 0) break;
    gasnet_wait_syncnb_some(handles, kCount);
    for (int i = 0; i < kCount; ++i) after += handles[i] != GASNET_INVALID_HANDLE;
    EXPECT(after < live);
  }
  check_back(to, part(to), kCount * 64, 3);
}

static void implicit_handles(gasnet_node_t to) {
  EXPECT_EQ(gasnet_try_syncnbi_all(), GASNET_OK); /* C1-246 */
  for (int s = 0; s < kSizes; ++s) {
    const size_t bytes = sizes[s];
    if (3 * bytes + 300 > part_bytes()) continue;
    unsigned char *at = part(to) + 5;
    fill(local, bytes, 20);
    gasnet_put_nbi(to, at, local, bytes);
    memset(local, 0xcc, bytes); /* C1-243 */
    fill(local + 600000, bytes, 21);
    gasnet_put_nbi_bulk(to, at + bytes, local + 600000, bytes);
    gasnet_memset_nbi(to, at + 2 * bytes, 9, bytes);
    gasnet_wait_syncnbi_puts();
    EXPECT_EQ(gasnet_try_syncnbi_puts(), GASNET_OK);
    gasnet_get_nbi(back, to, at, bytes);
    gasnet_get_nbi_bulk(back + 600000, to, at + bytes, bytes);
    while (gasnet_try_syncnbi_gets() != GASNET_OK) {
    }
    EXPECT(holds(back, bytes, 20));
    EXPECT(holds(back + 600000, bytes, 21));
    gasnet_get_nbi(back, to, at + 2 * bytes, bytes);
    gasnet_wait_syncnbi_all();
    for (size_t i = 0; i < bytes; ++i) EXPECT_EQ(back[i], 9);
  }
}

static void regions(gasnet_node_t to) {
  gasnet_begin_nbi_accessregion();
  gasnet_wait_syncnb(gasnet_end_nbi_accessregion()); /* empty: C1-251 */
  fill(local, 9000, 30);
  gasnet_put_nbi_bulk(to, part(to), local, 3000); /* before the region: C1-253 */
  gasnet_begin_nbi_accessregion();
  gasnet_put_nbi_bulk(to, part(to) + 3000, local + 3000, 3000);
  gasnet_handle_t inside = gasnet_put_nb_bulk(to, part(to) + 6000, local + 6000, 3000);
  gasnet_get_nbi(back + 100000, to, part(to) + 20000, 100);
  gasnet_handle_t region = gasnet_end_nbi_accessregion();
  gasnet_wait_syncnbi_all();
  gasnet_wait_syncnb(inside);
  gasnet_wait_syncnb(region);
  check_back(to, part(to), 9000, 30);
}

static void values(gasnet_node_t to) {
  const gasnet_register_value_t value = 0xf1e2d3c4b5a69788u;
  for (size_t bytes = 1; bytes <= 8; ++bytes) {
    const gasnet_register_value_t mask = bytes == 8 ? ~(gasnet_register_value_t)0
                                                    : ((gasnet_register_value_t)1 << 8 * bytes) - 1;
    unsigned char *at = part(to) + 17;
    gasnet_memset(to, at, 0x11, 16);
    gasnet_put_val(to, at, value, bytes);
    EXPECT(gasnet_get_val(to, at, bytes) == (value & mask)); /* C1-257 */
    EXPECT_EQ(gasnet_get_val(to, at + bytes, 1), 0x11);
    gasnet_wait_syncnb(gasnet_put_nb_val(to, at, ~value, bytes));
    gasnet_valget_handle_t first = gasnet_get_nb_val(to, at, bytes);
    gasnet_valget_handle_t second = gasnet_get_nb_val(to, at, 1);
    EXPECT(gasnet_wait_syncnb_valget(second) == (~value & 0xff));
    EXPECT(gasnet_wait_syncnb_valget(first) == (~value & mask));
    gasnet_put_nbi_val(to, at, value + 1, bytes);
    gasnet_wait_syncnbi_puts();
    EXPECT(gasnet_get_val(to, at, bytes) == ((value + 1) & mask));
  }
}

/* C1-224: as many as the specification promises, explicit and implicit at once. */
enum { kPromised = 65535 };
static void many_in_flight(gasnet_node_t to, uint32_t count) {
  static gasnet_handle_t handles[kPromised];
  static uint32_t out[kPromised], in[kPromised];
  uint32_t *at = (uint32_t *)part(to);
  EXPECT(sizeof out <= part_bytes());
  for (uint32_t i = 0; i < count; ++i) {
    out[i] = i * 2654435761u + me;
    handles[i] = gasnet_put_nb_bulk(to, at + i, &out[i], 4);
  }
  gasnet_wait_syncnb_all(handles, count);
  for (uint32_t i = 0; i < count; ++i) gasnet_get_nbi(&in[i], to, at + i, 4);
  gasnet_wait_syncnbi_gets();
  for (uint32_t i = 0; i < count; ++i) EXPECT_EQ(in[i], out[i]);
}

int main(int argc, char **argv) {
  start_job(&argc, &argv, NULL, 0, SEGMENT_BYTES);
  const int in_flight = argc > 1 ? atoi(argv[1]) : kPromised;
  EXPECT(in_flight > 0 && in_flight <= kPromised);
  for (gasnet_node_t k = 0; k < nodes; ++k) {
    const gasnet_node_t to = (me + k) % nodes;
    blocking(to);
    between_segments(to);
    across_pages(to);
    explicit_handles(to);
    some_at_a_time(to);
    implicit_handles(to);
    regions(to);
    values(to);
    many_in_flight(to, (uint32_t)in_flight);
    barrier();
  }
  end_job("rma_matrix");
}
