/* Atomic operations: categories of implicit ones, events, regions, and flags. */
#include "../ex.h"

/* Each rank's own word of every rank; and the one of `from` here. */
static void *word(gex_Rank_t rank) { return part(rank); }
static unsigned char *part_of(gex_Rank_t from) {
  return (unsigned char *)segments[me].addr + from * part_bytes();
}
static void set(gex_AD_t ad, gex_Rank_t rank, uint64_t value) {
  gex_Event_Wait(gex_AD_OpNB_U64(ad, NULL, rank, word(rank), GEX_OP_SET, value, 0, 0));
}

enum { kAllCategories = 3 };
static const gex_EC_t categories[kAllCategories] = {GEX_EC_PUT, GEX_EC_GET, GEX_EC_RMW};
static const struct {
  gex_OP_t op;
  int category; /* which of `categories` */
} kinds[] = {{GEX_OP_SET, 0}, {GEX_OP_GET, 1},  {GEX_OP_ADD, 2}, {GEX_OP_FADD, 2}, {GEX_OP_SWAP, 2},
             {GEX_OP_CAS, 2}, {GEX_OP_FCAS, 2}, {GEX_OP_INC, 2}, {GEX_OP_FMAX, 2}, {GEX_OP_XOR, 2}};
enum { kKinds = sizeof kinds / sizeof *kinds };
static const gex_OP_t all_ops = GEX_OP_SET | GEX_OP_GET | GEX_OP_ADD | GEX_OP_FADD | GEX_OP_SWAP |
                                GEX_OP_CAS | GEX_OP_FCAS | GEX_OP_INC | GEX_OP_FMAX | GEX_OP_XOR;

/* Work that is under way stays in its own category, and in no other. */
CASE(implicit_ones_have_a_category, "GX-159") {
  static uint64_t got;
  gex_AD_t ad;
  SOMETHING_STAYS_UNDER_WAY();
  gex_AD_Create(&ad, team, GEX_DT_U64, all_ops, 0);
  barrier();
  for (int i = 0; i < kKinds; ++i) {
    if (!freeze_rank_1()) continue;
    EXPECT_EQ(gex_AD_OpNBI_U64(ad, &got, 1, word(1), kinds[i].op, 1, 2, 0), 0);
    for (int c = 0; c < kAllCategories; ++c) {
      const int is_complete = gex_NBI_Test(categories[c], 0) == GASNET_OK;
      EXPECT_EQ(is_complete, c != kinds[i].category);
    }
    thaw_rank_1();
    gex_NBI_Wait(categories[kinds[i].category], 0);
  }
  barrier();
  gex_AD_Destroy(ad);
}

/* The wait for a category is enough for it: what was set is got, what was got is here. */
CASE(waits_for_one_category, "GX-159 GX-162") {
  enum { kWords = 40 };
  uint64_t got[kWords];
  gex_AD_t ad;
  gex_AD_Create(&ad, team, GEX_DT_U64, all_ops, 0);
  barrier();
  for (gex_Rank_t to = 0; to < nodes; ++to) {
    uint64_t *const words = (uint64_t *)word(to);
    for (unsigned i = 0; i < kWords; ++i)
      gex_AD_OpNBI_U64(ad, NULL, to, words + i, GEX_OP_SET, i * 3, 0, 0);
    gex_NBI_Wait(GEX_EC_PUT, 0);
    for (unsigned i = 0; i < kWords; ++i)
      gex_AD_OpNBI_U64(ad, &got[i], to, words + i, GEX_OP_FADD, 5, 0, 0);
    gex_NBI_Wait(GEX_EC_RMW, 0);
    for (unsigned i = 0; i < kWords; ++i) EXPECT_EQ(got[i], i * 3);
    for (unsigned i = 0; i < kWords; ++i)
      gex_AD_OpNBI_U64(ad, &got[i], to, words + i, GEX_OP_GET, 0, 0, 0);
    while (gex_NBI_Test(GEX_EC_GET, 0) != GASNET_OK) gasnet_AMPoll();
    for (unsigned i = 0; i < kWords; ++i) EXPECT_EQ(got[i], i * 3 + 5);
  }
  barrier();
  gex_AD_Destroy(ad);
}

/* An event each, and one for a region of implicit ones: results are here once they are
 * synchronised. */
