/* Rules of LARGE and EVERYTHING segments alone (2.1): compiled for each of them. */
#include <sys/mman.h>
#include <unistd.h>

#include "gasnet1.h"

#ifdef GASNET_SEGMENT_EVERYTHING

/* Memory of every kind, of each node. Every node has a part of its own of each place. */
enum { kStack, kHeap, kStatic, kZeroed, kFresh, kShared, kPlaces, kPartBytes = 70000 };
static const size_t kPlaceBytes = (size_t)kNodesMax * kPartBytes;
enum { kRepliesFrom = kNodesMax / 2 }; /* parts from here on are for Long replies */

static unsigned char statics[(size_t)kNodesMax * kPartBytes] = {1};
static unsigned char zeroed[(size_t)kNodesMax * kPartBytes];
static unsigned char *places[kNodesMax][kPlaces];
static _Atomic unsigned places_known;

static void on_places(gasnet_token_t token, void *buf, size_t nbytes) {
  gasnet_node_t from = kNodesMax;
  gasnet_AMGetMsgSource(token, &from);
  if (from < kNodesMax && nbytes == sizeof places[0]) memcpy(places[from], buf, nbytes);
  __atomic_fetch_add(&places_known, 1, __ATOMIC_RELEASE);
}
HANDLER(on_places);

static unsigned char *of(gasnet_node_t owner, int place, gasnet_node_t user) {
  return places[owner][place] + (size_t)user * kPartBytes;
}

