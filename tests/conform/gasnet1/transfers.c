/* Puts, gets and memsets (3.1, 3.2, 3.3.2, 3.3.4): sizes, places, loopback, nothing at all. */
#include "gasnet1.h"

static unsigned char local[300000], back[300000];
static const size_t sizes[] = {1, 2, 3, 4, 7, 8, 15, 16, 64, 100, 1000, 4096, 9001, 65536, 250000};
enum { kSizes = sizeof sizes / sizeof *sizes };

/* The ways to put, and to get. */
enum { kPutWays = 6, kGetWays = 6 };
static void put_by(int way, gasnet_node_t to, void *dest, void *src, size_t bytes) {
  switch (way) {
    case 0:
      gasnet_put(to, dest, src, bytes);
      break;
    case 1:
      gasnet_put_bulk(to, dest, src, bytes);
      break;
    case 2:
      gasnet_wait_syncnb(gasnet_put_nb(to, dest, src, bytes));
      break;
    case 3:
      gasnet_wait_syncnb(gasnet_put_nb_bulk(to, dest, src, bytes));
      break;
    case 4:
      gasnet_put_nbi(to, dest, src, bytes);
      gasnet_wait_syncnbi_puts();
      break;
    default:
      gasnet_put_nbi_bulk(to, dest, src, bytes);
      gasnet_wait_syncnbi_all();
  }
}
static void get_by(int way, void *dest, gasnet_node_t from, void *src, size_t bytes) {
  switch (way) {
    case 0:
      gasnet_get(dest, from, src, bytes);
      break;
    case 1:
      gasnet_get_bulk(dest, from, src, bytes);
      break;
    case 2:
      gasnet_wait_syncnb(gasnet_get_nb(dest, from, src, bytes));
      break;
    case 3:
      gasnet_wait_syncnb(gasnet_get_nb_bulk(dest, from, src, bytes));
      break;
    case 4:
      gasnet_get_nbi(dest, from, src, bytes);
      gasnet_wait_syncnbi_gets();
      break;
    default:
      gasnet_get_nbi_bulk(dest, from, src, bytes);
      gasnet_wait_syncnbi_all();
  }
}

/* A frame of bytes around each target shows what is written beside it. */
CASE(every_way_carries_every_size, "C1-047 C1-208 C1-211 C1-214 C1-216 C1-219 C1-220 C1-221") {
  for (gasnet_node_t k = 0; k < nodes; ++k) {
    const gasnet_node_t to = (me + k) % nodes;
    for (int s = 0; s < kSizes; ++s) {
      const int way = s % kPutWays;
      for (int w = 0; w < (sizes[s] > 10000 ? 1 : kPutWays); ++w) {
        const size_t bytes = sizes[s], off = (size_t)(s + w) % 9;
        const unsigned seed = (unsigned)(s * 10 + w);
        unsigned char *const at = part(to) + 16 + off;
        gasnet_memset(to, at - 16, 0xa5, bytes + 32);
        fill(local + off, bytes, seed);
        put_by((way + w) % kPutWays, to, at, local + off, bytes);
        memset(back, 0x77, bytes + 64);
        get_by((way + w) % kGetWays, back + 32, to, at - 16, bytes + 32);
        EXPECT(all_bytes_are(back, 32, 0x77));
        EXPECT(all_bytes_are(back + 32, 16, 0xa5));
        EXPECT(holds(back + 48, bytes, seed));
        EXPECT(all_bytes_are(back + 48 + bytes, 16, 0xa5));
      }
    }
  }
}

