/* Declarations of the additions about endpoints and segments: every call by a pointer of its exact
 * type, every constant where only a constant may stand. */
#include "../ex.h"

/* ---- calls, by the names of the specification and of the proposal ---------------------------- */

static int (*const ep_create)(gex_EP_t *, gex_Client_t, gex_EP_Capabilities_t,
                              gex_Flags_t) = gex_EP_Create;
static gex_EP_Index_t (*const ep_query_index)(gex_EP_t) = gex_EP_QueryIndex;
static gex_EP_Location_t (*const translate_rank_to_ep)(gex_TM_t, gex_Rank_t,
                                                       gex_Flags_t) = gex_TM_TranslateRankToEP;
static int (*const mk_create)(gex_MK_t *, gex_Client_t, const gex_MK_Create_args_t *,
                              gex_Flags_t) = gex_MK_Create;
static void (*const mk_destroy)(gex_MK_t, gex_Flags_t) = gex_MK_Destroy;
static int (*const segment_create)(gex_Segment_t *, gex_Client_t, gex_Addr_t, uintptr_t, gex_MK_t,
                                   gex_Flags_t) = gex_Segment_Create;
static void (*const segment_destroy)(gex_Segment_t, gex_Flags_t) = gex_Segment_Destroy;
static int (*const bind_segment)(gex_EP_t, gex_Segment_t, gex_Flags_t) = gex_EP_BindSegment;
static void (*const proposed_bind)(gex_Segment_t, gex_EP_t, gex_Flags_t) = gex_Segment_EP_Bind;
static int (*const publish)(gex_TM_t, gex_EP_t *, size_t, gex_Flags_t) = gex_EP_PublishBoundSegment;
static int (*const attach)(gex_Segment_t *, gex_TM_t, uintptr_t) = gex_Segment_Attach;

CASE(calls_of_endpoints, "EX-001 EX-034 EX-037") {
  EXPECT(ep_create != NULL && ep_query_index != NULL && translate_rank_to_ep != NULL);
  EXPECT_EQ(ep_query_index(endpoint), 0);
}

CASE(calls_of_segments, "EX-053 EX-065 EX-073 EX-082 EX-136") {
  EXPECT(segment_create != NULL && segment_destroy != NULL && bind_segment != NULL);
  EXPECT(proposed_bind != NULL && publish != NULL && attach != NULL);
}

CASE(calls_of_memory_kinds, "EX-046") { EXPECT(mk_create != NULL && mk_destroy != NULL); }

/* ---- constants ------------------------------------------------------------------------------- */

#if !defined GEX_EP_CAPABILITY_RMA || !defined GEX_EP_CAPABILITY_AM ||      \
    !defined GEX_EP_CAPABILITY_VIS || !defined GEX_EP_CAPABILITY_COLL ||    \
    !defined GEX_EP_CAPABILITY_AD || !defined GEX_EP_CAPABILITY_ALL ||      \
    !defined GEX_FLAG_HINT_ACCEL_AD || !defined GEX_FLAG_HINT_ACCEL_COLL || \
    !defined GEX_FLAG_HINT_ACCEL_ALL
#error "capabilities and hints are macros"
#endif

static const gex_EP_Capabilities_t kCapabilities[] = {GEX_EP_CAPABILITY_RMA, GEX_EP_CAPABILITY_AM,
                                                      GEX_EP_CAPABILITY_VIS, GEX_EP_CAPABILITY_COLL,
                                                      GEX_EP_CAPABILITY_AD};
enum {
  kEveryCapability = GEX_EP_CAPABILITY_RMA | GEX_EP_CAPABILITY_AM | GEX_EP_CAPABILITY_VIS |
                     GEX_EP_CAPABILITY_COLL | GEX_EP_CAPABILITY_AD,
  kEveryHint = GEX_FLAG_HINT_ACCEL_AD | GEX_FLAG_HINT_ACCEL_COLL
};

/* Each names something, and ALL is all of them. That each is a bit of its own is Pinwire's choice
 * (EX-021). */
CASE(capabilities_are_constants, "EX-017 EX-018 EX-019 EX-020 EX-021") {
  EXPECT_EQ(GEX_EP_CAPABILITY_ALL, kEveryCapability);
  for (size_t i = 0; i < sizeof kCapabilities / sizeof kCapabilities[0]; ++i) {
    EXPECT(kCapabilities[i] != 0);
    for (size_t j = 0; j < i; ++j) EXPECT_EQ(kCapabilities[i] & kCapabilities[j], 0);
  }
}

static const gex_Flags_t kHints[] = {GEX_FLAG_HINT_ACCEL_AD, GEX_FLAG_HINT_ACCEL_COLL};

CASE(hints_are_constants, "EX-027") {
  EXPECT_EQ(GEX_FLAG_HINT_ACCEL_ALL, kEveryHint);
  EXPECT(kHints[0] != 0 && kHints[1] != 0);
}

/* ---- types ----------------------------------------------------------------------------------- */

static const gex_EP_Index_t kInvalidIndex = GEX_EP_INDEX_INVALID;
_Static_assert((gex_EP_Index_t)-1 > (gex_EP_Index_t)0, "an index is unsigned (EX-031)");
_Static_assert((gex_EP_Index_t)(GASNET_MAXEPS - 1) == GASNET_MAXEPS - 1,
               "every index of an endpoint can be written (EX-031)");
_Static_assert(GEX_EP_INDEX_INVALID >= GASNET_MAXEPS, "no endpoint has it (EX-033)");
_Static_assert(__builtin_types_compatible_p(gex_Addr_t, void *), "an address (EX-053)");
_Static_assert(__builtin_types_compatible_p(gex_MemKind_t, gex_MK_t), "one type, two names");

CASE(locations_name_a_rank_and_an_index, "EX-030 EX-031 EX-033") {
  gex_EP_Location_t location = {me, kInvalidIndex}; /* in this order */
  IS(location.gex_rank, gex_Rank_t);
  IS(location.gex_ep_index, gex_EP_Index_t);
  EXPECT(location.gex_rank == me && location.gex_ep_index == GEX_EP_INDEX_INVALID);
  IS(GEX_EP_INDEX_INVALID, gex_EP_Index_t);
}
