/* Random traffic against a shadow: puts in every form, gets, Longs and their Long replies of random
 * sizes to random places of every other rank's segment, from and to memory inside and outside the
 * own one. Each rank alone writes to its area of everybody's segment and remembers what must be
 * there; gets and replies are compared with it, at the end every byte.
 * random_traffic [OPERATIONS [AREA-KIB [SEED [BYTES-MAX]]]] */
#include "job_test.h"

enum { kMaxBytes = 600 << 10, kSlots = 8, kRanksMax = 16 };

static size_t area_bytes;
static size_t bytes_max = kMaxBytes;
static unsigned char *shadow[kRanksMax]; /* of my area in each rank's segment */
static unsigned char *heap;              /* kSlots sources of kMaxBytes, outside any segment */
static unsigned char *scratch;           /* as much inside mine */
static uint64_t state;
static volatile unsigned answers;
static volatile size_t reply_bytes;
static unsigned char *reply_at;

static uint64_t next_random(void) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state;
}
static size_t below(size_t bound) { return (size_t)(next_random() % bound); }

/* Small ones mostly; now and then one beyond what is copied, and rarely one that is worth a pin. */
static size_t any_size(void) {
  const size_t kind = below(1000);
  const size_t most = kind < 500 ? 64 : kind < 900 ? 4096 : kind < 985 ? 100 << 10 : kMaxBytes;
  return 1 + below(most < bytes_max ? most : bytes_max);
}
static size_t any_place(size_t bytes) { return below(area_bytes - bytes + 1); }
static unsigned char *area(gasnet_node_t owner, gasnet_node_t writer) {
  return (unsigned char *)segments[owner].addr + writer * area_bytes;
}

static void on_long(gasnet_token_t token, void *payload, size_t bytes, int first, int last) {
  const unsigned char *got = (const unsigned char *)payload;
  if (got[0] != (unsigned char)first || got[bytes - 1] != (unsigned char)last)
    fail_at(__FILE__, __LINE__, "a Long of %zu bytes ran its handler before its payload was there", bytes);
  gasnet_AMReplyShort0(token, 203);
}
static void on_answer(gasnet_token_t token) {
  (void)token;
  ++answers;
}
/* Sends back part of the asker's own area, to where it wants it. */
static void on_ask(gasnet_token_t token, int from, int bytes, int to_low, int to_high) {
  gasnet_node_t asker = 0;
  gasnet_AMGetMsgSource(token, &asker);
  void *to = (void *)(uintptr_t)((uint32_t)to_low | (uint64_t)(uint32_t)to_high << 32);
  gasnet_AMReplyLong0(token, 204, area(me, asker) + from, (size_t)bytes, to);
}
static void on_reply(gasnet_token_t token, void *payload, size_t bytes) {
  (void)token;
  if (payload != reply_at) fail_at(__FILE__, __LINE__, "a Long reply is elsewhere");
  reply_bytes = bytes;
  ++answers;
}

/* A source with fresh contents; slots are reused after the next synchronisation. */
static unsigned char *fresh_source(unsigned slot, size_t bytes) {
  unsigned char *at = (below(2) ? heap : scratch) + slot * (size_t)kMaxBytes + below(kMaxBytes - bytes + 1);
  const uint64_t first = next_random();
  for (size_t i = 0; i < bytes; ++i) at[i] = (unsigned char)(first + i * 37 + (i >> 9));
  return at;
}

static void compare(gasnet_node_t with, const unsigned char *got, size_t place, size_t bytes, const char *what) {
  if (memcmp(got, shadow[with] + place, bytes) == 0) return;
  size_t at = 0;
  while (got[at] == shadow[with][place + at]) ++at;
  fail_at(__FILE__, __LINE__, "%s of %zu bytes at %zu from rank %u: byte %zu is %u, not %u", what, bytes, place,
          (unsigned)with, at, got[at], shadow[with][place + at]);
}

static void put(gasnet_node_t to, unsigned slot) {
  const size_t bytes = any_size(), place = any_place(bytes);
  unsigned char *source = fresh_source(slot, bytes);
  unsigned char *dest = area(to, me) + place;
  memcpy(shadow[to] + place, source, bytes);
  switch (below(3)) {
    case 0:
      gasnet_put(to, dest, source, bytes);
      break;
    case 1:
      gasnet_put_nbi(to, dest, source, bytes);
      memset(source, 0xdd, bytes);
      break;
    default:
      gasnet_put_nbi_bulk(to, dest, source, bytes);
  }
}

