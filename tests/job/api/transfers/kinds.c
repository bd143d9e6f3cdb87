/* Segments in device memory (EX-043...060, EX-119, EX-139, GX-126): made, bound, published or asked for; every form of put and
 * get to and from them, with ends in host memory, the same device and another; what they are not for.
 *
 *     kinds CLASS             cuda, hip or ze; of two devices, or one
 *     kinds CLASS MISUSE      ends by a sentence
 *
 * Over tests/support/devices the CPU crashes where it touches device memory. */
#include <gasnet_coll.h>
#include <gasnet_ratomic.h>
#include <gasnet_vis.h>
#include <gasnetex.h>

#include "kinds_device.h"

enum { kHost, kOwn, kClients, kOther, kSecondHost, kPlaces }; /* where memory is: by index of the endpoint */
enum { kBytes = 1 << 20, kClientsBytes = kBytes + 77, kShift = 5, kLong = 200, kLongReply = 201 };
enum { kBlocking, kNow, kDefer, kEvent, kImplicitNow, kImplicitDefer, kImplicitGroup, kForms };

static gex_Client_t client;
static gex_TM_t team;
static gex_EP_t endpoints[kPlaces];
static gex_Segment_t made[kPlaces];
static gex_MK_t kind, other_kind;
static gex_Rank_t ranks, peer;
static unsigned char *own[kPlaces], *theirs[kPlaces];
static unsigned char *heap;
static volatile int longs, replies;

static int is_device(int place) { return place >= kOwn && place <= kOther; }

/* ---- Making and binding ---------------------------------------------------------------------------------------- */

static void create_kinds(void) {
  gex_MK_Create_args_t args = args_of(4095);
  gex_System_SetVerboseErrors(0);
  kind = GEX_MK_INVALID;
  if (device_class == GEX_MK_CLASS_ZE) args.gex_args.gex_class_ze.gex_zeContext = NULL;
  EXPECT_EQ(gex_MK_Create(&kind, client, &args, 0), GASNET_ERR_BAD_ARG);
  args = args_of(0);
  args.gex_flags = 1;
  EXPECT_EQ(gex_MK_Create(&kind, client, &args, 0), GASNET_ERR_BAD_ARG);
  args.gex_flags = 0;
  EXPECT_EQ(gex_MK_Create(&kind, client, &args, 1), GASNET_ERR_BAD_ARG);
  EXPECT(kind == GEX_MK_INVALID);
  EXPECT_EQ(gex_MK_Create(&kind, client, &args, 0), GASNET_OK);
  EXPECT(kind != GEX_MK_INVALID && kind != GEX_MK_HOST);
  EXPECT(gex_MK_QueryClient(kind) == client && gex_MK_QueryClass(kind) == device_class && gex_MK_QueryFlags(kind) == 0);
  EXPECT(gex_MK_QueryCData(kind) == NULL);
  gex_MK_SetCData(kind, &args);
  EXPECT(gex_MK_QueryCData(kind) == &args);
  gex_MK_Destroy(kind, 0);
  EXPECT_EQ(gex_MK_Create(&kind, client, &args, 0), GASNET_OK);
  args = args_of(1);
  if (gex_MK_Create(&other_kind, client, &args, 0) != GASNET_OK) other_kind = kind; /* a machine with one */
  gex_System_SetVerboseErrors(1);
}

