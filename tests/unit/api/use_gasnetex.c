/* Uses every name of gasnetex.h: compiled by each compiler in each standard and mode, never run. */
#include "gasnet_fwd.h"

static gex_Event_t from_fwd = GEX_EVENT_INVALID; /* by itself (GX-002) */

#include "gasnetex.h"

#if GEX_FLAG_PEER_NEVER_SELF == GEX_FLAG_PEER_NEVER_NBRHD || SIZEOF_GEX_RMA_VALUE_T != 8 || GEX_AM_INDEX_BASE > 128 ||       \
    !GASNET_HIDDEN_AM_CONCURRENCY_LEVEL || GEX_DT_I32 == GEX_DT_U32 || GEX_OP_TO_FETCHING(GEX_OP_ADD) != GEX_OP_FADD ||       \
    GEX_OP_TO_NONFETCHING(GEX_OP_FXOR) != GEX_OP_XOR || GEX_OP_TO_FETCHING(GEX_OP_SET) != GEX_OP_SWAP ||                    \
    GEX_OP_TO_FETCHING(GEX_OP_CAS) != GEX_OP_FCAS || GEX_SPEC_VERSION_MINOR != 19 || !GASNET_SUPPORTS_TI_EP
#error "names that the preprocessor is to know"
#endif

void use_objects(int argc, char **argv);
void use_messages(gex_TM_t tm, gex_EP_t ep, void *memory);
void use_transfers(gex_TM_t tm, void *here, void *there, gex_Event_t *events);
void use_system(void);

static gex_HSL_t lock = GEX_HSL_INITIALIZER;

static void on_short(gex_Token_t token, gex_AM_Arg_t a0) {
  gex_Token_Info_t info;
  (void)gex_Token_Info(token, &info, GEX_TI_SRCRANK | GEX_TI_EP | GEX_TI_ENTRY | GEX_TI_IS_REQ | GEX_TI_IS_LONG);
  (void)gex_AM_ReplyShort(token, 201, 0);
  (void)gex_AM_ReplyShort(token, 201, 0, a0, 2);
  (void)gex_AM_ReplyShort16(token, 201, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16);
  (void)gex_AM_ReplyMedium(token, 201, &info, gex_Token_MaxReplyMedium(token, GEX_EVENT_NOW, 0, 0), GEX_EVENT_NOW, 0);
  (void)gex_AM_ReplyLong(token, 201, &info, gex_Token_MaxReplyLong(token, GEX_EVENT_NOW, 0, 0), NULL, GEX_EVENT_NOW, 0, a0);
  (void)gex_AM_ReplyLong0(token, 201, &info, info.gex_entry->gex_nargs, NULL, GEX_EVENT_NOW, GEX_FLAG_IMMEDIATE);
}

#if GASNET_SUPPORTS_AM_COMMIT_V2 != 20240906L || GASNET_SUPPORTS_AM_CANCEL != 20240418L || !GASNET_NATIVE_NP_ALLOC_REQ_MEDIUM || \
    !GASNET_NATIVE_NP_ALLOC_REP_MEDIUM