CASE(events_and_regions, "GX-154 GX-162") {
  enum { kWords = 40 };
  int64_t got[kWords], again[kWords];
  gex_Event_t events[kWords];
  gex_AD_t ad;
  gex_AD_Create(&ad, team, GEX_DT_I64, GEX_OP_SWAP | GEX_OP_FSUB | GEX_OP_GET, 0);
  barrier();
  for (gex_Rank_t to = 0; to < nodes; ++to) {
    int64_t *const words = (int64_t *)word(to);
    for (int i = 0; i < kWords; ++i)
      events[i] = gex_AD_OpNB_I64(ad, &got[i], to, words + i, GEX_OP_SWAP, -i, 0, 0);
    gex_Event_WaitAll(events, kWords, 0);
    for (int i = 0; i < kWords; ++i)
      events[i] = gex_AD_OpNB_I64(ad, &got[i], to, words + i, GEX_OP_FSUB, 7, 0, 0);
    for (int i = kWords; i-- > 0;) {
      while (gex_Event_Test(events[i]) != GASNET_OK) gasnet_AMPoll();
      EXPECT_EQ(got[i], -i);
    }
    gex_NBI_BeginAccessRegion(0);
    for (int i = 0; i < kWords; ++i)
      gex_AD_OpNBI_I64(ad, &again[i], to, words + i, i % 2 ? GEX_OP_GET : GEX_OP_FSUB, 1, 0, 0);
    gex_Event_t region = gex_NBI_EndAccessRegion(0);
    EXPECT_EQ(gex_NBI_Test(GEX_EC_GET | GEX_EC_RMW, 0), GASNET_OK); /* they are the region's */
    gex_Event_Wait(region);
    for (int i = 0; i < kWords; ++i) EXPECT_EQ(again[i], -i - 7);
  }
  barrier();
  gex_AD_Destroy(ad);
}

/* Refused work has done nothing, other work is done once: no ticket is missing. */
CASE(immediate_does_all_or_nothing, "GX-161") {
  enum { kTimes = 600 };
  static uint64_t tickets[kTimes];
  const gex_Rank_t to = (me + 1) % nodes;
  gex_AD_t ad;
  gex_AD_Create(&ad, team, GEX_DT_U64, GEX_OP_SET | GEX_OP_FINC, 0);
  barrier();
  set(ad, to, 0);
  for (int i = 0; i < kTimes / 2; ++i) {
    while (gex_AD_OpNBI_U64(ad, &tickets[i], to, word(to), GEX_OP_FINC, 0, 0, GEX_FLAG_IMMEDIATE))
      gasnet_AMPoll();
  }
  for (int i = kTimes / 2; i < kTimes; ++i) {
    gex_Event_t event;
    do {
      gasnet_AMPoll();
      event = gex_AD_OpNB_U64(ad, &tickets[i], to, word(to), GEX_OP_FINC, 0, 0, GEX_FLAG_IMMEDIATE);
    } while (event == GEX_EVENT_NO_OP);
    gex_Event_Wait(event);
  }
  gex_NBI_Wait(GEX_EC_RMW, 0);
  static unsigned char seen[kTimes];
  memset(seen, 0, sizeof seen);
  for (int i = 0; i < kTimes; ++i) {
    EXPECT(tickets[i] < kTimes);
    if (tickets[i] < kTimes) ++seen[tickets[i]];
  }
  EXPECT(all_bytes_are(seen, sizeof seen, 1));
  barrier();
  gex_AD_Destroy(ad);
}

static void add_one(gex_AD_t ad, gex_Rank_t rank, gex_Rank_t jobrank, gex_Flags_t flags) {
  gex_Event_Wait(gex_AD_OpNB_U64(ad, NULL, rank, word(jobrank), GEX_OP_ADD, 1, 0, flags));
  EXPECT_EQ(gex_AD_OpNBI_U64(ad, NULL, rank, word(jobrank), GEX_OP_ADD, 1, 0, flags), 0);
  gex_NBI_Wait(GEX_EC_RMW, 0);
}

/* The target is a rank of the domain's team, or with the flag one of the job; what is said of its
 * place holds. */
