/* Every call with arguments of the specification's types, and its result of that type; compiled
 * with -Wall -Wextra -Wconversion -Werror. Nothing here runs: the job's cases do that. */
#include "gasnet1.h"

#define IS(type, call) \
  _Static_assert(__builtin_types_compatible_p(__typeof__(call), type), "the type of " #call)

static volatile int never;

static int zero_arguments(gasnet_node_t dest, gasnet_handler_t handler, gasnet_token_t token,
                          void *buffer, size_t bytes) {
  IS(int, gasnet_AMRequestShort0(dest, handler));
  IS(int, gasnet_AMRequestMedium0(dest, handler, buffer, bytes));
  IS(int, gasnet_AMRequestLong0(dest, handler, buffer, bytes, buffer));
  IS(int, gasnet_AMRequestLongAsync0(dest, handler, buffer, bytes, buffer));
  IS(int, gasnet_AMReplyShort0(token, handler));
  IS(int, gasnet_AMReplyMedium0(token, handler, buffer, bytes));
  IS(int, gasnet_AMReplyLong0(token, handler, buffer, bytes, buffer));
  return gasnet_AMRequestShort0(dest, handler) + gasnet_AMReplyShort0(token, handler);
}

#define CALLS(M, ...)                                                                        \
  static int calls_##M(gasnet_node_t dest, gasnet_handler_t handler, gasnet_token_t token,   \
                       void *buffer, size_t bytes, gasnet_handlerarg_t a) {                  \
    IS(int, gasnet_AMRequestShort##M(dest, handler, __VA_ARGS__));                           \
    IS(int, gasnet_AMReplyLong##M(token, handler, buffer, bytes, buffer, __VA_ARGS__));      \
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
  IS(size_t, gasnet_AMMaxArgs());
  IS(size_t, gasnet_AMMaxMedium());
  IS(size_t, gasnet_AMMaxLongRequest());
  IS(size_t, gasnet_AMMaxLongReply());
  IS(int, gasnet_AMPoll());
  IS(int, gasnet_AMGetMsgSource(token, &source));
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
  IS(const char *, gasnet_ErrorName(1));
  IS(const char *, gasnet_ErrorDesc(1));
  IS(int, gasnet_init(&program_argc, &program_argv));
  IS(int, gasnet_attach(table, 1, bytes, bytes));
  IS(gasnet_handler_t, table[0].index);
  IS(uintptr_t, gasnet_getMaxLocalSegmentSize());
  IS(uintptr_t, gasnet_getMaxGlobalSegmentSize());
  IS(gasnet_node_t, gasnet_mynode());
  IS(gasnet_node_t, gasnet_nodes());
  IS(void *, info[0].addr);
  IS(uintptr_t, info[0].size);
  IS(int, gasnet_getSegmentInfo(info, 1));
  IS(char *, gasnet_getenv(name));
  if (never) gasnet_exit(1);
  table[0].fnptr = NULL;
  EXPECT(table[0].fnptr == NULL);
}

CASE(atomicity, "C1-175 C1-188") {
  static gasnet_hsl_t fixed = GASNET_HSL_INITIALIZER;
  gasnet_hsl_t made;
  IS(int, gasnet_hsl_trylock(&fixed));
  gasnet_hold_interrupts();
  gasnet_resume_interrupts();
  gasnet_hsl_init(&made);
  gasnet_hsl_lock(&made);
  gasnet_hsl_unlock(&made);
  gasnet_hsl_destroy(&made);
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
  IS(gasnet_handle_t, gasnet_get_nb(to, node, from, bytes));
  IS(gasnet_handle_t, gasnet_put_nb(node, to, from, bytes));
  IS(gasnet_handle_t, gasnet_get_nb_bulk(to, node, from, bytes));
  IS(gasnet_handle_t, gasnet_put_nb_bulk(node, to, from, bytes));
  IS(gasnet_handle_t, gasnet_memset_nb(node, to, 1, bytes));
  IS(int, gasnet_try_syncnb(handles[0]));
  IS(int, gasnet_try_syncnb_all(handles, bytes));
  IS(int, gasnet_try_syncnb_some(handles, bytes));
  IS(int, gasnet_try_syncnbi_gets());
  IS(int, gasnet_try_syncnbi_puts());
  IS(int, gasnet_try_syncnbi_all());
  IS(gasnet_handle_t, gasnet_end_nbi_accessregion());
  IS(gasnet_handle_t, gasnet_put_nb_val(node, to, value, bytes));
  IS(gasnet_register_value_t, gasnet_get_val(node, from, bytes));
  IS(gasnet_valget_handle_t, gasnet_get_nb_val(node, from, bytes));
  IS(gasnet_register_value_t, gasnet_wait_syncnb_valget(gasnet_get_nb_val(node, from, bytes)));
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
  IS(int, gasnet_barrier_wait(1, 1));
  IS(int, gasnet_barrier_try(1, 1));
  IS(int, gasnet_set_waitmode(1));
  IS(gasnet_threadinfo_t, GASNET_GET_THREADINFO());
  IS(void *, GASNET_GET_THREADINFO());
  if (never) gasnet_barrier_notify(1, 1);
}
