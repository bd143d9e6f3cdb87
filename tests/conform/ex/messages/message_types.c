/* Calls of active messages, of the types that GASNet-EX 0.19 gives them ("Fixed-Payload Active
 * Messages", "Negotiated-Payload Active Messages"). The compiler checks them; what they do is shown
 * elsewhere. */
#include "../ex.h"

/* M arguments, after others. */
#define ARGS_0
#define ARGS_1 ARGS_0, gex_AM_Arg_t
#define ARGS_2 ARGS_1, gex_AM_Arg_t
#define ARGS_3 ARGS_2, gex_AM_Arg_t
#define ARGS_4 ARGS_3, gex_AM_Arg_t
#define ARGS_5 ARGS_4, gex_AM_Arg_t
#define ARGS_6 ARGS_5, gex_AM_Arg_t
#define ARGS_7 ARGS_6, gex_AM_Arg_t
#define ARGS_8 ARGS_7, gex_AM_Arg_t
#define ARGS_9 ARGS_8, gex_AM_Arg_t
#define ARGS_10 ARGS_9, gex_AM_Arg_t
#define ARGS_11 ARGS_10, gex_AM_Arg_t
#define ARGS_12 ARGS_11, gex_AM_Arg_t
#define ARGS_13 ARGS_12, gex_AM_Arg_t
#define ARGS_14 ARGS_13, gex_AM_Arg_t
#define ARGS_15 ARGS_14, gex_AM_Arg_t
#define ARGS_16 ARGS_15, gex_AM_Arg_t
#define FOR_EVERY_COUNT(X) \
  X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13) X(14) X(15) X(16)

