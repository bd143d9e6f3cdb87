/* atomics [--seconds S]: remote atomics of rank 0 on rank 1, one after the other and 64 at once, beside a put, a get, the round
 * trip of a Short active message, and an addition by such messages: the handler adds, the reply brings the old value. The ways
 * that an operation goes: by this process's CPU on memory that it has mapped; by the device or what stands for it; by the
 * other's CPU in a handler. Built for FAST segments, and as atomics_everything for EVERYTHING, where shm maps nothing. */
#include <gasnet_ratomic.h>
#include <stdio.h>
#include <string.h>

#include "common.h"

enum { kBatch = 64 };

static gex_AM_Index_t ask_index, answer_index, add_index, added_index;
static volatile uint64_t answers; /* of rank 0 */
static uint64_t asked;
static volatile uint64_t old_by_message;
static void *there; /* rank 1's words, one for each type */

static uint64_t join(gex_AM_Arg_t low, gex_AM_Arg_t high) { return (uint64_t)(uint32_t)low | (uint64_t)(uint32_t)high << 32; }
static gex_AM_Arg_t high_of(uint64_t word) { return (gex_AM_Arg_t)(word >> 32); }

static void on_ask(gex_Token_t token) { gex_AM_ReplyShort0(token, answer_index, 0); }
static void on_answer(gex_Token_t token) {
  (void)token;
  ++answers;
}
static void on_add(gex_Token_t token, gex_AM_Arg_t low, gex_AM_Arg_t high, gex_AM_Arg_t addend) {
  uint64_t *word = (uint64_t *)(uintptr_t)join(low, high);
  const uint64_t old = *word; /* nobody else runs handlers of this process */
  *word = old + (uint64_t)addend;
  gex_AM_ReplyShort2(token, added_index, 0, (gex_AM_Arg_t)old, high_of(old));
}
static void on_added(gex_Token_t token, gex_AM_Arg_t low, gex_AM_Arg_t high) {
  (void)token;
  old_by_message = join(low, high);
  ++answers;
}

static gex_AD_t u32, u64, i64, dbl;
static uint32_t old32;
static uint64_t old64;
static int64_t old_i64;
static double old_dbl;

static void fadd_u64(void) { gex_AD_OpNBI_U64(u64, &old64, 1, there, GEX_OP_FADD, 1, 0, 0); }
static void add_u64(void) { gex_AD_OpNBI_U64(u64, NULL, 1, there, GEX_OP_ADD, 1, 0, 0); }
static void fcas_u64(void) { gex_AD_OpNBI_U64(u64, &old64, 1, there, GEX_OP_FCAS, 1, 2, 0); }
static void fadd_u32(void) { gex_AD_OpNBI_U32(u32, &old32, 1, (uint32_t *)there + 2, GEX_OP_FADD, 1, 0, 0); }
static void fmult_i64(void) { gex_AD_OpNBI_I64(i64, &old_i64, 1, (int64_t *)there + 2, GEX_OP_FMULT, 3, 0, 0); }
static void fadd_dbl(void) { gex_AD_OpNBI_DBL(dbl, &old_dbl, 1, (double *)there + 3, GEX_OP_FADD, 1, 0, 0); }
static void put_8(void) { gex_RMA_PutNBI(team, 1, (uint64_t *)there + 4, &old64, 8, GEX_EVENT_NOW, 0); }
static void get_8(void) { gex_RMA_GetNBI(team, &old64, 1, (uint64_t *)there + 4, 8, 0); }
static void ask(void) {
  ++asked;
  gex_AM_RequestShort0(team, 1, ask_index, 0);
}
static void add_by_message(void) {
  const uint64_t word = (uint64_t)(uintptr_t)((uint64_t *)there + 5);
  ++asked;
  gex_AM_RequestShort3(team, 1, add_index, 0, (gex_AM_Arg_t)word, high_of(word), 1);
}
static void wait_all(void) {
  gex_NBI_Wait(GEX_EC_PUT | GEX_EC_GET | GEX_EC_RMW, 0);
  GASNET_BLOCKUNTIL(answers == asked);
}

