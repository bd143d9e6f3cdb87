/* Everyone floods everyone with requests that reply, of all categories, while queues are as small as
 * they get (the test sets GASNET_NETWORKDEPTH=2) and one rank polls rarely: C1-122, C1-149...155. */
#include <stdatomic.h>

#include "../job_test.h"

/* Handlers of different lanes may run at once, in this thread and the dispatcher's. */
static atomic_ullong requests_seen, replies_seen, sum_seen;
static unsigned char reply_bytes[512];

static void count_request(gasnet_token_t token, int number, int kind) {
  ++requests_seen;
  sum_seen += (unsigned)number;
  gasnet_node_t to = 0;
  gasnet_AMGetMsgSource(token, &to);
  if (kind == 0)
    gasnet_AMReplyShort1(token, 210, number);
  else if (kind == 1)
    gasnet_AMReplyMedium1(token, 211, reply_bytes, sizeof reply_bytes, number);
  else
    gasnet_AMReplyLong1(token, 211, reply_bytes, sizeof reply_bytes,
                        (char *)segments[to].addr + 1024 * me, number);
}
static void on_short(gasnet_token_t token, int number, int kind) { count_request(token, number, kind); }
static void on_payload(gasnet_token_t token, void *buf, size_t nbytes, int number, int kind) {
  EXPECT(holds(buf, nbytes, (unsigned)number));
  count_request(token, number, kind);
}
static void on_reply(gasnet_token_t token, int number) {
  (void)token, (void)number;
  ++replies_seen;
}
static void on_reply_payload(gasnet_token_t token, void *buf, size_t nbytes, int number) {
  (void)token, (void)number;
  EXPECT(nbytes == sizeof reply_bytes && holds(buf, nbytes, 77));
  ++replies_seen;
}

int main(int argc, char **argv) {
  gasnet_handlerentry_t table[] = {{200, (void (*)())on_short},
                                   {201, (void (*)())on_payload},
                                   {210, (void (*)())on_reply},
                                   {211, (void (*)())on_reply_payload}};
  start_job(&argc, &argv, table, 4, 1 << 20);
  const unsigned rounds = argc > 1 ? (unsigned)atoi(argv[1]) : 400;
  unsigned char payload[512];
  unsigned long long sent = 0, sum_sent = 0;
  fill(reply_bytes, sizeof reply_bytes, 77);
  barrier();
  for (unsigned i = 0; i < rounds; ++i) {
    for (gasnet_node_t to = 0; to < nodes; ++to) {
      const int kind = (int)((i + to) % 3);
      fill(payload, sizeof payload, i);
      if (i % 3 == 0)
        gasnet_AMRequestShort2(to, 200, (int)i, kind);
      else if (i % 3 == 1)
        gasnet_AMRequestMedium2(to, 201, payload, 1 + i % sizeof payload, (int)i, kind);
      else
        gasnet_AMRequestLong2(to, 201, payload, 1 + i % sizeof payload,
                              (char *)segments[to].addr + 65536 + 1024 * me, (int)i, kind);
      ++sent;
      sum_sent += i;
      /* A Long's landing place is reused: its request must have been handled. */
      if (i % 3 == 2) GASNET_BLOCKUNTIL(replies_seen == sent);
    }
    if (me == 0 && i % 64 == 0) { /* a rank that computes and rarely polls */
      volatile unsigned spin = 0;
      while (spin < 200000) spin = spin + 1;
    }
  }
  GASNET_BLOCKUNTIL(replies_seen == sent);
  barrier();
  EXPECT_EQ(requests_seen, sent); /* all-to-all: as many come as go */
  EXPECT_EQ(sum_seen, sum_sent);
  end_job("storm");
}
