/* GEX_FLAG_IMMEDIATE (GX-043): a call may do nothing, and says so; what it refused has not
 * happened, what it did not refuse has, once. Towards a rank that makes no GASNet call there soon
 * is no room. */
#include "../ex.h"

enum { kSlots = 2000, kSlotBytes = 64, kFlood = 20000, kMessageBytes = 400 };

static _Atomic int messages, bytes_of_messages, damaged, told;
static int sent;
static void on_flood(gex_Token_t token, gex_AM_Arg_t number) {
  (void)token;
  if (number < 0 || number >= kFlood) ++damaged;
  ++messages;
}
EX_HANDLER(on_flood, GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_SHORT, 1);
static void on_payload(gex_Token_t token, void *buf, size_t nbytes, gex_AM_Arg_t seed) {
  (void)token;
  if (!holds(buf, nbytes, (unsigned)seed)) ++damaged;
  bytes_of_messages += (int)nbytes;
  ++messages;
}
EX_HANDLER(on_payload, GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_MEDLONG, 1);
/* How many there are to come; the last that rank 0 says. */
static void on_total(gex_Token_t token, gex_AM_Arg_t total) {
  (void)token;
  EXPECT_FIRST(told);
  sent = total;
  ++told;
}
EX_HANDLER(on_total, GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_SHORT, 1);

static void begin(void) {
  sent = 0;
  messages = bytes_of_messages = damaged = told = 0;
  barrier();
}
/* No more and no less than rank 0 says were sent. */
static void expect_all(gex_Rank_t to, int total) {
  if (me == 0) gex_AM_RequestShort1(team, to, on_total_index, 0, total);
  if (me == to) {
    AWAIT(told, 1);
    AWAIT(messages, sent);
  }
  barrier();
  for (int i = 0; i < 200; ++i) gasnet_AMPoll();
  if (me == to) EXPECT_EQ(messages, sent);
  EXPECT_EQ(damaged, 0);
  barrier();
}

CASE(refused_messages_do_not_come, "GX-043") {
  int accepted = 0;
  if (nodes < 2) NOT_HERE("one rank has nobody who does not listen");
  begin();
  if (freeze_rank_1()) {
    for (int i = 0, refused = 0; i < kFlood && refused < 50; ++i) {
      const int result = gex_AM_RequestShort1(team, 1, on_flood_index, GEX_FLAG_IMMEDIATE, i);
      accepted += result == 0;
      refused += result != 0;
      if (result != 0) gasnet_AMPoll();
    }
    thaw_rank_1();
  }
  expect_all(1, accepted);
}

/* With payloads, and each way to local completion. */
CASE(refused_payloads_do_not_come, "GX-037 GX-043") {
  static unsigned char source[kMessageBytes];
  int accepted = 0;
  if (nodes < 2) NOT_HERE("one rank has nobody who does not listen");
  begin();
  if (freeze_rank_1()) {
    for (int i = 0, refused = 0; i < kFlood && refused < 50; ++i) {
      gex_Event_t event = GEX_EVENT_INVALID;
      fill(source, kMessageBytes, (unsigned)i);
      const int result = gex_AM_RequestMedium1(team, 1, on_payload_index, source, kMessageBytes,
                                               i % 3 == 0   ? GEX_EVENT_NOW
                                               : i % 3 == 1 ? GEX_EVENT_GROUP
                                                            : &event,
                                               GEX_FLAG_IMMEDIATE, i);
      if (result == 0 && i % 3 == 2) gex_Event_Wait(event); /* undefined after a refusal */
      gex_NBI_Wait(GEX_EC_AM, 0);
      accepted += result == 0;
      refused += result != 0;
    }
    thaw_rank_1();
  }
  expect_all(1, accepted);
}

/* Slots that were written hold what was written, the others what was there. */
static unsigned char written[kSlots];
static void expect_slots(gex_Rank_t to, unsigned seed) {
  static unsigned char got[kSlotBytes];
  for (unsigned i = 0; i < kSlots; ++i) {
    gex_RMA_GetBlocking(team, got, to, part(to) + i * kSlotBytes, kSlotBytes, 0);
    EXPECT(written[i] ? holds(got, kSlotBytes, seed + i) : all_bytes_are(got, kSlotBytes, 0x11));
  }
}
static void clear_slots(gex_Rank_t to) {
  static unsigned char before[kSlots * kSlotBytes];
  memset(before, 0x11, sizeof before);
  memset(written, 0, sizeof written);
  gex_RMA_PutBlocking(team, to, part(to), before, sizeof before, 0);
}
static int put_immediately(gex_Rank_t to, unsigned slot, unsigned char *source,
                           gex_Event_t *event) {
  void *const at = part(to) + slot * kSlotBytes;
  if (slot % 2)
    return gex_RMA_PutNBI(team, to, at, source, kSlotBytes, GEX_EVENT_NOW, GEX_FLAG_IMMEDIATE) == 0;
  const gex_Event_t result =
      gex_RMA_PutNB(team, to, at, source, kSlotBytes, GEX_EVENT_NOW, GEX_FLAG_IMMEDIATE);
  if (result == GEX_EVENT_NO_OP) return 0;
  *event = result;
  return 1;
}
static gex_Event_t events[kSlots];
static void put_all(gex_Rank_t to) {
  static unsigned char sources[kSlots][kSlotBytes];
  int refused = 0;
  for (unsigned i = 0; i < kSlots; ++i) {
    events[i] = GEX_EVENT_INVALID;
    fill(sources[i], kSlotBytes, 40 + i);
    if (refused < 50) written[i] = (unsigned char)put_immediately(to, i, sources[i], &events[i]);
    refused += !written[i];
  }
}
CASE(refused_puts_write_nothing, "GX-043") {
  SOMETHING_STAYS_UNDER_WAY();
  if (me == 0) clear_slots(1);
  if (freeze_rank_1()) {
    put_all(1);
    thaw_rank_1();
    gex_Event_WaitAll(events, kSlots, 0);
    gex_NBI_Wait(GEX_EC_PUT, 0);
    expect_slots(1, 40);
  }
}

/* To whoever listens, with a poll after each refusal, everything gets through (GX-171). */
CASE(accepted_puts_and_gets_are_done, "GX-043") {
  unsigned char source[kSlotBytes], back[kSlotBytes];
  const gex_Flags_t now = GEX_FLAG_IMMEDIATE;
  for (unsigned i = 0; i < 200; ++i) {
    const gex_Rank_t to = (me + i) % nodes;
    gex_Event_t event;
    fill(source, kSlotBytes, i);
    while (gex_RMA_PutBlocking(team, to, part(to), source, kSlotBytes, now) != 0) gasnet_AMPoll();
    memset(back, 0, kSlotBytes);
    while (gex_RMA_GetBlocking(team, back, to, part(to), kSlotBytes, now) != 0) gasnet_AMPoll();
    EXPECT(holds(back, kSlotBytes, i));
    memset(back, 0, kSlotBytes);
    while ((event = gex_RMA_GetNB(team, back, to, part(to), kSlotBytes, now)) == GEX_EVENT_NO_OP)
      gasnet_AMPoll();
    gex_Event_Wait(event);
    EXPECT(holds(back, kSlotBytes, i));
    memset(back, 0, kSlotBytes);
    while (gex_RMA_GetNBI(team, back, to, part(to), kSlotBytes, now) != 0) gasnet_AMPoll();
    gex_NBI_Wait(GEX_EC_GET, 0);
    EXPECT(holds(back, kSlotBytes, i));
  }
}