static void create_segments(void) {
  unsigned char *clients = client_allocate(kClientsBytes + kShift);
  gex_Segment_t none = GEX_SEGMENT_INVALID;
  EXPECT_EQ(gex_Segment_Create(&made[kOwn], client, NULL, kBytes, kind, 0), GASNET_OK);
  EXPECT_EQ(gex_Segment_Create(&made[kClients], client, clients + kShift, kClientsBytes, kind, 0), GASNET_OK);
  EXPECT_EQ(gex_Segment_Create(&made[kOther], client, NULL, kBytes, other_kind, 0), GASNET_OK);
  EXPECT_EQ(gex_Segment_Create(&made[kSecondHost], client, NULL, kBytes, GEX_MK_HOST, 0), GASNET_OK);
  EXPECT(gex_Segment_QueryAddr(made[kClients]) == clients + kShift && gex_Segment_QuerySize(made[kClients]) == kClientsBytes);
  EXPECT(gex_Segment_QueryAddr(made[kOwn]) != NULL && gex_Segment_QuerySize(made[kOwn]) >= kBytes);
  gex_System_SetVerboseErrors(0);
  EXPECT_EQ(gex_Segment_Create(&none, client, heap, kBytes, kind, 0), GASNET_ERR_BAD_ARG);
  EXPECT_EQ(gex_Segment_Create(&none, client, clients, (uintptr_t)1 << 40, kind, 0), GASNET_ERR_BAD_ARG);
  EXPECT_EQ(gex_Segment_Create(&none, client, clients, 0, kind, 0), GASNET_ERR_BAD_ARG);
  EXPECT_EQ(gex_Segment_Create(&none, client, clients, 1, kind, 1), GASNET_ERR_BAD_ARG);
  EXPECT_EQ(gex_Segment_Create(&none, client, NULL, 4096, GEX_MK_INVALID, 0), GASNET_ERR_BAD_ARG);
  if (other_kind != kind) EXPECT_EQ(gex_Segment_Create(&none, client, clients, 1, other_kind, 0), GASNET_ERR_BAD_ARG);
  EXPECT(none == GEX_SEGMENT_INVALID);
  gex_System_SetVerboseErrors(1);
}

/* That of kOther is not published, and asked for when it is wanted first. */
static void bind_segments(void) {
  gex_System_SetVerboseErrors(0);
  if (gex_EP_QuerySegment(endpoints[kHost]) == GEX_SEGMENT_INVALID)
    EXPECT_EQ(gex_EP_BindSegment(endpoints[kHost], made[kOwn], 0), GASNET_ERR_BAD_ARG); /* EX-067 */
  gex_System_SetVerboseErrors(1);
  EXPECT_EQ(gex_Segment_Attach(&made[kHost], team, kBytes), GASNET_OK);
  for (int i = kOwn; i < kPlaces; ++i) {
    EXPECT_EQ(gex_EP_Create(&endpoints[i], client, i == kOwn ? GEX_EP_CAPABILITY_ALL : GEX_EP_CAPABILITY_RMA, 0), GASNET_OK);
    EXPECT_EQ(gex_EP_QueryIndex(endpoints[i]), i);
    EXPECT_EQ(gex_EP_BindSegment(endpoints[i], made[i], 0), GASNET_OK);
  }
  gex_EP_t told[] = {endpoints[kOwn], endpoints[kClients], endpoints[kSecondHost]};
  EXPECT_EQ(gex_EP_PublishBoundSegment(team, told, 3, 0), GASNET_OK);
  for (int i = 0; i < kPlaces; ++i) own[i] = gex_Segment_QueryAddr(made[i]);
}

static void ask_for_segments(void) {
  for (int i = 0; i < kPlaces; ++i) {
    void *address = NULL, *here = &address;
    uintptr_t bytes = 0;
    gex_Event_Wait(gex_EP_QueryBoundSegmentNB(gex_TM_Pair(endpoints[kHost], (gex_EP_Index_t)i), peer, &address, &here, &bytes, 0));
    EXPECT(address != NULL && bytes >= kBytes);
    if (is_device(i)) EXPECT(here == NULL); /* GX-078 */
    if (peer == me) EXPECT(address == own[i]);
    if (peer == me && !is_device(i)) EXPECT(here == own[i]);
    theirs[i] = address;
  }
}

/* ---- Puts and gets ------------------------------------------------------------------------------------------------ */

static gex_TM_t pair(int here, int there) { return gex_TM_Pair(endpoints[here], (gex_EP_Index_t)there); }

