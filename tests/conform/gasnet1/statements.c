/* Calls as statements and with arguments that have side effects, in whatever form the library has
 * them (1.3). */
#include "gasnet1.h"

static int evaluations;
static void evaluate(void) { ++evaluations; }
#define ONCE(argument) (evaluate(), (argument))
/* How often the arguments of `statement` were evaluated. */
#define EXPECT_EVALUATED(times, statement) \
  do {                                     \
    evaluations = 0;                       \
    statement;                             \
    EXPECT_EQ(evaluations, times);         \
  } while (0)

static void on_nothing(gasnet_token_t token, int a) { (void)token, (void)a; }
HANDLER(on_nothing);
static void on_payload(gasnet_token_t token, void *buf, size_t nbytes, int a) {
  (void)token, (void)buf, (void)nbytes, (void)a;
}
HANDLER(on_payload);

static int reply_category;
static void on_wish(gasnet_token_t token) {
  static char byte;
  if (reply_category == 0)
    EXPECT_EVALUATED(3, gasnet_AMReplyShort1(ONCE(token), ONCE(on_nothing_index), ONCE(1)));
  else if (reply_category == 1)
    EXPECT_EVALUATED(5, gasnet_AMReplyMedium1(ONCE(token), ONCE(on_payload_index), ONCE(&byte),
                                              ONCE(1), ONCE(1)));
  else
    EXPECT_EVALUATED(6, gasnet_AMReplyLong1(ONCE(token), ONCE(on_payload_index), ONCE(&byte),
                                            ONCE(1), ONCE(part(me)), ONCE(1)));
}
HANDLER(on_wish);

CASE(arguments_of_messages_are_evaluated_once, "C1-004") {
  char byte = 1;
  EXPECT_EVALUATED(3, gasnet_AMRequestShort1(ONCE(me), ONCE(on_nothing_index), ONCE(1)));
  EXPECT_EVALUATED(
      5, gasnet_AMRequestMedium1(ONCE(me), ONCE(on_payload_index), ONCE(&byte), ONCE(1), ONCE(1)));
  EXPECT_EVALUATED(6, gasnet_AMRequestLong1(ONCE(me), ONCE(on_payload_index), ONCE(&byte), ONCE(1),
                                            ONCE(part(me)), ONCE(1)));
  for (reply_category = 0; reply_category < 3; ++reply_category)
    gasnet_AMRequestShort0(me, on_wish_index);
}

CASE(arguments_of_transfers_are_evaluated_once, "C1-004") {
  const gasnet_node_t to = (me + 1) % nodes;
  unsigned char *at = part(to);
  static unsigned char local[64];
  gasnet_handle_t handle;
  EXPECT_EVALUATED(4, gasnet_put(ONCE(to), ONCE(at), ONCE(local), ONCE(8)));
  EXPECT_EVALUATED(4, gasnet_put_bulk(ONCE(to), ONCE(at), ONCE(local), ONCE(8)));
  EXPECT_EVALUATED(4, gasnet_get(ONCE(local), ONCE(to), ONCE(at), ONCE(8)));
  EXPECT_EVALUATED(4, gasnet_get_bulk(ONCE(local), ONCE(to), ONCE(at), ONCE(8)));
  EXPECT_EVALUATED(4, gasnet_memset(ONCE(to), ONCE(at), ONCE(1), ONCE(8)));
  EXPECT_EVALUATED(4, gasnet_put_nbi(ONCE(to), ONCE(at), ONCE(local), ONCE(8)));
  EXPECT_EVALUATED(4, gasnet_put_nbi_bulk(ONCE(to), ONCE(at), ONCE(local), ONCE(8)));
  gasnet_wait_syncnbi_puts();
  EXPECT_EVALUATED(4, gasnet_get_nbi(ONCE(local), ONCE(to), ONCE(at), ONCE(8)));
  EXPECT_EVALUATED(4, gasnet_get_nbi_bulk(ONCE(local + 8), ONCE(to), ONCE(at), ONCE(8)));
  gasnet_wait_syncnbi_gets();
  EXPECT_EVALUATED(4, gasnet_memset_nbi(ONCE(to), ONCE(at), ONCE(1), ONCE(8)));
  gasnet_wait_syncnbi_all();
  EXPECT_EVALUATED(4, handle = gasnet_put_nb(ONCE(to), ONCE(at), ONCE(local), ONCE(8)));
  EXPECT_EVALUATED(1, gasnet_wait_syncnb(ONCE(handle)));
  EXPECT_EVALUATED(4, handle = gasnet_put_nb_bulk(ONCE(to), ONCE(at), ONCE(local), ONCE(8)));
  EXPECT_EVALUATED(2, gasnet_wait_syncnb_all(ONCE(&handle), ONCE(1)));
  EXPECT_EVALUATED(4, handle = gasnet_get_nb(ONCE(local), ONCE(to), ONCE(at), ONCE(8)));
  EXPECT_EVALUATED(2, gasnet_wait_syncnb_some(ONCE(&handle), ONCE(1)));
  EXPECT_EVALUATED(4, handle = gasnet_get_nb_bulk(ONCE(local), ONCE(to), ONCE(at), ONCE(8)));
  EXPECT_EVALUATED(2, while (gasnet_try_syncnb_all(&handle, 1) !=
                             GASNET_OK){}(void)gasnet_try_syncnb_all(ONCE(&handle), ONCE(1)));
  EXPECT_EVALUATED(4, handle = gasnet_memset_nb(ONCE(to), ONCE(at), ONCE(1), ONCE(8)));
  gasnet_wait_syncnb(handle);
  handle = GASNET_INVALID_HANDLE;
  EXPECT_EVALUATED(1, (void)gasnet_try_syncnb(ONCE(handle)));
  EXPECT_EVALUATED(2, (void)gasnet_try_syncnb_some(ONCE(&handle), ONCE(1)));
}

