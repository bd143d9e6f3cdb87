/* Several endpoints a process, each with handlers and a segment of its own, before and after gex_Segment_Attach
 * (EX-001...086, EX-126...141). */
#include <gasnet_mk.h>
#include <gasnet_ratomic.h>
#include <gasnet_vis.h>
#include <gasnetex.h>

#include <pthread.h>

#include "../job_test.h"
#include "pinwire.h"

enum { kEndpoints = 4, kOwnBytes = 100001, kClientBytes = 300007, kHandler = 200, kReply = 201, kFirst = 202, kPlaces = 5 }; /* four ranks at most, and one for replies */

static gex_Client_t client;
static gex_TM_t team;
static gex_EP_t endpoints[kEndpoints];
static gex_Segment_t library_segment, client_segment;
static gex_Rank_t ranks;
static unsigned char client_memory[kClientBytes + 64];
static unsigned char *local;
static volatile int came[kEndpoints], replied[kEndpoints]; /* threads add at once */

/* ---- Handlers: one function for each endpoint, under one index (GX-085, EX-018) ----------------------------- */

static void check_token(gex_Token_t token, int index, int is_request) {
  gex_Token_Info_t info;
  EXPECT_EQ(gex_Token_Info(token, &info, GEX_TI_ALL), GEX_TI_ALL);
  EXPECT(info.gex_ep == endpoints[index] && info.gex_srcrank < ranks && !info.gex_is_req == !is_request);
  EXPECT(info.gex_entry->gex_cdata == &endpoints[index]);
}
/* GX-016, GX-018, EX-132: in handlers, and with a lock held. */
static void use_what_is_legal(gex_Token_t token, int index) {
  static gex_HSL_t lock = GEX_HSL_INITIALIZER;
  uintptr_t bytes = 0;
  gex_HSL_Lock(&lock);
  const gex_TM_t pair = gex_TM_Pair(endpoints[index], 1);
  EXPECT(pair == gex_TM_Pair(endpoints[index], 1) && pair != team);
  EXPECT(gex_AM_MaxRequestMedium(pair, 0, GEX_EVENT_NOW, 0, 2) >= gex_AM_LUBRequestMedium());
  EXPECT(gex_EP_QueryCData(endpoints[index]) == NULL || gex_EP_QueryCData(endpoints[index]) == &endpoints[index]);
  EXPECT(gex_EP_QueryIndex(endpoints[index]) == (gex_EP_Index_t)index && gex_TM_QuerySize(team) == ranks);
  EXPECT(gex_System_QueryJobRank() == me && gex_System_QueryMaxThreads() >= 1 && gex_System_GetVerboseErrors() == 1);
  EXPECT(gex_EP_QueryBoundSegmentNB(gex_TM_Pair(endpoints[0], 1), me, NULL, NULL, &bytes, GEX_FLAG_IMMEDIATE) == GEX_EVENT_INVALID);
  EXPECT(bytes >= kOwnBytes);
  gex_System_QueryHiddenAMConcurrencyLevel();
  gex_HSL_Unlock(&lock);
  EXPECT(gex_Token_MaxReplyMedium(token, GEX_EVENT_NOW, 0, 1) >= 512);
}
static void answer(gex_Token_t token, int index, void *buf, size_t nbytes, gex_AM_Arg_t seed, uintptr_t dest) {
  check_token(token, index, 1);
  EXPECT(holds(buf, nbytes, (unsigned)seed));
  __sync_fetch_and_add(&came[index], 1);
  use_what_is_legal(token, index);
  if (dest != 0) {
    gex_AM_ReplyLong1(token, kReply, buf, nbytes, (void *)dest, GEX_EVENT_NOW, 0, seed);
  } else {
    gex_AM_ReplyMedium1(token, kReply, buf, nbytes < 512 ? nbytes : 512, GEX_EVENT_NOW, 0, seed);
  }
}
static void take_answer(gex_Token_t token, int index, void *buf, size_t nbytes, gex_AM_Arg_t seed) {
  check_token(token, index, 0);
  EXPECT(holds(buf, nbytes, (unsigned)seed));
  __sync_fetch_and_add(&replied[index], 1);
}
#define HANDLERS(index)                                                                                              \
  static void on_request_##index(gex_Token_t token, void *buf, size_t nbytes, gex_AM_Arg_t seed, gex_AM_Arg_t high,  \
                                 gex_AM_Arg_t low) {                                                                 \
    answer(token, index, buf, nbytes, seed, (uintptr_t)(uint32_t)high << 32 | (uint32_t)low);                        \
  }                                                                                                                  \
  static void on_reply_##index(gex_Token_t token, void *buf, size_t nbytes, gex_AM_Arg_t seed) {                     \
    take_answer(token, index, buf, nbytes, seed);                                                                    \
  }
