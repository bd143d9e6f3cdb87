/* pinwire_ex_am.h: active messages of the GASNet-EX API (GX-085 to GX-110). Included by gasnetex.h only. */
#ifndef PINWIRE_EX_AM_H
#define PINWIRE_EX_AM_H

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Handlers (GX-085 to GX-090) ------------------------------------------------------------------- */

#if defined(__clang__) && !defined(__cplusplus) /* of the function without a prototype */
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wstrict-prototypes"
#endif
typedef void (*gex_AM_Fn_t)();
#if defined(__clang__) && !defined(__cplusplus)
#pragma clang diagnostic pop
#endif

typedef struct {
  gex_AM_Index_t gex_index; /* from GEX_AM_INDEX_BASE on; 0: the highest that is free, written here */
  gex_AM_Fn_t gex_fnptr;
  gex_Flags_t gex_flags;  /* GEX_FLAG_AM_{SHORT,MEDIUM,LONG,MEDLONG} | GEX_FLAG_AM_{REQUEST,REPLY,REQREP} */
  unsigned int gex_nargs;
  const void *gex_cdata; /* the client's; this and the name stay its own */
  const char *gex_name;
} gex_AM_Entry_t;

#define GEX_AM_INDEX_BASE 128

/* As often as wished; the others have to know before they send. GASNET_ERR_BAD_ARG, and nothing registered, for an
 * index that is taken or too low, no function, flags or arguments that do not exist, and when no
 * index is free. Not a barrier. An endpoint that has no handler under an index runs the first endpoint's, if that
 * has one. */
int gex_EP_RegisterHandlers(gex_EP_t ep, gex_AM_Entry_t *table, size_t numentries);

/* ---- What a handler's token tells (GX-098 to GX-101): in the handler ----------------------------------- */

typedef struct {
  gex_Rank_t gex_srcrank; /* the sender's, of the job */
  gex_EP_t gex_ep;        /* that received it */
  const gex_AM_Entry_t *gex_entry; /* the library's copy; its flags and names are 0 where gasnet_attach registered it */
  int gex_is_req;
  int gex_is_long;
} gex_Token_Info_t;
typedef uint32_t gex_TI_t;
#define GEX_TI_SRCRANK 1u
#define GEX_TI_ENTRY 2u
#define GEX_TI_IS_REQ 4u
#define GEX_TI_IS_LONG 8u
#define GEX_TI_EP 16u
#define GEX_TI_ALL 31u
#define GASNET_SUPPORTS_TI_SRCRANK 1
#define GASNET_SUPPORTS_TI_EP 1
#define GASNET_SUPPORTS_TI_ENTRY 1
#define GASNET_SUPPORTS_TI_IS_REQ 1
#define GASNET_SUPPORTS_TI_IS_LONG 1
/* Writes all of it, whatever `mask` asks for, and says so. */
gex_TI_t gex_Token_Info(gex_Token_t token, gex_Token_Info_t *info, gex_TI_t mask);

/* ---- Limits (GX-091 to GX-097): the same for all peers and any arguments; anywhere ----------------------- */

static inline unsigned int gex_AM_MaxArgs(void) { return 16; }
static inline size_t gex_AM_LUBRequestMedium(void) { return pinwire_max_medium; }
static inline size_t gex_AM_LUBReplyMedium(void) { return pinwire_max_medium; }
static inline size_t gex_AM_LUBRequestLong(void) { return pinwire_max_long; }
static inline size_t gex_AM_LUBReplyLong(void) { return pinwire_max_long_reply; }
/* The library's buffer for a negotiated Long. */
#define PINWIRE_NP_LONG_BYTES ((size_t)65536)
static inline size_t pinwire_ex_long_max(size_t max_long, gex_Flags_t flags) {
  return (flags & GEX_FLAG_AM_PREPARE_LEAST_ALLOC) && max_long > PINWIRE_NP_LONG_BYTES ? PINWIRE_NP_LONG_BYTES : max_long;
}
/* The limit of a payload, or with GEX_FLAG_AM_PREPARE_LEAST_CLIENT or _ALLOC of least_payload (GX-092). `other_rank`
 * may be GEX_RANK_INVALID: the least over all. */
