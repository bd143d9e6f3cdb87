/* A client that includes one header of GASNet's and takes all else from there, as real ones do. Compiled, linked, and run
 * without a job: only what needs none is called. */
#include HEADER

#if !defined(MIN) || !defined(MAX) || !GASNETT_SPEC_VERSION_MAJOR
#error "what comes with GASNet's headers"
#endif
#if SIZEOF_INT != 4 || SIZEOF_VOID_P != 8 || SIZEOF_LONG_LONG != 8
#error "numbers that the preprocessor is to know"
#endif

static int sum(int count, ...) {
  va_list values;
  int total = 0;
  va_start(values, count);
  while (count-- > 0) total += va_arg(values, int);
  va_end(values);
  return total;
}

int main(void) {
  char text[16];
  size_t bytes = 0;
  ptrdiff_t distance = -1;
  uint64_t wide = UINT64_MAX;
  sigset_t signals;
  errno = 0;
  sigemptyset(&signals);
  snprintf(text, sizeof text, "%" PRIuSZ " %" PRIdPD, bytes, distance);
  if (strcmp(text, "0 -1") != 0 || strtoull("7", NULL, 10) != 7 || wide / 2 != INT64_MAX) return 1;
  if (getpid() <= 0 || sched_yield() != 0 || !isdigit('7') || sigismember(&signals, SIGUSR1) != 0) return 2;
  if (MIN(2, 3) != 2 || MAX(2, 3) != 3 || sum(2, 3, 4) != 7 || INT_MAX < PIPE_BUF) return 3;
  if (PREDICT_FALSE(gasneti_gethostname()[0] == '\0') || !PREDICT_TRUE(errno == 0)) return 4;
  /* Names inside GASNet-EX. */
  if (gasneti_cpu_count() <= 0 || gasneti_getenv("HEADERS_UNSET") != NULL || GASNETI_MAX_THREADS < 1 ||
      strcmp(gasneti_getenv_withdefault("HEADERS_UNSET", "7"), "7") != 0 ||
      gasneti_getenv_int_withdefault("HEADERS_UNSET", 7, 0) != 7 || !gasneti_getenv_yesno_withdefault("HEADERS_UNSET", 1))
    return 6;
  if (gasneti_reghandler(SIGUSR1, SIG_IGN) != SIG_DFL || gasneti_reghandler(SIGUSR1, SIG_DFL) != SIG_IGN) return 7;
  wide = (uint64_t)gasneti_ticks_now();
  gasneti_compiler_fence();
  gasneti_local_wmb();
  gasneti_local_rmb();
  gasneti_local_mb();
  gasneti_spinloop_hint();
  gasneti_sched_yield();
  gasneti_flush_streams();
  if (gasneti_ticks_to_us(wide) > gasneti_ticks_to_ns(wide)) gasneti_fatalerror("%d", gasneti_print_backtrace(2));
#if GASNETT_THREAD_SAFE
  if (!pthread_equal(pthread_self(), pthread_self()) || time(NULL) <= 0) return 5;
#endif
  printf("headers: ok\n");
  return 0;
}