HANDLERS(0) HANDLERS(1) HANDLERS(2) HANDLERS(3)

/* Registered for the first endpoint alone, which stands in for the others. */
static volatile int came_to_first;
static void on_first(gex_Token_t token) {
  gex_Token_Info_t info;
  EXPECT_EQ(gex_Token_Info(token, &info, GEX_TI_ALL), GEX_TI_ALL);
  EXPECT(info.gex_ep == endpoints[3] && info.gex_entry->gex_cdata == &came_to_first && info.gex_is_req);
  __sync_fetch_and_add(&came_to_first, 1);
}

static void register_handlers(void) {
  gex_AM_Entry_t first = {kFirst, (gex_AM_Fn_t)on_first, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 0, (void *)&came_to_first, NULL};
  EXPECT_EQ(gex_EP_RegisterHandlers(endpoints[0], &first, 1), GASNET_OK);
  static const gex_AM_Fn_t functions[kEndpoints][2] = {{(gex_AM_Fn_t)on_request_0, (gex_AM_Fn_t)on_reply_0},
                                                       {(gex_AM_Fn_t)on_request_1, (gex_AM_Fn_t)on_reply_1},
                                                       {(gex_AM_Fn_t)on_request_2, (gex_AM_Fn_t)on_reply_2},
                                                       {(gex_AM_Fn_t)on_request_3, (gex_AM_Fn_t)on_reply_3}};
  for (int i = 0; i < kEndpoints; ++i) {
    gex_AM_Entry_t table[] = {{kHandler, functions[i][0], GEX_FLAG_AM_MEDLONG | GEX_FLAG_AM_REQUEST, 3, &endpoints[i], "request"},
                              {kReply, functions[i][1], GEX_FLAG_AM_MEDLONG | GEX_FLAG_AM_REPLY, 1, &endpoints[i], "reply"},
                              {0, functions[i][1], GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REPLY, 1, NULL, NULL}};
    EXPECT_EQ(gex_EP_RegisterHandlers(endpoints[i], table, 3), GASNET_OK);
    EXPECT_EQ(table[2].gex_index, 255);
  }
}

/* ---- Objects -------------------------------------------------------------------------------------------------- */

