/* Requests with negotiated payloads that are refused or given up (GASNet-EX 0.19,
 * "Negotiated-Payload Active Messages"). */
#include "../ex.h"

enum { kBytes = 500, kTries = 3000, kRounds = 60 };

static unsigned char local[kBytes];
static _Atomic int came, told, wrong;

static void on_payload(gex_Token_t token, void *buf, size_t nbytes, gex_AM_Arg_t seed) {
  (void)token;
  if (nbytes != kBytes || !holds(buf, nbytes, (unsigned)seed)) ++wrong;
  ++came;
}
EX_HANDLER(on_payload, GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_MEDLONG, 1);
static void on_total(gex_Token_t token, gex_AM_Arg_t total) {
  (void)token;
  told = total + 1;
}
EX_HANDLER(on_total, GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_SHORT, 1);

/* Kinds: a Medium and a Long, from the library's buffer and from the client's memory. */
enum { kKinds = 4, kLong = 1, kClient = 2 };

static void *place(gex_Rank_t to, int i) { return part(to) + (size_t)(i % kTries) * kBytes; }
static gex_AM_SrcDesc_t prepare(gex_Rank_t to, int kind, int i, gex_Event_t *lc_opt,
                                gex_Flags_t flags) {
  const void *const client_buf = kind & kClient ? local : NULL;
  gex_Event_t *const lc = client_buf ? lc_opt : NULL;
  if (kind & kLong)
    return gex_AM_PrepareRequestLong(team, to, client_buf, kBytes, kBytes, place(to, i), lc, flags,
                                     1);
  return gex_AM_PrepareRequestMedium(team, to, client_buf, kBytes, kBytes, lc, flags, 1);
}
static int commit(gex_AM_SrcDesc_t sd, gex_Rank_t to, int kind, int i, gex_Flags_t flags) {
  return kind & kLong
             ? gex_AM_CommitRequestLong1_v2(sd, on_payload_index, kBytes, place(to, i), flags, i)
             : gex_AM_CommitRequestMedium1_v2(sd, on_payload_index, kBytes, flags, i);
}
static int cancel(gex_AM_SrcDesc_t sd, int kind) {
  return kind & kLong ? gex_AM_CancelRequestLong(sd, 0) : gex_AM_CancelRequestMedium(sd, 0);
}

/* A Prepare that was refused did nothing, and the Commit of one that was not knows nothing of the
 * flag. */
CASE(immediate_prepare, "GX-116") {
  came = wrong = 0;
  barrier();
  for (gex_Rank_t k = 0; k < nodes; ++k) {
    for (int i = 0; i < kRounds * kKinds; ++i) {
      const gex_Rank_t to = (me + k) % nodes;
      const int kind = i % kKinds;
      gex_AM_SrcDesc_t sd;
      fill(local, kBytes, (unsigned)i);
      while ((sd = prepare(to, kind, i, GEX_EVENT_NOW, GEX_FLAG_IMMEDIATE)) == GEX_AM_SRCDESC_NO_OP)
        gasnet_AMPoll();
      EXPECT_EQ(gex_AM_SrcDescSize(sd), kBytes);
      if (!(kind & kClient)) fill(gex_AM_SrcDescAddr(sd), kBytes, (unsigned)i);
      if (kind & kLong)
        gex_AM_CommitRequestLong1(sd, on_payload_index, kBytes, place(to, i), i);
      else
        gex_AM_CommitRequestMedium1(sd, on_payload_index, kBytes, i);
    }
  }
  AWAIT(came, kRounds * kKinds * (int)nodes);
  barrier();
  EXPECT_EQ(came, kRounds * kKinds * nodes);
  EXPECT_EQ(wrong, 0);
}

/* No Commit but the second version's is refused, with its flag only; then the descriptor, what it
 * names and its contents are as before, and it is committed or cancelled all the same. */