#define PINWIRE_EX_MAX(call, bytes)                                                                                       \
  static inline size_t gex_AM_Max##call(gex_TM_t tm, gex_Rank_t other_rank, const gex_Event_t *lc_opt, gex_Flags_t flags, \
                                        unsigned int numargs) {                                                          \
    (void)tm, (void)other_rank, (void)lc_opt, (void)flags, (void)numargs;                                                \
    return bytes;                                                                                                        \
  }
PINWIRE_EX_MAX(RequestMedium, gex_AM_LUBRequestMedium())
PINWIRE_EX_MAX(ReplyMedium, gex_AM_LUBReplyMedium())
PINWIRE_EX_MAX(RequestLong, pinwire_ex_long_max(gex_AM_LUBRequestLong(), flags))
PINWIRE_EX_MAX(ReplyLong, pinwire_ex_long_max(gex_AM_LUBReplyLong(), flags))
static inline size_t gex_Token_MaxReplyMedium(gex_Token_t token, const gex_Event_t *lc_opt, gex_Flags_t flags, unsigned int numargs) {
  (void)token, (void)lc_opt, (void)flags, (void)numargs;
  return gex_AM_LUBReplyMedium();
}
static inline size_t gex_Token_MaxReplyLong(gex_Token_t token, const gex_Event_t *lc_opt, gex_Flags_t flags, unsigned int numargs) {
  (void)token, (void)lc_opt, (void)numargs;
  return pinwire_ex_long_max(gex_AM_LUBReplyLong(), flags);
}

/* ---- Requests and replies (GX-102 to GX-110) ---------------------------------------------------------- */

int pinwire_ex_request_short(gex_TM_t tm, gex_Rank_t rank, gex_AM_Index_t handler, gex_Flags_t flags, int argc, const gex_AM_Arg_t *args);
int pinwire_ex_request_medium(gex_TM_t tm, gex_Rank_t rank, gex_AM_Index_t handler, const void *source, size_t nbytes, gex_Event_t *lc_opt,
                              gex_Flags_t flags, int argc, const gex_AM_Arg_t *args);
int pinwire_ex_request_long(gex_TM_t tm, gex_Rank_t rank, gex_AM_Index_t handler, const void *source, size_t nbytes, void *dest_addr,
                            gex_Event_t *lc_opt, gex_Flags_t flags, int argc, const gex_AM_Arg_t *args);
int pinwire_ex_reply_short(gex_Token_t token, gex_AM_Index_t handler, gex_Flags_t flags, int argc, const gex_AM_Arg_t *args);
int pinwire_ex_reply_medium(gex_Token_t token, gex_AM_Index_t handler, const void *source, size_t nbytes, gex_Event_t *lc_opt,
                            gex_Flags_t flags, int argc, const gex_AM_Arg_t *args);
int pinwire_ex_reply_long(gex_Token_t token, gex_AM_Index_t handler, const void *source, size_t nbytes, void *dest_addr,
                          gex_Event_t *lc_opt, gex_Flags_t flags, int argc, const gex_AM_Arg_t *args);

/* For M arguments; those without a number count them. They return 0; non-zero, and nothing sent, only with
 * GEX_FLAG_IMMEDIATE, when there is no room at once. Requests: client threads only. Replies: inside a request handler,
 * once, with its token. lc_opt: GEX_EVENT_NOW, a pointer to an event, or, of requests, GEX_EVENT_GROUP; not
 * GEX_EVENT_DEFER. The destination of a Long lies in the segment of the rank's endpoint, unless it is empty. A wrong
 * call is fatal, with a sentence. */