/* EX-002...013, EX-034, EX-035 */
static void create_endpoints(void) {
  gex_EP_t none = GEX_EP_INVALID;
  gex_System_SetVerboseErrors(0);
  EXPECT_EQ(gex_EP_Create(&none, client, 0, 0), GASNET_ERR_BAD_ARG);
  EXPECT_EQ(gex_EP_Create(&none, client, GEX_EP_CAPABILITY_ALL + 1, 0), GASNET_ERR_BAD_ARG);
  EXPECT(none == GEX_EP_INVALID);
  gex_System_SetVerboseErrors(1);
  for (int i = 1; i < kEndpoints; ++i) {
    const gex_Flags_t hints = i == 2 ? GEX_FLAG_HINT_ACCEL_ALL : i == 3 ? GEX_FLAG_HINT_ACCEL_AD : 0;
    const gex_EP_Capabilities_t wanted = i == 1 ? GEX_EP_CAPABILITY_RMA | GEX_EP_CAPABILITY_AM : GEX_EP_CAPABILITY_ALL;
    EXPECT_EQ(gex_EP_Create(&endpoints[i], client, wanted, hints), GASNET_OK);
    EXPECT_EQ(gex_EP_QueryIndex(endpoints[i]), i);
    EXPECT_EQ(gex_EP_QueryFlags(endpoints[i]), hints);
    EXPECT(gex_EP_QueryClient(endpoints[i]) == client && gex_EP_QuerySegment(endpoints[i]) == GEX_SEGMENT_INVALID);
    EXPECT(gex_EP_QueryCData(endpoints[i]) == NULL);
    gex_EP_SetCData(endpoints[i], &endpoints[i]);
    EXPECT(gex_EP_QueryCData(endpoints[i]) == &endpoints[i]);
  }
}

/* EX-045...048, EX-052 */
static void create_kinds(void) {
  gex_MK_Create_args_t args;
  gex_MK_t kind = GEX_MK_INVALID;
  memset(&args, 0, sizeof args);
  gex_System_SetVerboseErrors(0);
  args.gex_class = GEX_MK_CLASS_CUDA_UVA; /* of which no machine has so many */
  args.gex_args.gex_class_cuda_uva.gex_CUdevice = 4095;
  EXPECT_EQ(gex_MK_Create(&kind, client, &args, 0), GASNET_ERR_BAD_ARG);
  args.gex_class = GEX_MK_CLASS_HIP;
  args.gex_args.gex_class_hip.gex_hipDevice = 4095;
  EXPECT_EQ(gex_MK_Create(&kind, client, &args, 0), GASNET_ERR_BAD_ARG);
  args.gex_class = GEX_MK_CLASS_ZE; /* without its handles */
  memset(&args.gex_args, 0, sizeof args.gex_args);
  EXPECT_EQ(gex_MK_Create(&kind, client, &args, 0), GASNET_ERR_BAD_ARG);
  args.gex_class = GEX_MK_CLASS_HOST;
  EXPECT_EQ(gex_MK_Create(&kind, client, &args, 1), GASNET_ERR_BAD_ARG);
  EXPECT(kind == GEX_MK_INVALID);
  gex_System_SetVerboseErrors(1);
  EXPECT_EQ(gex_MK_Create(&kind, client, &args, 0), GASNET_OK);
  EXPECT(kind == GEX_MK_HOST && GEX_MEMKIND_HOST == GEX_MK_HOST);
  gex_MK_Destroy(kind, 0);
}

/* EX-053...064 */
static void create_segments(void) {
  const uintptr_t most = gasnet_getMaxLocalSegmentSize();
  gex_System_SetVerboseErrors(0);
  EXPECT_EQ(gex_Segment_Create(&library_segment, client, NULL, 0, GEX_MK_HOST, 0), GASNET_ERR_BAD_ARG);
  EXPECT_EQ(gex_Segment_Create(&library_segment, client, client_memory, 0, GEX_MK_HOST, 0), GASNET_ERR_BAD_ARG);
  EXPECT_EQ(gex_Segment_Create(&library_segment, client, client_memory, 8, GEX_MK_INVALID, 0), GASNET_ERR_BAD_ARG);
  EXPECT_EQ(gex_Segment_Create(&library_segment, client, client_memory, 8, GEX_MK_HOST, 1), GASNET_ERR_BAD_ARG);
  if (most < (uintptr_t)-GASNET_PAGESIZE)
    EXPECT_EQ(gex_Segment_Create(&library_segment, client, NULL, most + GASNET_PAGESIZE, GEX_MK_HOST, 0), GASNET_ERR_BAD_ARG);
  EXPECT(library_segment == GEX_SEGMENT_INVALID);
  gex_System_SetVerboseErrors(1);
  EXPECT_EQ(gex_Segment_Create(&library_segment, client, NULL, kOwnBytes, GEX_MK_HOST, 0), GASNET_OK);
  EXPECT(gex_Segment_QuerySize(library_segment) >= kOwnBytes && gex_Segment_QueryAddr(library_segment) != NULL);
  EXPECT_EQ(gex_Segment_Create(&client_segment, client, client_memory + 5, kClientBytes, GEX_MEMKIND_HOST, 0), GASNET_OK);
  EXPECT(gex_Segment_QuerySize(client_segment) == kClientBytes && gex_Segment_QueryAddr(client_segment) == client_memory + 5);
  EXPECT(gex_Segment_QueryClient(client_segment) == client && gex_Segment_QueryFlags(client_segment) == 0);
}

