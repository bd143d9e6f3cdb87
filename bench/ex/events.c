/* events [--seconds S]: nanoseconds that starting an operation and synchronising it take, one after another, of 8 bytes to and
 * from this rank's own segment and its neighbour's. Built for FAST segments, and as events_everything for EVERYTHING,
 * where a neighbour's memory is not mapped. */
#include "common.h"

enum { kBatch = 64 };

static uint64_t *own, *neighbours; /* a word each, of the two segments */
static uint64_t *target;           /* of what is measured now, and whose it is */
static gex_Rank_t target_rank;
static uint64_t value;

static void put_nb(uint64_t count) {
  for (uint64_t i = 0; i < count; ++i) {
    value = i;
    gex_Event_Wait(gex_RMA_PutNB(team, target_rank, target, &value, sizeof value, GEX_EVENT_NOW, 0));
  }
}
static void put_nb_leaf(uint64_t count) {
  for (uint64_t i = 0; i < count; ++i) {
    gex_Event_t local;
    value = i;
    const gex_Event_t root = gex_RMA_PutNB(team, target_rank, target, &value, sizeof value, &local, 0);
    gex_Event_Wait(local);
    gex_Event_Wait(root);
  }
}
static void put_nbi(uint64_t count) {
  for (uint64_t i = 0; i < count; ++i) {
    value = i;
    gex_RMA_PutNBI(team, target_rank, target, &value, sizeof value, GEX_EVENT_NOW, 0);
    gex_NBI_Wait(GEX_EC_PUT, 0);
  }
}
static void put_nbi_64(uint64_t count) {
  for (uint64_t i = 0; i < count; i += kBatch) {
    for (int k = 0; k < kBatch; ++k) gex_RMA_PutNBI(team, target_rank, target, &value, sizeof value, GEX_EVENT_NOW, 0);
    gex_NBI_Wait(GEX_EC_PUT, 0);
  }
}
static void get_nb(uint64_t count) {
  for (uint64_t i = 0; i < count; ++i) gex_Event_Wait(gex_RMA_GetNB(team, &value, target_rank, target, sizeof value, 0));
}
static void get_nbi(uint64_t count) {
  for (uint64_t i = 0; i < count; ++i) {
    gex_RMA_GetNBI(team, &value, target_rank, target, sizeof value, 0);
    gex_NBI_Wait(GEX_EC_GET, 0);
  }
}
static void empty_region(uint64_t count) {
  for (uint64_t i = 0; i < count; ++i) {
    gex_NBI_BeginAccessRegion(0);
    gex_Event_Wait(gex_NBI_EndAccessRegion(0));
  }
}
static void put_region(uint64_t count) {
  for (uint64_t i = 0; i < count; ++i) {
    gex_NBI_BeginAccessRegion(0);
    gex_RMA_PutNBI(team, target_rank, target, &value, sizeof value, GEX_EVENT_NOW, 0);
    gex_Event_Wait(gex_NBI_EndAccessRegion(0));
  }
}
static void empty_wait(uint64_t count) {
  for (uint64_t i = 0; i < count; ++i) gex_NBI_Wait(GEX_EC_ALL, 0);
}

/* Puts that came to their end before they are tested: only those count whose first test says so. */
static double test_of_done_s(void) {
  double spent = 0;
  uint64_t done = 0;
  const double end_s = now_s() + seconds;
  do {
    gex_Event_t events[kBatch];
    int late = 0;
    for (int i = 0; i < kBatch; ++i) events[i] = gex_RMA_PutNB(team, target_rank, target, &value, sizeof value, GEX_EVENT_NOW, 0);
    for (const double until = now_s() + 20e-6; now_s() < until;) gasnet_AMPoll();
    const double start = now_s();
    for (int i = 0; i < kBatch; ++i) {
      if (gex_Event_Test(events[i]) != GASNET_OK) events[late++] = events[i];
    }
    spent += now_s() - start;
    done += kBatch - (uint64_t)late;
    for (int i = 0; i < late; ++i) gex_Event_Wait(events[i]);
  } while (now_s() < end_s || done == 0);
  return spent / (double)done;
}

static void check_put(void (*put)(uint64_t count), const char *sentence) {
  const uint64_t before = 7;
  uint64_t seen = ~0ull;
  gex_RMA_PutBlocking(team, target_rank, target, &before, sizeof before, 0);
  put(kBatch); /* the last of them: kBatch - 1, or whatever `value` is */
  gex_RMA_GetBlocking(team, &seen, target_rank, target, sizeof seen, 0);
  expect(seen == value && seen != before, sentence);
}
static void check_get(void (*get)(uint64_t count), const char *sentence) {
  const uint64_t wanted = 0x0123456789abcdef;
  gex_RMA_PutBlocking(team, target_rank, target, &wanted, sizeof wanted, 0);
  value = 0;
  get(1);
  expect(value == wanted, sentence);
}

static void measure(const char *operation, void (*work)(uint64_t count)) { row(operation, sizeof value, "ns", 1e9 * seconds_each(work)); }

static void measure_target(gex_Rank_t rank, uint64_t *word, const char *names[]) {
  target_rank = rank;
  target = word;
  check_put(put_nb, "PutNB + Wait did not write");
  measure(names[0], put_nb);
  check_put(put_nb_leaf, "PutNB + Wait of the leaf and the root did not write");
  measure(names[1], put_nb_leaf);
  check_put(put_nbi, "PutNBI + NBI_Wait did not write");
  measure(names[2], put_nbi);
  value = 99;
  check_put(put_nbi_64, "64 PutNBI + NBI_Wait did not write");
  measure(names[3], put_nbi_64);
  check_get(get_nb, "GetNB + Wait did not read");
  measure(names[4], get_nb);
  check_get(get_nbi, "GetNBI + NBI_Wait did not read");
  measure(names[5], get_nbi);
  value = 98;
  check_put(put_region, "a put in an access region did not write");
  measure(names[6], put_region);
  row(names[7], sizeof value, "ns", 1e9 * test_of_done_s());
}

static void measure_all(void) {
  static const char *of_own[] = {"PutNB + Wait, own", "PutNB + Wait of leaf and root, own", "PutNBI + NBI_Wait, own", "64 PutNBI + NBI_Wait, own, each",
                                 "GetNB + Wait, own", "GetNBI + NBI_Wait, own", "region with one PutNBI + Wait, own", "Test of a done event, own"};
  static const char *of_neighbour[] = {"PutNB + Wait, neighbour", "PutNB + Wait of leaf and root, neighbour", "PutNBI + NBI_Wait, neighbour",
                                       "64 PutNBI + NBI_Wait, neighbour, each", "GetNB + Wait, neighbour", "GetNBI + NBI_Wait, neighbour",
                                       "region with one PutNBI + Wait, neighbour", "Test of a done event, neighbour"};
  measure_target(0, own, of_own);
  measure_target(1, neighbours, of_neighbour);
  measure("empty region + Wait", empty_region);
  measure("NBI_Wait for nothing", empty_wait);
}

int main(int argc, char **argv) {
  begin("events", argc, argv, NULL, 0, 1 << 16);
  own = segment_of(0);
  neighbours = segment_of(1);
  measure_alone(measure_all);
}