static void get(gasnet_node_t from) {
  const size_t bytes = any_size(), place = any_place(bytes);
  unsigned char *to = (below(2) ? heap : scratch) + below(kMaxBytes - bytes + 1);
  memset(to, 0xee, bytes);
  gasnet_get_bulk(to, from, area(from, me) + place, bytes);
  compare(from, to, place, bytes, "a get");
}

static void send_long(gasnet_node_t to) {
  size_t bytes = any_size();
  if (bytes > gasnet_AMMaxLongRequest()) bytes = gasnet_AMMaxLongRequest();
  const size_t place = any_place(bytes);
  unsigned char *source = fresh_source(0, bytes);
  memcpy(shadow[to] + place, source, bytes);
  answers = 0;
  if (below(2)) {
    gasnet_AMRequestLong2(to, 201, source, bytes, area(to, me) + place, source[0], source[bytes - 1]);
  } else {
    gasnet_AMRequestLongAsync2(to, 201, source, bytes, area(to, me) + place, source[0], source[bytes - 1]);
  }
  GASNET_BLOCKUNTIL(answers == 1);
}

static void ask_long(gasnet_node_t from) {
  const size_t bytes = any_size(), place = any_place(bytes);
  reply_at = scratch + below(kMaxBytes - bytes + 1);
  memset(reply_at, 0xcc, bytes);
  answers = 0;
  const uint64_t at = (uintptr_t)reply_at;
  gasnet_AMRequestShort4(from, 202, (int)place, (int)bytes, (int)at, (int)(at >> 32));
  GASNET_BLOCKUNTIL(answers == 1);
  EXPECT_EQ(reply_bytes, bytes);
  compare(from, reply_at, place, bytes, "a Long reply");
}

static gasnet_node_t any_peer(void) { return (me + 1 + (gasnet_node_t)below(nodes - 1)) % nodes; }

static void run(long operations) {
  unsigned slot = 0;
  for (long i = 0; i < operations; ++i) {
    const size_t kind = below(100);
    if (kind < 60 && slot < kSlots) {
      put(any_peer(), slot++);
      continue;
    }
    gasnet_wait_syncnbi_puts();
    slot = 0;
    if (kind < 85) get(any_peer());
    else if (kind < 93) send_long(any_peer());
    else ask_long(any_peer());
  }
  gasnet_wait_syncnbi_puts();
}

static void compare_all(void) {
  for (gasnet_node_t peer = 0; peer < nodes; ++peer) {
    for (size_t at = 0; at < area_bytes && peer != me; at += kMaxBytes) {
      const size_t bytes = area_bytes - at < kMaxBytes ? area_bytes - at : kMaxBytes;
      gasnet_get_bulk(heap, peer, area(peer, me) + at, bytes);
      compare(peer, heap, at, bytes, "the last get");
    }
  }
}

int main(int argc, char **argv) {
  gasnet_handlerentry_t table[] = {{201, (void (*)())on_long}, {202, (void (*)())on_ask}, {203, (void (*)())on_answer},
                                   {204, (void (*)())on_reply}};
  const long operations = argc > 1 ? atol(argv[1]) : 2000;
  area_bytes = (size_t)(argc > 2 ? atol(argv[2]) : 2048) << 10;
  const uint64_t seed = argc > 3 ? (uint64_t)atoll(argv[3]) : 1;
  if (argc > 4) bytes_max = (size_t)atoll(argv[4]);
  if (bytes_max > area_bytes) bytes_max = area_bytes;
  const size_t segment_bytes = area_bytes * kRanksMax / 4 + (size_t)kSlots * kMaxBytes;
  start_job(&argc, &argv, table, 4, (segment_bytes + GASNET_PAGESIZE - 1) / GASNET_PAGESIZE * GASNET_PAGESIZE);
  EXPECT(nodes <= kRanksMax / 4);
  if (nodes == 1) end_job("random_traffic");
  state = seed * 0x9e3779b97f4a7c15u + me + 1;
  scratch = area(me, nodes);
  heap = (unsigned char *)malloc((size_t)kSlots * kMaxBytes);
  memset(area(me, 0), 0, area_bytes * nodes);
  for (gasnet_node_t peer = 0; peer < nodes; ++peer) shadow[peer] = (unsigned char *)calloc(1, area_bytes);
  barrier();
  run(operations);
  barrier();
  compare_all();
  end_job("random_traffic");
}