/* The local side in one's own segment, where drivers may send and receive in place. */
CASE(segment_to_segment, "C1-208 C1-209 C1-214 C1-219") {
  for (gasnet_node_t k = 0; k < nodes; ++k) {
    const gasnet_node_t to = (me + k) % nodes;
    unsigned char *const source = part(me) + part_bytes() / 2, *const copy = source + 500000;
    for (int s = 0; s < kSizes; ++s) {
      const size_t bytes = sizes[s], off = (size_t)s % 5;
      fill(source + off, bytes, 200u + (unsigned)s);
      put_by(s % kPutWays, to, part(to) + off, source + off, bytes);
      memset(copy, 0x77, bytes + 16);
      get_by((s + 1) % kGetWays, copy + 8, to, part(to) + off, bytes);
      EXPECT(holds(copy + 8, bytes, 200u + (unsigned)s));
      EXPECT(all_bytes_are(copy, 8, 0x77) && all_bytes_are(copy + 8 + bytes, 8, 0x77));
    }
  }
}

/* Puts that are not bulk free their source on return, however large. */
CASE(source_is_free_on_return, "C1-119 C1-231 C1-243") {
  for (gasnet_node_t k = 0; k < nodes; ++k) {
    const gasnet_node_t to = (me + k) % nodes;
    for (int s = 0; s < kSizes; ++s) {
      for (int in_segment = 0; in_segment < 2; ++in_segment) {
        unsigned char *const source = in_segment ? part(me) + part_bytes() / 2 : local;
        gasnet_handle_t handle;
        fill(source, sizes[s], 1);
        handle = gasnet_put_nb(to, part(to), source, sizes[s]);
        fill(source, sizes[s], 2);
        gasnet_put_nbi(to, part(to) + sizes[s], source, sizes[s]);
        memset(source, 0xdd, sizes[s]);
        gasnet_wait_syncnb(handle);
        gasnet_wait_syncnbi_puts();
        gasnet_get(back, to, part(to), sizes[s]);
        EXPECT(holds(back, sizes[s], 1));
        gasnet_get(back, to, part(to) + sizes[s], sizes[s]);
        EXPECT(holds(back, sizes[s], 2));
      }
    }
  }
}

/* Data that another node put is seen by loads and by gets of its owner, after a message or a
 * barrier. */
CASE(puts_are_visible_to_their_target, "C1-214 C1-221") {
  for (unsigned round = 0; round < 50; ++round) {
    const gasnet_node_t to = (me + 1) % nodes, from = (me + nodes - 1) % nodes;
    volatile unsigned char *const mine =
        (unsigned char *)segments[me].addr + from * part_bytes() + round;
    unsigned char value = (unsigned char)(round * 3 + 1), again = 0;
    if (round % 2)
      gasnet_put_val(to, part(to) + round, value, 1);
    else
      gasnet_wait_syncnb(gasnet_put_nb_bulk(to, part(to) + round, &value, 1));
    barrier();
    EXPECT_EQ(*mine, value);
    gasnet_get(&again, me, (void *)mine, 1);
    EXPECT_EQ(again, value);
    barrier();
  }
}

/* One of each way a put is made and waited for, large ones by another protocol than small ones. */
static void put_and_sync(int way, gasnet_node_t to, void *dest, void *src, size_t bytes) {
  if (way == 0) gasnet_wait_syncnb(gasnet_put_nb_bulk(to, dest, src, bytes));
  if (way == 1) {
    gasnet_put_nbi_bulk(to, dest, src, bytes);
    gasnet_wait_syncnbi_puts();
  }
  if (way == 2) {
    gasnet_begin_nbi_accessregion();
    gasnet_put_nbi_bulk(to, dest, src, bytes);
    gasnet_wait_syncnb(gasnet_end_nbi_accessregion());
  }
  if (way == 3) {
    gasnet_handle_t handle = gasnet_put_nb_bulk(to, dest, src, bytes);
    while (gasnet_try_syncnb(handle) == GASNET_ERR_NOT_READY) gasnet_AMPoll();
  }
}

/* Nothing but synchronisation orders two operations, and that does: of two puts to one place the
 * one that began after the sync of the other stays, and a get that was synchronised is not changed
 * by a later put. */
