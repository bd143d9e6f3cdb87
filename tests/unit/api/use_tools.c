/* Uses every name of gasnet_tools.h: compiled by each compiler in each standard and mode, never run. */
#include "gasnet_tools.h"

#if GASNETT_SPEC_VERSION_MAJOR != 1 || GASNETT_SPEC_VERSION_MINOR != 20 || GASNETT_RELEASE_VERSION_MAJOR < 2026 || \
    GASNETT_RELEASE_VERSION_MINOR < 0 || GASNETT_RELEASE_VERSION_PATCH < 0 || !GASNETT_SET_AFFINITY_SUPPORT ||      \
    1 << GASNETT_PAGESHIFT != GASNETT_PAGESIZE || GASNETT_CACHE_LINE_BYTES < 1 || GASNETT_MAX_THREADS < 1 ||        \
    !PLATFORM_OS_LINUX || !(PLATFORM_COMPILER_GNU || PLATFORM_COMPILER_CLANG) || !GASNETT_USE_PRAGMA_GCC_DIAGNOSTIC
#error "names that the preprocessor is to know"
#endif
#if PLATFORM_COMPILER_VERSION_LT(3, 0, 0) || !PLATFORM_COMPILER_VERSION_GE(3, 0, 0)
#error "versions that the preprocessor is to compare"
#endif

GASNETT_BEGIN_EXTERNC
GASNETT_IDENT(use_tools_ident, "$UseTools: " GASNETT_CONFIG_STRING " " GASNETT_SYSTEM_TUPLE " $");
GASNETT_IDENT(use_compiler_ident, "$UseCompiler: " PLATFORM_COMPILER_VERSION_STR PLATFORM_COMPILER_IDSTR " $");
GASNETT_FORMAT_PRINTF(say, 1, 2, static int say(const char *format, ...));
GASNETT_FORMAT_PRINTF(say, 1, 2, static int say(const char *format, ...)) { return format[0]; }
GASNETT_INLINE(inlined) int inlined(int *GASNETT_RESTRICT value) { return *value; }
GASNETT_NEVER_INLINE(apart, static int apart(int one, int two)) { return one + two; }
void leave(void) GASNETT_NORETURN;
GASNETT_NORETURNP(leave)
void leave(void) { gasnett_killmyprocess(1); }
void *fresh(size_t bytes) GASNETT_MALLOC;
GASNETT_MALLOCP(fresh)
void *fresh(size_t bytes) { return malloc(bytes); }
GASNETT_PURE GASNETT_HOT int pure(const int *value);
GASNETT_PUREP(pure)
int pure(const int *value) { return *value; }
GASNETT_CONST GASNETT_COLD int constant(int value);
GASNETT_CONSTP(constant)
int constant(int value) { return value; }
GASNETT_DEPRECATED int old_one(void);
GASNETT_WARN_UNUSED_RESULT int important(void);
GASNETT_USED static int used(void) { return 1; }
void use_annotations(int value);
void use_system(char **argv);
void use_environment(void);
void use_time(void);
void use_trace(void);
static gasnett_backtrace_type_t mechanism = {"MINE", 0, 1};
GASNETT_END_EXTERNC
GASNETT_EXTERNC void use_linkage(void);

void use_annotations(int value) {
  if_pf (GASNETT_PREDICT_TRUE(value)) value = inlined(&value) + apart(1, 2);
  if_pt (GASNETT_PREDICT_FALSE(value == 3)) value = say("%d %" PRIuSZ, value, sizeof value);
  switch (value) {
    case 1:
      value = 2;
      GASNETT_FALLTHROUGH
    case 2:
      value += gasnett_constant_p(3) ? 3 : (int)sizeof(_STRINGIFY(_CONCAT(a, b)));
      break;
    case 3:
      gasnett_unreachable();
    default:
      break;
  }
  gasnett_assume(value != 77);
  (GASNETT_UNUSED_ARGS1(value), GASNETT_UNUSED_ARGS2(value, 2), GASNETT_UNUSED_ARGS3(value, 2, 3));
  (GASNETT_UNUSED_ARGS4(1, 2, 3, 4), GASNETT_UNUSED_ARGS8(value, 2, 3, 4, 5, 6, 7, 8));
  if (value == 5) gasnett_fatalerror("%s says %d", GASNETT_CURRENT_FUNCTION, value);
  if (value == 6) gasnett_fatalerror("no values");
  if (value == 7) gasnett_fatalerror_nopos("%d", value);
}

