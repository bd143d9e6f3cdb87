/* A client as C programs are: C99, and with names of its own that are also names inside the library. */
#include <stdio.h>
#include <string.h>

#include "gasnet.h"

int rte_eal_init = 1;
int ibv_get_device_list = 2;
int rte_log(int level) { return level; }
void check(void) {}

static volatile int answers;

static void ask(gasnet_token_t token, gasnet_handlerarg_t x) { gasnet_AMReplyShort1(token, 201, x + 1); }
static void answer(gasnet_token_t token, gasnet_handlerarg_t x) {
  (void)token;
  answers += x == 42;
}

/* Clients touch their segment before it is pinned, by a hook that they store ... */
static gasnet_seginfo_t touched;
static void touch(void *segment, uintptr_t bytes) {
  touched.addr = memset(segment, 0, bytes);
  touched.size = bytes;
}

int main(int argc, char **argv) {
  gasnet_handlerentry_t table[2];
  gasnet_seginfo_t segments[8];
  gasnet_node_t peer;
  char word[8] = "";
  table[0].index = 200;
  table[0].fnptr = (void (*)())ask;
  table[1].index = 201;
  table[1].fnptr = (void (*)())answer;
  gasnet_client_attach_hook = touch;
  if (gasnet_init(&argc, &argv) != GASNET_OK || gasnet_attach(table, 2, 1 << 20, 0) != GASNET_OK) return 1;
  peer = (gasnet_mynode() + 1) % gasnet_nodes();
  if (gasnet_getSegmentInfo(segments, 8) != GASNET_OK) gasnet_exit(2);
  if (touched.addr != segments[gasnet_mynode()].addr || touched.size != segments[gasnet_mynode()].size || touched.size == 0 ||
      gasneti_mynode != gasnet_mynode() || gasneti_nodes != gasnet_nodes())
    gasnet_exit(4);
  gasnet_AMRequestShort1(peer, 200, 41);
  GASNET_BLOCKUNTIL(answers == 1);
  gasnet_put(peer, segments[peer].addr, (void *)"pinwire", 8);
  gasnet_get(word, peer, segments[peer].addr, 8);
  check();
  if (strcmp(word, "pinwire") != 0 || rte_eal_init != 1 || ibv_get_device_list != 2 || rte_log(3) != 3)
    gasnet_exit(3);
  gasnet_barrier(0, GASNET_BARRIERFLAG_ANONYMOUS);
  printf("client: rank %d of %d: ok\n", (int)gasnet_mynode(), (int)gasnet_nodes());
  fflush(stdout);
  gasnet_barrier(0, GASNET_BARRIERFLAG_ANONYMOUS);
  gasnet_exit(0);
}