CASE(synchronisation_orders_operations, "C1-222") {
  enum { kWays = 4, kSmall = 8, kLarge = 120000, kRounds = 48 };
  for (gasnet_node_t k = 0; k < nodes; ++k) {
    const gasnet_node_t to = (me + k) % nodes;
    for (unsigned round = 0; round < kRounds; ++round) {
      const size_t first = round % 2 ? kSmall : kLarge, second = round % 2 ? kLarge : kSmall;
      fill(local, first, 2 * round);
      put_and_sync((int)(round / 2 % kWays), to, part(to), local, first);
      gasnet_wait_syncnb(gasnet_get_nb_bulk(back, to, part(to), first));
      fill(local, second, 2 * round + 1);
      put_and_sync((int)(round / 8 % kWays), to, part(to), local, second);
      EXPECT(holds(back, first, 2 * round));
      gasnet_get_bulk(back, to, part(to), second);
      EXPECT(holds(back, second, 2 * round + 1));
    }
  }
}

/* Bytes beyond the low eight of `val` do not count, as with memset. */
CASE(memsets, "C1-217 C1-233 C1-243") {
  static const int values[] = {0, 1, 0x7f, 0x80, 0xff, -1, 0x1234567};
  for (gasnet_node_t k = 0; k < nodes; ++k) {
    const gasnet_node_t to = (me + k) % nodes;
    for (int v = 0; v < 7; ++v) {
      for (int way = 0; way < 3; ++way) {
        const size_t bytes = (size_t)(v * 1000 + way * 37);
        unsigned char *const at = part(to) + 16 + v;
        gasnet_memset(to, at - 16, 0x33, bytes + 32);
        if (way == 0) gasnet_memset(to, at, values[v], bytes);
        if (way == 1) gasnet_wait_syncnb(gasnet_memset_nb(to, at, values[v], bytes));
        if (way == 2) {
          gasnet_memset_nbi(to, at, values[v], bytes);
          gasnet_wait_syncnbi_puts(); /* it counts as a put */
        }
        gasnet_get_bulk(back, to, at - 16, bytes + 32);
        EXPECT(all_bytes_are(back, 16, 0x33));
        EXPECT(all_bytes_are(back + 16, bytes, values[v] & 0xff));
        EXPECT(all_bytes_are(back + 16 + bytes, 16, 0x33));
      }
    }
  }
}

/* Nothing, anywhere: a legal operation that completes. */
CASE(zero_bytes, "C1-212") {
  static unsigned char byte = 0x5a;
  void *const odd = (void *)(uintptr_t)13;
  for (gasnet_node_t to = 0; to < nodes; ++to) {
    void *const places[] = {part(to), NULL, odd, (char *)segments[to].addr + segments[to].size};
    for (int p = 0; p < 4; ++p) {
      void *const locals[] = {&byte, NULL, odd};
      for (int l = 0; l < 3; ++l) {
        for (int way = 0; way < kPutWays; ++way) put_by(way, to, places[p], locals[l], 0);
        for (int way = 0; way < kGetWays; ++way) get_by(way, locals[l], to, places[p], 0);
      }
      gasnet_memset(to, places[p], 1, 0);
      gasnet_wait_syncnb(gasnet_memset_nb(to, places[p], 1, 0));
      gasnet_memset_nbi(to, places[p], 1, 0);
      EXPECT_EQ(gasnet_try_syncnbi_all(), GASNET_OK);
    }
  }
  EXPECT_EQ(byte, 0x5a);
}

/* A put of more than any frame, ring or window. */
CASE(large_transfers, "C1-212 C1-214") {
  const gasnet_node_t to = (me + 1) % nodes;
  const size_t bytes = part_bytes() - 4096;
  unsigned char *const source = malloc(bytes), *const copy = malloc(bytes);
  if (!source || !copy) abort();
  fill(source, bytes, me + 1);
  gasnet_put_bulk(to, part(to), source, bytes);
  gasnet_get_bulk(copy, to, part(to), bytes);
  EXPECT(memcmp(source, copy, bytes) == 0);
  free(source);
  free(copy);
}