#error "names that the preprocessor is to know"
#endif
static void reply_negotiated(gex_Token_t token, void *dest) {
  gex_AM_SrcDesc_t sd = gex_AM_PrepareReplyMedium(token, NULL, 1, 512, NULL, GEX_FLAG_IMMEDIATE, 0);
  if (sd == GEX_AM_SRCDESC_NO_OP || gex_AM_CommitReplyMedium_v2(sd, 201, 1, GEX_FLAG_IMMEDIATE)) (void)gex_AM_CancelReplyMedium(sd, 0);
  gex_AM_CommitReplyMedium(sd, 201, 1, 1, 2);
  gex_AM_CommitReplyMedium0(sd, 201, 1);
  (void)gex_AM_CommitReplyMedium16_v2(sd, 201, 1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16);
  sd = gex_AM_PrepareReplyLong(token, dest, 1, 2, dest, GEX_EVENT_NOW, 0, 3);
  gex_AM_CommitReplyLong(sd, 201, 1, dest, 1, 2, 3);
  (void)gex_AM_CommitReplyLong_v2(sd, 201, 1, dest, 0, 1, 2, 3);
  (void)gex_AM_CancelReplyLong(sd, 0);
}
void use_negotiated(gex_TM_t tm, gex_Token_t token, void *dest);
void use_negotiated(gex_TM_t tm, gex_Token_t token, void *dest) {
  gex_AM_SrcDesc_t sd = gex_AM_PrepareRequestMedium(tm, 0, NULL, 1, gex_AM_MaxRequestMedium(tm, 0, NULL, GEX_FLAG_AM_PREPARE_LEAST_ALLOC, 1), NULL, 0, 1);
  *(char *)gex_AM_SrcDescAddr(sd) = (char)gex_AM_SrcDescSize(sd);
  gex_AM_CommitRequestMedium(sd, 201, 1, 7);
  (void)gex_AM_CommitRequestMedium_v2(sd, 201, 1, 0, 7);
  (void)gex_AM_CommitRequestMedium1_v2(sd, 201, 1, 0, 7);
  (void)gex_AM_CancelRequestMedium(sd, 0);
  sd = gex_AM_PrepareRequestLong(tm, 0, dest, 1, 2, NULL, GEX_EVENT_GROUP, GEX_FLAG_IMMEDIATE, 0);
  gex_AM_CommitRequestLong(sd, 201, 1, dest);
  (void)gex_AM_CommitRequestLong_v2(sd, 201, 1, dest, GEX_FLAG_IMMEDIATE);
  (void)gex_AM_CancelRequestLong(sd, 0);
  reply_negotiated(token, dest);
}

void use_objects(int argc, char **argv) {
  gex_Client_t client;
  gex_EP_t ep;
  gex_TM_t tm;
  gex_Segment_t segment = GEX_SEGMENT_INVALID;
  gex_EP_Location_t place;
  void *owner, *local;
  uintptr_t size;
  if (gex_Client_Init(&client, &ep, &tm, "NAME", &argc, &argv, GEX_FLAG_USES_GASNET1) != GASNET_OK) gasnet_exit(1);
  gasnet_QueryGexObjects(&client, &ep, &tm, &segment);
  (void)gex_Segment_Attach(&segment, tm, gasnet_getMaxLocalSegmentSize());
  gex_Client_SetCData(client, gex_Client_QueryCData(client));
  gex_EP_SetCData(ep, gex_EP_QueryCData(ep));
  gex_TM_SetCData(tm, gex_TM_QueryCData(tm));
  gex_Segment_SetCData(segment, gex_Segment_QueryCData(segment));
  (void)gex_Client_QueryName(gex_EP_QueryClient(ep));
  (void)gex_Client_QueryFlags(gex_Segment_QueryClient(segment));
  (void)gex_EP_QueryFlags(gex_TM_QueryEP(tm));
  (void)gex_Segment_QueryFlags(gex_EP_QuerySegment(ep));
  (void)gex_TM_QueryFlags(gex_TM_QueryClient(tm) == GEX_CLIENT_INVALID || ep == GEX_EP_INVALID ? GEX_TM_INVALID : tm);
  (void)gex_Segment_QueryAddr(segment);
  (void)gex_Segment_QuerySize(segment);
  (void)gex_Segment_QueryBound(tm, gex_TM_QueryRank(tm), &owner, &local, &size);
  gex_Event_Wait(gex_EP_QueryBoundSegmentNB(tm, gex_TM_QuerySize(tm), &owner, &local, &size, GEX_FLAG_IMMEDIATE));
  place = gex_TM_TranslateRankToEP(tm, gex_TM_TranslateJobrankToRank(tm, gex_TM_TranslateRankToJobrank(tm, 0)), 0);
  if (place.gex_rank == GEX_RANK_INVALID || place.gex_ep_index == GEX_EP_INDEX_INVALID || gex_EP_QueryIndex(ep)) gasnet_exit(1);
  (void)from_fwd;
}

