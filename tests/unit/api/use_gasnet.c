/* Uses every name of gasnet.h: compiled by each compiler in each standard and mode, never run. */
#include "gasnet.h"
#include "pinwire.h"
#include "portable_inttypes.h"
#include "portable_platform.h"

#if !defined(GASNET_CONDUIT_PINWIRE) || !defined(GASNET_PINWIRE_CONDUIT) || GASNET_ALIGNED_SEGMENTS != 0 ||      \
    GASNETT_PAGESIZE != GASNET_PAGESIZE || GASNETT_MAX_THREADS < 1 || GASNET_MAXNODES < 1 ||                       \
    SIZEOF_GASNET_REGISTER_VALUE_T != 8 || GASNET_SPEC_VERSION_MAJOR != GASNET_VERSION ||                          \
    GASNET_SPEC_VERSION_MINOR < 8 || GASNET_RELEASE_VERSION_MAJOR < 2026 || GASNET_RELEASE_VERSION_MINOR < 0 ||    \
    GASNET_RELEASE_VERSION_PATCH < 0 || !PLATFORM_ARCH_64 || !HAVE_PTHREAD_H || !HAVE_MMAP ||          \
    !GASNET_NULL_ARGV_OK || !GASNET_HAVE_MK_CLASS_HOST || GASNETI_EX_SPEC_VERSION_MINOR != 19 || SIZEOF_LONG != 8 || \
    _PORTABLE_PLATFORM_H != PLATFORM_HEADER_VERSION
#error "names that the preprocessor is to know"
#endif

void use_types_and_job(int argc, char **argv);
void use_requests(void);
void use_replies(gasnet_token_t token);
void use_puts_and_gets(void *here, void *there);
void use_synchronisation(gasnet_handle_t *handles);
void use_locks(void);
gasnet_register_value_t use_what_the_release_has_beyond(gasnet_token_t token, gasnet_handle_t *handles, void *memory);

static const char config[] = GASNET_CONFIG_STRING " " GASNET_CONDUIT_NAME_STR " " _STRINGIFY(GASNET_CONDUIT_NAME);
static char page[GASNETT_PAGESIZE];
static gasnet_hsl_t static_lock = GASNET_HSL_INITIALIZER;
static volatile int count;

static void on_short(gasnet_token_t token, gasnet_handlerarg_t a0) {
  gasnet_node_t source;
  gasnet_AMGetMsgSource(token, &source);
  count = count + (int)a0 + (int)source;
}

gasnet_register_value_t use_what_the_release_has_beyond(gasnet_token_t token, gasnet_handle_t *handles, void *memory) {
  static const char names[] = GASNET_CORE_NAME_STR GASNET_CORE_VERSION_STR GASNET_EXTENDED_NAME_STR GASNET_EXTENDED_VERSION_STR
      GASNETI_BUILD_ID GASNETI_CONFIGURE_ARGS GASNETT_CONFIGURE_ARGS _STRINGIFY(GASNETI_RELEASE_VERSION) _STRINGIFY(GASNET_SOCKLEN_T) "%" PRIXSZ "%" PRIXPD;
  const size_t length = sizeof names;
  (void)gasnet_AMRequestShort(0, 200);
  (void)gasnet_AMRequestMedium(0, 200, memory, 8, 1);
  (void)gasnet_AMRequestLong(0, 200, memory, 8, memory, 1, 2);
  (void)gasnet_AMRequestLongAsync(0, 200, memory, 8, memory);
  (void)gasnet_AMReplyShort(token, 200, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16);
  (void)gasnet_AMReplyMedium(token, 200, memory, 8);
  (void)gasnet_AMReplyLong(token, 200, memory, 8, memory, 1);
  if (gasnet_try_syncnb_nopoll(handles[0]) + gasnet_try_syncnb_some_nopoll(handles, 2) + gasnet_try_syncnb_all_nopoll(handles, 2))
    fprintf(stderr, "%s %d of %d, %d\n", gasneti_gethostname(), (int)gasneti_mynode, (int)gasneti_nodes, (int)length);
  if (PREDICT_FALSE(MIN(1, 2) > MAX(1, 2)) || PREDICT_TRUE(errno)) GASNETT_VALUE_RETURN(memory, 8);
  GASNETT_FAST_ALIGNED_MEMCPY(memory, names, 8);
  GASNETT_FAST_UNALIGNED_MEMCPY(memory, names + 1, 7);
  GASNETT_VALUE_ASSIGN(memory, 7, 4);
#ifdef GASNET_DEBUG
  memory = gasnett_debug_realloc(gasnett_debug_malloc(8), 16);
  gasnett_debug_memcheck(memory);
  gasnett_debug_free(memory);
  gasnett_debug_free(gasnett_debug_calloc(2, 8));
  gasnett_debug_free(gasnett_debug_strdup(gasnett_debug_strndup(names, 3)));
  gasnett_debug_memcheck_one();
  gasnett_debug_memcheck_all();
#endif
  return gasnett_cpu_count() == gasneti_cpu_count() ? 1 : sizeof names;
}

