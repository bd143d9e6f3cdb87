/* np [--seconds S]: how fast rank 0 gets Mediums and Longs of 1 to 64 KiB to rank 1, with fixed payloads and with
 * negotiated ones:
 *
 *   fixed                              from one buffer of the client's, whose contents are there
 *   fixed, generated                   the payload is written into that buffer before each message
 *   negotiated, generated              likewise, and Prepare and Commit send it from there
 *   negotiated, generated in place     the payload is written into the buffer that Prepare lends
 *
 * "generation alone" writes payloads and sends nothing. Before each measurement rank 1 compares every byte of some messages. */
#include <stdio.h>
#include <stdlib.h>

#include "common.h"

enum { kChecked = 8, kBytesMax = 64 << 10, kSlots = 8, kArgs = 1 };

static gex_AM_Index_t medium_index, long_index, ask_index, answer_index;
static uint64_t sent;                    /* of rank 0 */
static volatile uint32_t received;       /* of rank 1: wraps, as `sent` does there */
static volatile uint32_t wrong;          /* of it: not what was generated */
static volatile uint32_t told, told_wrong;
static volatile int is_told;
static unsigned char *there;
static uint32_t buffer[kBytesMax / 4];
static size_t bytes;       /* of what is measured now */
static uint32_t seed;      /* of its payloads; 0: rank 1 does not look */

static void generate(uint32_t *to, uint32_t from) {
  for (size_t i = 0; i < bytes / 4; ++i) to[i] = from + (uint32_t)i;
}

static void on_payload(gex_Token_t token, void *payload, size_t nbytes, gex_AM_Arg_t from) {
  (void)token;
  const uint32_t *words = payload;
  for (size_t i = 0; from != 0 && i < nbytes / 4; ++i) {
    if (words[i] != (uint32_t)from + (uint32_t)i) {
      ++wrong;
      break;
    }
  }
  ++received;
}
static void on_ask(gex_Token_t token) { gex_AM_ReplyShort2(token, answer_index, 0, (gex_AM_Arg_t)received, (gex_AM_Arg_t)wrong); }
static void on_answer(gex_Token_t token, gex_AM_Arg_t count, gex_AM_Arg_t of_them_wrong) {
  (void)token;
  told = (uint32_t)count;
  told_wrong = (uint32_t)of_them_wrong;
  is_told = 1;
}

/* All that was sent has been handled. */
static void wait_for_all(void) {
  do {
    is_told = 0;
    gex_AM_RequestShort0(team, 1, ask_index, 0);
    GASNET_BLOCKUNTIL(is_told);
  } while (told != (uint32_t)sent);
}

static void medium_of(const void *from) { gex_AM_RequestMedium1(team, 1, medium_index, (void *)(uintptr_t)from, bytes, GEX_EVENT_NOW, 0, (gex_AM_Arg_t)seed); }
static void medium_fixed(void) { medium_of(buffer); }
static void medium_generated(void) {
  generate(buffer, seed);
  medium_of(buffer);
}
static void medium_negotiated(void) {
  gex_AM_SrcDesc_t sd = gex_AM_PrepareRequestMedium(team, 1, buffer, bytes, bytes, GEX_EVENT_NOW, 0, kArgs);
  generate(buffer, seed);
  gex_AM_CommitRequestMedium1(sd, medium_index, bytes, (gex_AM_Arg_t)seed);
}
static void medium_in_place(void) {
  gex_AM_SrcDesc_t sd = gex_AM_PrepareRequestMedium(team, 1, NULL, bytes, bytes, NULL, 0, kArgs);
  generate(gex_AM_SrcDescAddr(sd), seed);
  gex_AM_CommitRequestMedium1(sd, medium_index, bytes, (gex_AM_Arg_t)seed);
}

static void *slot(void) { return there + sent % kSlots * kBytesMax; }
static void long_of(const void *from) {
  gex_AM_RequestLong1(team, 1, long_index, (void *)(uintptr_t)from, bytes, slot(), GEX_EVENT_NOW, 0, (gex_AM_Arg_t)seed);
}
static void long_fixed(void) { long_of(buffer); }
static void long_generated(void) {
  generate(buffer, seed);
  long_of(buffer);
}
static void long_negotiated(void) {
  gex_AM_SrcDesc_t sd = gex_AM_PrepareRequestLong(team, 1, buffer, bytes, bytes, slot(), GEX_EVENT_NOW, 0, kArgs);
  generate(buffer, seed);
  gex_AM_CommitRequestLong1(sd, long_index, bytes, slot(), (gex_AM_Arg_t)seed);
}
static void long_in_place(void) {
  gex_AM_SrcDesc_t sd = gex_AM_PrepareRequestLong(team, 1, NULL, bytes, bytes, slot(), NULL, 0, kArgs);
  generate(gex_AM_SrcDescAddr(sd), seed);
  gex_AM_CommitRequestLong1(sd, long_index, bytes, slot(), (gex_AM_Arg_t)seed);
}