static void put(int form, gex_TM_t tm, void *dest, const void *source, size_t bytes) {
  gex_Event_t local = GEX_EVENT_INVALID, root = GEX_EVENT_INVALID;
  switch (form) {
    case kBlocking:
      EXPECT_EQ(gex_RMA_PutBlocking(tm, peer, dest, source, bytes, 0), 0);
      return;
    case kNow:
      root = gex_RMA_PutNB(tm, peer, dest, source, bytes, GEX_EVENT_NOW, 0);
      break;
    case kDefer:
      root = gex_RMA_PutNB(tm, peer, dest, source, bytes, GEX_EVENT_DEFER, 0);
      break;
    case kEvent:
      root = gex_RMA_PutNB(tm, peer, dest, source, bytes, &local, 0);
      gex_Event_Wait(local);
      break;
    case kImplicitNow:
    case kImplicitDefer:
    case kImplicitGroup:
      EXPECT_EQ(gex_RMA_PutNBI(tm, peer, dest, source, bytes,
                               form == kImplicitNow     ? GEX_EVENT_NOW
                               : form == kImplicitDefer ? GEX_EVENT_DEFER
                                                        : GEX_EVENT_GROUP, 0), 0);
      gex_NBI_Wait(GEX_EC_PUT | GEX_EC_LC, 0);
      return;
  }
  gex_Event_Wait(root);
}

static void get(int form, gex_TM_t tm, void *dest, void *source, size_t bytes) {
  if (form == kBlocking) {
    EXPECT_EQ(gex_RMA_GetBlocking(tm, dest, peer, source, bytes, 0), 0);
  } else if (form < kImplicitNow) {
    gex_Event_Wait(gex_RMA_GetNB(tm, dest, peer, source, bytes, 0));
  } else {
    EXPECT_EQ(gex_RMA_GetNBI(tm, dest, peer, source, bytes, 0), 0);
    gex_NBI_Wait(GEX_EC_GET, 0);
  }
}

/* The first half of each segment is what peers put to, the second what this rank puts from and gets to. */
static void transfers(void) {
  static const size_t sizes[] = {1, 8, 511, 4096, 16385, 131072, 131073, 400001};
  const size_t half = kBytes / 2;
  unsigned seed = me;
  for (int here = 0; here < kPlaces; ++here) {
    for (int there = 0; there < kPlaces; ++there) {
      const gex_TM_t tm = pair(here, there);
      for (int i = 0; i < 3; ++i) { /* of each pair some, of all of them all */
        const int form = (int)(seed % kForms);
        const size_t bytes = sizes[(here * kPlaces + there + i * 3 + (peer == me)) % 8], at = seed % 13;
        unsigned char *mine = own[here] + half;
        fill(heap, bytes, ++seed);
        client_copy(mine, heap, bytes);
        put(form, tm, theirs[there] + at, mine, bytes);
        memset(heap, 0, bytes);
        get((form + 1) % kForms, pair(kHost, there), heap, theirs[there] + at, bytes); /* to memory in no segment */
        EXPECT(holds(heap, bytes, seed));
        memset(heap, 0, bytes);
        client_copy(mine, heap, bytes);
        get(form, tm, mine + 3, theirs[there] + at, bytes);
        client_copy(heap, mine + 3, bytes);
        EXPECT(holds(heap, bytes, seed));
      }
    }
  }
  /* Their owner sees it, too. */
  for (int there = 0; there < kPlaces; ++there) {
    fill(heap, half, 77 + me);
    put(kBlocking, pair(kHost, there), theirs[there], heap, half);
  }
  barrier();
  for (int i = 0; i < kPlaces; ++i) {
    client_copy(heap, own[i], half);
    EXPECT(holds(heap, half, 77 + (peer == me ? me : (me + ranks - 1) % ranks)));
  }
  barrier();
}