static void on_medium(gasnet_token_t token, void *data, size_t bytes) {
  (void)token, (void)data;
  count = count + (int)bytes;
}

void use_types_and_job(int argc, char **argv) {
  gasnet_handlerentry_t table[2] = {{200, (void (*)())on_short}, {0, (void (*)())on_medium}};
  gasnet_seginfo_t segments[1];
  pinwire_stat_t stats[1];
  if (gasnet_init(&argc, &argv) != GASNET_OK) gasnet_exit(1);
  (void)gasnet_attach(table, 2, gasnet_getMaxLocalSegmentSize(), gasnet_getMaxGlobalSegmentSize());
  (void)gasnet_getSegmentInfo(segments, (int)gasnet_nodes());
  (void)gasnet_getenv(gasnet_ErrorName(GASNET_ERR_NOT_INIT));
  (void)gasnet_ErrorDesc(GASNET_ERR_RESOURCE + GASNET_ERR_BAD_ARG + GASNET_ERR_NOT_READY + GASNET_ERR_BARRIER_MISMATCH);
  (void)gasnet_set_waitmode(GASNET_WAIT_SPIN + GASNET_WAIT_BLOCK + GASNET_WAIT_SPINBLOCK);
  (void)pinwire_stats(stats, sizeof config + sizeof page);
  (void)pinwire_driver_name(pinwire_network_depth() + pinwire_lanes() + pinwire_my_lane());
  (void)pinwire_dispatch();
  (void)pinwire_ad_path(NULL);
  (void)config, (void)page;
}

#define ARGUMENTS_0
#define ARGUMENTS_1 , 1
#define ARGUMENTS_2 ARGUMENTS_1, 2
#define ARGUMENTS_3 ARGUMENTS_2, 3
#define ARGUMENTS_4 ARGUMENTS_3, 4
#define ARGUMENTS_5 ARGUMENTS_4, 5
#define ARGUMENTS_6 ARGUMENTS_5, 6
#define ARGUMENTS_7 ARGUMENTS_6, 7
#define ARGUMENTS_8 ARGUMENTS_7, 8
#define ARGUMENTS_9 ARGUMENTS_8, 9
#define ARGUMENTS_10 ARGUMENTS_9, 10
#define ARGUMENTS_11 ARGUMENTS_10, 11
#define ARGUMENTS_12 ARGUMENTS_11, 12
#define ARGUMENTS_13 ARGUMENTS_12, 13
#define ARGUMENTS_14 ARGUMENTS_13, 14
#define ARGUMENTS_15 ARGUMENTS_14, 15
#define ARGUMENTS_16 ARGUMENTS_15, 16
#define EACH(DO) \
  DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7) DO(8) DO(9) DO(10) DO(11) DO(12) DO(13) DO(14) DO(15) DO(16)

#define REQUEST(M)                                                              \
  (void)gasnet_AMRequestShort##M(0, 200 ARGUMENTS_##M);                         \
  (void)gasnet_AMRequestMedium##M(0, 201, page, sizeof page ARGUMENTS_##M);     \
  (void)gasnet_AMRequestLong##M(0, 201, page, sizeof page, page ARGUMENTS_##M); \
  (void)gasnet_AMRequestLongAsync##M(0, 201, page, sizeof page, page ARGUMENTS_##M);
#define REPLY(M)                                                              \
  (void)gasnet_AMReplyShort##M(token, 200 ARGUMENTS_##M);                     \
  (void)gasnet_AMReplyMedium##M(token, 201, page, sizeof page ARGUMENTS_##M); \
  (void)gasnet_AMReplyLong##M(token, 201, page, sizeof page, page ARGUMENTS_##M);

