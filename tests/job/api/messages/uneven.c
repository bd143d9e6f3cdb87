/* Only rank 0 has a segment, and all others reach it: puts, gets and Longs of ranks that have none. */
#include "../job_test.h"

enum { kPart = 1 << 20, kSegmentBytes = 8 << 20 };
static unsigned char local[kPart], back[kPart];
static volatile unsigned answered;

static void on_long(gasnet_token_t token, void *payload, size_t bytes, int seed) {
  if (!holds(payload, bytes, (unsigned)seed)) fail_at(__FILE__, __LINE__, "a Long of %zu bytes", bytes);
  gasnet_AMReplyShort0(token, 202);
}
static void on_answer(gasnet_token_t token) {
  (void)token;
  ++answered;
}

int main(int argc, char **argv) {
  gasnet_handlerentry_t table[] = {{201, (void (*)())on_long}, {202, (void (*)())on_answer}};
  static const size_t sizes[] = {1, 100, 5000, 70000, 300001};
  if (gasnet_init(&argc, &argv) != GASNET_OK) return 1;
  me = gasnet_mynode();
  nodes = gasnet_nodes();
  if (gasnet_attach(table, 2, me == 0 ? kSegmentBytes : 0, 0) != GASNET_OK) gasnet_exit(1);
  EXPECT_EQ(gasnet_getSegmentInfo(segments, 64), GASNET_OK);
  EXPECT_EQ(segments[0].size, (uintptr_t)kSegmentBytes);
  EXPECT(nodes * kPart <= kSegmentBytes);
  barrier();
  unsigned char *at = (unsigned char *)segments[0].addr + me * kPart;
  for (unsigned i = 0; i < 20 * (sizeof sizes / sizeof *sizes); ++i) {
    const size_t bytes = sizes[i % (sizeof sizes / sizeof *sizes)];
    unsigned char *to = at + i * 7919 % (kPart - bytes);
    fill(local, bytes, i);
    gasnet_put_bulk(0, to, local, bytes);
    gasnet_get_bulk(back, 0, to, bytes);
    EXPECT(holds(back, bytes, i));
    fill(local, bytes, i + 1);
    answered = 0;
    gasnet_AMRequestLong1(0, 201, local, bytes, to, (int)(i + 1));
    GASNET_BLOCKUNTIL(answered == 1);
  }
  end_job("uneven");
}