/* EX-065...081: endpoint 1 has memory of the library's, 2 of the client's, 3 shares that of 1, and only 1 and 3 are told of. */
static void bind_and_publish(void) {
  EXPECT_EQ(gex_EP_BindSegment(endpoints[1], library_segment, 0), GASNET_OK);
  gex_Segment_EP_Bind(client_segment, endpoints[2], 0);
  EXPECT_EQ(gex_EP_BindSegment(endpoints[3], library_segment, 0), GASNET_OK);
  EXPECT(gex_EP_QuerySegment(endpoints[1]) == library_segment && gex_EP_QuerySegment(endpoints[3]) == library_segment);
  gex_System_SetVerboseErrors(0);
  EXPECT_EQ(gex_EP_BindSegment(endpoints[1], client_segment, 0), GASNET_ERR_BAD_ARG);
  EXPECT_EQ(gex_EP_BindSegment(endpoints[0], GEX_SEGMENT_INVALID, 0), GASNET_ERR_BAD_ARG);
  gex_System_SetVerboseErrors(1);
  gex_EP_t told[] = {endpoints[3], endpoints[0], endpoints[1]};
  EXPECT_EQ(gex_EP_PublishBoundSegment(team, told, me % 2 ? 3 : 1, 0), GASNET_OK);
  EXPECT_EQ(gex_EP_PublishBoundSegment(team, told + 2, me % 2 ? 0 : 1, 0), GASNET_OK);
}

/* EX-126...133 */
static void check_pairs(void) {
  const gex_TM_t pair = gex_TM_Pair(endpoints[1], 2);
  EXPECT(pair == gex_TM_pair(endpoints[1], 2) && pair != gex_TM_Pair(endpoints[1], 3) && pair != gex_TM_Pair(endpoints[2], 2));
  EXPECT(pair != GEX_TM_INVALID && pair != team && gex_TM_Pair(endpoints[0], 0) != team);
  EXPECT_EQ(gex_AM_MaxRequestMedium(pair, 0, GEX_EVENT_NOW, 0, 1), gex_AM_MaxRequestMedium(team, 0, GEX_EVENT_NOW, 0, 1));
}

/* Where endpoint `index` of a rank has its memory, as its owner sees it. GX-076, GX-077 */
static unsigned char *memory_of(gex_Rank_t rank, int index, uintptr_t least) {
  void *owner = NULL, *here = NULL;
  uintptr_t bytes = 0;
  const gex_TM_t pair = gex_TM_Pair(endpoints[0], (gex_EP_Index_t)index);
  const gex_Event_t now = gex_EP_QueryBoundSegmentNB(pair, rank, &owner, &here, &bytes, GEX_FLAG_IMMEDIATE);
  EXPECT(now == GEX_EVENT_INVALID || (now == GEX_EVENT_NO_OP && index == 2 && rank != me));
  if (now != GEX_EVENT_INVALID) gex_Event_Wait(gex_EP_QueryBoundSegmentNB(pair, rank, &owner, &here, &bytes, 0));
  EXPECT(bytes >= least && owner != NULL);
  if (rank == me) EXPECT(here == owner);
  EXPECT_EQ(gex_Segment_QueryBound(pair, rank, &owner, NULL, NULL), GASNET_OK);
  return owner;
}