void use_system(char **argv) {
  volatile int flag = 0;
  uint64_t words[2] = {0, 1};
  char *place = gasnett_current_loc;
  gasnett_backtrace_init(argv[0]);
  flag = gasnett_print_backtrace(1) + gasnett_print_backtrace_ifenabled(2) + (gasnett_backtrace_user.fnp == mechanism.fnp);
  gasnett_freezeForDebuggerNow(&flag, "flag");
  gasnett_freezeForDebuggerErr();
  if (gasnett_gethostname() == gasnett_exe_name() || gasnett_cpu_count() == (int)gasnett_getPhysMemSz(0)) leave();
  if (gasnett_isLittleEndian() + gasnett_set_affinity(0) + gasnett_maximize_rlimits() + gasnett_maximize_rlimit(0, "X"))
    gasnett_flush_streams();
  (void)gasnett_performance_warning_str(), (void)gasnett_release_version_str(), (void)gasnett_release_version();
  (void)gasnett_mmap(GASNETT_PAGESIZE);
  gasnett_reghandler(1, (gasnett_sighandlerfn_t)0);
  gasnett_close_streams();
  words[0] = gasnett_checksum(words, (int)sizeof words) + gasnett_count0s(words, 8) + gasnett_count0s_copy(words, words + 1, 8);
  flag = gasnett_count0s_uint32_t(1) + gasnett_count0s_uint64_t(words[0]) + gasnett_count0s_uintptr_t((uintptr_t)argv);
  free(place);
}

void use_environment(void) {
  char text[40];
  gasnett_setenv("A", gasnett_getenv_withdefault("B", "C"));
  gasnett_unsetenv(gasnett_getenv("A"));
  (void)gasnett_getenv_yesno_withdefault("D", gasnett_verboseenv());
  gasnett_envdbl_display("E", gasnett_getenv_dbl_withdefault("E", 0.5), 1);
  gasnett_envint_display("F", gasnett_getenv_int_withdefault("F", 5, 1024), 0, 1);
  gasnett_envstr_display("G", gasnett_format_number(gasnett_parse_int("1", 0), text, sizeof text, 1), 1);
}

void use_time(void) {
  const gasnett_tick_t span = gasnett_ticks_now() - GASNETT_TICK_MIN + GASNETT_TICK_MAX + gasneti_ticks_now();
  (void)gasnett_nsleep(gasnett_ticks_to_ns(span) + gasnett_ticks_to_us(span) + gasnett_gettimeofday_us());
  if (gasnett_tick_granularityus() + gasnett_tick_overheadus() > 0)
    (void)(gasneti_ticks_to_ns(span) + gasneti_ticks_to_us(span));
  gasnett_local_wmb();
  gasnett_local_rmb();
  gasnett_local_mb();
  gasnett_weak_wmb();
  gasnett_weak_rmb();
  gasnett_weak_mb();
  gasnett_compiler_fence();
  gasnett_spinloop_hint();
}

void use_trace(void) {
  const char *file = "";
  unsigned line = 0;
  GASNETT_TRACE_GETSOURCELINE(&file, &line);
  GASNETT_TRACE_SETSOURCELINE(file, line);
  GASNETT_TRACE_FREEZESOURCELINE();
  GASNETT_TRACE_UNFREEZESOURCELINE();
  if (GASNETT_TRACE_ENABLED) GASNETT_TRACE_PRINTF("%u", line);
  GASNETT_TRACE_PRINTF_FORCE("%s %u", file, line);
  GASNETT_TRACE_SETMASK(GASNETT_TRACE_GETMASK());
  GASNETT_STATS_SETMASK(GASNETT_STATS_GETMASK());
  GASNETT_TRACE_SET_TRACELOCAL(GASNETT_TRACE_GET_TRACELOCAL());
  GASNETT_STATS_PRINTF("%u", line);
  GASNETT_STATS_PRINTF_FORCE("%u", line);
  GASNETT_STATS_DUMP(1);
}

#ifndef GASNETT_LITE_MODE
GASNETT_THREADKEY_DECLARE(use_key);
GASNETT_THREADKEY_DEFINE(use_key);
void use_threads(void);
void use_atomics(void);
/* As a client does that wants no warning of unused functions. */
static void *const addresses[2] = {(void *)(uintptr_t)0, 0};

