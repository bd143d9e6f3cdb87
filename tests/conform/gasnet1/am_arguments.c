/* Arguments of active messages (2.3.1, 2.3.2). Every M with every category:
 * tests/job/api/messages/am_matrix.c. */
#include <limits.h>

#include "gasnet1.h"

static _Atomic int seen;
static gasnet_handlerarg_t values[16];

static void on_sixteen(gasnet_token_t token, gasnet_handlerarg_t a0, gasnet_handlerarg_t a1,
                       gasnet_handlerarg_t a2, gasnet_handlerarg_t a3, gasnet_handlerarg_t a4,
                       gasnet_handlerarg_t a5, gasnet_handlerarg_t a6, gasnet_handlerarg_t a7,
                       gasnet_handlerarg_t a8, gasnet_handlerarg_t a9, gasnet_handlerarg_t a10,
                       gasnet_handlerarg_t a11, gasnet_handlerarg_t a12, gasnet_handlerarg_t a13,
                       gasnet_handlerarg_t a14, gasnet_handlerarg_t a15) {
  const gasnet_handlerarg_t all[16] = {a0, a1, a2,  a3,  a4,  a5,  a6,  a7,
                                       a8, a9, a10, a11, a12, a13, a14, a15};
  (void)token;
  EXPECT_FIRST(seen);
  memcpy(values, all, sizeof all);
  ++seen;
}
HANDLER(on_sixteen);

static void send_sixteen(gasnet_node_t to, const gasnet_handlerarg_t *v) {
  EXPECT_EQ(gasnet_AMRequestShort16(to, on_sixteen_index, v[0], v[1], v[2], v[3], v[4], v[5], v[6],
                                    v[7], v[8], v[9], v[10], v[11], v[12], v[13], v[14], v[15]),
            GASNET_OK);
}

CASE(signed_values_in_order, "C1-033 C1-047 C1-127") {
  static const gasnet_handlerarg_t sent[16] = {
      INT_MIN, INT_MAX, 0, -1, 1, -2, 1 << 30, ~(1 << 30), 65536, -65536, -3, 12, -13, 14, -15, 16};
  for (gasnet_node_t k = 0; k < nodes; ++k) {
    memset(values, 0, sizeof values);
    seen = 0;
    barrier();
    send_sixteen((me + k) % nodes, sent);
    GASNET_BLOCKUNTIL(seen == 1);
    EXPECT(memcmp(values, sent, sizeof sent) == 0);
    barrier();
  }
}

/* Eight pointers fit, in halves (C1-132). */
CASE(eight_pointers_fit, "C1-132") {
  uintptr_t pointers[8], back[8];
  gasnet_handlerarg_t halves[16];
  seen = 0;
  for (int i = 0; i < 8; ++i) pointers[i] = (uintptr_t)&pointers[i] ^ (uintptr_t)i << 60;
  EXPECT(gasnet_AMMaxArgs() * sizeof *halves >= sizeof pointers);
  memcpy(halves, pointers, sizeof halves);
  send_sixteen(me, halves);
  GASNET_BLOCKUNTIL(seen == 1);
  memcpy(back, values, sizeof back);
  EXPECT(memcmp(back, pointers, sizeof back) == 0);
}

static _Atomic int two_seen;
static gasnet_handlerarg_t first_of_two, second_of_two;
static void on_two(gasnet_token_t token, gasnet_handlerarg_t first, gasnet_handlerarg_t second) {
  (void)token;
  first_of_two = first;
  second_of_two = second;
  ++two_seen;
}
HANDLER(on_two);

CASE(high_bits_are_dropped, "C1-148") {
  const volatile long long wide = 0x7654321080000001LL, positive = 0x123456787fffffffLL;
  two_seen = 0;
  barrier();
  gasnet_AMRequestShort2((me + 1) % nodes, on_two_index, (gasnet_handlerarg_t)wide,
                         (gasnet_handlerarg_t)positive);
  GASNET_BLOCKUNTIL(two_seen == 1);
  EXPECT_EQ(first_of_two, INT_MIN + 1);
  EXPECT_EQ(second_of_two, INT_MAX);
}

static void on_nothing(gasnet_token_t token, void *buf, size_t nbytes) {
  (void)token, (void)buf, (void)nbytes;
  fail_at(__FILE__, __LINE__, "a message with an illegal argument arrived");
}
HANDLER(on_nothing);

CASE(illegal_arguments_are_refused, "C1-023 C1-136 C1-139 C1-142") {
  static char byte;
  const size_t medium = gasnet_AMMaxMedium() + 1, at_most = gasnet_AMMaxLongRequest() + 1;
  const gasnet_handler_t handler = on_nothing_index;
  EXPECT_EQ(gasnet_AMRequestShort0(nodes, handler), GASNET_ERR_BAD_ARG);
  EXPECT_EQ(gasnet_AMRequestShort0((gasnet_node_t)-1, handler), GASNET_ERR_BAD_ARG);
  EXPECT_EQ(gasnet_AMRequestMedium0(nodes, handler, &byte, 1), GASNET_ERR_BAD_ARG);
  EXPECT_EQ(gasnet_AMRequestMedium0(me, handler, &byte, medium), GASNET_ERR_BAD_ARG);
  EXPECT_EQ(gasnet_AMRequestLong0(nodes, handler, &byte, 1, part(me)), GASNET_ERR_BAD_ARG);
  EXPECT_EQ(gasnet_AMRequestLong0(me, handler, &byte, at_most, part(me)), GASNET_ERR_BAD_ARG);
  EXPECT_EQ(gasnet_AMRequestLongAsync0(me, handler, &byte, at_most, part(me)), GASNET_ERR_BAD_ARG);
}