#define PINWIRE_EX_AM_CALLS(M, PARAMETERS, ARGUMENTS)                                                                          \
  static inline int gex_AM_RequestShort##M(gex_TM_t tm, gex_Rank_t rank, gex_AM_Index_t handler,                              \
                                           gex_Flags_t flags PARAMETERS) {                                                    \
    const gex_AM_Arg_t args[] = {ARGUMENTS};                                                                                  \
    return pinwire_ex_request_short(tm, rank, handler, flags, M, args);                                                       \
  }                                                                                                                           \
  static inline int gex_AM_RequestMedium##M(gex_TM_t tm, gex_Rank_t rank, gex_AM_Index_t handler, const void *source_addr,    \
                                            size_t nbytes, gex_Event_t *lc_opt, gex_Flags_t flags PARAMETERS) {               \
    const gex_AM_Arg_t args[] = {ARGUMENTS};                                                                                  \
    return pinwire_ex_request_medium(tm, rank, handler, source_addr, nbytes, lc_opt, flags, M, args);                         \
  }                                                                                                                           \
  static inline int gex_AM_RequestLong##M(gex_TM_t tm, gex_Rank_t rank, gex_AM_Index_t handler, const void *source_addr,      \
                                          size_t nbytes, void *dest_addr, gex_Event_t *lc_opt,                                \
                                          gex_Flags_t flags PARAMETERS) {                                                     \
    const gex_AM_Arg_t args[] = {ARGUMENTS};                                                                                  \
    return pinwire_ex_request_long(tm, rank, handler, source_addr, nbytes, dest_addr, lc_opt, flags, M, args);                \
  }                                                                                                                           \
  static inline int gex_AM_ReplyShort##M(gex_Token_t token, gex_AM_Index_t handler, gex_Flags_t flags PARAMETERS) {           \
    const gex_AM_Arg_t args[] = {ARGUMENTS};                                                                                  \
    return pinwire_ex_reply_short(token, handler, flags, M, args);                                                            \
  }                                                                                                                           \
  static inline int gex_AM_ReplyMedium##M(gex_Token_t token, gex_AM_Index_t handler, const void *source_addr, size_t nbytes,  \
                                          gex_Event_t *lc_opt, gex_Flags_t flags PARAMETERS) {                                \
    const gex_AM_Arg_t args[] = {ARGUMENTS};                                                                                  \
    return pinwire_ex_reply_medium(token, handler, source_addr, nbytes, lc_opt, flags, M, args);                              \
  }                                                                                                                           \
  static inline int gex_AM_ReplyLong##M(gex_Token_t token, gex_AM_Index_t handler, const void *source_addr, size_t nbytes,    \
                                        void *dest_addr, gex_Event_t *lc_opt, gex_Flags_t flags PARAMETERS) {                 \
    const gex_AM_Arg_t args[] = {ARGUMENTS};                                                                                  \
    return pinwire_ex_reply_long(token, handler, source_addr, nbytes, dest_addr, lc_opt, flags, M, args);                     \
  }

