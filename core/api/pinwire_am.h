/* pinwire_am.h: active messages (2.3), No-Interrupt Sections and handler-safe locks (2.4). Included by
 * gasnet.h only. */
#ifndef PINWIRE_AM_H
#define PINWIRE_AM_H

#ifdef __cplusplus
extern "C" {
#endif

/* ---- 2.3.2 Limits ---------------------------------------------------------------------------- */

/* Fixed by gasnet_init: the least that any driver of the job can carry. */
extern size_t pinwire_max_medium;
extern size_t pinwire_max_long;
extern size_t pinwire_max_long_reply;
static inline size_t gasnet_AMMaxArgs(void) { return 16; }
static inline size_t gasnet_AMMaxMedium(void) { return pinwire_max_medium; }
static inline size_t gasnet_AMMaxLongRequest(void) { return pinwire_max_long; }
static inline size_t gasnet_AMMaxLongReply(void) { return pinwire_max_long_reply; }

/* ---- 2.3.3, 2.3.4 Requests and replies -------------------------------------------------------- */

int pinwire_am_request_short(gasnet_node_t dest, gasnet_handler_t handler, int argc,
                             const gasnet_handlerarg_t *args);
int pinwire_am_request_medium(gasnet_node_t dest, gasnet_handler_t handler, void *source,
                              size_t nbytes, int argc, const gasnet_handlerarg_t *args);
int pinwire_am_request_long(gasnet_node_t dest, gasnet_handler_t handler, void *source,
                            size_t nbytes, void *dest_addr, int is_async, int argc,
                            const gasnet_handlerarg_t *args);
int pinwire_am_reply_short(gasnet_token_t token, gasnet_handler_t handler, int argc,
                           const gasnet_handlerarg_t *args);
int pinwire_am_reply_medium(gasnet_token_t token, gasnet_handler_t handler, void *source,
                            size_t nbytes, int argc, const gasnet_handlerarg_t *args);
int pinwire_am_reply_long(gasnet_token_t token, gasnet_handler_t handler, void *source,
                          size_t nbytes, void *dest_addr, int argc, const gasnet_handlerarg_t *args);

/* The seven calls of the specification for M arguments. They return when the message is sent and its
 * source reusable (but LongAsync: when the reply handler begins), may poll meanwhile, and return
 * GASNET_OK or GASNET_ERR_BAD_ARG. Requests: client threads only. Replies: inside a request handler,
 * once, with its token. */
#define PINWIRE_AM_CALLS(M, PARAMETERS, ARGUMENTS)                                                 \
  static inline int gasnet_AMRequestShort##M(gasnet_node_t dest,                                   \
                                             gasnet_handler_t handler PARAMETERS) {                \
    const gasnet_handlerarg_t args[] = {ARGUMENTS};                                                \
    return pinwire_am_request_short(dest, handler, M, args);                                       \
  }                                                                                                \
  static inline int gasnet_AMRequestMedium##M(gasnet_node_t dest, gasnet_handler_t handler,        \
                                              void *source_addr, size_t nbytes PARAMETERS) {       \
    const gasnet_handlerarg_t args[] = {ARGUMENTS};                                                \
    return pinwire_am_request_medium(dest, handler, source_addr, nbytes, M, args);                 \
  }                                                                                                \
  static inline int gasnet_AMRequestLong##M(gasnet_node_t dest, gasnet_handler_t handler,          \
                                            void *source_addr, size_t nbytes,                      \
                                            void *dest_addr PARAMETERS) {                          \
    const gasnet_handlerarg_t args[] = {ARGUMENTS};                                                \
    return pinwire_am_request_long(dest, handler, source_addr, nbytes, dest_addr, 0, M, args);     \
  }                                                                                                \
  static inline int gasnet_AMRequestLongAsync##M(gasnet_node_t dest, gasnet_handler_t handler,     \
                                                 void *source_addr, size_t nbytes,                 \
                                                 void *dest_addr PARAMETERS) {                     \
    const gasnet_handlerarg_t args[] = {ARGUMENTS};                                                \
    return pinwire_am_request_long(dest, handler, source_addr, nbytes, dest_addr, 1, M, args);     \
  }                                                                                                \
  static inline int gasnet_AMReplyShort##M(gasnet_token_t token,                                   \
                                           gasnet_handler_t handler PARAMETERS) {                  \
    const gasnet_handlerarg_t args[] = {ARGUMENTS};                                                \
    return pinwire_am_reply_short(token, handler, M, args);                                        \
  }                                                                                                \
  static inline int gasnet_AMReplyMedium##M(gasnet_token_t token, gasnet_handler_t handler,        \
                                            void *source_addr, size_t nbytes PARAMETERS) {         \
    const gasnet_handlerarg_t args[] = {ARGUMENTS};                                                \
    return pinwire_am_reply_medium(token, handler, source_addr, nbytes, M, args);                  \
  }                                                                                                \
  static inline int gasnet_AMReplyLong##M(gasnet_token_t token, gasnet_handler_t handler,          \
                                          void *source_addr, size_t nbytes,                        \
                                          void *dest_addr PARAMETERS) {                            \
    const gasnet_handlerarg_t args[] = {ARGUMENTS};                                                \
    return pinwire_am_reply_long(token, handler, source_addr, nbytes, dest_addr, M, args);         \
  }