static void (*send_one)(void);
static void send_many(uint64_t count) {
  for (uint64_t i = 0; i < count; ++i, ++sent) send_one();
  wait_for_all();
}
static void generate_many(uint64_t count) {
  for (uint64_t i = 0; i < count; ++i) {
    generate(buffer, (uint32_t)i);
    __asm__ __volatile__("" : : "r"(buffer) : "memory");
  }
}

/* Each with another payload, which is on its way alone: the slots of Longs are written again. */
static void check(const char *name) {
  char sentence[100];
  for (uint32_t i = 1; i <= kChecked; ++i) {
    seed = 1000 * i;
    generate(buffer, seed);
    send_many(1);
  }
  snprintf(sentence, sizeof sentence, "%s, %zu bytes: %u payloads arrived otherwise than they were sent", name, bytes, (unsigned)told_wrong);
  expect(told_wrong == 0, sentence);
  seed = 0;
}

static void measure(const char *name, void (*send)(void), size_t limit) {
  if (bytes > limit) {
    char note[100];
    snprintf(note, sizeof note, "beyond the limit of %zu bytes", limit);
    row_without_value(name, bytes, note);
    return;
  }
  send_one = send;
  check(name);
  row(name, bytes, "GB/s", 1e-9 * (double)bytes / seconds_each(send_many));
}

static void measure_size(void) {
  const gex_Flags_t from_client = GEX_FLAG_AM_PREPARE_LEAST_CLIENT, in_place = GEX_FLAG_AM_PREPARE_LEAST_ALLOC;
  row("generation alone", bytes, "GB/s", 1e-9 * (double)bytes / seconds_each(generate_many));
  const size_t medium = gex_AM_MaxRequestMedium(team, 1, GEX_EVENT_NOW, 0, kArgs);
  measure("Medium, fixed", medium_fixed, medium);
  measure("Medium, fixed, generated", medium_generated, medium);
  measure("Medium, negotiated, generated", medium_negotiated, gex_AM_MaxRequestMedium(team, 1, GEX_EVENT_NOW, from_client, kArgs));
  measure("Medium, negotiated, generated in place", medium_in_place, gex_AM_MaxRequestMedium(team, 1, NULL, in_place, kArgs));
  const size_t long_max = gex_AM_MaxRequestLong(team, 1, GEX_EVENT_NOW, 0, kArgs);
  measure("Long, fixed", long_fixed, long_max);
  measure("Long, fixed, generated", long_generated, long_max);
  measure("Long, negotiated, generated", long_negotiated, gex_AM_MaxRequestLong(team, 1, GEX_EVENT_NOW, from_client, kArgs));
  measure("Long, negotiated, generated in place", long_in_place, gex_AM_MaxRequestLong(team, 1, NULL, in_place, kArgs));
}

static void measure_all(void) {
  for (bytes = 1 << 10; bytes <= kBytesMax; bytes *= 2) measure_size();
}

int main(int argc, char **argv) {
  gex_AM_Entry_t table[] = {{0, (gex_AM_Fn_t)on_payload, GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REQUEST, kArgs, NULL, "medium"},
                            {0, (gex_AM_Fn_t)on_payload, GEX_FLAG_AM_LONG | GEX_FLAG_AM_REQUEST, kArgs, NULL, "long"},
                            {0, (gex_AM_Fn_t)on_ask, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 0, NULL, "ask"},
                            {0, (gex_AM_Fn_t)on_answer, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REPLY, 2, NULL, "answer"}};
  begin("np", argc, argv, table, 4, kSlots * kBytesMax);
  medium_index = table[0].gex_index, long_index = table[1].gex_index, ask_index = table[2].gex_index, answer_index = table[3].gex_index;
  there = segment_of(1);
  measure_alone(measure_all);
}
