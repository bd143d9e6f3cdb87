/* debtors: the ranks between the first and the last ask the last for more than they take, and fall silent. Its handlers, which
 * answer them, must not wait for them: meanwhile rank 0's requests are answered. Then the silent ranks come back, and get every
 * answer once, also if the last rank does not call GASNet any more, where GASNET_DISPATCH has another thread look after it.
 *
 * Ends with code 1 if an answer waited for a silent rank, is wrong, or comes twice, and with 2 if nothing was shown: no answer
 * had to wait. */
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "bench/silence.h"
#include "gasnetex.h"
#include "tests/support/byte_pattern.h"
#include "tests/support/statistic.h"

enum {
  kAsk = 200,
  kShort,
  kMedium,
  kLong,
  kPing,
  kPong,
  kAsksMax = 4000, /* of a rank; each eighth for a Long */
  kLongBytes = 48 << 10,
  kSegmentBytes = kAsksMax / 8 * kLongBytes,
  kHeadBytes = 512,          /* of an answer that is owed */
  kOwedBytesMax = 240 << 20, /* what a lane owes is bounded, and beyond it handlers do wait */
  kRefusalsMax = 1000,
  kPings = 50
};

static gex_TM_t team;
static gasnet_seginfo_t segments[kRanksMax];
static size_t medium_bytes;
static unsigned char answered[kAsksMax];
static atomic_int answers, pongs; /* their handlers may run in another thread */

static void take_answer(int number, const unsigned char *bytes, size_t count) {
  if (number < 0 || number >= kAsksMax || answered[number]++ != 0) fail("an answer came twice", 1);
  if (!holds_pattern(bytes, count, (unsigned)number)) fail("an answer's payload is wrong", 1);
  ++answers;
}

static void on_short(gex_Token_t token, gex_AM_Arg_t number) {
  (void)token;
  take_answer(number, NULL, 0);
}
static void on_payload(gex_Token_t token, void *bytes, size_t count, gex_AM_Arg_t number) {
  (void)token;
  take_answer(number, bytes, count);
}
/* The answer is a Short, a Medium or a Long, from memory that is another's at once. */
static void on_ask(gex_Token_t token, gex_AM_Arg_t number) {
  static unsigned char scratch[64 << 10];
  gex_Token_Info_t from;
  gex_Token_Info(token, &from, GEX_TI_SRCRANK);
  if (number % 8 == 0) {
    unsigned char *dest = (unsigned char *)segments[from.gex_srcrank].addr + (size_t)number / 8 * kLongBytes;
    fill_pattern(scratch, kLongBytes, (unsigned)number);
    gex_AM_ReplyLong1(token, kLong, scratch, kLongBytes, dest, GEX_EVENT_NOW, 0, number);
  } else if (number % 8 < 4) {
    fill_pattern(scratch, medium_bytes, (unsigned)number);
    gex_AM_ReplyMedium1(token, kMedium, scratch, medium_bytes, GEX_EVENT_NOW, 0, number);
  } else {
    gex_AM_ReplyShort1(token, kShort, 0, number);
  }
  memset(scratch, 0xee, sizeof scratch);
}
static void on_ping(gex_Token_t token) { gex_AM_ReplyShort0(token, kPong, 0); }
static void on_pong(gex_Token_t token) {
  (void)token;
  ++pongs;
}

/* No more than may be owed to all silent ranks. */
static int asks_max(void) {
  const size_t bytes_of_eight = kLongBytes + 3 * medium_bytes + 8 * kHeadBytes;
  const size_t asks = kOwedBytesMax / (ranks - 2) / bytes_of_eight * 8;
  return asks < kAsksMax ? (int)asks : kAsksMax;
}

/* Nothing is taken meanwhile: what does not go at once does not go. Returns how many were asked for. */
static int ask(void) {
  int asked = 0;
  for (int refusals = 0; asked < asks_max() && refusals < kRefusalsMax;) {
    if (gex_AM_RequestShort1(team, attentive, kAsk, GEX_FLAG_IMMEDIATE, asked) == 0) {
      ++asked;
    } else {
      ++refusals;
    }
  }
  return asked;
}

static void ping_while_they_are_silent(void) {
  for (int i = 0; i < kPings; ++i) {
    const int before = pongs;
    gex_AM_RequestShort0(team, attentive, kPing, 0);
    GASNET_BLOCKUNTIL(pongs != before);
    if (!all_are_silent()) fail("a message was answered only after a silent rank had come back", 1);
  }
}

/* Where another thread looks after GASNet it alone sends what is owed. */
static void serve(void) {
  const int polls = strcmp(pinwire_dispatch(), "poll") == 0;
  while (read_now(&board->done) != (int)ranks - 2) {
    if (polls)
      gasnet_AMPoll();
    else
      nap();
  }
  uint64_t owed = 0;
  if (!find_statistic("replies.owed", &owed)) fail("nothing counts owed replies", 2);
  if (owed == 0) fail("no answer had to wait: this showed nothing", 2);
  printf("%llu answers waited for %u ranks\n", (unsigned long long)owed, (unsigned)ranks - 2);
  fflush(stdout);
}

static void play(void) {
  if (is_between(me)) {
    const int asked = ask();
    gasnet_hold_interrupts(); /* silent also where another thread would have it run handlers */
    be_silent();
    gasnet_resume_interrupts();
    GASNET_BLOCKUNTIL(answers == asked);
    __atomic_add_fetch(&board->done, 1, __ATOMIC_ACQ_REL);
  } else if (me == 0) {
    while (!all_are_silent()) gasnet_AMPoll();
    ping_while_they_are_silent();
    write_now(&board->is_released, 1);
  } else {
    serve();
  }
}

int main(int argc, char **argv) {
  gex_Client_t client;
  gex_EP_t endpoint;
  gasnet_handlerentry_t table[] = {{kAsk, (void (*)())on_ask},        {kShort, (void (*)())on_short},
                                   {kMedium, (void (*)())on_payload}, {kLong, (void (*)())on_payload},
                                   {kPing, (void (*)())on_ping},      {kPong, (void (*)())on_pong}};
  if (gasnet_init(&argc, &argv) != GASNET_OK) return 1;
  if (gasnet_attach(table, sizeof table / sizeof *table, kSegmentBytes, 0) != GASNET_OK) gasnet_exit(1);
  gasnet_QueryGexObjects(&client, &endpoint, &team, NULL);
  look_around("debtors");
  if (ranks < 3 || ranks > kRanksMax) fail("this takes 3 to 64 ranks", 2);
  gasnet_getSegmentInfo(segments, (int)ranks);
  medium_bytes = gex_AM_LUBReplyMedium();
  if (medium_bytes > 16384) medium_bytes = 16384;
  share_board();
  barrier();
  play();
  barrier();
  gasnet_exit(0);
}