/* Parameter and argument lists: lists within macro arguments need the detour over these names. */
#define PINWIRE_PARAMETERS_0
#define PINWIRE_ARGUMENTS_0 0
#define PINWIRE_PARAMETERS_1 , gasnet_handlerarg_t a0
#define PINWIRE_ARGUMENTS_1 a0
#define PINWIRE_PARAMETERS_2 , gasnet_handlerarg_t a0 , gasnet_handlerarg_t a1
#define PINWIRE_ARGUMENTS_2 a0, a1
#define PINWIRE_PARAMETERS_3 , gasnet_handlerarg_t a0 , gasnet_handlerarg_t a1 \
  , gasnet_handlerarg_t a2
#define PINWIRE_ARGUMENTS_3 a0, a1, a2
#define PINWIRE_PARAMETERS_4 , gasnet_handlerarg_t a0 , gasnet_handlerarg_t a1 \
  , gasnet_handlerarg_t a2 , gasnet_handlerarg_t a3
#define PINWIRE_ARGUMENTS_4 a0, a1, a2, a3
#define PINWIRE_PARAMETERS_5 , gasnet_handlerarg_t a0 , gasnet_handlerarg_t a1 \
  , gasnet_handlerarg_t a2 , gasnet_handlerarg_t a3 , gasnet_handlerarg_t a4
#define PINWIRE_ARGUMENTS_5 a0, a1, a2, a3, a4
#define PINWIRE_PARAMETERS_6 , gasnet_handlerarg_t a0 , gasnet_handlerarg_t a1 \
  , gasnet_handlerarg_t a2 , gasnet_handlerarg_t a3 , gasnet_handlerarg_t a4 \
  , gasnet_handlerarg_t a5
#define PINWIRE_ARGUMENTS_6 a0, a1, a2, a3, a4, a5
#define PINWIRE_PARAMETERS_7 , gasnet_handlerarg_t a0 , gasnet_handlerarg_t a1 \
  , gasnet_handlerarg_t a2 , gasnet_handlerarg_t a3 , gasnet_handlerarg_t a4 \
  , gasnet_handlerarg_t a5 , gasnet_handlerarg_t a6
#define PINWIRE_ARGUMENTS_7 a0, a1, a2, a3, a4, a5, a6
#define PINWIRE_PARAMETERS_8 , gasnet_handlerarg_t a0 , gasnet_handlerarg_t a1 \
  , gasnet_handlerarg_t a2 , gasnet_handlerarg_t a3 , gasnet_handlerarg_t a4 \
  , gasnet_handlerarg_t a5 , gasnet_handlerarg_t a6 , gasnet_handlerarg_t a7
