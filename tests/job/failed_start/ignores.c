/* A client of GASNet-1 that ignores the codes of gasnet_init and gasnet_attach: ignores CALL
 * [signals | size | index]. */
#include "ignores.h"

#include "gasnet.h"

static volatile int answer;
static char bytes[8];

static void on_message(gasnet_token_t token) { (void)token, answer = 1; }

static gasnet_node_t next_node(void) { return (gasnet_mynode() + 1) % gasnet_nodes(); }

static void short_request(void) { gasnet_AMRequestShort0(next_node(), 200); }
static void medium_request(void) { gasnet_AMRequestMedium0(next_node(), 200, bytes, sizeof bytes); }
static void long_request(void) {
  gasnet_AMRequestLong0(next_node(), 200, bytes, sizeof bytes, bytes);
}
static void put(void) { gasnet_put(next_node(), bytes, (void *)&answer, sizeof answer); }
static void get(void) { gasnet_get(bytes, next_node(), (void *)&answer, sizeof answer); }
static void put_nb(void) {
  gasnet_wait_syncnb(gasnet_put_nb(next_node(), bytes, (void *)&answer, sizeof answer));
}
static void get_nbi(void) { gasnet_get_nbi(bytes, next_node(), (void *)&answer, sizeof answer); }
static void get_val(void) { answer = (int)gasnet_get_val(next_node(), bytes, 4); }
static void put_own_segment(void) {
  gasnet_seginfo_t all[1] = {{bytes, sizeof bytes}};
  gasnet_getSegmentInfo(all, 1);
  gasnet_put(gasnet_mynode(), all[0].addr, bytes, sizeof bytes);
}
static void memset_remote(void) { gasnet_memset(next_node(), bytes, 0, sizeof bytes); }
static void wait_puts(void) { gasnet_wait_syncnbi_all(); }
static void try_gets(void) { gasnet_try_syncnbi_gets(); }
static void notify(void) { gasnet_barrier_notify(0, GASNET_BARRIERFLAG_ANONYMOUS); }
static void barrier(void) { gasnet_barrier(0, GASNET_BARRIERFLAG_ANONYMOUS); }
static void poll_once(void) { gasnet_AMPoll(); }
static void block_until(void) { GASNET_BLOCKUNTIL(answer); }

/* These calls neither communicate nor wait. */
static void harmless(void) {
  gasnet_hsl_t lock = GASNET_HSL_INITIALIZER;
  gasnet_hsl_lock(&lock);
  gasnet_hsl_unlock(&lock);
  printf("%s %s\n", gasnet_ErrorName(GASNET_ERR_RESOURCE), gasnet_ErrorDesc(GASNET_ERR_RESOURCE));
}
/* The reason is gone, so a second start is as good as a first. */
static void start_again(void) {
  gasnet_handlerentry_t table[] = {{200, (void (*)())on_message}};
  unsetenv("GASNET_DRIVER");
  if (gasnet_init(NULL, NULL) || gasnet_attach(table, 1, 1 << 20, 0)) return;
  gasnet_AMRequestShort0(gasnet_mynode(), 200);
  GASNET_BLOCKUNTIL(answer);
  gasnet_exit(6);
}
static void leave(void) { gasnet_exit(7); }

int main(int argc, char **argv) {
  static const next_call_t calls[] = {{"short", short_request},
                                      {"medium", medium_request},
                                      {"long", long_request},
                                      {"put", put},
                                      {"get", get},
                                      {"put_nb", put_nb},
                                      {"get_nbi", get_nbi},
                                      {"get_val", get_val},
                                      {"put_own_segment", put_own_segment},
                                      {"memset", memset_remote},
                                      {"wait", wait_puts},
                                      {"try", try_gets},
                                      {"notify", notify},
                                      {"barrier", barrier},
                                      {"poll", poll_once},
                                      {"block_until", block_until},
                                      {"harmless", harmless},
                                      {"start_again", start_again},
                                      {"exit", leave}};
  gasnet_handlerentry_t table[] = {{200, (void (*)())on_message}, {200, (void (*)())on_message}};
  const char *const wrong = argc > 2 ? argv[2] : "";
  const int has_wrong_size = strcmp(wrong, "size") == 0;
  const int has_index_twice = strcmp(wrong, "index") == 0;
  int failed;
  if (strcmp(wrong, "signals") == 0) take_all_signals();
  failed = gasnet_init(&argc, &argv) != GASNET_OK;
  failed += gasnet_attach(table, 1 + has_index_twice, (1 << 20) + has_wrong_size, 0) != GASNET_OK;
  return call_next(failed, argv[1], calls, sizeof calls / sizeof *calls);
}
