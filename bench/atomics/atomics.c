/* atomics [--rounds N]: remote atomics of rank 0 on rank 1, one after the other and 64 at once, beside a put, a get and the
 * round trip of a Short active message. Prints one JSON object for each. The ways that an operation goes: "inlined", by
 * this process's CPU on memory that it has mapped; "driver", by the device or what stands for it; "message", by the
 * other's CPU in a handler. Built for FAST segments, and as atomics_everything for EVERYTHING, where shm maps nothing. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <gasnetex.h>
#include <gasnet_ratomic.h>

enum { kBatch = 64, kSegmentBytes = 1 << 16 };

static gex_TM_t team;
static gex_AM_Index_t ask_index, answer_index, place_index;
static volatile long answers;
static volatile int is_over;
static void *volatile there; /* rank 1's words */
static int rounds = 20000;

static double now_s(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void on_ask(gex_Token_t token) { gex_AM_ReplyShort0(token, answer_index, 0); }
static void on_answer(gex_Token_t token) {
  (void)token;
  ++answers;
}
/* Of rank 1: its words; of rank 0: the end. */
static void on_place(gex_Token_t token, gex_AM_Arg_t low, gex_AM_Arg_t high) {
  (void)token;
  there = (void *)(uintptr_t)((uint64_t)(uint32_t)low | (uint64_t)(uint32_t)high << 32);
  is_over = 1;
}

static gex_AD_t u32, u64, i64, dbl;
static uint32_t old32;
static uint64_t old64;
static int64_t old_i64;
static double old_dbl;

static void fadd_u64(void) { gex_AD_OpNBI_U64(u64, &old64, 1, there, GEX_OP_FADD, 1, 0, 0); }
static void add_u64(void) { gex_AD_OpNBI_U64(u64, NULL, 1, there, GEX_OP_ADD, 1, 0, 0); }
static void fcas_u64(void) { gex_AD_OpNBI_U64(u64, &old64, 1, there, GEX_OP_FCAS, 1, 2, 0); }
static void fadd_u32(void) { gex_AD_OpNBI_U32(u32, &old32, 1, there, GEX_OP_FADD, 1, 0, 0); }
static void fmult_i64(void) { gex_AD_OpNBI_I64(i64, &old_i64, 1, there, GEX_OP_FMULT, 3, 0, 0); }
static void fadd_dbl(void) { gex_AD_OpNBI_DBL(dbl, &old_dbl, 1, there, GEX_OP_FADD, 1, 0, 0); }
static void put_8(void) { gex_RMA_PutNBI(team, 1, there, &old64, 8, GEX_EVENT_NOW, 0); }
static void get_8(void) { gex_RMA_GetNBI(team, &old64, 1, there, 8, 0); }
static void wait_all(long started) {
  (void)started;
  gex_NBI_Wait(GEX_EC_PUT | GEX_EC_GET | GEX_EC_RMW, 0);
}
static void ask(void) { gex_AM_RequestShort0(team, 1, ask_index, 0); }
static void wait_answers(long started) { GASNET_BLOCKUNTIL(answers == started); }

/* Seconds for each of all rounds, `batch` of them under way at once. */
static double each_s(void (*start)(void), void (*wait)(long), int batch) {
  const double begin = now_s();
  answers = 0;
  for (int i = 0; i < rounds; i += batch) {
    for (int k = 0; k < batch; ++k) start();
    wait(i + batch);
  }
  return (now_s() - begin) / rounds;
}

static void measure(const char *operation, void (*start)(void), void (*wait)(long)) {
  each_s(start, wait, kBatch);
  const double alone = each_s(start, wait, 1), together = each_s(start, wait, kBatch);
  printf("{\"operation\": \"%s\", \"latency_us\": %.3f, \"millions_per_s\": %.3f}\n", operation, 1e6 * alone, 1e-6 / together);
  fflush(stdout);
}

static void measure_all(void) {
  measure("FADD U64", fadd_u64, wait_all);
  measure("ADD U64", add_u64, wait_all);
  measure("FCAS U64", fcas_u64, wait_all);
  measure("FADD U32", fadd_u32, wait_all);
  measure("FMULT I64", fmult_i64, wait_all);
  measure("FADD DBL", fadd_dbl, wait_all);
  measure("put of 8 bytes", put_8, wait_all);
  measure("get of 8 bytes", get_8, wait_all);
  measure("Short AM, round trip", ask, wait_answers);
}

int main(int argc, char **argv) {
  const struct option options[] = {{"rounds", required_argument, NULL, 'r'}, {NULL, 0, NULL, 0}};
  static uint64_t words[64];
  gex_AM_Entry_t table[] = {{0, (gex_AM_Fn_t)on_ask, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 0, NULL, "ask"},
                            {0, (gex_AM_Fn_t)on_answer, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REPLY, 0, NULL, "answer"},
                            {0, (gex_AM_Fn_t)on_place, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 2, NULL, "place"}};
  gex_Client_t client;
  gex_EP_t endpoint;
  gex_Segment_t segment;
  if (gex_Client_Init(&client, &endpoint, &team, "ATOMICS", &argc, &argv, 0) != GASNET_OK) return 1;
  for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;) {
    if (option != 'r' || (rounds = atoi(optarg) / kBatch * kBatch) < kBatch) {
      fprintf(stderr, "usage: atomics [--rounds N], at least %d\n", kBatch);
      gasnet_exit(1);
    }
  }
  if (gex_TM_QuerySize(team) != 2) {
    fprintf(stderr, "atomics wants two ranks\n");
    gasnet_exit(1);
  }
  gex_EP_RegisterHandlers(endpoint, table, 3);
  ask_index = table[0].gex_index, answer_index = table[1].gex_index, place_index = table[2].gex_index;
  if (gex_Segment_Attach(&segment, team, kSegmentBytes) != GASNET_OK) gasnet_exit(1);
  gex_AD_Create(&u64, team, GEX_DT_U64, GEX_OP_FADD | GEX_OP_ADD | GEX_OP_FCAS, 0);
  gex_AD_Create(&u32, team, GEX_DT_U32, GEX_OP_FADD, 0);
  gex_AD_Create(&i64, team, GEX_DT_I64, GEX_OP_FMULT, 0);
  gex_AD_Create(&dbl, team, GEX_DT_DBL, GEX_OP_FADD, 0);
  gasnet_barrier(0, GASNET_BARRIERFLAG_ANONYMOUS);
  if (gex_TM_QueryRank(team) == 1) {
    const uint64_t mine = (uint64_t)(uintptr_t)(segment == GEX_SEGMENT_INVALID ? (void *)words : gex_Segment_QueryAddr(segment));
    gex_AM_RequestShort2(team, 0, place_index, 0, (gex_AM_Arg_t)mine, (gex_AM_Arg_t)(mine >> 32));
  }
  GASNET_BLOCKUNTIL(is_over); /* of rank 1: when rank 0 is done */
  if (gex_TM_QueryRank(team) == 0) {
    measure_all();
    gex_AM_RequestShort2(team, 1, place_index, 0, 0, 0);
  }
  gasnet_barrier(0, GASNET_BARRIERFLAG_ANONYMOUS);
  gasnet_exit(0);
}