void use_messages(gex_TM_t tm, gex_EP_t ep, void *memory) {
  gex_AM_Entry_t table[1] = {{200, (gex_AM_Fn_t)on_short, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQREP, 1, NULL, "on_short"}};
  gex_Event_t event;
  (void)gex_EP_RegisterHandlers(ep, table, 1);
  (void)gex_AM_RequestShort(tm, 0, 200, 0);
  (void)gex_AM_RequestShort(tm, 0, 200, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16);
  (void)gex_AM_RequestMedium(tm, 0, 200, memory, gex_AM_LUBRequestMedium(), &event, 0, 1);
  (void)gex_AM_RequestMedium16(tm, 0, 200, memory, gex_AM_MaxRequestMedium(tm, 0, &event, 0, 16), GEX_EVENT_GROUP, 0, 1, 2, 3, 4, 5, 6, 7,
                               8, 9, 10, 11, 12, 13, 14, 15, 16);
  (void)gex_AM_RequestLong(tm, 0, 200, memory, gex_AM_LUBRequestLong(), memory, GEX_EVENT_NOW, 0);
  (void)gex_AM_RequestLong2(tm, 0, 200, memory, gex_AM_MaxRequestLong(tm, 0, &event, 0, 16), memory, GEX_EVENT_NOW, 0, 1, 2);
  (void)(gex_AM_LUBReplyMedium() + gex_AM_LUBReplyLong() + gex_AM_MaxReplyMedium(tm, 0, &event, 0, 0) +
         gex_AM_MaxReplyLong(tm, GEX_RANK_INVALID, &event, 0, gex_AM_MaxArgs()));
}

void use_transfers(gex_TM_t tm, void *here, void *there, gex_Event_t *events) {
  (void)gex_RMA_PutBlocking(tm, 0, there, here, 8, 0);
  (void)gex_RMA_GetBlocking(tm, here, 0, there, 8, GEX_FLAG_PEER_NEVER_SELF);
  events[0] = gex_RMA_PutNB(tm, 0, there, here, 8, &events[1], 0);
  events[2] = gex_RMA_GetNB(tm, here, 0, there, 8, 0);
  (void)gex_RMA_PutNBI(tm, 0, there, here, 8, GEX_EVENT_DEFER, 0);
  (void)gex_RMA_GetNBI(tm, here, 0, there, 8, 0);
  (void)gex_RMA_PutBlockingVal(tm, 0, there, gex_RMA_GetBlockingVal(tm, 0, there, 8, 0), 8, 0);
  (void)gex_RMA_PutNBIVal(tm, 0, there, 1, 4, 0);
  events[3] = gex_RMA_PutNBVal(tm, 0, there, 1, 4, 0);
  gex_Event_WaitSome(events, 4, 0);
  gex_Event_WaitAll(events, 4, 0);
  (void)gex_Event_TestSome(events, 4, 0);
  (void)gex_Event_TestAll(events, 4, 0);
  (void)gex_Event_Test(gex_Event_QueryLeaf(events[0], GEX_EC_LC));
  gex_NBI_BeginAccessRegion(0);
  gex_Event_Wait(gex_NBI_EndAccessRegion(0));
  (void)gex_NBI_Test(GEX_EC_GET | GEX_EC_PUT | GEX_EC_AM | GEX_EC_LC | GEX_EC_RMW, 0);
  gex_NBI_Wait(GEX_EC_ALL, 0);
}

void use_system(void) {
  gex_RankInfo_t *info;
  gex_Rank_t count, index, sets, set;
  const gex_Memvec_t vector = {NULL, 0};
  const gex_ProgressThreadInfo_t *threads;
  unsigned int roles = GEX_THREAD_ROLE_RCV | GEX_THREAD_ROLE_SND;
  if (gex_System_QueryProgressThreads(GEX_CLIENT_INVALID, &roles, &threads, 0) == GASNET_OK && roles != 0)
    roles = threads->gex_thread_roles + (threads->gex_progress_fn(threads->gex_progress_arg) == (const void *)threads->gex_device_list);
  gex_System_QueryNbrhdInfo(&info, &count, &index);
  gex_System_QueryHostInfo(&info, &count, &index);
  gex_System_QueryMyPosition(&sets, &set, NULL, NULL);
  gex_System_SetVerboseErrors(gex_System_GetVerboseErrors() && vector.gex_len == 0 && vector.gex_addr == NULL);
  if (gex_System_QueryMaxThreads() == 0 || gex_System_QueryHiddenAMConcurrencyLevel() || info->gex_jobrank != gex_System_QueryJobRank())
    gasnet_exit((int)gex_System_QueryJobSize());
  gex_HSL_Init(&lock);
  gex_HSL_Lock(&lock);
  gex_HSL_Unlock(&lock);
  if (gex_HSL_Trylock(&lock) == GASNET_OK) gex_HSL_Unlock(&lock);
  gex_HSL_Destroy(&lock);
}