#define PINWIRE_ARGUMENTS_8 a0, a1, a2, a3, a4, a5, a6, a7
#define PINWIRE_PARAMETERS_9 , gasnet_handlerarg_t a0 , gasnet_handlerarg_t a1 \
  , gasnet_handlerarg_t a2 , gasnet_handlerarg_t a3 , gasnet_handlerarg_t a4 \
  , gasnet_handlerarg_t a5 , gasnet_handlerarg_t a6 , gasnet_handlerarg_t a7 \
  , gasnet_handlerarg_t a8
#define PINWIRE_ARGUMENTS_9 a0, a1, a2, a3, a4, a5, a6, a7, a8
#define PINWIRE_PARAMETERS_10 , gasnet_handlerarg_t a0 , gasnet_handlerarg_t a1 \
  , gasnet_handlerarg_t a2 , gasnet_handlerarg_t a3 , gasnet_handlerarg_t a4 \
  , gasnet_handlerarg_t a5 , gasnet_handlerarg_t a6 , gasnet_handlerarg_t a7 \
  , gasnet_handlerarg_t a8 , gasnet_handlerarg_t a9
#define PINWIRE_ARGUMENTS_10 a0, a1, a2, a3, a4, a5, a6, a7, a8, a9
#define PINWIRE_PARAMETERS_11 , gasnet_handlerarg_t a0 , gasnet_handlerarg_t a1 \
  , gasnet_handlerarg_t a2 , gasnet_handlerarg_t a3 , gasnet_handlerarg_t a4 \
  , gasnet_handlerarg_t a5 , gasnet_handlerarg_t a6 , gasnet_handlerarg_t a7 \
  , gasnet_handlerarg_t a8 , gasnet_handlerarg_t a9 , gasnet_handlerarg_t a10
#define PINWIRE_ARGUMENTS_11 a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10
#define PINWIRE_PARAMETERS_12 , gasnet_handlerarg_t a0 , gasnet_handlerarg_t a1 \
  , gasnet_handlerarg_t a2 , gasnet_handlerarg_t a3 , gasnet_handlerarg_t a4 \
  , gasnet_handlerarg_t a5 , gasnet_handlerarg_t a6 , gasnet_handlerarg_t a7 \
  , gasnet_handlerarg_t a8 , gasnet_handlerarg_t a9 , gasnet_handlerarg_t a10 \
  , gasnet_handlerarg_t a11
#define PINWIRE_ARGUMENTS_12 a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11
#define PINWIRE_PARAMETERS_13 , gasnet_handlerarg_t a0 , gasnet_handlerarg_t a1 \
  , gasnet_handlerarg_t a2 , gasnet_handlerarg_t a3 , gasnet_handlerarg_t a4 \
  , gasnet_handlerarg_t a5 , gasnet_handlerarg_t a6 , gasnet_handlerarg_t a7 \
  , gasnet_handlerarg_t a8 , gasnet_handlerarg_t a9 , gasnet_handlerarg_t a10 \
  , gasnet_handlerarg_t a11 , gasnet_handlerarg_t a12
#define PINWIRE_ARGUMENTS_13 a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12
#define PINWIRE_PARAMETERS_14 , gasnet_handlerarg_t a0 , gasnet_handlerarg_t a1 \
  , gasnet_handlerarg_t a2 , gasnet_handlerarg_t a3 , gasnet_handlerarg_t a4 \
  , gasnet_handlerarg_t a5 , gasnet_handlerarg_t a6 , gasnet_handlerarg_t a7 \
  , gasnet_handlerarg_t a8 , gasnet_handlerarg_t a9 , gasnet_handlerarg_t a10 \
  , gasnet_handlerarg_t a11 , gasnet_handlerarg_t a12 , gasnet_handlerarg_t a13