static int commit_or_give_up(gex_AM_SrcDesc_t sd, gex_Rank_t to, int kind, int i) {
  unsigned char *const address = gex_AM_SrcDescAddr(sd);
  const size_t size = gex_AM_SrcDescSize(sd);
  if (!(kind & kClient)) fill(address, kBytes, (unsigned)i);
  for (int tries = 0; tries < 3; ++tries) {
    if (commit(sd, to, kind, i, GEX_FLAG_IMMEDIATE) == 0) return 1;
    EXPECT(gex_AM_SrcDescAddr(sd) == address && gex_AM_SrcDescSize(sd) == size);
    EXPECT(holds(address, kBytes, (unsigned)i));
  }
  EXPECT_EQ(cancel(sd, kind), 0);
  return 0;
}

/* To a rank that makes no call: what was refused or cancelled does not arrive when it does. */
CASE(refused_commits_do_not_arrive, "GX-116 GX-117 GX-118") {
  if (nodes < 2) NOT_HERE("one rank has nobody to wait for");
  came = told = wrong = 0;
  if (freeze_rank_1()) {
    int sent = 0, refused = 0;
    for (int i = 0; i < kTries && refused < 40; ++i) {
      const int kind = i % kKinds;
      fill(local, kBytes, (unsigned)i);
      const gex_AM_SrcDesc_t sd = prepare(1, kind, i, GEX_EVENT_NOW, GEX_FLAG_IMMEDIATE);
      const int is_sent = sd != GEX_AM_SRCDESC_NO_OP && commit_or_give_up(sd, 1, kind, i);
      sent += is_sent;
      refused += !is_sent;
    }
    thaw_rank_1();
    EXPECT_EQ(gex_AM_RequestShort1(team, 1, on_total_index, 0, sent), 0);
  }
  if (me == 1) {
    AWAIT(told, 1);
    AWAIT(came, told - 1);
  }
  barrier();
  if (me == 1) EXPECT_EQ(came, told - 1);
  EXPECT_EQ(wrong, 0);
}

/* With its local completion, after Commits that may have been refused. */
CASE(immediate_commit_with_an_event, "GX-114 GX-117") {
  const gex_Rank_t to = (me + 1) % nodes;
  came = wrong = 0;
  barrier();
  for (int i = 0; i < kRounds; ++i) {
    const int kind = kClient | (i % 2 ? kLong : 0);
    gex_Event_t event = GEX_EVENT_NO_OP;
    fill(local, kBytes, (unsigned)i);
    const gex_AM_SrcDesc_t sd = prepare(to, kind, i, i % 3 ? &event : GEX_EVENT_GROUP, 0);
    int tries = 0;
    while (commit(sd, to, kind, i, tries < 5 ? GEX_FLAG_IMMEDIATE : 0) != 0) EXPECT(++tries <= 5);
    if (i % 3) {
      EXPECT(event != GEX_EVENT_NO_OP);
      gex_Event_Wait(event);
    } else {
      gex_NBI_Wait(GEX_EC_AM, 0);
    }
    memset(local, 0xdd, kBytes);
  }
  AWAIT(came, kRounds);
  barrier();
  EXPECT_EQ(came, kRounds);
  EXPECT_EQ(wrong, 0);
}

/* More often than there could be buffers; nothing comes of it. */
CASE(cancelled_requests_are_none, "GX-118") {
  enum { kMany = 20000 };
  came = wrong = 0;
  barrier();
  for (int i = 0; i < kMany; ++i) {
    const int kind = i % kKinds;
    gex_Event_t event;
    gex_Event_t *const lc_opt[] = {GEX_EVENT_NOW, GEX_EVENT_GROUP, &event};
    const gex_AM_SrcDesc_t sd = prepare((me + (gex_Rank_t)i) % nodes, kind, i, lc_opt[i % 3], 0);
    memset(gex_AM_SrcDescAddr(sd), 0xdd, gex_AM_SrcDescSize(sd));
    EXPECT_EQ(cancel(sd, kind), 0);
  }
  gex_NBI_Wait(GEX_EC_ALL, 0);
  barrier();
  EXPECT_EQ(came, 0);
}