/* clang-format off */
#define FIXED(M)                                                                                  \
  IS(gex_AM_RequestShort##M, int(gex_TM_t, gex_Rank_t, gex_AM_Index_t, gex_Flags_t ARGS_##M));    \
  IS(gex_AM_RequestMedium##M, int(gex_TM_t, gex_Rank_t, gex_AM_Index_t, const void *, size_t,     \
                                  gex_Event_t *, gex_Flags_t ARGS_##M));                          \
  IS(gex_AM_RequestLong##M, int(gex_TM_t, gex_Rank_t, gex_AM_Index_t, const void *, size_t,       \
                                void *, gex_Event_t *, gex_Flags_t ARGS_##M));                    \
  IS(gex_AM_ReplyShort##M, int(gex_Token_t, gex_AM_Index_t, gex_Flags_t ARGS_##M));               \
  IS(gex_AM_ReplyMedium##M, int(gex_Token_t, gex_AM_Index_t, const void *, size_t, gex_Event_t *, \
                                gex_Flags_t ARGS_##M));                                           \
  IS(gex_AM_ReplyLong##M, int(gex_Token_t, gex_AM_Index_t, const void *, size_t, void *,          \
                              gex_Event_t *, gex_Flags_t ARGS_##M));
CASE(fixed_payloads, "GX-102") {
  FOR_EVERY_COUNT(FIXED)
  IS(gex_AM_Arg_t, int32_t);
  EXPECT_EQ(gex_AM_MaxArgs(), 16); /* no more, or there would be calls for them */
}

#define COMMIT_MEDIUM(name, M)                                                      \
  IS(name##M, void(gex_AM_SrcDesc_t, gex_AM_Index_t, size_t ARGS_##M));             \
  IS(name##M##_v2, int(gex_AM_SrcDesc_t, gex_AM_Index_t, size_t, gex_Flags_t ARGS_##M));
#define COMMIT_LONG(name, M)                                                        \
  IS(name##M, void(gex_AM_SrcDesc_t, gex_AM_Index_t, size_t, void *ARGS_##M));      \
  IS(name##M##_v2, int(gex_AM_SrcDesc_t, gex_AM_Index_t, size_t, void *, gex_Flags_t ARGS_##M));
#define COMMITS(M)                                                                  \
  COMMIT_MEDIUM(gex_AM_CommitRequestMedium, M)                                      \
  COMMIT_MEDIUM(gex_AM_CommitReplyMedium, M)                                        \
  COMMIT_LONG(gex_AM_CommitRequestLong, M)                                          \
  COMMIT_LONG(gex_AM_CommitReplyLong, M)
CASE(negotiated_payloads, "GX-111") {
  FOR_EVERY_COUNT(COMMITS)
  IS(gex_AM_PrepareRequestMedium, gex_AM_SrcDesc_t(gex_TM_t, gex_Rank_t, const void *, size_t, size_t,
                                                   gex_Event_t *, gex_Flags_t, unsigned int));
  IS(gex_AM_PrepareReplyMedium, gex_AM_SrcDesc_t(gex_Token_t, const void *, size_t, size_t,
                                                 gex_Event_t *, gex_Flags_t, unsigned int));
  IS(gex_AM_PrepareRequestLong, gex_AM_SrcDesc_t(gex_TM_t, gex_Rank_t, const void *, size_t, size_t,
                                                 void *, gex_Event_t *, gex_Flags_t, unsigned int));
  IS(gex_AM_PrepareReplyLong, gex_AM_SrcDesc_t(gex_Token_t, const void *, size_t, size_t, void *,
                                               gex_Event_t *, gex_Flags_t, unsigned int));
  IS(gex_AM_CancelRequestMedium, int(gex_AM_SrcDesc_t, gex_Flags_t));
  IS(gex_AM_CancelReplyMedium, int(gex_AM_SrcDesc_t, gex_Flags_t));
  IS(gex_AM_CancelRequestLong, int(gex_AM_SrcDesc_t, gex_Flags_t));
  IS(gex_AM_CancelReplyLong, int(gex_AM_SrcDesc_t, gex_Flags_t));
  IS(gex_AM_SrcDescAddr, void *(gex_AM_SrcDesc_t));
  IS(gex_AM_SrcDescSize, size_t(gex_AM_SrcDesc_t));
  IS(GEX_AM_SRCDESC_NO_OP, gex_AM_SrcDesc_t);
  EXPECT(GEX_AM_SRCDESC_NO_OP == (gex_AM_SrcDesc_t)0);
}
/* clang-format on */

/* Said by the preprocessor: both of the experimental sets of calls are there. */
#if !defined(GASNET_SUPPORTS_AM_COMMIT_V2) || GASNET_SUPPORTS_AM_COMMIT_V2 != 20240906L
#error "GASNET_SUPPORTS_AM_COMMIT_V2"
#endif
#if !defined(GASNET_SUPPORTS_AM_CANCEL) || GASNET_SUPPORTS_AM_CANCEL != 20240418L
#error "GASNET_SUPPORTS_AM_CANCEL"
#endif

#if defined(GASNET_NATIVE_NP_ALLOC_REQ_MEDIUM) && GASNET_NATIVE_NP_ALLOC_REQ_MEDIUM != 1
#error "GASNET_NATIVE_NP_ALLOC_REQ_MEDIUM"
#endif
#if defined(GASNET_NATIVE_NP_ALLOC_REP_MEDIUM) && GASNET_NATIVE_NP_ALLOC_REP_MEDIUM != 1
#error "GASNET_NATIVE_NP_ALLOC_REP_MEDIUM"
#endif
#if defined(GASNET_NATIVE_NP_ALLOC_REQ_LONG) && GASNET_NATIVE_NP_ALLOC_REQ_LONG != 1
#error "GASNET_NATIVE_NP_ALLOC_REQ_LONG"
#endif
#if defined(GASNET_NATIVE_NP_ALLOC_REP_LONG) && GASNET_NATIVE_NP_ALLOC_REP_LONG != 1
#error "GASNET_NATIVE_NP_ALLOC_REP_LONG"
#endif
CASE(native_indicators_are_one_or_undefined, "GX-121") {}
