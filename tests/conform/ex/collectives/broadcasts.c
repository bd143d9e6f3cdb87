/* Broadcasts, and what the event of a collective says when it is synchronised. */
#include "../ex.h"

enum { kLong = 100000, kGuard = 64 };

static unsigned char source[kLong], target[kLong + kGuard];
static const size_t sizes[] = {0, 1, 3, 8, 1000, 4097, 66000, kLong};
enum { kSizes = sizeof sizes / sizeof *sizes };

/* The `src` of another member is no address. */
static void *no_address(void) { return (void *)(uintptr_t)(me % 2 ? 16 : 0); }

CASE(every_root_and_size, "GX-145 GX-148") {
  for (gex_Rank_t root = 0; root < nodes; ++root) {
    for (unsigned i = 0; i < kSizes; ++i) {
      memset(target, 0x5a, sizeof target);
      if (me == root) fill(source, sizes[i], root * 50 + i);
      const void *const src = me == root ? source : no_address();
      gex_Event_Wait(gex_Coll_BroadcastNB(team, root, target, src, sizes[i], 0));
      EXPECT(holds(target, sizes[i], root * 50 + i));
      EXPECT(all_bytes_are(target + sizes[i], kGuard, 0x5a));
    }
  }
}

CASE(in_place_on_the_root, "GX-145") {
  for (gex_Rank_t root = 0; root < nodes; ++root) {
    for (unsigned i = 0; i < kSizes; ++i) {
      memset(target, 0x5a, sizeof target);
      if (me == root) fill(target, sizes[i], root * 70 + i);
      const void *const src = me == root ? target : no_address();
      gex_Event_Wait(gex_Coll_BroadcastNB(team, root, target, src, sizes[i], 0));
      EXPECT(holds(target, sizes[i], root * 70 + i));
    }
  }
}

/* Memory of the segment as well as any other. */
CASE(from_and_to_the_segment, "GX-145") {
  unsigned char *const here = part(me);
  for (gex_Rank_t root = 0; root < nodes; ++root) {
    if (me == root) fill(here, kLong, root);
    gex_Event_Wait(gex_Coll_BroadcastNB(team, root, here + kLong, here, kLong, 0));
    EXPECT(holds(here + kLong, kLong, root));
    if (me == root) fill(here, kLong, root + 100);
    gex_Event_Wait(gex_Coll_BroadcastNB(team, root, target, here, kLong, 0));
    EXPECT(holds(target, kLong, root + 100));
  }
}

/* Once the event is synchronised the input is the caller's again: what the root writes there is not
 * what the others get, though they may be late. */
CASE(input_is_free_after_the_event, "GX-143") {
  for (unsigned round = 0; round < 10; ++round) {
    for (unsigned i = 0; i < kSizes; ++i) {
      const gex_Rank_t root = round % nodes;
      if (me == root) fill(source, sizes[i], round * 20 + i);
      if (me != root && (round + me) % 3 == 0)
        for (int poll = 0; poll < 200; ++poll) gasnet_AMPoll();
      gex_Event_Wait(gex_Coll_BroadcastNB(team, root, target, source, sizes[i], 0));
      if (me == root) memset(source, 0xee, sizes[i]);
      EXPECT(holds(target, sizes[i], round * 20 + i));
    }
  }
}

/* By test and by wait, and of several together: the output may be read. */
CASE(output_is_there_after_the_event, "GX-143") {
  enum { kCount = 12 };
  static uint64_t words[kCount];
  gex_Event_t events[kCount];
  for (unsigned round = 0; round < 6; ++round) {
    for (unsigned i = 0; i < kCount; ++i) {
      const gex_Rank_t root = i % nodes;
      words[i] = me == root ? round * 1000 + i + 1 : 0;
      events[i] = gex_Coll_BroadcastNB(team, root, &words[i], &words[i], sizeof *words, 0);
    }
    if (round % 3 == 0) gex_Event_WaitAll(events, kCount, 0);
    for (unsigned i = 0; i < kCount && round % 3 != 0; ++i) {
      if (round % 3 == 1) gex_Event_Wait(events[i]);
      while (round % 3 == 2 && gex_Event_Test(events[i]) != GASNET_OK) gasnet_AMPoll();
      EXPECT_EQ(words[i], round * 1000 + i + 1);
    }
    for (unsigned i = 0; i < kCount; ++i) EXPECT_EQ(words[i], round * 1000 + i + 1);
  }
}