void use_threads(void) {
  static gasnett_mutex_t mutex = GASNETT_MUTEX_INITIALIZER;
  static gasnett_cond_t cond = GASNETT_COND_INITIALIZER;
  static gasnett_rwlock_t lock = GASNETT_RWLOCK_INITIALIZER;
  void (*init)(void **) = _gasneti_threadkey_init;
  void (*noop)(const char *, ...) = _gasnett_trace_printf_noop;
  gasnett_mutex_init(&mutex), gasnett_cond_init(&cond), gasnett_rwlock_init(&lock);
  gasnett_mutex_lock(&mutex), gasnett_mutex_assertlocked(&mutex);
  gasnett_cond_signal(&cond), gasnett_cond_broadcast(&cond), gasnett_cond_wait(&cond, &mutex);
  gasnett_mutex_unlock(&mutex), gasnett_mutex_assertunlocked(&mutex);
  if (gasnett_mutex_trylock(&mutex) + gasnett_rwlock_tryrdlock(&lock) + gasnett_rwlock_trywrlock(&lock))
    gasnett_sched_yield();
  gasnett_rwlock_rdlock(&lock), gasnett_rwlock_assertrdlocked(&lock), gasnett_rwlock_unlock(&lock);
  gasnett_rwlock_wrlock(&lock), gasnett_rwlock_assertwrlocked(&lock), gasnett_rwlock_assertlocked(&lock);
  gasnett_rwlock_assertunlocked(&lock), gasnett_rwlock_destroy(&lock), gasnett_cond_destroy(&cond);
  gasnett_mutex_destroy(&mutex), (void)gasnett_mutex_destroy_ignoreerr(&mutex);
  gasnett_threadkey_init(use_key);
  gasnett_threadkey_set(use_key, gasnett_threadkey_get(use_key));
  gasnett_threadkey_set_noinit(use_key, gasnett_threadkey_get_noinit(use_key));
  (void)init, (void)noop, (void)addresses;
}

#define USE_ATOMIC(NAME, VALUE)                                                                              \
  {                                                                                                          \
    static NAME##_t word = NAME##_init(-1);                                                                  \
    VALUE value = NAME##_read(&word, GASNETT_ATOMIC_RMB_PRE | GASNETT_ATOMIC_RMB_POST);                      \
    NAME##_set(&word, value, GASNETT_ATOMIC_WMB_PRE | GASNETT_ATOMIC_WMB_POST);                              \
    NAME##_increment(&word, GASNETT_ATOMIC_MB_PRE), NAME##_decrement(&word, GASNETT_ATOMIC_MB_POST);         \
    value += NAME##_add(&word, 1, GASNETT_ATOMIC_REL) + NAME##_subtract(&word, 1, GASNETT_ATOMIC_ACQ);       \
    if (NAME##_compare_and_swap(&word, value, 2, GASNETT_ATOMIC_ACQ_IF_TRUE | GASNETT_ATOMIC_ACQ_IF_FALSE))  \
      value = NAME##_swap(&word, value, GASNETT_ATOMIC_NONE);                                                \
    if (NAME##_decrement_and_test(&word, GASNETT_ATOMIC_RMB_POST_IF_TRUE | GASNETT_ATOMIC_RMB_POST_IF_FALSE)) \
      (void)value;                                                                                           \
  }
void use_atomics(void) {
  USE_ATOMIC(gasnett_atomic, gasnett_atomic_val_t)
  USE_ATOMIC(gasnett_atomic32, uint32_t)
  USE_ATOMIC(gasnett_atomic64, uint64_t)
  USE_ATOMIC(gasnett_strongatomic, gasnett_atomic_val_t)
  USE_ATOMIC(gasnett_strongatomic32, uint32_t)
  USE_ATOMIC(gasnett_strongatomic64, uint64_t)
#if GASNETT_HAVE_ATOMIC_ADD_SUB && GASNETT_HAVE_ATOMIC_CAS && GASNETT_HAVE_STRONGATOMIC_ADD_SUB && \
    GASNETT_HAVE_STRONGATOMIC_CAS
  if (gasnett_atomic_signed(GASNETT_ATOMIC_MAX) == GASNETT_ATOMIC_SIGNED_MIN + GASNETT_ATOMIC_SIGNED_MAX) leave();
#endif
}
#endif
