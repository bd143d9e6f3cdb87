/* Requests with negotiated payloads: what Prepare grants and Commit sends (GASNet-EX 0.19,
 * "Negotiated-Payload Active Messages"). */
#include "../ex.h"

enum { kMost = 1 << 18, kAlignment = 16 };

static unsigned char local[kMost + kAlignment];
static _Atomic int backs, wrong;

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

static void on_back(gex_Token_t token) {
  (void)token;
  ++backs;
}
EX_HANDLER(on_back, GEX_FLAG_AM_REPLY | GEX_FLAG_AM_SHORT, 0);
static void on_payload(gex_Token_t token, void *buf, size_t nbytes, gex_AM_Arg_t seed,
                       gex_AM_Arg_t bytes) {
  if (nbytes != (size_t)bytes || !holds(buf, nbytes, (unsigned)seed)) ++wrong;
  EXPECT_EQ(gex_AM_ReplyShort0(token, on_back_index, 0), 0);
}
EX_HANDLER(on_payload, GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_MEDLONG, 2);

/* The arguments that one request is prepared with. */
struct request {
  gex_TM_t through;
  gex_Rank_t to;
  int is_long, is_late; /* a Long's dest_addr comes with the Commit */
  const void *client_buf;
  size_t least, most;
  gex_Event_t *lc_opt;
  gex_Flags_t flags;
};
static gex_AM_SrcDesc_t prepare(const struct request *r) {
  void *const dest = r->is_late ? NULL : part(r->to);
  const gex_AM_SrcDesc_t sd =
      r->is_long ? gex_AM_PrepareRequestLong(r->through, r->to, r->client_buf, r->least, r->most,
                                             dest, r->lc_opt, r->flags, 2)
                 : gex_AM_PrepareRequestMedium(r->through, r->to, r->client_buf, r->least, r->most,
                                               r->lc_opt, r->flags, 2);
  if (sd == GEX_AM_SRCDESC_NO_OP) {
    EXPECT(r->flags & GEX_FLAG_IMMEDIATE);
    return sd;
  }
  EXPECT(gex_AM_SrcDescSize(sd) >= r->least && gex_AM_SrcDescSize(sd) <= r->most);
  if (r->client_buf)
    EXPECT(gex_AM_SrcDescAddr(sd) == r->client_buf);
  else
    EXPECT(gex_AM_SrcDescAddr(sd) != NULL && (uintptr_t)gex_AM_SrcDescAddr(sd) % kAlignment == 0);
  return sd;
}
static void commit(const struct request *r, gex_AM_SrcDesc_t sd, size_t bytes, unsigned seed) {
  const gex_AM_Arg_t first = (gex_AM_Arg_t)seed, second = (gex_AM_Arg_t)bytes;
  if (r->is_long)
    gex_AM_CommitRequestLong2(sd, on_payload_index, bytes, part(r->to), first, second);
  else
    gex_AM_CommitRequestMedium2(sd, on_payload_index, bytes, first, second);
}

static int sent;
static void begin(void) {
  sent = 0;
  backs = wrong = 0;
  barrier();
}
/* One at a time: each Long goes where the one before it went. */
static void arrive(void) {
  ++sent;
  AWAIT(backs, sent);
}
static void end(void) {
  EXPECT_EQ(backs, sent);
  barrier();
  EXPECT_EQ(wrong, 0);
}

/* The limit of what may be asked for at least, as far as there is memory for it here. */
static size_t limit_of(const struct request *r) {
  const gex_Flags_t flags =
      r->client_buf ? GEX_FLAG_AM_PREPARE_LEAST_CLIENT : GEX_FLAG_AM_PREPARE_LEAST_ALLOC;
  return r->is_long ? least(gex_AM_MaxRequestLong(r->through, r->to, r->lc_opt, flags, 2),
                            least(part_bytes() / 2, kMost))
                    : least(gex_AM_MaxRequestMedium(r->through, r->to, r->lc_opt, flags, 2), kMost);
}

/* Writes all that was granted, where the library's buffer is, and sends as much as there is room
 * for. */
static void send_from_library(const struct request *r, unsigned seed) {
  const gex_AM_SrcDesc_t sd = prepare(r);
  unsigned char *const buffer = gex_AM_SrcDescAddr(sd);
  const size_t size = gex_AM_SrcDescSize(sd);
  const size_t bytes = r->is_long ? least(size, part_bytes() / 2) : size;
  memset(buffer, 0xdd, size);
  fill(buffer, bytes, seed);
  commit(r, sd, bytes, seed);
  arrive();
}

CASE(library_buffers_are_aligned_and_of_a_size_between_least_and_most, "GX-112 GX-114") {
  begin();
  for (gex_Rank_t k = 0; k < nodes; ++k) {
    for (int is_long = 0; is_long < 2; ++is_long) {
      struct request r = {.through = team, .to = (me + k) % nodes, .is_long = is_long};
      const size_t limit = limit_of(&r);
      const size_t sizes[][2] = {{1, 1},
                                 {1, 7},
                                 {3, 512},
                                 {512, 512},
                                 {512, limit},
                                 {limit, limit},
                                 {limit / 2, limit * 3},
                                 {1, (size_t)-1 / 2}};
      for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
        r.least = sizes[i][0];
        r.most = sizes[i][1];
        send_from_library(&r, i + k);
      }
    }
  }
  end();
}