CASE(arguments_of_values_and_the_rest_are_evaluated_once, "C1-004") {
  const gasnet_node_t to = (me + 1) % nodes;
  unsigned char *at = part(to);
  gasnet_valget_handle_t valget;
  gasnet_handle_t handle;
  gasnet_seginfo_t info;
  gasnet_hsl_t hsl;
  EXPECT_EVALUATED(4, gasnet_put_val(ONCE(to), ONCE(at), ONCE(5), ONCE(8)));
  EXPECT_EVALUATED(4, handle = gasnet_put_nb_val(ONCE(to), ONCE(at), ONCE(5), ONCE(8)));
  gasnet_wait_syncnb(handle);
  EXPECT_EVALUATED(4, gasnet_put_nbi_val(ONCE(to), ONCE(at), ONCE(5), ONCE(8)));
  gasnet_wait_syncnbi_puts();
  EXPECT_EVALUATED(3, EXPECT(gasnet_get_val(ONCE(to), ONCE(at), ONCE(8)) == 5));
  EXPECT_EVALUATED(3, valget = gasnet_get_nb_val(ONCE(to), ONCE(at), ONCE(8)));
  EXPECT_EVALUATED(1, EXPECT(gasnet_wait_syncnb_valget(ONCE(valget)) == 5));
  EXPECT_EVALUATED(2, gasnet_barrier_notify(ONCE(3), ONCE(0)));
  EXPECT_EVALUATED(2, (void)gasnet_barrier_wait(ONCE(3), ONCE(0)));
  EXPECT_EVALUATED(2, (void)gasnet_getSegmentInfo(ONCE(&info), ONCE(1)));
  EXPECT_EVALUATED(1, (void)gasnet_getenv(ONCE("HOME")));
  EXPECT_EVALUATED(1, (void)gasnet_ErrorName(ONCE(0)));
  EXPECT_EVALUATED(1, (void)gasnet_ErrorDesc(ONCE(0)));
  EXPECT_EVALUATED(1, (void)gasnet_set_waitmode(ONCE(GASNET_WAIT_SPIN)));
  EXPECT_EVALUATED(1, gasnet_hsl_init(ONCE(&hsl)));
  EXPECT_EVALUATED(1, gasnet_hsl_lock(ONCE(&hsl)));
  EXPECT_EVALUATED(1, gasnet_hsl_unlock(ONCE(&hsl)));
  EXPECT_EVALUATED(1, (void)gasnet_hsl_trylock(ONCE(&hsl)));
  gasnet_hsl_unlock(&hsl);
  EXPECT_EVALUATED(1, gasnet_hsl_destroy(ONCE(&hsl)));
}

#define EITHER(statement) \
  if (yes)                \
    statement;            \
  else                    \
    ++elses;              \
  if (!yes)               \
    ++elses;              \
  else                    \
    statement

CASE(void_calls_are_single_statements, "C1-006 C1-161") {
  const int yes = me < nodes;
  int elses = 0;
  unsigned char *at = part(me), local[8] = {0};
  gasnet_handle_t handle = GASNET_INVALID_HANDLE;
  gasnet_hsl_t hsl;
  EITHER(gasnet_put(me, at, local, 8));
  EITHER(gasnet_get(local, me, at, 8));
  EITHER(gasnet_put_bulk(me, at, local, 8));
  EITHER(gasnet_get_bulk(local, me, at, 8));
  EITHER(gasnet_memset(me, at, 0, 8));
  EITHER(gasnet_wait_syncnb(handle));
  EITHER(gasnet_wait_syncnb_all(&handle, 1));
  EITHER(gasnet_wait_syncnb_some(&handle, 1));
  EITHER(gasnet_put_nbi(me, at, local, 8));
  EITHER(gasnet_get_nbi(local, me, at, 8));
  EITHER(gasnet_put_nbi_bulk(me, at, local, 8));
  EITHER(gasnet_get_nbi_bulk(local, me, at, 8));
  EITHER(gasnet_memset_nbi(me, at, 0, 8));
  EITHER(gasnet_wait_syncnbi_gets());
  EITHER(gasnet_wait_syncnbi_puts());
  EITHER(gasnet_wait_syncnbi_all());
  EITHER(gasnet_put_val(me, at, 1, 8));
  EITHER(gasnet_put_nbi_val(me, at, 1, 8));
  EITHER(GASNET_BLOCKUNTIL(yes));
  if (yes)
    gasnet_hold_interrupts();
  else
    gasnet_resume_interrupts();
  if (!yes)
    gasnet_hold_interrupts();
  else
    gasnet_resume_interrupts();
  if (yes)
    gasnet_hsl_init(&hsl);
  else
    ++elses;
  if (yes)
    gasnet_hsl_lock(&hsl);
  else
    gasnet_hsl_unlock(&hsl);
  if (!yes)
    gasnet_hsl_lock(&hsl);
  else
    gasnet_hsl_unlock(&hsl);
  if (yes)
    gasnet_hsl_destroy(&hsl);
  else
    gasnet_hsl_init(&hsl);
  if (yes)
    gasnet_begin_nbi_accessregion();
  else
    gasnet_exit(1);
  gasnet_wait_syncnb(gasnet_end_nbi_accessregion());
  if (yes)
    gasnet_barrier_notify(0, 0);
  else
    gasnet_exit(1);
  EXPECT_EQ(gasnet_barrier_wait(0, 0), GASNET_OK);
  EXPECT_EQ(elses, 0);
}