CASE(flags_of_the_target, "GX-161") {
  gex_TM_t backwards;
  gex_AD_t ad;
  gex_RankInfo_t *near;
  gex_Rank_t near_count;
  gex_TM_Split(&backwards, team, 0, -(int)me, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
  gex_AD_Create(&ad, backwards, GEX_DT_U64, GEX_OP_SET | GEX_OP_ADD | GEX_OP_GET, 0);
  gex_System_QueryNbrhdInfo(&near, &near_count, NULL);
  barrier();
  for (gex_Rank_t jobrank = 0; jobrank < nodes; ++jobrank) {
    const gex_Rank_t rank = nodes - 1 - jobrank;
    uint64_t sum = 0, due = 4;
    gex_Event_Wait(gex_AD_OpNB_U64(ad, NULL, rank, word(jobrank), GEX_OP_SET, 0, 0, 0));
    add_one(ad, rank, jobrank, 0);
    add_one(ad, jobrank, jobrank, GEX_FLAG_RANK_IS_JOBRANK);
    if (jobrank == me) add_one(ad, rank, me, GEX_FLAG_AD_MY_RANK), due += 2;
    for (gex_Rank_t i = 0; i < near_count; ++i)
      if (near[i].gex_jobrank == jobrank) {
        add_one(ad, rank, jobrank, GEX_FLAG_AD_MY_NBRHD), due += 2;
        add_one(ad, jobrank, jobrank, GEX_FLAG_AD_MY_NBRHD | GEX_FLAG_RANK_IS_JOBRANK), due += 2;
      }
    gex_Event_Wait(gex_AD_OpNB_U64(ad, &sum, rank, word(jobrank), GEX_OP_GET, 0, 0, 0));
    EXPECT_EQ(sum, due);
  }
  barrier();
  gex_AD_Destroy(ad);
  gex_TM_Destroy(backwards, NULL, 0);
}

/* Waits, with `flags`, until the word of `from` here has come to `count`. */
static void await_word(gex_AD_t ad, gex_Rank_t from, size_t offset, uint64_t count) {
  uint64_t seen = 0;
  do {
    gasnet_AMPoll();
    gex_Event_Wait(gex_AD_OpNB_U64(ad, &seen, me, part_of(from) + offset, GEX_OP_GET, 0, 0,
                                   GEX_FLAG_AD_ACQ | GEX_FLAG_AD_MY_RANK));
  } while (seen < count);
  EXPECT_EQ(seen, count);
}

/* Data is put to the next rank, or stored here and got from there; an atomic that releases says so,
 * and another that acquires, and then sees that, sees the data. The way back: that the data may
 * change. */
CASE(release_and_acquire, "GX-157 GX-161") {
  enum { kRounds = 60, kWords = 100, kFlagAt = 8, kBackAt = 16, kDataAt = 4096, kSourceAt = 8192 };
  const gex_Rank_t to = (me + 1) % nodes, from = (me + nodes - 1) % nodes;
  uint64_t *const source = (uint64_t *)(part(me) + kSourceAt), got[kWords];
  static const uint64_t zero[2];
  gex_AD_t ad;
  gex_AD_Create(&ad, team, GEX_DT_U64, GEX_OP_SET | GEX_OP_INC | GEX_OP_GET, 0);
  gex_RMA_PutBlocking(team, to, part(to) + kFlagAt, zero, sizeof *zero, 0);
  gex_RMA_PutBlocking(team, from, part(from) + kBackAt, zero, sizeof *zero, 0);
  barrier();
  for (uint64_t round = 1; round <= kRounds; ++round) {
    for (unsigned i = 0; i < kWords; ++i) source[i] = round * 1000 + me * 100 + i;
    if (round % 2)
      gex_RMA_PutBlocking(team, to, part(to) + kDataAt, source, kWords * sizeof *source, 0);
    gex_Event_Wait(
        gex_AD_OpNB_U64(ad, NULL, to, part(to) + kFlagAt, GEX_OP_SET, round, 0, GEX_FLAG_AD_REL));
    await_word(ad, from, kFlagAt, round);
    if (round % 2)
      memcpy(got, part_of(from) + kDataAt, sizeof got);
    else
      gex_RMA_GetBlocking(team, got, from,
                          (char *)segments[from].addr + from * part_bytes() + kSourceAt, sizeof got,
                          0);
    for (unsigned i = 0; i < kWords; ++i) EXPECT_EQ(got[i], round * 1000 + from * 100 + i);
    gex_Event_Wait(gex_AD_OpNB_U64(ad, NULL, from, part(from) + kBackAt, GEX_OP_INC, 0, 0,
                                   GEX_FLAG_AD_REL | GEX_FLAG_AD_ACQ));
    await_word(ad, to, kBackAt, round);
  }
  barrier();
  gex_AD_Destroy(ad);
}