/* ---- Traffic --------------------------------------------------------------------------------------------------- */

static void put_and_get(gex_TM_t pair, gex_Rank_t to, unsigned char *there, size_t nbytes, unsigned seed) {
  gex_Event_t done;
  fill(local, nbytes, seed);
  EXPECT_EQ(gex_RMA_PutBlocking(pair, to, there, local, nbytes, 0), 0);
  memset(local, 0, nbytes);
  EXPECT_EQ(gex_RMA_GetBlocking(pair, local, to, there, nbytes, 0), 0);
  EXPECT(holds(local, nbytes, seed));
  fill(local, nbytes, seed + 1);
  done = gex_RMA_PutNB(pair, to, there, local, nbytes, GEX_EVENT_DEFER, 0);
  gex_Event_Wait(done);
  memset(local, 0, nbytes);
  gex_RMA_GetNBI(pair, local, to, there, nbytes, 0);
  gex_NBI_Wait(GEX_EC_GET, 0);
  EXPECT(holds(local, nbytes, seed + 1));
  gex_RMA_PutNBI(pair, to, there, local, nbytes, GEX_EVENT_NOW, 0);
  gex_NBI_Wait(GEX_EC_PUT, 0); /* before another put to the same place: of two under way either may be the last */
  gex_RMA_PutBlockingVal(pair, to, there, 0x5a, 1, 0);
  EXPECT_EQ(gex_RMA_GetBlockingVal(pair, to, there, 1, 0), 0x5a);
}

/* Each rank has a fifth of its peers' memory for itself. EX-138...141 */
static void transfers(void) {
  for (gex_Rank_t step = 0; step < ranks; ++step) {
    const gex_Rank_t to = (me + step) % ranks;
    for (int from = 0; from < kEndpoints; ++from) {
      for (int index = 1; index < 3; ++index) {
        const size_t bytes = index == 1 ? kOwnBytes : kClientBytes, share = bytes / kPlaces;
        unsigned char *there = memory_of(to, index, bytes) + me * share;
        const size_t sizes[] = {1, 13, 4096, share};
        for (int i = 0; i < 4; ++i)
          put_and_get(gex_TM_Pair(endpoints[from], (gex_EP_Index_t)index), to, there, sizes[i], 3 * me + (unsigned)from);
      }
    }
  }
  barrier();
}

/* From every endpoint to every other, the replies to who asked: Mediums, and Longs into the memory of 1 and 2.
 * GX-106, GX-108 */
static void messages(void) {
  const gex_AM_Arg_t seed = 40 + (gex_AM_Arg_t)me;
  for (gex_Rank_t step = 0; step < ranks; ++step) {
    const gex_Rank_t to = (me + step) % ranks;
    for (int from = 0; from < kEndpoints; ++from) {
      const int due = replied[from] + 2 * kEndpoints + 4;
      for (int index = 0; index < kEndpoints; ++index) {
        const gex_TM_t pair = gex_TM_Pair(endpoints[from], (gex_EP_Index_t)index);
        fill(local, 400, (unsigned)seed);
        EXPECT_EQ(gex_AM_RequestMedium3(pair, to, kHandler, local, 400, GEX_EVENT_NOW, 0, seed, 0, 0), 0);
        EXPECT_EQ(gex_AM_RequestLong3(pair, to, kHandler, NULL, 0, NULL, GEX_EVENT_NOW, 0, seed, 0, 0), 0);
      }
      for (int index = 1; index < 3; ++index) {
        const size_t bytes = index == 1 ? kOwnBytes : kClientBytes, share = bytes / kPlaces / 2;
        unsigned char *there = memory_of(to, index, bytes) + me * 2 * share;
        const gex_TM_t pair = gex_TM_Pair(endpoints[from], (gex_EP_Index_t)index);
        /* Endpoint 0 may have no segment that a reply could go to; 1 and 3 were told of. */
        unsigned char *back = from % 2 ? memory_of(me, from, kOwnBytes) + 4 * (kOwnBytes / kPlaces) : NULL;
        const uintptr_t dest = (uintptr_t)back;
        fill(local, share, (unsigned)seed);
        EXPECT_EQ(gex_AM_RequestLong3(pair, to, kHandler, local, 333, there, GEX_EVENT_NOW, 0, seed, (gex_AM_Arg_t)(dest >> 32),
                                      (gex_AM_Arg_t)dest), 0);
        EXPECT_EQ(gex_AM_RequestLong3(pair, to, kHandler, local, share, there + share, GEX_EVENT_NOW, 0, seed, 0, 0), 0);
      }
      GASNET_BLOCKUNTIL(replied[from] == due);
    }
  }
  const int due_to_first = came_to_first + 1;
  barrier();
  gex_AM_RequestShort0(gex_TM_Pair(endpoints[1], 3), (me + 1) % ranks, kFirst, 0);
  GASNET_BLOCKUNTIL(came_to_first == due_to_first);
  barrier();
  for (int index = 0; index < kEndpoints; ++index) EXPECT(came[index] != 0 && replied[index] != 0);
}