static void (*start_one)(void);
static void one_by_one(uint64_t count) {
  for (uint64_t i = 0; i < count; ++i) {
    start_one();
    wait_all();
  }
}
static void many_at_once(uint64_t count) {
  for (uint64_t i = 0; i < count; ++i) {
    start_one();
    if (i % kBatch == kBatch - 1) wait_all();
  }
  wait_all();
}

/* `count` times, beginning with `from`, the word at `index` is changed to `to`. */
static void check(const char *sentence, void (*start)(void), unsigned count, size_t index, const void *from, const void *to, size_t size) {
  uint64_t seen = 0, wanted = 0;
  gex_RMA_PutBlocking(team, 1, (uint64_t *)there + index, from, size, 0);
  start_one = start;
  many_at_once(count);
  gex_RMA_GetBlocking(team, &seen, 1, (uint64_t *)there + index, size, 0);
  memcpy(&wanted, to, size);
  expect(seen == wanted, sentence);
}
static void check_all(void) {
  const uint64_t one = 1, two = 2, five = 5, hundred_and_five = 105;
  const uint32_t five32 = 5, hundred_and_five32 = 105;
  const int64_t minus_two = -2, product = -2 * 81;
  const double half = 0.5, sum = 100.5;
  check("100 FADD U64 did not add 100", fadd_u64, 100, 0, &five, &hundred_and_five, 8);
  check("100 ADD U64 did not add 100", add_u64, 100, 0, &five, &hundred_and_five, 8);
  check("FCAS U64 did not swap", fcas_u64, 1, 0, &one, &two, 8);
  check("FCAS U64 swapped what was another value", fcas_u64, 1, 0, &five, &five, 8);
  expect(old64 == 5, "FCAS U64 returned another value");
  check("100 FADD U32 did not add 100", fadd_u32, 100, 1, &five32, &hundred_and_five32, 4);
  check("4 FMULT I64 by 3 did not multiply by 81", fmult_i64, 4, 2, &minus_two, &product, 8);
  check("100 FADD DBL did not add 100", fadd_dbl, 100, 3, &half, &sum, 8);
  check("100 additions by messages did not add 100", add_by_message, 100, 5, &five, &hundred_and_five, 8);
  old64 = 6;
  check("a put did not write", put_8, 1, 4, &five, &old64, 8);
}

static void measure(const char *operation, void (*start)(void)) {
  char name[64];
  start_one = start;
  snprintf(name, sizeof name, "%s, one", operation);
  row(name, 8, "us", 1e6 * seconds_each(one_by_one));
  snprintf(name, sizeof name, "%s, 64 at once", operation);
  row(name, 8, "M/s", 1e-6 / seconds_each(many_at_once));
}

static void measure_all(void) {
  check_all();
  measure("FADD U64", fadd_u64);
  measure("ADD U64", add_u64);
  measure("FCAS U64", fcas_u64);
  measure("FADD U32", fadd_u32);
  measure("FMULT I64", fmult_i64);
  measure("FADD DBL", fadd_dbl);
  measure("FADD by messages", add_by_message);
  measure("put", put_8);
  measure("get", get_8);
  measure("Short AM and its reply", ask);
}

int main(int argc, char **argv) {
  gex_AM_Entry_t table[] = {{0, (gex_AM_Fn_t)on_ask, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 0, NULL, "ask"},
                            {0, (gex_AM_Fn_t)on_answer, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REPLY, 0, NULL, "answer"},
                            {0, (gex_AM_Fn_t)on_add, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 3, NULL, "add"},
                            {0, (gex_AM_Fn_t)on_added, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REPLY, 2, NULL, "added"}};
  begin("atomics", argc, argv, table, 4, 1 << 16);
  ask_index = table[0].gex_index, answer_index = table[1].gex_index, add_index = table[2].gex_index, added_index = table[3].gex_index;
  there = segment_of(1);
  gex_AD_Create(&u64, team, GEX_DT_U64, GEX_OP_FADD | GEX_OP_ADD | GEX_OP_FCAS, 0);
  gex_AD_Create(&u32, team, GEX_DT_U32, GEX_OP_FADD, 0);
  gex_AD_Create(&i64, team, GEX_DT_I64, GEX_OP_FMULT, 0);
  gex_AD_Create(&dbl, team, GEX_DT_DBL, GEX_OP_FADD, 0);
  measure_alone(measure_all);
}