static void share_places(unsigned char *on_the_stack) {
  unsigned char *mine[kPlaces];
  FILE *file = tmpfile();
  EXPECT(file != NULL && ftruncate(fileno(file), (off_t)kPlaceBytes) == 0);
  mine[kStack] = on_the_stack;
  mine[kHeap] = malloc(kPlaceBytes);
  mine[kStatic] = statics;
  mine[kZeroed] = zeroed;
  mine[kFresh] = mmap(NULL, kPlaceBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  mine[kShared] = mmap(NULL, kPlaceBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(file), 0);
  places_known = 0;
  barrier();
  for (gasnet_node_t to = 0; to < nodes; ++to)
    gasnet_AMRequestMedium0(to, on_places_index, mine, sizeof mine);
  GASNET_BLOCKUNTIL(__atomic_load_n(&places_known, __ATOMIC_ACQUIRE) == nodes);
}

static void drop_places(void) {
  barrier();
  free(places[me][kHeap]);
  munmap(places[me][kFresh], kPlaceBytes);
  munmap(places[me][kShared], kPlaceBytes);
}

static const size_t kSizes[] = {1, 8, 1000, 20000, kPartBytes};
enum { kSizeCount = sizeof kSizes / sizeof kSizes[0] };

/* Puts to a place that nobody may have touched before, and gets from there. */
CASE(memory_of_every_kind_is_put_to_and_got_from, "C1-063 C1-066 C1-304") {
  unsigned char on_the_stack[(size_t)kNodesMax * kPartBytes];
  unsigned char source[kPartBytes], back[kPartBytes];
  share_places(on_the_stack);
  for (gasnet_node_t k = 0; k < nodes; ++k) {
    const gasnet_node_t to = (me + k) % nodes;
    for (int place = 0; place < kPlaces; ++place) {
      unsigned char *there = of(to, place, me);
      for (int i = 0; i < kSizeCount; ++i) {
        const size_t bytes = kSizes[i];
        fill(source, bytes, (unsigned)(place * 10 + i));
        switch (i % 3) {
          case 0:
            gasnet_put(to, there, source, bytes);
            break;
          case 1:
            gasnet_wait_syncnb(gasnet_put_nb_bulk(to, there, source, bytes));
            break;
          default:
            gasnet_put_nbi(to, there, source, bytes);
            gasnet_wait_syncnbi_puts();
        }
        memset(back, 0, bytes);
        if (i % 2 == 0)
          gasnet_get(back, to, there, bytes);
        else
          gasnet_wait_syncnb(gasnet_get_nb(back, to, there, bytes));
        EXPECT(holds(back, bytes, (unsigned)(place * 10 + i)));
      }
      gasnet_memset(to, there + 8, 0x77, 5000);
      gasnet_put_val(to, there + 16, 0x123456789abcdef0u, 8);
      EXPECT(gasnet_get_val(to, there + 16, 8) == 0x123456789abcdef0u);
      EXPECT_EQ(gasnet_get_val(to, there + 5007, 1), 0x77);
    }
  }
  barrier();
  for (gasnet_node_t user = 0; user < nodes; ++user)
    for (int place = 0; place < kPlaces; ++place)
      EXPECT_EQ(of(me, place, user)[5007], 0x77);
  drop_places();
}

/* ---- Longs ----------------------------------------------------------------------------------- */

static _Atomic unsigned longs_answered;
static unsigned char reply_source[kPartBytes];

static void on_long_reply(gasnet_token_t token, void *buf, size_t nbytes, gasnet_handlerarg_t seed) {
  gasnet_node_t from = kNodesMax;
  gasnet_AMGetMsgSource(token, &from);
  EXPECT(buf == of(me, seed % kPlaces, kRepliesFrom + from));
  EXPECT(holds(buf, nbytes, 4));
  __atomic_fetch_add(&longs_answered, 1, __ATOMIC_RELEASE);
}
HANDLER(on_long_reply);

/* Answers with as much, to the same kind of memory. */
static void on_long(gasnet_token_t token, void *buf, size_t nbytes, gasnet_handlerarg_t seed) {
  gasnet_node_t from = kNodesMax;
  gasnet_AMGetMsgSource(token, &from);
  EXPECT(holds(buf, nbytes, (unsigned)seed));
  if (from < kNodesMax)
    gasnet_AMReplyLong1(token, on_long_reply_index, reply_source, nbytes,
                        of(from, seed % kPlaces, kRepliesFrom + me), seed);
}
HANDLER(on_long);

CASE(longs_go_to_memory_of_every_kind, "C1-063 C1-066 C1-304") {
  unsigned char on_the_stack[(size_t)kNodesMax * kPartBytes];
  unsigned char source[kPartBytes];
  unsigned asked = 0;
  if (nodes > kRepliesFrom) NOT_HERE("too many nodes for these parts");
  share_places(on_the_stack);
  fill(reply_source, sizeof reply_source, 4);
  longs_answered = 0;
  barrier();
  for (gasnet_node_t k = 0; k < nodes; ++k) {
    const gasnet_node_t to = (me + k) % nodes;
    for (int place = 0; place < kPlaces; ++place) {
      for (int i = 0; i < kSizeCount; ++i) {
        const int seed = i * kPlaces + place;
        fill(source, kSizes[i], (unsigned)seed);
        unsigned char *there = of(to, place, me);
        if (i % 2 == 0)
          gasnet_AMRequestLong1(to, on_long_index, source, kSizes[i], there, seed);
        else
          gasnet_AMRequestLongAsync1(to, on_long_index, source, kSizes[i], there, seed);
        ++asked;
        GASNET_BLOCKUNTIL(__atomic_load_n(&longs_answered, __ATOMIC_ACQUIRE) == asked);
      }
    }
  }
  drop_places();
}

/* The same address again, after it was unmapped: what is there now is reached, not what was. */
CASE(memory_that_is_mapped_anew_is_reached, "C1-066") {
  unsigned char on_the_stack[(size_t)kNodesMax * kPartBytes];
  unsigned char back[3000];
  const gasnet_node_t from = (me + 1) % nodes;
  share_places(on_the_stack);
  for (unsigned round = 0; round < 20; ++round) {
    unsigned char *mine = places[me][kFresh];
    EXPECT_EQ(munmap(mine, kPlaceBytes), 0);
    EXPECT(mmap(mine, kPlaceBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == mine);
    fill(mine, sizeof back, round);
    barrier();
    gasnet_get(back, from, places[from][kFresh], sizeof back);
    EXPECT(holds(back, sizeof back, round));
    barrier();
  }
  drop_places();
}

CASE(all_memory_is_the_segment, "C1-045 C1-063 C1-066 C1-093 C1-094 C1-114 C1-304") {
  gasnet_seginfo_t table[kNodesMax];
  EXPECT(gasnet_getMaxLocalSegmentSize() == (uintptr_t)-1);
  EXPECT(gasnet_getMaxGlobalSegmentSize() == (uintptr_t)-1);
  EXPECT_EQ(gasnet_getSegmentInfo(table, kNodesMax), GASNET_OK);
  for (gasnet_node_t k = 0; k < nodes; ++k)
    EXPECT(table[k].addr == NULL && table[k].size == (uintptr_t)-1);
}

/* None of them shares its memory with another, so none may take a neighbour's addresses for its own. */
CASE(nodes_share_no_supernode, "C1-066") {
  gasnet_nodeinfo_t table[kNodesMax];
  EXPECT_EQ(gasnet_getNodeInfo(table, kNodesMax), GASNET_OK);
  for (gasnet_node_t k = 0; k < nodes; ++k)
    for (gasnet_node_t j = 0; j < k; ++j) EXPECT(table[k].supernode != table[j].supernode);
}

JOB(sizes_given_to_attach_are_ignored, "C1-068", kNetwork, 0, "") {
  static unsigned char word;
  EXPECT_EQ(gasnet_init(&program_argc, &program_argv), GASNET_OK);
  EXPECT_EQ(gasnet_attach(NULL, 0, gasnet_mynode() == 0 ? 12345 : (uintptr_t)-1, 77), GASNET_OK);
  me = gasnet_mynode();
  nodes = gasnet_nodes();
  gasnet_put_val(me, &word, 9, 1);
  EXPECT_EQ(word, 9);
}

/* By the kernel, which tells of memory that is not there. */
JOB(a_put_to_memory_that_is_not_there, "C1-068 C1-207", kLocal, 134, "of 100 bytes at 0x1000 of rank 1") {
  unsigned char data[100] = {0};
  start_job(NULL, 0, 0);
  if (me == 0) gasnet_put(1, (void *)4096, data, sizeof data);
  barrier();
}

#else

/* "Comparable to the maximum data size of a process": a good part of the host's memory, whatever may be
 * pinned. */
CASE(large_segments_are_bounded_by_memory, "C1-045 C1-063 C1-065 C1-093") {
  const uintptr_t memory = (uintptr_t)sysconf(_SC_PHYS_PAGES) * GASNET_PAGESIZE;
  EXPECT(gasnet_getMaxLocalSegmentSize() >= memory / 32 / nodes);
  EXPECT_EQ(gasnet_getMaxLocalSegmentSize() % GASNET_PAGESIZE, 0);
}

/* Sixteen times what may be pinned, under traffic that goes anywhere. */
JOB(segment_beyond_the_pin_budget, "C1-063 C1-065 C1-067 C1-071 C1-072", kNetwork, 0, "") {
  enum { kBudget = 1 << 20, kBytes = 16 << 20, kRounds = 300, kMost = 30000 };
  static unsigned char source[kMost], back[kMost];
  unsigned long long random;
  setenv("GASNET_PIN_BUDGET", "1048576", 1);
  start_job(NULL, 0, kBytes);
  EXPECT(segments[me].size == kBytes && kBytes / kBudget == 16);
  barrier();
  random = me + 1;
  for (unsigned round = 0; round < kRounds; ++round) {
    const gasnet_node_t to = (me + round) % nodes;
    const size_t span = kBytes / nodes;
    random = random * 6364136223846793005ull + 1442695040888963407ull;
    const size_t bytes = 1 + (size_t)(random >> 33) % kMost;
    random = random * 6364136223846793005ull + 1442695040888963407ull;
    unsigned char *there = (unsigned char *)segments[to].addr + me * span + (size_t)(random >> 20) % (span - kMost);
    fill(source, bytes, round);
    gasnet_put(to, there, source, bytes);
    gasnet_get(back, to, there, bytes);
    EXPECT(holds(back, bytes, round));
  }
}

#endif