/* ---- Teams of endpoints whose memory is the library's (1) and the client's (2) ------------------------------ */

/* In the fifth place, which no rank has for itself. */
static unsigned char *common_of(gex_TM_t tm, gex_Rank_t rank, size_t bytes) {
  void *base = NULL;
  gex_Event_Wait(gex_EP_QueryBoundSegmentNB(tm, rank, &base, NULL, NULL, 0));
  return (unsigned char *)(((uintptr_t)base + 4 * (bytes / kPlaces) + 63) & ~(uintptr_t)63);
}

/* GX-158, EX-057, EX-058: operations of 64 and of 32 bits, each rank's on each rank's words, that return the old value and
 * that do not. */
static void add_to_all(gex_TM_t tm, size_t bytes) {
  uint64_t *const own = (uint64_t *)common_of(tm, me, bytes);
  memset(own, 0, 4 * sizeof *own);
  gex_Coll_BarrierBlocking(tm, 0);
  gex_AD_t wide, narrow;
  const gex_OP_t codes = GEX_OP_ADD | GEX_OP_FADD | GEX_OP_FCAS | GEX_OP_GET;
  gex_AD_Create(&wide, tm, GEX_DT_U64, codes, 0);
  gex_AD_Create(&narrow, tm, GEX_DT_U32, codes, 0);
  volatile gex_OP_t add = GEX_OP_ADD; /* which the headers do not know */
  for (gex_Rank_t to = 0; to < ranks; ++to) {
    uint64_t *const there = (uint64_t *)common_of(tm, to, bytes), old = 0;
    uint32_t few = 0;
    gex_Event_Wait(gex_AD_OpNB_U64(wide, &old, to, there, GEX_OP_FADD, me + 1, 0, 0));
    gex_Event_Wait(gex_AD_OpNB_U64(wide, NULL, to, there + 1, add, me + 1, 0, 0));
    gex_Event_Wait(gex_AD_OpNB_U64(wide, &old, to, there + 2, GEX_OP_FCAS, 0, me + 1, 0));
    gex_Event_Wait(gex_AD_OpNB_U32(narrow, &few, to, there + 3, GEX_OP_FADD, me + 1, 0, 0));
    gex_Event_Wait(gex_AD_OpNB_U64(wide, &old, to, there + 2, GEX_OP_GET, 0, 0, 0));
    EXPECT(old >= 1 && old <= ranks && few < ranks * (ranks + 1) / 2);
  }
  gex_Coll_BarrierBlocking(tm, 0);
  const uint64_t sum = ranks * (ranks + 1) / 2;
  EXPECT(own[0] == sum && own[1] == sum && own[2] >= 1 && own[2] <= ranks && *(uint32_t *)(own + 3) == sum);
  gex_AD_Destroy(wide);
  gex_AD_Destroy(narrow);
}