/* Several at once, of which none sees another's bytes. */
static void many_at_once(void) {
  enum { kEach = 20000, kMany = 12 };
  gex_Event_t events[kMany];
  fill(heap, kMany * kEach, 900 + me);
  for (int i = 0; i < kMany; ++i)
    events[i] = gex_RMA_PutNB(pair(kHost, kOwn), peer, theirs[kOwn] + i * kEach, heap + i * kEach, kEach, GEX_EVENT_DEFER, 0);
  gex_Event_WaitAll(events, kMany, 0);
  memset(heap, 0, kMany * kEach);
  for (int i = 0; i < kMany; ++i)
    events[i] = gex_RMA_GetNB(pair(kHost, kOwn), heap + i * kEach, peer, theirs[kOwn] + i * kEach, kEach, 0);
  gex_Event_WaitAll(events, kMany, 0);
  EXPECT(holds(heap, kMany * kEach, 900 + me));
  barrier();
}

static void values(void) {
  const gex_TM_t tm = pair(kHost, kClients);
  for (size_t bytes = 1; bytes <= 8; ++bytes) {
    const gex_RMA_Value_t value = 0x0123456789abcdefu >> (8 * (8 - bytes)), more = value ^ 1;
    EXPECT_EQ(gex_RMA_PutBlockingVal(tm, peer, theirs[kClients] + 1, value, bytes, 0), 0);
    EXPECT_EQ(gex_RMA_GetBlockingVal(tm, peer, theirs[kClients] + 1, bytes, 0), value);
    gex_Event_Wait(gex_RMA_PutNBVal(tm, peer, theirs[kClients] + 1, more, bytes, 0));
    EXPECT_EQ(gex_RMA_GetBlockingVal(tm, peer, theirs[kClients] + 1, bytes, 0), more);
    EXPECT_EQ(gex_RMA_PutNBIVal(tm, peer, theirs[kClients] + 1, value, bytes, 0), 0);
    gex_NBI_Wait(GEX_EC_PUT, 0);
    EXPECT_EQ(gex_RMA_GetBlockingVal(tm, peer, theirs[kClients] + 1, bytes, 0), value);
  }
  barrier();
}

/* Columns of a matrix in host memory, to device memory, from there to a device here, and back. */
static void many_pieces(void) {
  enum { kElement = 24, kCount = 300, kStride = 40, kAll = kElement * kCount };
  const ptrdiff_t close[] = {kElement}, wide[] = {kStride};
  const size_t count[] = {kCount};
  unsigned char *column = heap + kBytes / 2;
  fill(heap, kAll, 40 + me);
  EXPECT_EQ(gex_VIS_StridedPutBlocking(pair(kHost, kOwn), peer, theirs[kOwn], wide, heap, close, kElement, count, 1, 0), 0);
  EXPECT_EQ(gex_VIS_StridedGetBlocking(pair(kOther, kOwn), own[kOther] + kBytes / 2, close, peer, theirs[kOwn], wide, kElement, count, 1, 0), 0);
  client_copy(column, own[kOther] + kBytes / 2, kAll);
  EXPECT(holds(column, kAll, 40 + me));
  gex_Memvec_t device[] = {{theirs[kOwn] + 9, 1000}, {theirs[kOwn] + 5000, kAll - 1000}};
  gex_Memvec_t host[] = {{heap, kAll}};
  gex_Event_Wait(gex_VIS_VectorPutNB(pair(kHost, kOwn), peer, 2, device, 1, host, 0));
  void *pieces[] = {theirs[kOwn] + 9, theirs[kOwn] + 5000};
  void *to[] = {own[kClients] + kBytes / 2};
  EXPECT_EQ(gex_VIS_IndexedGetBlocking(pair(kClients, kOwn), 1, to, 2000, peer, 2, pieces, 1000, 0), 0);
  client_copy(column, own[kClients] + kBytes / 2, 2000);
  EXPECT(holds(column, 2000, 40 + me));
  barrier();
}

/* ---- Messages, teams --------------------------------------------------------------------------------------------------- */

