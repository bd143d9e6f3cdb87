/* Every call with arguments of the specification's types, and its result of that type; compiled
 * with -Wall -Wextra -Wconversion -Werror. Nothing here runs: the job's cases do that. */
#include "gasnet1.h"

static volatile int never;

static int zero_arguments(gasnet_node_t dest, gasnet_handler_t handler, gasnet_token_t token,
                          void *buffer, size_t bytes) {
  IS(gasnet_AMRequestShort0(dest, handler), int);
  IS(gasnet_AMRequestMedium0(dest, handler, buffer, bytes), int);
  IS(gasnet_AMRequestLong0(dest, handler, buffer, bytes, buffer), int);
  IS(gasnet_AMRequestLongAsync0(dest, handler, buffer, bytes, buffer), int);
  IS(gasnet_AMReplyShort0(token, handler), int);
  IS(gasnet_AMReplyMedium0(token, handler, buffer, bytes), int);
  IS(gasnet_AMReplyLong0(token, handler, buffer, bytes, buffer), int);
  return gasnet_AMRequestShort0(dest, handler) + gasnet_AMReplyShort0(token, handler);
}

#define CALLS(M, ...)                                                                        \
  static int calls_##M(gasnet_node_t dest, gasnet_handler_t handler, gasnet_token_t token,   \
                       void *buffer, size_t bytes, gasnet_handlerarg_t a) {                  \
    IS(gasnet_AMRequestShort##M(dest, handler, __VA_ARGS__), int);                           \
    IS(gasnet_AMReplyLong##M(token, handler, buffer, bytes, buffer, __VA_ARGS__), int);      \
    return gasnet_AMRequestShort##M(dest, handler, __VA_ARGS__) +                            \
           gasnet_AMRequestMedium##M(dest, handler, buffer, bytes, __VA_ARGS__) +            \
           gasnet_AMRequestLong##M(dest, handler, buffer, bytes, buffer, __VA_ARGS__) +      \
           gasnet_AMRequestLongAsync##M(dest, handler, buffer, bytes, buffer, __VA_ARGS__) + \
           gasnet_AMReplyShort##M(token, handler, __VA_ARGS__) +                             \
           gasnet_AMReplyMedium##M(token, handler, buffer, bytes, __VA_ARGS__) +             \
           gasnet_AMReplyLong##M(token, handler, buffer, bytes, buffer, __VA_ARGS__);        \
  }
CALLS(1, a)
CALLS(2, a, a)
CALLS(3, a, a, a)
CALLS(4, a, a, a, a)
CALLS(5, a, a, a, a, a)
CALLS(6, a, a, a, a, a, a)
CALLS(7, a, a, a, a, a, a, a)
CALLS(8, a, a, a, a, a, a, a, a)
CALLS(9, a, a, a, a, a, a, a, a, a)
CALLS(10, a, a, a, a, a, a, a, a, a, a)
CALLS(11, a, a, a, a, a, a, a, a, a, a, a)
CALLS(12, a, a, a, a, a, a, a, a, a, a, a, a)
CALLS(13, a, a, a, a, a, a, a, a, a, a, a, a, a)
CALLS(14, a, a, a, a, a, a, a, a, a, a, a, a, a, a)
CALLS(15, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a)
CALLS(16, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a)

CASE(active_messages, "C1-002 C1-124 C1-130 C1-135 C1-149 C1-156") {
  const gasnet_token_t token = (gasnet_token_t)0;
  gasnet_node_t source;
  static unsigned char buffer[8];
  IS(gasnet_AMMaxArgs(), size_t);
  IS(gasnet_AMMaxMedium(), size_t);
  IS(gasnet_AMMaxLongRequest(), size_t);
  IS(gasnet_AMMaxLongReply(), size_t);
  IS(gasnet_AMPoll(), int);
  IS(gasnet_AMGetMsgSource(token, &source), int);
  if (never) {
    never = zero_arguments(0, 200, token, buffer, 8) + calls_1(0, 200, token, buffer, 8, 1) +
            calls_2(0, 200, token, buffer, 8, 1) + calls_3(0, 200, token, buffer, 8, 1) +
            calls_4(0, 200, token, buffer, 8, 1) + calls_5(0, 200, token, buffer, 8, 1) +
            calls_6(0, 200, token, buffer, 8, 1) + calls_7(0, 200, token, buffer, 8, 1) +
            calls_8(0, 200, token, buffer, 8, 1) + calls_9(0, 200, token, buffer, 8, 1) +
            calls_10(0, 200, token, buffer, 8, 1) + calls_11(0, 200, token, buffer, 8, 1) +
            calls_12(0, 200, token, buffer, 8, 1) + calls_13(0, 200, token, buffer, 8, 1) +
            calls_14(0, 200, token, buffer, 8, 1) + calls_15(0, 200, token, buffer, 8, 1) +
            calls_16(0, 200, token, buffer, 8, 1);
    gasnet_AMGetMsgSource(token, &source);
  }
}

CASE(job, "C1-002 C1-027 C1-051 C1-073 C1-092 C1-098 C1-109") {
  const char *const name = "NAME";
  gasnet_handlerentry_t table[1];
  gasnet_seginfo_t info[1];
  const uintptr_t bytes = 4096;
  IS(gasnet_ErrorName(1), const char *);
  IS(gasnet_ErrorDesc(1), const char *);
  IS(gasnet_init(&program_argc, &program_argv), int);
  IS(gasnet_attach(table, 1, bytes, bytes), int);
  IS(table[0].index, gasnet_handler_t);
  IS(gasnet_getMaxLocalSegmentSize(), uintptr_t);
  IS(gasnet_getMaxGlobalSegmentSize(), uintptr_t);
  IS(gasnet_mynode(), gasnet_node_t);
  IS(gasnet_nodes(), gasnet_node_t);
  IS(info[0].addr, void *);
  IS(info[0].size, uintptr_t);
  IS(gasnet_getSegmentInfo(info, 1), int);
  IS(gasnet_getenv(name), char *);
  if (never) gasnet_exit(1);
  table[0].fnptr = NULL;
  EXPECT(table[0].fnptr == NULL);
}

CASE(atomicity, "C1-175 C1-188") {
  static gasnet_hsl_t fixed = GASNET_HSL_INITIALIZER;
  gasnet_hsl_t made, *const any = &made;
  IS(gasnet_hsl_init(any), void);
  IS(gasnet_hsl_destroy(any), void);
  IS(gasnet_hsl_lock(any), void);
  IS(gasnet_hsl_unlock(any), void);
  IS(gasnet_hsl_trylock(any), int);
  void (*const of_hsl[])(gasnet_hsl_t *) = {gasnet_hsl_init, gasnet_hsl_destroy, gasnet_hsl_lock,
                                            gasnet_hsl_unlock};
  int (*const try_hsl)(gasnet_hsl_t *) = gasnet_hsl_trylock;
  for (int i = 0; i < 4; ++i) EXPECT(of_hsl[i] != NULL);
  EXPECT(try_hsl != NULL);
  gasnet_hold_interrupts();
  gasnet_resume_interrupts();
  gasnet_hsl_init(&made);
  gasnet_hsl_lock(&made);
  gasnet_hsl_unlock(&made);
  gasnet_hsl_destroy(&made);
  EXPECT_EQ(gasnet_hsl_trylock(&fixed), GASNET_OK);
  gasnet_hsl_unlock(&fixed);
  gasnet_hsl_lock(&fixed);
  gasnet_hsl_unlock(&fixed);
  gasnet_hsl_destroy(&fixed);
}

CASE(extended, "C1-213 C1-225 C1-234 C1-242 C1-248 C1-254") {
  gasnet_handle_t handles[1] = {GASNET_INVALID_HANDLE};
  void *const to = part(me), *from = part(me) + 64;
  const size_t bytes = 8;
  const gasnet_register_value_t value = 7;
  const gasnet_node_t node = me;
  IS(gasnet_get_nb(to, node, from, bytes), gasnet_handle_t);
  IS(gasnet_put_nb(node, to, from, bytes), gasnet_handle_t);
  IS(gasnet_get_nb_bulk(to, node, from, bytes), gasnet_handle_t);
  IS(gasnet_put_nb_bulk(node, to, from, bytes), gasnet_handle_t);
  IS(gasnet_memset_nb(node, to, 1, bytes), gasnet_handle_t);
  IS(gasnet_try_syncnb(handles[0]), int);
  IS(gasnet_try_syncnb_all(handles, bytes), int);
  IS(gasnet_try_syncnb_some(handles, bytes), int);
  IS(gasnet_try_syncnbi_gets(), int);
  IS(gasnet_try_syncnbi_puts(), int);
  IS(gasnet_try_syncnbi_all(), int);
  IS(gasnet_end_nbi_accessregion(), gasnet_handle_t);
  IS(gasnet_put_nb_val(node, to, value, bytes), gasnet_handle_t);
  IS(gasnet_get_val(node, from, bytes), gasnet_register_value_t);
  IS(gasnet_get_nb_val(node, from, bytes), gasnet_valget_handle_t);
  IS(gasnet_wait_syncnb_valget(gasnet_get_nb_val(node, from, bytes)), gasnet_register_value_t);
  if (never) {
    gasnet_get(to, node, from, bytes);
    gasnet_put(node, to, from, bytes);
    gasnet_get_bulk(to, node, from, bytes);
    gasnet_put_bulk(node, to, from, bytes);
    gasnet_memset(node, to, 1, bytes);
    gasnet_wait_syncnb(handles[0]);
    gasnet_wait_syncnb_all(handles, bytes);
    gasnet_wait_syncnb_some(handles, bytes);
    gasnet_get_nbi(to, node, from, bytes);
    gasnet_put_nbi(node, to, from, bytes);
    gasnet_get_nbi_bulk(to, node, from, bytes);
    gasnet_put_nbi_bulk(node, to, from, bytes);
    gasnet_memset_nbi(node, to, 1, bytes);
    gasnet_wait_syncnbi_gets();
    gasnet_wait_syncnbi_puts();
    gasnet_wait_syncnbi_all();
    gasnet_begin_nbi_accessregion();
    gasnet_put_val(node, to, value, bytes);
    gasnet_put_nbi_val(node, to, value, bytes);
  }
}

CASE(barriers_and_hints, "C1-262 C1-276 C1-283") {
  IS(gasnet_barrier_wait(1, 1), int);
  IS(gasnet_barrier_try(1, 1), int);
  IS(gasnet_set_waitmode(1), int);
  IS(GASNET_GET_THREADINFO(), gasnet_threadinfo_t);
  IS(GASNET_GET_THREADINFO(), void *);
  if (never) gasnet_barrier_notify(1, 1);
}