/* Rows to and from the place of this rank in the next one's memory. */
static void move_rows(gex_TM_t tm, size_t bytes) {
  enum { kRow = 24, kPitch = 40, kRows = 30 };
  const gex_Rank_t to = (me + 1) % ranks;
  void *base = NULL;
  gex_Event_Wait(gex_EP_QueryBoundSegmentNB(tm, to, &base, NULL, NULL, 0));
  unsigned char *const there = (unsigned char *)base + me * (bytes / kPlaces);
  const ptrdiff_t pitch = kPitch, packed = kRow;
  const size_t rows = kRows;
  void *far[kRows], *near[kRows];
  for (int i = 0; i < kRows; ++i) {
    far[i] = there + i * kPitch;
    near[i] = local + (kRows + i) * kRow;
  }
  fill(local, kRows * kRow, me + 7);
  gex_VIS_StridedPutBlocking(tm, to, there, &pitch, local, &packed, kRow, &rows, 1, 0);
  gex_VIS_IndexedGetBlocking(tm, kRows, near, kRow, to, kRows, far, kRow, 0);
  EXPECT(memcmp(local, near[0], kRows * kRow) == 0);
  fill(local, kRows * kRow, me + 8);
  gex_VIS_IndexedPutBlocking(tm, to, kRows, far, kRow, 1, (void *const[]){local}, kRows * kRow, 0);
  gex_VIS_StridedGetBlocking(tm, near[0], &packed, to, there, &pitch, kRow, &rows, 1, 0);
  EXPECT(memcmp(local, near[0], kRows * kRow) == 0);
}