#define PINWIRE_ARGUMENTS_14 a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13
#define PINWIRE_PARAMETERS_15 , gasnet_handlerarg_t a0 , gasnet_handlerarg_t a1 \
  , gasnet_handlerarg_t a2 , gasnet_handlerarg_t a3 , gasnet_handlerarg_t a4 \
  , gasnet_handlerarg_t a5 , gasnet_handlerarg_t a6 , gasnet_handlerarg_t a7 \
  , gasnet_handlerarg_t a8 , gasnet_handlerarg_t a9 , gasnet_handlerarg_t a10 \
  , gasnet_handlerarg_t a11 , gasnet_handlerarg_t a12 , gasnet_handlerarg_t a13 \
  , gasnet_handlerarg_t a14
#define PINWIRE_ARGUMENTS_15 a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14
#define PINWIRE_PARAMETERS_16 , gasnet_handlerarg_t a0 , gasnet_handlerarg_t a1 \
  , gasnet_handlerarg_t a2 , gasnet_handlerarg_t a3 , gasnet_handlerarg_t a4 \
  , gasnet_handlerarg_t a5 , gasnet_handlerarg_t a6 , gasnet_handlerarg_t a7 \
  , gasnet_handlerarg_t a8 , gasnet_handlerarg_t a9 , gasnet_handlerarg_t a10 \
  , gasnet_handlerarg_t a11 , gasnet_handlerarg_t a12 , gasnet_handlerarg_t a13 \
  , gasnet_handlerarg_t a14 , gasnet_handlerarg_t a15
#define PINWIRE_ARGUMENTS_16 a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15

PINWIRE_AM_CALLS(0, PINWIRE_PARAMETERS_0, PINWIRE_ARGUMENTS_0)
PINWIRE_AM_CALLS(1, PINWIRE_PARAMETERS_1, PINWIRE_ARGUMENTS_1)
PINWIRE_AM_CALLS(2, PINWIRE_PARAMETERS_2, PINWIRE_ARGUMENTS_2)
PINWIRE_AM_CALLS(3, PINWIRE_PARAMETERS_3, PINWIRE_ARGUMENTS_3)
PINWIRE_AM_CALLS(4, PINWIRE_PARAMETERS_4, PINWIRE_ARGUMENTS_4)
PINWIRE_AM_CALLS(5, PINWIRE_PARAMETERS_5, PINWIRE_ARGUMENTS_5)
PINWIRE_AM_CALLS(6, PINWIRE_PARAMETERS_6, PINWIRE_ARGUMENTS_6)
PINWIRE_AM_CALLS(7, PINWIRE_PARAMETERS_7, PINWIRE_ARGUMENTS_7)
PINWIRE_AM_CALLS(8, PINWIRE_PARAMETERS_8, PINWIRE_ARGUMENTS_8)
PINWIRE_AM_CALLS(9, PINWIRE_PARAMETERS_9, PINWIRE_ARGUMENTS_9)
PINWIRE_AM_CALLS(10, PINWIRE_PARAMETERS_10, PINWIRE_ARGUMENTS_10)
PINWIRE_AM_CALLS(11, PINWIRE_PARAMETERS_11, PINWIRE_ARGUMENTS_11)
PINWIRE_AM_CALLS(12, PINWIRE_PARAMETERS_12, PINWIRE_ARGUMENTS_12)
PINWIRE_AM_CALLS(13, PINWIRE_PARAMETERS_13, PINWIRE_ARGUMENTS_13)
PINWIRE_AM_CALLS(14, PINWIRE_PARAMETERS_14, PINWIRE_ARGUMENTS_14)
PINWIRE_AM_CALLS(15, PINWIRE_PARAMETERS_15, PINWIRE_ARGUMENTS_15)
PINWIRE_AM_CALLS(16, PINWIRE_PARAMETERS_16, PINWIRE_ARGUMENTS_16)

/* ---- 2.3.5 Polling ---------------------------------------------------------------------------- */

