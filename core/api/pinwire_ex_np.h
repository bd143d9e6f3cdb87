/* pinwire_ex_np.h: active messages with negotiated payloads, of the GASNet-EX API (GX-111 to GX-122). Included by
 * gasnetex.h only. */
#ifndef PINWIRE_EX_NP_H
#define PINWIRE_EX_NP_H

#ifdef __cplusplus
extern "C" {
#endif

/* The prepared payload: where the payload is to be written, and how much of it there may be. */
struct pinwire_srcdesc {
  void *addr;
  size_t size;
};
typedef struct pinwire_srcdesc *gex_AM_SrcDesc_t;
#define GEX_AM_SRCDESC_NO_OP ((gex_AM_SrcDesc_t)0)
#define GASNET_SUPPORTS_AM_COMMIT_V2 20240906L
#define GASNET_SUPPORTS_AM_CANCEL 20240418L
/* The library's buffer for a Medium is the driver's own: over shared memory the handler of the peer runs on it, over
 * a network the device sends from it. Fixed payloads are copied there first. Longs are as cheap from the client's
 * memory. */
#define GASNET_NATIVE_NP_ALLOC_REQ_MEDIUM 1
#define GASNET_NATIVE_NP_ALLOC_REP_MEDIUM 1

static inline void *gex_AM_SrcDescAddr(gex_AM_SrcDesc_t sd) { return sd->addr; }
static inline size_t gex_AM_SrcDescSize(gex_AM_SrcDesc_t sd) { return sd->size; }

/* Prepare: client_buf, which becomes the payload as it is then, or NULL for a buffer of the library's, aligned for any
 * type, to be written before the Commit. The size that is granted lies between least_payload, at most gex_AM_Max...
 * with a PREPARE flag, and most_payload, which may exceed that. lc_opt: NULL without a client_buf; else as for a fixed
 * payload, valid after the Commit. A Long's dest_addr may be NULL and come with the Commit. numargs: of the Commit.
 * With GEX_FLAG_IMMEDIATE, GEX_AM_SRCDESC_NO_OP when no buffer is free at once.
 *
 * From then on to Commit or Cancel, by the same thread, that thread does nothing that a reply handler may not; it may
 * compute for as long as it likes. Legal where the call with a fixed payload is. A wrong call is fatal, with a
 * sentence. */
gex_AM_SrcDesc_t gex_AM_PrepareRequestMedium(gex_TM_t tm, gex_Rank_t rank, const void *client_buf, size_t least_payload, size_t most_payload,
                                             gex_Event_t *lc_opt, gex_Flags_t flags, unsigned int numargs);
gex_AM_SrcDesc_t gex_AM_PrepareReplyMedium(gex_Token_t token, const void *client_buf, size_t least_payload, size_t most_payload,
                                           gex_Event_t *lc_opt, gex_Flags_t flags, unsigned int numargs);
gex_AM_SrcDesc_t gex_AM_PrepareRequestLong(gex_TM_t tm, gex_Rank_t rank, const void *client_buf, size_t least_payload, size_t most_payload,
                                           void *dest_addr, gex_Event_t *lc_opt, gex_Flags_t flags, unsigned int numargs);
gex_AM_SrcDesc_t gex_AM_PrepareReplyLong(gex_Token_t token, const void *client_buf, size_t least_payload, size_t most_payload,
                                         void *dest_addr, gex_Event_t *lc_opt, gex_Flags_t flags, unsigned int numargs);

/* Gives up what was prepared; flags: 0. Returns 0. */
#define PINWIRE_NP_REQUEST_MEDIUM 0
#define PINWIRE_NP_REPLY_MEDIUM 1
#define PINWIRE_NP_REQUEST_LONG 2
#define PINWIRE_NP_REPLY_LONG 3
int pinwire_ex_cancel(int kind, gex_AM_SrcDesc_t sd, gex_Flags_t flags);
static inline int gex_AM_CancelRequestMedium(gex_AM_SrcDesc_t sd, gex_Flags_t flags) { return pinwire_ex_cancel(PINWIRE_NP_REQUEST_MEDIUM, sd, flags); }
static inline int gex_AM_CancelReplyMedium(gex_AM_SrcDesc_t sd, gex_Flags_t flags) { return pinwire_ex_cancel(PINWIRE_NP_REPLY_MEDIUM, sd, flags); }
static inline int gex_AM_CancelRequestLong(gex_AM_SrcDesc_t sd, gex_Flags_t flags) { return pinwire_ex_cancel(PINWIRE_NP_REQUEST_LONG, sd, flags); }
static inline int gex_AM_CancelReplyLong(gex_AM_SrcDesc_t sd, gex_Flags_t flags) { return pinwire_ex_cancel(PINWIRE_NP_REPLY_LONG, sd, flags); }

/* Commit: sends the first nbytes of what was prepared; for M arguments, and without a number it counts them. A Long's
 * dest_addr repeats what Prepare was told, if it was. _v2: with GEX_FLAG_IMMEDIATE, which must be all flags there
 * are, non-zero, and everything as it was, when there is no room at once; else 0. */
int pinwire_ex_commit(int kind, gex_AM_SrcDesc_t sd, gex_AM_Index_t handler, size_t nbytes, void *dest_addr, gex_Flags_t commit_flags,
                      int argc, const gex_AM_Arg_t *args);
#define PINWIRE_EX_NP_MEDIUM(M, NAME, KIND)                                                                                        \
  static inline int gex_AM_Commit##NAME##M##_v2(gex_AM_SrcDesc_t sd, gex_AM_Index_t handler, size_t nbytes,                        \
                                                gex_Flags_t commit_flags PINWIRE_PARAMETERS_##M) {                                 \
    const gex_AM_Arg_t args[] = {PINWIRE_ARGUMENTS_##M};                                                                           \
    return pinwire_ex_commit(KIND, sd, handler, nbytes, 0, commit_flags, M, args);                                                 \
  }                                                                                                                                \
  static inline void gex_AM_Commit##NAME##M(gex_AM_SrcDesc_t sd, gex_AM_Index_t handler, size_t nbytes PINWIRE_PARAMETERS_##M) {   \
    const gex_AM_Arg_t args[] = {PINWIRE_ARGUMENTS_##M};                                                                           \
    (void)pinwire_ex_commit(KIND, sd, handler, nbytes, 0, 0, M, args);                                                             \
  }
#define PINWIRE_EX_NP_LONG(M, NAME, KIND)                                                                                          \
  static inline int gex_AM_Commit##NAME##M##_v2(gex_AM_SrcDesc_t sd, gex_AM_Index_t handler, size_t nbytes, void *dest_addr,       \
                                                gex_Flags_t commit_flags PINWIRE_PARAMETERS_##M) {                                 \
    const gex_AM_Arg_t args[] = {PINWIRE_ARGUMENTS_##M};                                                                           \
    return pinwire_ex_commit(KIND, sd, handler, nbytes, dest_addr, commit_flags, M, args);                                         \
  }                                                                                                                                \
  static inline void gex_AM_Commit##NAME##M(gex_AM_SrcDesc_t sd, gex_AM_Index_t handler, size_t nbytes,                            \
                                            void *dest_addr PINWIRE_PARAMETERS_##M) {                                              \
    const gex_AM_Arg_t args[] = {PINWIRE_ARGUMENTS_##M};                                                                           \
    (void)pinwire_ex_commit(KIND, sd, handler, nbytes, dest_addr, 0, M, args);                                                     \
  }
#define PINWIRE_EX_NP_CALLS(M)                                                                                                     \
  PINWIRE_EX_NP_MEDIUM(M, RequestMedium, PINWIRE_NP_REQUEST_MEDIUM)                                                                \
  PINWIRE_EX_NP_MEDIUM(M, ReplyMedium, PINWIRE_NP_REPLY_MEDIUM)                                                                    \
  PINWIRE_EX_NP_LONG(M, RequestLong, PINWIRE_NP_REQUEST_LONG)                                                                      \
  PINWIRE_EX_NP_LONG(M, ReplyLong, PINWIRE_NP_REPLY_LONG)

PINWIRE_EX_NP_CALLS(0)
PINWIRE_EX_NP_CALLS(1)
PINWIRE_EX_NP_CALLS(2)
PINWIRE_EX_NP_CALLS(3)
PINWIRE_EX_NP_CALLS(4)
PINWIRE_EX_NP_CALLS(5)
PINWIRE_EX_NP_CALLS(6)
PINWIRE_EX_NP_CALLS(7)
PINWIRE_EX_NP_CALLS(8)
PINWIRE_EX_NP_CALLS(9)
PINWIRE_EX_NP_CALLS(10)
PINWIRE_EX_NP_CALLS(11)
PINWIRE_EX_NP_CALLS(12)
PINWIRE_EX_NP_CALLS(13)
PINWIRE_EX_NP_CALLS(14)
PINWIRE_EX_NP_CALLS(15)
PINWIRE_EX_NP_CALLS(16)

#define PINWIRE_COUNT_AFTER_5(...) PINWIRE_COUNT_AFTER_8(0, 0, 0, __VA_ARGS__)
#define PINWIRE_CALL2_V2(name, count) name##count##_v2
#define PINWIRE_CALL_V2(name, count) PINWIRE_CALL2_V2(name, count)
#define gex_AM_CommitRequestMedium(...) PINWIRE_CALL(gex_AM_CommitRequestMedium, PINWIRE_COUNT_AFTER_3(__VA_ARGS__))(__VA_ARGS__)
#define gex_AM_CommitReplyMedium(...) PINWIRE_CALL(gex_AM_CommitReplyMedium, PINWIRE_COUNT_AFTER_3(__VA_ARGS__))(__VA_ARGS__)
#define gex_AM_CommitRequestLong(...) PINWIRE_CALL(gex_AM_CommitRequestLong, PINWIRE_COUNT_AFTER_4(__VA_ARGS__))(__VA_ARGS__)
#define gex_AM_CommitReplyLong(...) PINWIRE_CALL(gex_AM_CommitReplyLong, PINWIRE_COUNT_AFTER_4(__VA_ARGS__))(__VA_ARGS__)
#define gex_AM_CommitRequestMedium_v2(...) PINWIRE_CALL_V2(gex_AM_CommitRequestMedium, PINWIRE_COUNT_AFTER_4(__VA_ARGS__))(__VA_ARGS__)
#define gex_AM_CommitReplyMedium_v2(...) PINWIRE_CALL_V2(gex_AM_CommitReplyMedium, PINWIRE_COUNT_AFTER_4(__VA_ARGS__))(__VA_ARGS__)
#define gex_AM_CommitRequestLong_v2(...) PINWIRE_CALL_V2(gex_AM_CommitRequestLong, PINWIRE_COUNT_AFTER_5(__VA_ARGS__))(__VA_ARGS__)
#define gex_AM_CommitReplyLong_v2(...) PINWIRE_CALL_V2(gex_AM_CommitReplyLong, PINWIRE_COUNT_AFTER_5(__VA_ARGS__))(__VA_ARGS__)

#ifdef __cplusplus
}
#endif

#endif
