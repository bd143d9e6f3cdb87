/* Thread information and wait modes (3.6). */
#include <limits.h>

#include "gasnet1.h"

/* As C89 wants it: what begins a block is a declaration. */
#pragma GCC diagnostic push
#pragma GCC diagnostic error "-Wdeclaration-after-statement"

static int uses_nothing(void) {
  GASNET_BEGIN_FUNCTION();
  return 1;
}

static int posts(gasnet_threadinfo_t info) {
  GASNET_POST_THREADINFO(info);
  int declared_after = 1;
  gasnet_put_val(me, part(me), 7, 1);
  {
    GASNET_BEGIN_FUNCTION();
    int inner = 1;
    declared_after += inner;
    gasnet_put_val(me, part(me) + 1, 8, 1);
    {
      GASNET_POST_THREADINFO(info);
      declared_after += (int)gasnet_get_val(me, part(me), 1);
    }
  }
  return declared_after;
}

static int gets_in_an_expression(void) {
  gasnet_threadinfo_t info = GASNET_GET_THREADINFO();
  return posts(info) + posts(GASNET_GET_THREADINFO());
}

#pragma GCC diagnostic pop

CASE(thread_information, "C1-277 C1-278 C1-279 C1-280 C1-281") {
  EXPECT_EQ(uses_nothing(), 1);
  EXPECT_EQ(gets_in_an_expression(), 18);
}

static _Atomic int pongs;
static void on_pong(gasnet_token_t token) {
  (void)token;
  ++pongs;
}
HANDLER(on_pong);
static void on_ping(gasnet_token_t token) { gasnet_AMReplyShort0(token, on_pong_index); }
HANDLER(on_ping);

static void wait_in_every_way(void) {
  const gasnet_node_t to = (me + 1) % nodes;
  unsigned char byte = 3, back = 0;
  pongs = 0;
  gasnet_AMRequestShort0(to, on_ping_index);
  GASNET_BLOCKUNTIL(pongs == 1);
  gasnet_put(to, part(to), &byte, 1);
  gasnet_wait_syncnb(gasnet_get_nb(&back, to, part(to), 1));
  gasnet_get_nbi(&back, to, part(to), 1);
  gasnet_wait_syncnbi_all();
  EXPECT_EQ(back, 3);
  barrier();
}

static const int modes[] = {GASNET_WAIT_SPIN, GASNET_WAIT_BLOCK, GASNET_WAIT_SPINBLOCK};

CASE(wait_modes, "C1-284 C1-285") {
  static const int unknown[] = {-1, 3, 12345, INT_MIN, INT_MAX};
  for (int m = 0; m < 3; ++m) {
    EXPECT_EQ(gasnet_set_waitmode(modes[m]), GASNET_OK);
    wait_in_every_way();
  }
  for (int m = 0; m < 6; ++m) { /* nodes may differ */
    EXPECT_EQ(gasnet_set_waitmode(modes[((int)me + m) % 3]), GASNET_OK);
    wait_in_every_way();
  }
  for (int m = 0; m < 5; ++m) EXPECT_EQ(gasnet_set_waitmode(unknown[m]), GASNET_ERR_BAD_ARG);
  EXPECT_EQ(gasnet_set_waitmode(GASNET_WAIT_SPIN), GASNET_OK);
}
