/* Random traffic against a shadow, with several operations in flight: puts and gets in every form,
 * Longs and their Long replies, of random sizes, to random places of every other rank's segment, from
 * and to memory inside and outside the own one. Each rank alone writes to its area of everybody's
 * segment and remembers what must be there; gets and replies are compared with it, at the end every
 * byte. Operations in flight never overlap where one of them writes: each has a slot, and what
 * overlaps waits for it.
 * random_traffic [OPERATIONS-OF-A-RANK [AREA-KIB [SEED [BYTES-MAX]]]] */
#include "../job_test.h"

enum { kMaxBytes = 600 << 10, kSlots = 8, kRanksMax = 16 };

enum SlotState { kFree, kHandle, kImplicitPut, kAnswer };
struct Slot {
  enum SlotState state; /* what it waits for */
  gasnet_handle_t handle;
  int is_read;           /* compared once it is done */
  const char *operation; /* for the sentence of a failure */
  gasnet_node_t peer;
  size_t place, bytes;
  unsigned char *local;
  volatile int is_answered; /* set by handlers */
};

static struct Slot slots[kSlots];
static size_t area_bytes;
static size_t bytes_max = kMaxBytes;
static unsigned char *shadow[kRanksMax]; /* of my area in each rank's segment */
static unsigned char *heap;              /* kMaxBytes for each slot, outside any segment */
static unsigned char *scratch;           /* as much inside mine */
static uint64_t state;

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
static unsigned char *area(gasnet_node_t owner, gasnet_node_t writer) {
  return (unsigned char *)segments[owner].addr + writer * area_bytes;
}

static void on_long(gasnet_token_t token, void *payload, size_t bytes, int slot, int first, int last) {
  const unsigned char *got = (const unsigned char *)payload;
  if (got[0] != (unsigned char)first || got[bytes - 1] != (unsigned char)last)
    fail_at(__FILE__, __LINE__, "a Long of %zu bytes ran its handler before its payload was there", bytes);
  gasnet_AMReplyShort1(token, 203, slot);
}
static void on_answer(gasnet_token_t token, int slot) {
  (void)token;
  slots[slot].is_answered = 1;
}
/* Sends back part of the asker's own area, to where it wants it. */
static void on_ask(gasnet_token_t token, int from, int bytes, int to_low, int to_high, int slot) {
  gasnet_node_t asker = 0;
  gasnet_AMGetMsgSource(token, &asker);
  void *to = (void *)(uintptr_t)((uint32_t)to_low | (uint64_t)(uint32_t)to_high << 32);
  gasnet_AMReplyLong1(token, 204, area(me, asker) + from, (size_t)bytes, to, slot);
}
static void on_reply(gasnet_token_t token, void *payload, size_t bytes, int slot) {
  if (payload != slots[slot].local || bytes != slots[slot].bytes) fail_at(__FILE__, __LINE__, "a Long reply is elsewhere");
  on_answer(token, slot);
}

static void compare(gasnet_node_t with, const unsigned char *got, size_t place, size_t bytes, const char *what) {
  if (memcmp(got, shadow[with] + place, bytes) == 0) return;
  size_t at = 0;
  while (got[at] == shadow[with][place + at]) ++at;
  fail_at(__FILE__, __LINE__, "%s of %zu bytes at %zu from rank %u: byte %zu is %u, not %u", what, bytes, place,
          (unsigned)with, at, got[at], shadow[with][place + at]);
}

static void finish(struct Slot *slot) {
  if (slot->state == kFree) return;
  if (slot->state == kHandle) gasnet_wait_syncnb(slot->handle);
  if (slot->state == kImplicitPut) gasnet_wait_syncnbi_puts();
  if (slot->state == kAnswer) GASNET_BLOCKUNTIL(slot->is_answered);
  if (slot->is_read) compare(slot->peer, slot->local, slot->place, slot->bytes, slot->operation);
  slot->state = kFree;
}