/* The payload is where it was sent, which the CPU may not touch; nor may every thread call the device. */
static struct { void *at; size_t bytes; } came[3];
static void take_long(gex_Token_t token, void *buf, size_t nbytes, gex_AM_Arg_t number) {
  gex_Token_Info_t info;
  gex_Token_Info(token, &info, GEX_TI_ALL);
  EXPECT(info.gex_is_long && info.gex_ep == endpoints[kOwn]);
  came[number].at = buf;
  came[number].bytes = nbytes;
  __sync_fetch_and_add(&longs, 1);
  gex_AM_ReplyShort0(token, kLongReply, 0);
}
static void take_reply(gex_Token_t token) {
  (void)token;
  __sync_fetch_and_add(&replies, 1);
}
static gex_AM_Entry_t table[] = {
    {kLong, (void (*)())take_long, GEX_FLAG_AM_LONG | GEX_FLAG_AM_REQUEST, 1, NULL, "long"},
    {kLongReply, (void (*)())take_reply, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REPLY, 0, NULL, "reply"}};

static void messages(void) {
  enum { kApart = 110000 };
  static const size_t sizes[] = {1, 5000, 100001};
  for (int i = 0; i < 3; ++i) {
    fill(heap, sizes[i], 50 + (unsigned)i);
    EXPECT_EQ(gex_AM_RequestLong1(pair(kHost, kOwn), peer, kLong, heap, sizes[i], theirs[kOwn] + 11 + i * kApart, GEX_EVENT_NOW, 0, i), 0);
    GASNET_BLOCKUNTIL(read_now(&replies) == i + 1);
  }
  GASNET_BLOCKUNTIL(read_now(&longs) == 3);
  for (int i = 0; i < 3; ++i) {
    EXPECT(came[i].at == own[kOwn] + 11 + i * kApart && came[i].bytes == sizes[i]);
    client_copy(heap, came[i].at, sizes[i]);
    EXPECT(holds(heap, sizes[i], 50 + (unsigned)i));
  }
  longs = replies = 0;
  barrier();
}