void use_requests(void) {
  EACH(REQUEST)
  if (gasnet_AMMaxArgs() + gasnet_AMMaxMedium() + gasnet_AMMaxLongRequest() + gasnet_AMMaxLongReply() != 0)
    (void)gasnet_AMPoll();
  GASNET_BLOCKUNTIL(count == 1);
}
void use_replies(gasnet_token_t token) { EACH(REPLY) }

void use_puts_and_gets(void *here, void *there) {
  const gasnet_node_t node = gasnet_nodes() - 1 - gasnet_mynode();
  gasnet_register_value_t value = 1;
  gasnet_handle_t handle = GASNET_INVALID_HANDLE;
  gasnet_valget_handle_t value_handle;
  gasnet_put(node, there, here, 8);
  gasnet_get(here, node, there, 8);
  gasnet_put_bulk(node, there, here, 8);
  gasnet_get_bulk(here, node, there, 8);
  gasnet_memset(node, there, 1, 8);
  handle = gasnet_put_nb(node, there, here, 8);
  handle = gasnet_get_nb(here, node, there, 8);
  handle = gasnet_put_nb_bulk(node, there, here, 8);
  handle = gasnet_get_nb_bulk(here, node, there, 8);
  handle = gasnet_memset_nb(node, there, 1, 8);
  gasnet_wait_syncnb(handle);
  gasnet_put_nbi(node, there, here, 8);
  gasnet_get_nbi(here, node, there, 8);
  gasnet_put_nbi_bulk(node, there, here, 8);
  gasnet_get_nbi_bulk(here, node, there, 8);
  gasnet_memset_nbi(node, there, 1, 8);
  gasnet_put_val(node, there, value, sizeof value);
  handle = gasnet_put_nb_val(node, there, value, sizeof value);
  gasnet_put_nbi_val(node, there, value, sizeof value);
  value = gasnet_get_val(node, there, sizeof value);
  value_handle = gasnet_get_nb_val(node, there, sizeof value);
  value += gasnet_wait_syncnb_valget(value_handle);
  (void)handle, (void)value;
}

void use_synchronisation(gasnet_handle_t *handles) {
  GASNET_BEGIN_FUNCTION();
  int state = gasnet_try_syncnb(handles[0]);
  gasnet_wait_syncnb_all(handles, 1);
  gasnet_wait_syncnb_some(handles, 1);
  state += gasnet_try_syncnb_all(handles, 1) + gasnet_try_syncnb_some(handles, 1);
  gasnet_wait_syncnbi_gets();
  gasnet_wait_syncnbi_puts();
  gasnet_wait_syncnbi_all();
  state += gasnet_try_syncnbi_gets() + gasnet_try_syncnbi_puts() + gasnet_try_syncnbi_all();
  gasnet_begin_nbi_accessregion();
  handles[0] = gasnet_end_nbi_accessregion();
  gasnet_barrier_notify(state, GASNET_BARRIERFLAG_ANONYMOUS);
  state = gasnet_barrier_try(state, GASNET_BARRIERFLAG_MISMATCH);
  state += gasnet_barrier_wait(state, 0) + gasnet_barrier(0, GASNET_BARRIERFLAG_ANONYMOUS);
  {
    GASNET_POST_THREADINFO(GASNET_GET_THREADINFO());
    count = state;
  }
}

void use_locks(void) {
  gasnet_hsl_t lock = GASNET_HSL_INITIALIZER;
  gasnet_hsl_init(&lock);
  gasnet_hsl_lock(&static_lock);
  gasnet_hsl_unlock(&static_lock);
  if (gasnet_hsl_trylock(&lock) == GASNET_OK) gasnet_hsl_unlock(&lock);
  gasnet_hsl_destroy(&lock);
  gasnet_hold_interrupts();
  gasnet_resume_interrupts();
}

/* gasnet.h brings GASNet-EX along (GX-001). */
unsigned use_both(void) {
  gex_TM_t team = GEX_TM_INVALID;
  gasnet_QueryGexObjects(NULL, NULL, &team, NULL);
  return gex_TM_QuerySize(team) + gex_System_QueryJobSize();
}