/* The slot's next operation: a place of its peer's that no other one writes to, or reads if this one writes. */
static void choose(struct Slot *slot, int is_read, size_t most) {
  finish(slot);
  const size_t bytes = any_size();
  slot->is_read = is_read;
  slot->peer = (me + 1 + (gasnet_node_t)below(nodes - 1)) % nodes;
  slot->bytes = bytes < most ? bytes : most;
  slot->place = below(area_bytes - slot->bytes + 1);
  slot->is_answered = 0;
  for (struct Slot *other = slots; other != slots + kSlots; ++other) {
    if (other->peer == slot->peer && !(is_read && other->is_read) && other->place < slot->place + slot->bytes &&
        slot->place < other->place + other->bytes) {
      finish(other);
    }
  }
}

/* Memory of the slot's own, inside the segment or outside. */
static unsigned char *local_of(struct Slot *slot, int in_segment) {
  return (in_segment ? scratch : heap) + (size_t)(slot - slots) * kMaxBytes + below(kMaxBytes - slot->bytes + 1);
}

static void fill_source(struct Slot *slot) {
  slot->local = local_of(slot, (int)below(2));
  fill_pattern(slot->local, slot->bytes, (unsigned)next_random());
  memcpy(shadow[slot->peer] + slot->place, slot->local, slot->bytes);
}

static void put(struct Slot *slot) {
  choose(slot, 0, kMaxBytes);
  fill_source(slot);
  unsigned char *to = area(slot->peer, me) + slot->place, *from = slot->local;
  const size_t kind = below(5);
  slot->state = kind == 0 ? kFree : kind < 3 ? kHandle : kImplicitPut;
  if (kind == 0) gasnet_put(slot->peer, to, from, slot->bytes);
  if (kind == 1) slot->handle = gasnet_put_nb(slot->peer, to, from, slot->bytes);
  if (kind == 2) slot->handle = gasnet_put_nb_bulk(slot->peer, to, from, slot->bytes);
  if (kind == 3) gasnet_put_nbi(slot->peer, to, from, slot->bytes);
  if (kind == 4) gasnet_put_nbi_bulk(slot->peer, to, from, slot->bytes);
  if (kind == 1 || kind == 3) memset(from, 0xdd, slot->bytes); /* C1-231: reusable at once */
}

static void get(struct Slot *slot) {
  choose(slot, 1, kMaxBytes);
  slot->operation = "a get";
  slot->local = local_of(slot, (int)below(2));
  unsigned char *from = area(slot->peer, me) + slot->place;
  memset(slot->local, 0xee, slot->bytes);
  slot->state = kHandle;
  slot->handle = GASNET_INVALID_HANDLE;
  const size_t kind = below(3);
  if (kind == 0) gasnet_get_bulk(slot->local, slot->peer, from, slot->bytes);
  if (kind == 1) slot->handle = gasnet_get_nb(slot->local, slot->peer, from, slot->bytes);
  if (kind == 2) slot->handle = gasnet_get_nb_bulk(slot->local, slot->peer, from, slot->bytes);
}

static void send_long(struct Slot *slot) {
  choose(slot, 0, gasnet_AMMaxLongRequest());
  fill_source(slot);
  slot->state = kAnswer;
  unsigned char *to = area(slot->peer, me) + slot->place, *from = slot->local;
  const int number = (int)(slot - slots), first = from[0], last = from[slot->bytes - 1];
  if (below(2)) {
    gasnet_AMRequestLong3(slot->peer, 201, from, slot->bytes, to, number, first, last);
    memset(from, 0xdd, slot->bytes);
  } else {
    gasnet_AMRequestLongAsync3(slot->peer, 201, from, slot->bytes, to, number, first, last);
  }
}

static void ask_long(struct Slot *slot) {
  choose(slot, 1, gasnet_AMMaxLongReply());
  slot->operation = "a Long reply";
  slot->local = local_of(slot, 1);
  memset(slot->local, 0xcc, slot->bytes);
  slot->state = kAnswer;
  const uint64_t at = (uintptr_t)slot->local;
  gasnet_AMRequestShort5(slot->peer, 202, (int)slot->place, (int)slot->bytes, (int)at, (int)(at >> 32),
                         (int)(slot - slots));
}

static void run(long operations) {
  for (long i = 0; i < operations; ++i) {
    struct Slot *slot = &slots[i % kSlots];
    const size_t kind = below(100);
    if (kind < 60) put(slot);
    else if (kind < 85) get(slot);
    else if (kind < 93) send_long(slot);
    else ask_long(slot);
  }
  for (int i = 0; i < kSlots; ++i) finish(&slots[i]);
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