/* EX-119, EX-139 */
static void team_of_devices(void) {
  gex_EP_Location_t members[64];
  gex_TM_t tm = GEX_TM_INVALID;
  for (gex_Rank_t rank = 0; rank < ranks; ++rank) members[rank] = (gex_EP_Location_t){rank, kOwn};
  gex_TM_Create(&tm, 1, team, members, ranks, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
  EXPECT(gex_TM_QueryEP(tm) == endpoints[kOwn]);
  fill(heap, 1000, 60 + me);
  client_copy(own[kOwn] + kBytes / 2, heap, 1000);
  EXPECT_EQ(gex_RMA_PutBlocking(tm, peer, theirs[kOwn] + 1, own[kOwn] + kBytes / 2, 1000, 0), 0);
  gex_Event_Wait(gex_Coll_BarrierNB(tm, 0));
  client_copy(heap, own[kOwn] + 1, 1000);
  EXPECT(holds(heap, 1000, 60 + (peer == me ? me : (me + ranks - 1) % ranks)));
  barrier();
  gex_TM_Destroy(tm, NULL, GEX_FLAG_GLOBALLY_QUIESCED);
}

/* ---- What ends the program ---------------------------------------------------------------------------------------------- */

static void misuse(const char *how) {
  uint64_t value = 1;
  if (strcmp(how, "atomic") == 0) {
    gex_EP_Location_t all[64];
    gex_TM_t tm = GEX_TM_INVALID;
    gex_AD_t domain;
    for (gex_Rank_t rank = 0; rank < ranks; ++rank) all[rank] = (gex_EP_Location_t){rank, kOwn};
    gex_TM_Create(&tm, 1, team, all, ranks, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
    gex_AD_Create(&domain, tm, GEX_DT_U64, GEX_OP_ADD, 0);
    gex_Event_Wait(gex_AD_OpNB_U64(domain, NULL, me, own[kOwn], GEX_OP_ADD, value, 0, 0));
  }
  if (strcmp(how, "kind") == 0) gex_MK_Destroy(kind, 0);
  if (strcmp(how, "beyond") == 0) put(kBlocking, pair(kClients, kHost), theirs[kHost], own[kClients] + kClientsBytes - 8, 16);
  if (strcmp(how, "outside") == 0) put(kBlocking, pair(kHost, kClients), theirs[kClients] + kClientsBytes - 8, heap, 16);
  if (strcmp(how, "collective") == 0) gex_Event_Wait(gex_Coll_BroadcastNB(team, 0, own[kOwn], own[kOwn], 100, 0));
  if (strcmp(how, "medium") == 0) gex_AM_RequestMedium0(team, me, kLong, own[kOwn], 100, GEX_EVENT_NOW, 0);
  if (strcmp(how, "long") == 0) gex_AM_RequestLong1(team, me, kLong, own[kOwn], 100, own[kHost], GEX_EVENT_NOW, 0, 0);
  if (strcmp(how, "scratch") == 0) {
    gex_EP_Location_t all[] = {{me, kOwn}};
    gex_Addr_t scratch[] = {own[kOwn]};
    gex_TM_t tm;
    gex_TM_Create(&tm, 1, team, all, 1, scratch, 4096, GEX_FLAG_TM_LOCAL_SCRATCH);
  }
}

/* KINDS_DIRECT=1: the NIC alone moves bytes between ranks. Otherwise the device does, for the library. Seen with the
 * tests' libraries. */
static unsigned long librarys_bytes_copied(void) {
  const _Atomic unsigned long *all = dlsym(device_library, "device_bytes_copied");
  return all == NULL ? 0 : *all - client_bytes_copied;
}
static void expect_copies(unsigned long before) {
  const char *direct = getenv("KINDS_DIRECT");
  if (dlsym(device_library, "device_bytes_copied") == NULL || peer == me) return;
  const unsigned long copied = librarys_bytes_copied() - before;
  EXPECT(direct != NULL && atoi(direct) == 1 ? copied == 0 : copied >= kBytes);
}

int main(int argc, char **argv) {
  if (gex_Client_Init(&client, &endpoints[kHost], &team, "KINDS", &argc, &argv, 0) != GASNET_OK) return 3;
  me = gex_TM_QueryRank(team);
  nodes = ranks = gex_TM_QuerySize(team);
  EXPECT(argc > 1 && ranks <= 64);
  choose_device(argv[1]);
  if (argc > 2 && strcmp(argv[2], "create") == 0) { /* tells why not */
    const gex_MK_Create_args_t args = args_of(0);
    return gex_MK_Create(&kind, client, &args, 0) == GASNET_ERR_BAD_ARG ? 0 : 4;
  }
  open_client_device();
  heap = malloc(kBytes + kClientsBytes);
  create_kinds();
  create_segments();
  bind_segments();
  EXPECT_EQ(gex_EP_RegisterHandlers(endpoints[kHost], table, 2), GASNET_OK);
  EXPECT_EQ(gex_EP_RegisterHandlers(endpoints[kOwn], table, 2), GASNET_OK);
  barrier();
  peer = me;
  ask_for_segments();
  if (argc > 2) {
    misuse(argv[2]);
    end_job("kinds, misused");
  }
  for (gex_Rank_t step = 0; step < (ranks > 1 ? 2u : 1u); ++step) { /* oneself (EX-051), then the next rank */
    peer = (me + step) % ranks;
    ask_for_segments();
    const unsigned long before = librarys_bytes_copied();
    transfers();
    many_at_once();
    values();
    many_pieces();
    messages();
    team_of_devices();
    expect_copies(before);
  }
  for (int i = kOwn; i < kPlaces; ++i) gex_Segment_Destroy(made[i], 0);
  gex_MK_Destroy(kind, 0);
  if (other_kind != kind) gex_MK_Destroy(other_kind, 0);
  end_job("kinds");
}