PINWIRE_EX_AM_CALLS(0, PINWIRE_PARAMETERS_0, PINWIRE_ARGUMENTS_0)
PINWIRE_EX_AM_CALLS(1, PINWIRE_PARAMETERS_1, PINWIRE_ARGUMENTS_1)
PINWIRE_EX_AM_CALLS(2, PINWIRE_PARAMETERS_2, PINWIRE_ARGUMENTS_2)
PINWIRE_EX_AM_CALLS(3, PINWIRE_PARAMETERS_3, PINWIRE_ARGUMENTS_3)
PINWIRE_EX_AM_CALLS(4, PINWIRE_PARAMETERS_4, PINWIRE_ARGUMENTS_4)
PINWIRE_EX_AM_CALLS(5, PINWIRE_PARAMETERS_5, PINWIRE_ARGUMENTS_5)
PINWIRE_EX_AM_CALLS(6, PINWIRE_PARAMETERS_6, PINWIRE_ARGUMENTS_6)
PINWIRE_EX_AM_CALLS(7, PINWIRE_PARAMETERS_7, PINWIRE_ARGUMENTS_7)
PINWIRE_EX_AM_CALLS(8, PINWIRE_PARAMETERS_8, PINWIRE_ARGUMENTS_8)
PINWIRE_EX_AM_CALLS(9, PINWIRE_PARAMETERS_9, PINWIRE_ARGUMENTS_9)
PINWIRE_EX_AM_CALLS(10, PINWIRE_PARAMETERS_10, PINWIRE_ARGUMENTS_10)
PINWIRE_EX_AM_CALLS(11, PINWIRE_PARAMETERS_11, PINWIRE_ARGUMENTS_11)
PINWIRE_EX_AM_CALLS(12, PINWIRE_PARAMETERS_12, PINWIRE_ARGUMENTS_12)
PINWIRE_EX_AM_CALLS(13, PINWIRE_PARAMETERS_13, PINWIRE_ARGUMENTS_13)
PINWIRE_EX_AM_CALLS(14, PINWIRE_PARAMETERS_14, PINWIRE_ARGUMENTS_14)
PINWIRE_EX_AM_CALLS(15, PINWIRE_PARAMETERS_15, PINWIRE_ARGUMENTS_15)
PINWIRE_EX_AM_CALLS(16, PINWIRE_PARAMETERS_16, PINWIRE_ARGUMENTS_16)

/* The number of arguments after the first K: the list is filled up to eight, and the 25th word counts. */
#define PINWIRE_WORD25(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, word, ...) word
#define PINWIRE_COUNT_AFTER_8(...) \
  PINWIRE_WORD25(__VA_ARGS__, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, too_few)
#define PINWIRE_COUNT_AFTER_7(...) PINWIRE_COUNT_AFTER_8(0, __VA_ARGS__)
#define PINWIRE_COUNT_AFTER_6(...) PINWIRE_COUNT_AFTER_8(0, 0, __VA_ARGS__)
#define PINWIRE_COUNT_AFTER_5(...) PINWIRE_COUNT_AFTER_8(0, 0, 0, __VA_ARGS__)
#define PINWIRE_COUNT_AFTER_4(...) PINWIRE_COUNT_AFTER_8(0, 0, 0, 0, __VA_ARGS__)
#define PINWIRE_COUNT_AFTER_3(...) PINWIRE_COUNT_AFTER_8(0, 0, 0, 0, 0, __VA_ARGS__)
#define PINWIRE_COUNT_AFTER_2(...) PINWIRE_COUNT_AFTER_8(0, 0, 0, 0, 0, 0, __VA_ARGS__)
#define PINWIRE_CALL2(name, count) name##count
#define PINWIRE_CALL(name, count) PINWIRE_CALL2(name, count)
#define gex_AM_RequestShort(...) PINWIRE_CALL(gex_AM_RequestShort, PINWIRE_COUNT_AFTER_4(__VA_ARGS__))(__VA_ARGS__)
#define gex_AM_RequestMedium(...) PINWIRE_CALL(gex_AM_RequestMedium, PINWIRE_COUNT_AFTER_7(__VA_ARGS__))(__VA_ARGS__)
#define gex_AM_RequestLong(...) PINWIRE_CALL(gex_AM_RequestLong, PINWIRE_COUNT_AFTER_8(__VA_ARGS__))(__VA_ARGS__)
#define gex_AM_ReplyShort(...) PINWIRE_CALL(gex_AM_ReplyShort, PINWIRE_COUNT_AFTER_3(__VA_ARGS__))(__VA_ARGS__)
#define gex_AM_ReplyMedium(...) PINWIRE_CALL(gex_AM_ReplyMedium, PINWIRE_COUNT_AFTER_6(__VA_ARGS__))(__VA_ARGS__)
#define gex_AM_ReplyLong(...) PINWIRE_CALL(gex_AM_ReplyLong, PINWIRE_COUNT_AFTER_7(__VA_ARGS__))(__VA_ARGS__)

#ifdef __cplusplus
}
#endif

#endif