static void teams_of_each_memory(void) {
  for (int index = 1; index < 3; ++index) {
    const size_t bytes = index == 1 ? kOwnBytes : kClientBytes;
    gex_EP_Location_t args[64];
    for (gex_Rank_t rank = 0; rank < ranks; ++rank) {
      args[rank].gex_rank = rank;
      args[rank].gex_ep_index = (gex_EP_Index_t)index;
    }
    gex_TM_t tm;
    gex_TM_Create(&tm, 1, team, args, ranks, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
    add_to_all(tm, bytes);
    move_rows(tm, bytes);
    gex_Coll_BarrierBlocking(tm, 0);
    gex_TM_Destroy(tm, NULL, 0);
  }
}

#ifdef GASNET_PAR
/* EX-140: threads with an endpoint each, at once; each has a part of the places of its rank. */
static void *use_endpoint(void *argument) {
  const int index = (int)(intptr_t)argument;
  const gex_Rank_t to = (me + 1) % ranks;
  const gex_TM_t pair = gex_TM_Pair(endpoints[index], 2);
  const size_t share = kClientBytes / kPlaces, part = share / kEndpoints;
  unsigned char *there = memory_of(to, 2, kClientBytes) + me * share + (size_t)index * part;
  unsigned char *own = malloc(part);
  for (unsigned round = 0; round < 50; ++round) {
    const size_t bytes = 1 + (round * 97 + (unsigned)index * 31) % part;
    fill(own, bytes, round);
    gex_Event_Wait(gex_RMA_PutNB(pair, to, there, own, bytes, GEX_EVENT_DEFER, 0));
    EXPECT_EQ(gex_AM_RequestMedium3(pair, to, kHandler, own, bytes < 400 ? bytes : 400, GEX_EVENT_NOW, 0, (gex_AM_Arg_t)round, 0, 0), 0);
    memset(own, 0, bytes);
    gex_RMA_GetBlocking(pair, own, to, there, bytes, 0);
    EXPECT(holds(own, bytes, round));
  }
  free(own);
  return NULL;
}
static void endpoint_of_each_thread(void) {
  pthread_t threads[kEndpoints];
  int due = 0;
  for (int i = 0; i < kEndpoints; ++i) due += replied[i] + 50;
  barrier();
  for (int i = 1; i < kEndpoints; ++i) EXPECT_EQ(pthread_create(&threads[i], NULL, use_endpoint, (void *)(intptr_t)i), 0);
  use_endpoint(NULL);
  for (int i = 1; i < kEndpoints; ++i) pthread_join(threads[i], NULL);
  GASNET_BLOCKUNTIL(replied[0] + replied[1] + replied[2] + replied[3] == due);
  barrier();
}
#endif

/* EX-004, EX-011 */
static void exhaust_endpoints(void) {
  gex_EP_t more = GEX_EP_INVALID;
  for (int i = kEndpoints; i < GASNET_MAXEPS; ++i) EXPECT_EQ(gex_EP_Create(&more, client, GEX_EP_CAPABILITY_ALL, 0), GASNET_OK);
  EXPECT_EQ(gex_EP_QueryIndex(more), GASNET_MAXEPS - 1);
  gex_System_SetVerboseErrors(0);
  EXPECT_EQ(gex_EP_Create(&more, client, GEX_EP_CAPABILITY_ALL, 0), GASNET_ERR_RESOURCE);
  gex_System_SetVerboseErrors(1);
  EXPECT_EQ(gex_EP_QueryIndex(more), GASNET_MAXEPS - 1);
}

/* How often memory of the library's is mapped into this process: segments, of others too. */
static int mappings(void) {
  FILE *maps = fopen("/proc/self/maps", "r");
  char line[8192];
  int count = 0;
  EXPECT(maps != NULL);
  while (fgets(line, sizeof line, maps)) count += strstr(line, "/memfd:pinwire") != NULL;
  fclose(maps);
  return count;
}

/* EX-077: what is told again is not mapped again; what is told to be gone is mapped no more. EX-082...086: what does not
 * touch memory goes on. */
static void destroy_segments(void) {
  enum { kTimes = 40 };
  const int is_mapped = ranks > 1 && strcmp(pinwire_driver_name((me + 1) % ranks), "shm") == 0;
  const int before = mappings();
  for (int i = 0; i < kTimes; ++i) EXPECT_EQ(gex_EP_PublishBoundSegment(team, &endpoints[1], 1, 0), GASNET_OK);
  EXPECT(mappings() < before + kTimes);
  barrier();
  gex_Segment_Destroy(library_segment, 0);
  gex_Segment_Destroy(client_segment, 0);
  const int due = replied[3] + (int)ranks;
  for (gex_Rank_t to = 0; to < ranks; ++to)
    gex_AM_RequestMedium3(gex_TM_Pair(endpoints[3], 1), to, kHandler, NULL, 0, GEX_EVENT_NOW, 0, 0, 0, 0);
  GASNET_BLOCKUNTIL(replied[3] == due);
  barrier();
  const int destroyed = mappings();
  EXPECT_EQ(gex_EP_PublishBoundSegment(team, &endpoints[1], 1, 0), GASNET_OK);
  if (is_mapped) EXPECT(mappings() < destroyed);
}

int main(int argc, char **argv) {
  if (gex_Client_Init(&client, &endpoints[0], &team, "ENDPOINTS", &argc, &argv, 0) != GASNET_OK) return 3;
  me = gex_TM_QueryRank(team);
  nodes = ranks = gex_TM_QuerySize(team);
  local = malloc(kClientBytes);
  create_endpoints();
  create_kinds();
  create_segments();
  register_handlers();
  check_pairs();
  bind_and_publish();
  barrier();
  transfers();
  messages();
  gex_Segment_t attached;
  EXPECT_EQ(gex_Segment_Attach(&attached, team, GASNET_PAGESIZE * 16), GASNET_OK);
  transfers();
  messages();
  teams_of_each_memory();
#ifdef GASNET_PAR
  endpoint_of_each_thread();
#endif
  exhaust_endpoints();
  destroy_segments();
  end_job("endpoints");
}