/* The same address, whatever its alignment; local completion as for fixed payloads. */
static void send_from_client(struct request *r, int way, unsigned seed) {
  gex_Event_t event = GEX_EVENT_NO_OP;
  r->lc_opt = way == 0 ? GEX_EVENT_NOW : way == 1 ? GEX_EVENT_GROUP : &event;
  unsigned char *const source = local + seed % kAlignment;
  r->client_buf = source;
  fill(source, least(r->most, kMost), seed);
  const gex_AM_SrcDesc_t sd = prepare(r);
  const size_t bytes = least(gex_AM_SrcDescSize(sd), least(kMost, part_bytes() / 2));
  commit(r, sd, bytes, seed);
  if (way == 1) gex_NBI_Wait(GEX_EC_AM, 0);
  if (way == 2) {
    EXPECT(event != GEX_EVENT_NO_OP); /* the Commit has written it */
    gex_Event_Wait(event);
  }
  memset(source, 0xdd, least(r->most, kMost));
  arrive();
}

CASE(client_buffers_come_back_and_are_locally_complete_as_lc_opt_says, "GX-112 GX-114") {
  begin();
  for (gex_Rank_t k = 0; k < nodes; ++k) {
    for (int is_long = 0; is_long < 2; ++is_long) {
      for (int way = 0; way < 3; ++way) {
        gex_Event_t any;
        struct request r = {.through = team, .to = (me + k) % nodes, .is_long = is_long};
        r.client_buf = local;
        r.lc_opt = way == 0 ? GEX_EVENT_NOW : way == 1 ? GEX_EVENT_GROUP : &any;
        const size_t limit = limit_of(&r);
        const size_t sizes[][2] = {
            {1, 1}, {5, 700}, {512, limit}, {limit, limit}, {limit / 2, kMost}};
        for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
          r.least = sizes[i][0];
          r.most = sizes[i][1] < r.least ? r.least : sizes[i][1];
          send_from_client(&r, way, i + k);
        }
      }
    }
  }
  end();
}

/* From nothing up to all that was granted. */
CASE(commit_sends_as_much_as_it_says, "GX-117") {
  begin();
  for (gex_Rank_t k = 0; k < nodes; ++k) {
    for (int kind = 0; kind < 4; ++kind) {
      struct request r = {.through = team,
                          .to = (me + k) % nodes,
                          .is_long = kind / 2,
                          .client_buf = kind % 2 ? local : NULL,
                          .least = 500,
                          .most = 500,
                          .lc_opt = kind % 2 ? GEX_EVENT_NOW : NULL};
      const size_t sizes[] = {0, 1, 499, 500};
      for (unsigned i = 0; i < 4; ++i) {
        fill(local, 500, i);
        const gex_AM_SrcDesc_t sd = prepare(&r);
        if (!r.client_buf) fill(gex_AM_SrcDescAddr(sd), 500, i);
        commit(&r, sd, sizes[i], i);
        arrive();
      }
    }
  }
  end();
}

CASE(dest_addr_is_repeated_or_comes_with_the_commit, "GX-115") {
  unsigned char there[600];
  begin();
  for (gex_Rank_t k = 0; k < nodes; ++k) {
    for (int kind = 0; kind < 4; ++kind) {
      struct request r = {.through = team,
                          .to = (me + k) % nodes,
                          .is_long = 1,
                          .is_late = kind / 2,
                          .client_buf = kind % 2 ? local : NULL,
                          .least = sizeof there,
                          .most = sizeof there,
                          .lc_opt = kind % 2 ? GEX_EVENT_NOW : NULL};
      const unsigned seed = 30 + (unsigned)kind;
      fill(local, sizeof there, seed);
      const gex_AM_SrcDesc_t sd = prepare(&r);
      if (!r.client_buf) fill(gex_AM_SrcDescAddr(sd), sizeof there, seed);
      commit(&r, sd, sizeof there, seed);
      arrive();
      gex_RMA_GetBlocking(team, there, r.to, part(r.to), sizeof there, 0);
      EXPECT(holds(there, sizeof there, seed));
    }
  }
  end();
}

/* Through a TM-pair, and inside an access region, of which a group is part. */
CASE(prepare_is_legal_where_the_fixed_call_is, "GX-120") {
  begin();
  for (gex_Rank_t k = 0; k < nodes; ++k) {
    for (int is_long = 0; is_long < 2; ++is_long) {
      struct request r = {.through = gex_TM_Pair(endpoint, 0),
                          .to = (me + k) % nodes,
                          .is_long = is_long,
                          .least = 100,
                          .most = 400};
      send_from_library(&r, 3);
      r.client_buf = local;
      r.lc_opt = GEX_EVENT_GROUP;
      r.most = 100;
      fill(local, 100, 4);
      gex_NBI_BeginAccessRegion(0);
      commit(&r, prepare(&r), 100, 4);
      gex_Event_Wait(gex_NBI_EndAccessRegion(0));
      memset(local, 0xdd, 100);
      arrive();
    }
  }
  end();
}
