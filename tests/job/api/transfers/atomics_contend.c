/* Remote atomics that all ranks, with several threads in PAR, do on the same words at once (GX-157): what serial order
 * there was must have lost nothing and done nothing twice. */
#include "atomics_test.h"

#ifdef GASNET_PAR
#include <pthread.h>
enum { kThreads = 2 };
#else
enum { kThreads = 1 };
#endif
static uint64_t rounds;

static gex_AD_t tickets, marks, numbers, swaps, counts; /* U64, U32, DBL, I64, U64 of what NICs do alone */
static uint64_t all; /* of the job's rounds */
static gex_Rank_t owner;

/* In the owner's memory; marks may be of several ranks. */
static uint64_t *ticket_word(void) { return (uint64_t *)bases[owner]; }
static double *number_word(void) { return (double *)(bases[owner] + 64); }
static int64_t *swap_word(void) { return (int64_t *)(bases[owner] + 128); }
static int64_t *high_word(void) { return (int64_t *)(bases[owner] + 192); }
static uint64_t *count_word(int index) { return (uint64_t *)(bases[owner] + 256 + 64 * index); }
enum { kTickets, kSwapped, kCounted, kBoards };
static uint32_t *mark_word(int board, uint64_t index) {
  const gex_Rank_t rank = (gex_Rank_t)(index % ranks);
  return (uint32_t *)(bases[rank] + 4096) + (size_t)board * 65536 + index / ranks;
}
static void mark(int board, uint64_t index) {
  if (index > all) fail_at(__FILE__, __LINE__, "board %d: a value %llu that nobody wrote", board, (unsigned long long)index);
  gex_AD_OpNBI_U32(marks, NULL, (gex_Rank_t)(index % ranks), mark_word(board, index), GEX_OP_INC, 0, 0, 0);
}

/* Everyone takes tickets: each number once, none left out. */
static void take_ticket(uint64_t round) {
  uint64_t ticket = ~0ull;
  if (round % 2) {
    gex_Event_Wait(gex_AD_OpNB_U64(tickets, &ticket, owner, ticket_word(), GEX_OP_FINC, 0, 0, 0));
  } else {
    gex_AD_OpNBI_U64(tickets, &ticket, owner, ticket_word(), GEX_OP_FADD, 1, 0, 0);
    /* these change nothing, but write it */
    gex_AD_OpNBI_U64(tickets, NULL, owner, ticket_word(), GEX_OP_MULT, 1, 0, 0);
    gex_AD_OpNBI_U64(tickets, NULL, owner, ticket_word(), GEX_OP_MAX, 0, 0, 0);
    gex_NBI_Wait(GEX_EC_RMW, 0);
  }
  mark(kTickets, ticket);
}

/* A sum by compare and swap alone, halves that floats keep exactly. */
static void add_half(void) {
  double expected = 0, found;
  gex_Event_Wait(gex_AD_OpNB_DBL(numbers, &expected, owner, number_word(), GEX_OP_GET, 0, 0, 0));
  for (;;) {
    gex_Event_Wait(gex_AD_OpNB_DBL(numbers, &found, owner, number_word(), GEX_OP_FCAS, expected, expected + .5, 0));
    if (found == expected) return;
    expected = found;
  }
}

/* Everyone leaves a value of its own and takes what it finds: a chain through all of them. */
static void swap_in(int64_t mine) {
  int64_t found = -1;
  gex_Event_Wait(gex_AD_OpNB_I64(swaps, &found, owner, swap_word(), GEX_OP_SWAP, mine, 0, 0));
  mark(kSwapped, (uint64_t)found);
  gex_AD_OpNBI_I64(swaps, &found, owner, high_word(), GEX_OP_FMAX, mine, 0, 0);
  gex_NBI_Wait(GEX_EC_RMW, 0);
  if (found > (int64_t)all) fail_at(__FILE__, __LINE__, "FMAX returned %lld", (long long)found);
}

/* Numbers once more, and a sum by compare and swap, all by the NIC where it does so: the owner's own, too. */
static void count(uint64_t round) {
  uint64_t number = ~0ull, expected = 0, found = ~0ull;
  if (round % 2) {
    gex_AD_OpNBI_U64(counts, &number, owner, count_word(0), GEX_OP_FADD, 1, 0, 0);
    gex_NBI_Wait(GEX_EC_RMW, 0);
  } else {
    gex_Event_Wait(gex_AD_OpNB_U64(counts, &number, owner, count_word(0), GEX_OP_FINC, 0, 0, 0));
  }
  mark(kCounted, number);
  gex_Event_Wait(gex_AD_OpNB_U64(counts, &expected, owner, count_word(1), GEX_OP_GET, 0, 0, 0));
  while (found != expected) {
    if (found != ~0ull) expected = found;
    gex_Event_Wait(gex_AD_OpNB_U64(counts, &found, owner, count_word(1), GEX_OP_FCAS, expected, expected + 1, 0));
  }
}