/* Services the network and runs the handlers of what arrived. */
int gasnet_AMPoll(void);
/* One turn of a wait, as gasnet_set_waitmode says. */
void pinwire_wait_turn(uint32_t *turns);
#ifdef GASNET_DEBUG
/* A wait is one also where there is nothing to wait for. */
void pinwire_check_wait(const char *call);
#define PINWIRE_CHECK_WAIT(call) pinwire_check_wait(call)
#else
#define PINWIRE_CHECK_WAIT(call) ((void)0)
#endif
/* Polls until `cond`, which only handlers of this node may change (C1-161, C1-162). */
#define GASNET_BLOCKUNTIL(cond)                                     \
  do {                                                              \
    uint32_t pinwire_turns = 0;                                     \
    PINWIRE_CHECK_WAIT("GASNET_BLOCKUNTIL");                        \
    while (!(cond)) pinwire_wait_turn(&pinwire_turns);              \
    __atomic_thread_fence(__ATOMIC_ACQUIRE);                        \
  } while (0)
int gasnetc_AMPoll(void); /* the same, by the name that some configure scripts look for */
/* In a handler, with its own token (C1-167). */
int gasnet_AMGetMsgSource(gasnet_token_t token, gasnet_node_t *srcindex);

/* A hint for every blocking call of this node, at any time after attach (3.6.2). */
int gasnet_set_waitmode(int wait_mode);

/* ---- 2.4 Atomicity ---------------------------------------------------------------------------- */

/* Where GASNET_DISPATCH has handlers interrupt client threads, none does on this thread between the two. They
 * do not nest; in handlers and under handler-safe locks, which hold off by themselves, they are ignored
 * (C1-183, C1-199). In debug builds misuse is fatal in every mode. Legal on any thread; resume may run handlers. */
void pinwire_hold_interrupts(void);
void pinwire_resume_interrupts(void);
extern int pinwire_has_interrupts; /* constant after gasnet_attach */
#ifdef GASNET_DEBUG
#define PINWIRE_HOLDS_INTERRUPTS 1
#else
#define PINWIRE_HOLDS_INTERRUPTS pinwire_has_interrupts
#endif
static inline void gasnet_hold_interrupts(void) {
  if (PINWIRE_HOLDS_INTERRUPTS) pinwire_hold_interrupts();
}
static inline void gasnet_resume_interrupts(void) {
  if (PINWIRE_HOLDS_INTERRUPTS) pinwire_resume_interrupts();
}

/* Opaque. Not shareable between processes (C1-204). */
#define PINWIRE_HSL_LIVES 0x4c495645u /* in debug builds */
#ifdef GASNET_DEBUG
typedef struct {
  uint32_t word;
  uint32_t life;
} gasnet_hsl_t;
#define GASNET_HSL_INITIALIZER {0, PINWIRE_HSL_LIVES}
#else
typedef struct {
  uint32_t word;
} gasnet_hsl_t;
#define GASNET_HSL_INITIALIZER {0}
#endif

/* lock blocks until acquired and, like the others, is legal in handlers. trylock: GASNET_OK or
 * GASNET_ERR_NOT_READY. */
void gasnet_hsl_init(gasnet_hsl_t *hsl);
void gasnet_hsl_destroy(gasnet_hsl_t *hsl);
void gasnet_hsl_lock(gasnet_hsl_t *hsl);
int gasnet_hsl_trylock(gasnet_hsl_t *hsl);
void gasnet_hsl_unlock(gasnet_hsl_t *hsl);

#ifdef GASNET_DEBUG
/* A breach in the section, or under the lock, is reported with the place where it began. */
void pinwire_hold_interrupts_at(const char *file, int line);
void pinwire_hsl_lock_at(const char *file, int line, gasnet_hsl_t *hsl);
int pinwire_hsl_trylock_at(const char *file, int line, gasnet_hsl_t *hsl);
#ifndef PINWIRE_LIBRARY
#define gasnet_hold_interrupts() pinwire_hold_interrupts_at(__FILE__, __LINE__)
#define gasnet_hsl_lock(...) pinwire_hsl_lock_at(__FILE__, __LINE__, __VA_ARGS__)
#define gasnet_hsl_trylock(...) pinwire_hsl_trylock_at(__FILE__, __LINE__, __VA_ARGS__)
#endif
#endif

#ifdef __cplusplus
}
#endif

#endif