static void *work(void *thread_p) {
  const uint64_t thread = *(const uint64_t *)thread_p;
  const uint64_t first = ((uint64_t)me * kThreads + thread) * rounds + 1; /* swaps begin with 0 */
  for (uint64_t round = 0; round < rounds; ++round) {
    take_ticket(round);
    add_half();
    count(round);
    swap_in((int64_t)(first + round));
  }
  gex_NBI_Wait(GEX_EC_ALL, 0);
  return NULL;
}

static void work_all(void) {
  uint64_t names[kThreads];
  for (int i = 0; i < kThreads; ++i) names[i] = (uint64_t)i;
#ifdef GASNET_PAR
  pthread_t other;
  EXPECT_EQ(pthread_create(&other, NULL, work, &names[1]), 0);
  work(&names[0]);
  EXPECT_EQ(pthread_join(other, NULL), 0);
#else
  work(&names[0]);
#endif
}

/* By the memory's owner, after the phase. */
static void check_boards(int64_t last) {
  for (uint64_t i = me; i <= all; i += ranks) {
    if (i < all && *mark_word(kTickets, i) != 1)
      fail_at(__FILE__, __LINE__, "ticket %llu of %llu was taken %u times", (unsigned long long)i, (unsigned long long)all, *mark_word(kTickets, i));
    if (i < all && *mark_word(kCounted, i) != 1)
      fail_at(__FILE__, __LINE__, "number %llu of %llu was counted %u times", (unsigned long long)i, (unsigned long long)all, *mark_word(kCounted, i));
    if (*mark_word(kSwapped, i) != (i == (uint64_t)last ? 0 : 1))
      fail_at(__FILE__, __LINE__, "%llu of %llu was found %u times in the chain, whose end is %lld", (unsigned long long)i,
              (unsigned long long)all, *mark_word(kSwapped, i), (long long)last);
  }
  if (owner != me) return;
  EXPECT_EQ(*ticket_word(), all);
  EXPECT_EQ(*count_word(0), all);
  EXPECT_EQ(*count_word(1), all);
  EXPECT(*number_word() == .5 * (double)all);
  EXPECT_EQ(*high_word(), all);
  EXPECT(last >= 1 && last <= (int64_t)all);
}

int main(int argc, char **argv) {
  start_atomics(&argc, &argv);
  rounds = ranks > 2 ? 40 : 150; /* ranks that outnumber the cores take long */
  all = (uint64_t)ranks * kThreads * rounds;
  for (owner = 0; owner < ranks; owner += ranks > 1 ? ranks - 1 : 1) {
    memset(bases[me], 0, kMemoryBytes);
    gex_AD_Create(&tickets, team, GEX_DT_U64, GEX_OP_FADD | GEX_OP_FINC | GEX_OP_MULT | GEX_OP_MAX, 0);
    gex_AD_Create(&marks, team, GEX_DT_U32, GEX_OP_INC, 0);
    gex_AD_Create(&numbers, team, GEX_DT_DBL, GEX_OP_GET | GEX_OP_FCAS, 0);
    gex_AD_Create(&swaps, team, GEX_DT_I64, GEX_OP_SWAP | GEX_OP_FMAX | GEX_OP_GET, 0);
    gex_AD_Create(&counts, team, GEX_DT_U64, GEX_OP_FADD | GEX_OP_FINC | GEX_OP_FCAS | GEX_OP_GET, 0);
    expect_path_of_nics(counts);
    barrier();
    work_all();
    barrier();
    int64_t last = -1;
    gex_Event_Wait(gex_AD_OpNB_I64(swaps, &last, owner, swap_word(), GEX_OP_GET, 0, 0, 0));
    barrier();
    check_boards(last);
    gex_AD_Destroy(tickets);
    gex_AD_Destroy(marks);
    gex_AD_Destroy(numbers);
    gex_AD_Destroy(swaps);
    gex_AD_Destroy(counts);
    barrier();
  }
  end_job("atomics_contend");
}
